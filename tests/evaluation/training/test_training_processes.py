"""Training in processes of its own: shared by two devices, free of torch."""

import pytest
from kept_runs import make_data
from salgen.evaluation.training.training import train

SETTINGS = {"widths": "4,4", "hidden": 8, "batch_size": 8, "epochs": 40, "batch_norm": False}


@pytest.fixture(scope="module")
def lesions(tmp_path_factory):
    return make_data(tmp_path_factory.mktemp("data"), train=32, val=8, test=8)


@pytest.mark.parametrize(("reliance", "away"), [(0.0, 1e-4), pytest.param(2.0, 0.2, marks=pytest.mark.torture)])
def test_two_devices_do_what_one_does(lesions, tmp_path, reliance, away):
    """Nearly so for reliance: each takes the mean of the penalty over the twins of its own share."""
    settings = SETTINGS | {"epochs": 2, "reliance": reliance}
    one, two = (train(lesions, tmp_path / str(n), settings=settings | {"devices": n}).card for n in (1, 2))
    for alone, shared in zip(one.history, two.history, strict=True):
        assert shared == pytest.approx(alone, rel=away)
    assert one.history != two.history or not reliance
