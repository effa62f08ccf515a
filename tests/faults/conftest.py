import pytest
from trials import Box


@pytest.fixture
def box(original):
    """A copy of the input that the tests of a file damage."""
    made = Box(original)
    yield made
    made.remove()
