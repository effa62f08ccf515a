"""The generator with a planted shortcut of `benchmarks.marked_lesions`, registered for the tests of a module."""

import pytest
from benchmarks import marked_lesions


@pytest.fixture(autouse=True, scope="module")
def registered():
    """As an entry point of a third party would have it."""
    with marked_lesions.registered():
        yield
