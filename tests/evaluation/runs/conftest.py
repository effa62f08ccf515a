"""The data set of the tests that say no more of it than that a run takes it."""

import pytest
from kept_runs import make_data


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return make_data(tmp_path_factory.mktemp("data"))
