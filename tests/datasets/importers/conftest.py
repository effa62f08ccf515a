import pytest


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    """What is found in a copy stays out of other tests' cache."""
    monkeypatch.setenv("SALGEN_CACHE", str(tmp_path / "cache"))
