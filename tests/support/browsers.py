"""Fixtures of a browser; tests that use them are skipped where there is none."""

from pathlib import Path
import pytest

CHROMIUM = Path("/usr/bin/chromium")

# Tables, figures and items of lists that reach beyond the window and are not in a box that scrolls.
BEYOND = """() => [...document.querySelectorAll("table, svg, li")].filter(one => !one.closest(".scroll")
    && one.getBoundingClientRect().right > innerWidth + 1).map(one => one.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def watched(browser):
    """A page, the addresses that it asks for, and what its console says."""
    page = browser.new_page(viewport={"width": 400, "height": 800})
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page, asked, said
    page.close()
    assert said == []
    assert all(url.startswith(("file:", "data:", "blob:", "about:")) for url in asked)
