"""Fixtures: a server of `salgen annotate`, and pages of it."""

import pytest
from browsers import browser  # noqa: F401
from drawing_pages import Page, Server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    pytest.importorskip("krippendorff")
    server = Server(tmp_path_factory.mktemp("annotation"))
    yield server
    server.kill()


@pytest.fixture
def annotate(browser, server):  # noqa: F811
    pages = []

    def begin(annotator, **options):
        pages.append(Page(browser, server, annotator, **options))
        return pages[-1]

    yield begin
    for page in pages:
        page.context.close()
        assert page.said == []
