"""What all tests share."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def _cache_of_its_own(tmp_path_factory):
    """Brain slices that tests cut stay out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SALGEN_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
