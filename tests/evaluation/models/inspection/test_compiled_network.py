"""Passes without gradient by `torch.compile`: the same values, whatever hooks into the network."""

import json
import numpy as np
import pytest
import torch
from torch import nn
from salgen.datasets.making import make
from salgen.errors import SalgenError
from salgen.evaluation.attribution.explaining import explain
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.results.run import Run
from salgen.evaluation.runs.running import evaluate

SMALL = {"parameters": {"image_size": (32, 32)}}
METHODS = ["rise:n=20", "occlusion", "ablation-cam", "gradient"]


class Network(nn.Module):
    """Without a length, as most networks are."""

    def __init__(self):
        super().__init__()
        layers = nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 3)
        self.layers = nn.Sequential(*layers)

    def forward(self, inputs):
        return self.layers(inputs)


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return Network().eval()


@pytest.fixture(scope="module")
def images():
    return torch.rand(5, 3, 16, 16, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("call", METHODS)
def test_maps_are_the_same(network, images, call):
    how = {"method": call, "layer": "layers.0" if "cam" in call else None}
    plain, compiled = (
        explain(ModelView.of(network, compile=chosen), images, 1, **how).values for chosen in (False, True)
    )
    assert plain.abs().max() > 0
    assert torch.allclose(plain, compiled, atol=1e-5 * float(plain.abs().max()))


def test_a_compiled_pass_calls_hooks_and_gives_the_same_logits(network, images, monkeypatch):
    view, seen = ModelView.of(network, compile=True), []
    with torch.no_grad():
        view.forward(images)
        handle = view.network.layers[0].register_forward_hook(lambda *_: seen.append(1))
        view.forward(images)
        handle.remove()
        view.forward(images)
    assert seen == [1]
    with torch.no_grad():
        wanted = network(images)
        for part in (slice(0, 1), slice(0, 5), slice(3, 5)):
            assert torch.allclose(view.forward(images[part]), wanted[part], atol=1e-6)
        monkeypatch.setattr(nn.Sequential, "forward", None)  # compiled code has no need of it
        assert torch.allclose(view.forward(images), wanted, atol=1e-6)


def test_what_is_compiled_is_the_network_s_own_forward_for_batches_of_the_largest_size(network, images, monkeypatch):
    passed = []

    def compiling(network, **_):
        assert "forward" not in vars(network)  # else it runs uncompiled
        return lambda inputs: passed.append(len(inputs)) or network(inputs)

    monkeypatch.setattr(torch, "compile", compiling)
    view = ModelView.of(network, compile=True)
    forward = view.forward
    for size in (1, 3, 2, 5, 5, 4):
        forward(images[:size])
    assert passed == [3, 5, 5]


def test_a_run_says_that_it_was_compiled_has_the_same_scores_and_needs_a_compiler(tmp_path, monkeypatch):
    data = make("perlin-lesions", tmp_path / "data", splits={"train": 16, "val": 4, "test": 6}, **SMALL)
    asked = {"methods": METHODS[:1], "metrics": ["roc-auc", "deletion-auc"], "scale": "demo", "n_trainings": 1}
    asked |= {"settings": {"epochs": 1, "widths": (4, 4, 4, 4)}, "model": "scnn", "reliance": False}
    plain = evaluate(data, out=tmp_path / "run", **asked)
    compiled = evaluate(data, out=tmp_path / "compiled", compile=True, **asked)
    first, second = Run(plain).scores, Run(compiled).scores
    assert json.loads((compiled / "run.json").read_text(encoding="utf-8"))["conventions"]["compile"] is True
    np.testing.assert_allclose(second["value"], first["value"], atol=1e-5)
    with pytest.raises(SalgenError, match="compile True there, False here"):
        evaluate(data, out=compiled, **asked)
    monkeypatch.setattr(torch, "compile", lambda _work: lambda _inputs: 1 / 0)
    with pytest.raises(SalgenError, match=r"compile: torch.compile does not work here .*or leave compile out"):
        evaluate(data, out=tmp_path / "no", model="scnn", scale="demo", compile=True)
    assert not (tmp_path / "no").exists()
