"""Methods that a network does not allow, or that fail: left out with their reasons, said on the terminal and kept."""

import pytest
import torch
from own_modules import SMALL_DETECTOR, write_modules
import salgen
from salgen.cli.main import main
from salgen.errors import SalgenError, UndefinedMethodError
from salgen.evaluation.methods.gradient import InputXGradient


@pytest.fixture
def folder(tmp_path, monkeypatch):
    return write_modules(tmp_path, monkeypatch, left_out_model=SMALL_DETECTOR.format("GELU"))


def command(data, *words):
    model = ["--model", "left_out_model:detector", "--out", "run", "--metrics", "roc-auc"]
    return main(["evaluate", str(data), *model, *words])


def test_what_the_network_does_not_allow_is_left_out_if_another_works(data, folder, capsys):
    for words in (["-m", "cam"], ["-m", "cam", "-m", "guided-backprop", "-m", "random"]):
        assert command(data, *words) == 2
        assert capsys.readouterr().err.splitlines()[-1].startswith("error: cam is not defined for this network")
        assert not (folder / "run").exists()
    assert command(data, "-m", "guided-backprop", "-m", "gradient", "-m", "attention-rollout") == 0
    out, err = capsys.readouterr()
    why = "guided-backprop has no rule for gelu"
    assert f"warning: guided-backprop is left out of run: {why}" in err
    assert "warning: attention-rollout is left out of run: the network has no attention" in err
    assert "left out: guided-backprop (has no rule for gelu)" in " ".join(out.split())
    run = salgen.Run("run")
    assert set(run.left_out) == {"guided-backprop", "attention-rollout"}
    assert run.left_out["guided-backprop"].startswith(why)
    page = (folder / "run" / "report.html").read_text(encoding="utf-8")
    assert "Left out of lesions: guided-backprop (has no rule for gelu)" in page
    assert f"left out: {why}" in page


def test_one_that_fails_is_left_out_and_an_error_if_it_is_alone(data, folder, capsys, monkeypatch):
    def fails(_method, context):
        raise ZeroDivisionError("nothing left")

    monkeypatch.setattr(InputXGradient, "attribute", fails)
    assert command(data, "-m", "input-x-gradient", "-m", "gradient") == 0
    why = "method 'input-x-gradient' failed: ZeroDivisionError: nothing left"
    assert f"warning: input-x-gradient is left out of run: {why}" in capsys.readouterr().err
    assert command(data, "--replace", "-m", "input-x-gradient") == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"error: {why}"


def test_a_method_of_the_run_that_is_now_refused_does_not_lose_its_scores(data, folder, monkeypatch):
    given = {"model": "left_out_model:detector", "metrics": ["roc-auc"], "out": "run"}
    salgen.evaluate(data, methods=["input-x-gradient"], **given)

    def refuses(_method, _view, _image):
        raise SalgenError("input-x-gradient is not defined for this network")

    monkeypatch.setattr(InputXGradient, "check", refuses)
    with pytest.raises(SalgenError, match="run holds scores of input-x-gradient, which cannot be made again: input"):
        salgen.evaluate(data, methods=["gradient"], **given)


def test_a_network_that_fails_is_no_method_s_fault(data, folder):
    class Broken(torch.nn.Module):
        def forward(self, images):
            means = images.mean((1, 2, 3))
            return torch.stack([means, -means], 1) / (0 if len(images) > 2 else 1)

    with pytest.raises(SalgenError, match="output is NaN or infinite") as raised:
        salgen.evaluate(data, model=Broken(), methods=["gradient"], out="run")
    assert not isinstance(raised.value, UndefinedMethodError)
