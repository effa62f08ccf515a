import pytest
from own_image_files import write_images


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    """What is found in a copy stays out of other tests' cache."""
    monkeypatch.setenv("SALGEN_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def images(tmp_path):
    """Four images of two classes; own_image_files says what they show."""
    return write_images(tmp_path / "photos")
