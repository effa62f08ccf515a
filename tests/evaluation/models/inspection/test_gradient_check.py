"""Gradients that miss a part of the network are refused, with the place; networks whose gradients are meant so pass."""

import contextlib
import copy
import warnings
import pytest
import torch
from torch import nn
from torch.nn import functional
import salgen
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.models.inspection.gradient_check import check_gradient
from salgen.evaluation.models.inspection.model_view import ModelView

IMAGE = torch.rand(1, 3, 8, 8, generator=torch.Generator().manual_seed(0))


class Branches(nn.Module):
    """A branch of several layers beside one convolution; `run` gives the branch's logits."""

    def __init__(self, run, side=True):
        super().__init__()
        torch.manual_seed(0)
        self.branch = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.Softplus(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 3)
        )
        self.conv, self.run, self.side = nn.Conv2d(3, 3, 3, padding=1), run, side

    def forward(self, x):
        logits = self.run(self.branch, x)
        return logits + self.conv(x).mean((2, 3)) if self.side else logits


def without_gradient(branch, x):
    with torch.no_grad():
        return branch(x)


def in_place(branch, x):
    logits = torch.zeros(len(x), 3)
    with torch.no_grad():
        logits.copy_(branch(x))
    return logits


LOST = {
    "no_grad": (without_gradient, r"conv2d in 'branch\.0' \(Conv2d\)"),
    "detach": (lambda branch, x: branch(x).detach(), r"detach in 'its forward' \(Branches\)"),
    "data": (lambda branch, x: branch(x.data), r"\.data in 'its forward'"),
    "numpy": (lambda branch, x: torch.from_numpy(branch(x).detach().numpy()), "detach in"),
    "integers": (lambda branch, x: branch((x * 127).to(torch.int8).float() / 127), "to in"),
    "in place": (in_place, r"conv2d in 'branch\.0'"),
}
ZERO = {
    "rounded": (lambda branch, x: branch((x * 127).round() / 127), "round in"),
    "integers": (lambda branch, x: branch((x * 127).int().float() / 127), "int in"),
    "detach": (lambda branch, x: branch(x.detach()), "detach in"),
}
READ_GRADIENTS = ["gradient", "smoothgrad", "integrated-gradients", "gradient-shap", "full-grad", "lrp-z", "grad-cam"]
READ_GRADIENTS += ["guided-backprop", "deep-lift", "excitation-backprop", "smooth-grad-cam++"]


@pytest.mark.parametrize("name", LOST)
def test_a_branch_without_gradient_is_refused_with_its_place(name):
    run, where = LOST[name]
    with pytest.raises(SalgenError, match=rf"^it: the gradient is lost at {where}.*%.*occlusion"):
        check_gradient("it", ModelView.of(Branches(run)), IMAGE)


@pytest.mark.parametrize("name", ZERO)
def test_a_gradient_of_zero_is_refused_where_the_output_changes(name):
    run, where = ZERO[name]
    with pytest.raises(SalgenError, match=f"has no gradient, as it is lost at {where}"):
        check_gradient("it", ModelView.of(Branches(run, side=False)), IMAGE)


@pytest.mark.parametrize("method", READ_GRADIENTS)
def test_every_method_that_reads_gradients_refuses_and_others_do_not(method):
    net = Branches(without_gradient)
    with pytest.raises(SalgenError, match=r"lost at conv2d in 'branch\.0'"):
        salgen.explain(net, IMAGE, 0, method=method)
    free = Branches(lambda branch, x: branch(x))
    maps = [salgen.explain(model, IMAGE, 0, method="occlusion").values for model in (net, free)]
    torch.testing.assert_close(*maps)


def test_the_share_of_the_lost_change_is_that_of_the_gradients():
    """Of a linear network both are known: the lost weights' length to that of all."""

    class Linear(nn.Module):
        def __init__(self):
            super().__init__()
            self.lost, self.seen = nn.Linear(192, 1, bias=False), nn.Linear(192, 1, bias=False)

        def forward(self, x):
            return self.lost(x.flatten(1)).detach() + self.seen(x.flatten(1))

    net = Linear()
    net.lost.weight.data = torch.ones(1, 192)
    net.seen.weight.data = torch.tensor([1.0, -1.0]).repeat(96)[None] * 3**0.5  # at right angles: 1 / 2 of the length
    with pytest.raises(SalgenError, match=r"through which (3|4|5|6)\d% of the logits' change goes"):
        check_gradient("it", ModelView.of(net), IMAGE)
    net.seen.weight.data *= 3
    with pytest.warns(SalgenWarning, match="maps that read gradients leave this out"):
        check_gradient("it", ModelView.of(net), IMAGE)


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.round(x * 10) / 10

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def softmax(branch, x):
    logits = branch(x)
    shifted = (logits - logits.max(1, keepdim=True).values.detach()).exp()
    return shifted / shifted.sum(1, keepdim=True)


def expert(branch, x):
    logits = branch(x)
    return logits * functional.one_hot(logits.argmax(1), 3).float()


HEALTHY = {
    "straight through": lambda branch, x: branch(x + ((x * 127).round() / 127 - x).detach()),
    "straight through one bit": lambda branch, x: branch(x + (torch.sign(x - 0.5) - x).detach()),
    "fake quantised": lambda branch, x: branch(torch.fake_quantize_per_tensor_affine(x, 1 / 127, 0, 0, 255)),
    "own backward": lambda branch, x: branch(Straight.apply(x)),
    "largest logit": softmax,
    "mask": lambda branch, x: branch(x * (x > 0.5).float().detach()),
    "experts": expert,
    "detached statistics": lambda branch, x: branch((x - x.mean().detach()) / x.std().detach()),
    "made alike": lambda branch, x: branch(x + torch.zeros_like(x)),
    "checkpoint": lambda branch, x: torch.utils.checkpoint.checkpoint(branch, x, use_reentrant=False),
    "checkpoint of the other kind": lambda branch, x: torch.utils.checkpoint.checkpoint(branch, x, use_reentrant=True),
    "dead": lambda branch, x: branch(x).relu() * 0,
}


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.filterwarnings("ignore:the gradient is lost")  # a detached statistic is told, not refused
def test_gradients_that_are_meant_so_pass(name):
    check_gradient("it", ModelView.of(Branches(HEALTHY[name])), IMAGE)


def test_what_lies_before_a_layer_does_not_matter_to_its_gradient():
    class Frozen(nn.Module):
        def __init__(self, frozen):
            super().__init__()
            torch.manual_seed(0)
            self.body, self.head, self.fc = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3), nn.Linear(8, 3)
            self.frozen = frozen

        def forward(self, x):
            with torch.no_grad() if self.frozen else contextlib.nullcontext():
                x = self.body(x)
            return self.fc(self.head(x).relu().mean((2, 3)))

    for layer in ("head", "body"):
        options = {"method": "hires-cam", "layer": layer}
        maps = [salgen.explain(Frozen(frozen), IMAGE, 0, **options).values for frozen in (True, False)]
        torch.testing.assert_close(*maps)
    with pytest.raises(SalgenError, match=r"name one with layer=, such as 'head' \(layer='head' from Python"):
        salgen.explain(Frozen(True), IMAGE, 0, method="grad-cam")


def test_a_network_in_inference_mode_is_refused_with_a_method_that_works():
    net = Branches(torch.inference_mode()(lambda branch, x: branch(x)), side=False).eval()
    for method in ("gradient", "grad-cam", "score-cam"):
        with pytest.raises(SalgenError, match=r"has no gradient, as it is lost at conv2d .* such as occlusion"):
            salgen.explain(net, IMAGE, 0, method=method)
    assert salgen.explain(net, IMAGE, 0, method="occlusion").values.any()


def test_quantised_layers_are_named_and_layers_that_no_path_goes_around_are_asked_for():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(288, 3)).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quantised = torch.ao.quantization.quantize_dynamic(copy.deepcopy(net), {nn.Linear}, dtype=torch.qint8)
    for method in ("gradient", "smoothgrad", "full-grad", "lrp-z"):
        with pytest.raises(SalgenError, match=rf"^{method}: .*lost at linear_dynamic in '3' \(Linear\)"):
            salgen.explain(quantised, IMAGE, 0, method=method)
    with pytest.raises(SalgenError, match=r"linear_dynamic.*or name a layer, such as '1' \(layer='1'"):
        salgen.explain(quantised, IMAGE, 0, method="eigen-cam")
    maps = [salgen.explain(model, IMAGE, 0, method="eigen-cam", layer="1").values for model in (quantised, net)]
    torch.testing.assert_close(*maps)


def test_a_step_is_weighed_where_gradients_are_off():
    net = Branches(lambda branch, x: branch(x) + torch.sign(x.mean((1, 2, 3)))[:, None]).eval()
    view = ModelView.of(net)
    with torch.no_grad():
        check_gradient("it", view, IMAGE)
