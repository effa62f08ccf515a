"""Training of a real data set folder in processes of its own: killed, shared by two devices, free of torch."""

import pickle
import signal
import subprocess
import sys
import time
import pytest
from kept_runs import make_data
from lightning_fabric import Fabric
from salgen.evaluation.training.checkpoints import CARD, WEIGHTS
from salgen.evaluation.training.training import train
from salgen.evaluation.training.training_state import STATE

SETTINGS = {"widths": "4,4", "hidden": 8, "batch_size": 8, "epochs": 40, "batch_norm": False}
TRAIN = "import sys; from salgen.evaluation.training.training import train; train(*sys.argv[1:], settings={settings})"


@pytest.fixture(scope="module")
def lesions(tmp_path_factory):
    return make_data(tmp_path_factory.mktemp("data"), train=32, val=8, test=8)


@pytest.mark.torture
@pytest.mark.parametrize("reliance", [0.0, 2.0])
def test_a_killed_training_ends_with_the_same_weights(lesions, tmp_path, reliance):
    settings = SETTINGS | {"reliance": reliance}
    code = TRAIN.format(settings=settings)
    process = subprocess.Popen([sys.executable, "-c", code, lesions, tmp_path / "killed"], stderr=subprocess.DEVNULL)
    while process.poll() is None and not (tmp_path / "killed" / STATE).exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    train(lesions, tmp_path / "killed", settings=settings)
    train(lesions, tmp_path / "whole", settings=settings)
    assert sorted(path.name for path in (tmp_path / "killed").iterdir()) == [CARD, WEIGHTS]
    assert (tmp_path / "killed" / WEIGHTS).read_bytes() == (tmp_path / "whole" / WEIGHTS).read_bytes()


class Forked(Fabric):
    """Starts its processes at once, for which spawned ones take seconds; what they are given is pickled too."""

    def __init__(self, *, strategy, **how):
        super().__init__(strategy=strategy.replace("spawn", "fork"), **how)

    def launch(self, function, *given):
        return super().launch(*pickle.loads(pickle.dumps((function, *given))))


@pytest.mark.parametrize(("reliance", "away"), [(0.0, 1e-4), pytest.param(2.0, 0.2, marks=pytest.mark.torture)])
def test_two_devices_do_what_one_does(lesions, tmp_path, monkeypatch, reliance, away):
    """Nearly so for reliance: each takes the mean of the penalty over the twins of its own share."""
    if not reliance:  # its redraws have processes of their own
        monkeypatch.setattr("lightning_fabric.Fabric", Forked)
    settings = SETTINGS | {"epochs": 2, "reliance": reliance}
    one, two = (train(lesions, tmp_path / str(n), settings=settings | {"devices": n}).card for n in (1, 2))
    for alone, shared in zip(one.history, two.history, strict=True):
        assert shared == pytest.approx(alone, rel=away)
    assert one.history != two.history or not reliance


def test_names_and_defaults_are_known_without_torch():
    code = (
        "import sys; from salgen.evaluation.training.training_settings import choose_settings; "
        "choose_settings('lesion-cnn', 'small'); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
