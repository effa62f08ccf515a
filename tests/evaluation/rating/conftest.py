"""A run of six methods that kept its maps."""

import pytest
from kept_runs import make_data, make_run

METHODS = ["gradient", "grad-cam", "input-x-gradient", "smoothgrad:n=2", "guided-backprop", "deconvnet"]


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    return make_data(tmp_path_factory.mktemp("rated"))


@pytest.fixture(scope="session")
def run(data, tmp_path_factory):
    return make_run(data, tmp_path_factory.mktemp("rated") / "run", methods=METHODS, metrics=["roc-auc"])
