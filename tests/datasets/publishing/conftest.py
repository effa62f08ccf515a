import pytest


@pytest.fixture
def waits(monkeypatch):
    """What was waited between attempts, in no time."""
    waited = []
    monkeypatch.setattr("time.sleep", waited.append)
    return waited
