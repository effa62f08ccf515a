"""Networks that call their ReLUs as functions, twice, or in place must not get another map."""

import pytest
import torch
from small_networks import Flawed, drops_its_result
from torch import nn
from torch.nn import functional as F
import salgen
from salgen.errors import SalgenError
from salgen.testing.methods import state_of

BACKWARD = ["gradient", "input-x-gradient", "guided-backprop", "deconvnet", "lrp-z", "lrp-alpha-beta", "deep-taylor"]
MODIFIED = BACKWARD[2:]


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


def depending(x):
    return F.conv2d(x, x[:1].mean((2, 3), keepdim=True).expand(4, -1, 1, 1))


RELU_ONLY = ["guided-backprop", "deconvnet", "deep-taylor"]
REFUSED = [
    (RELU_ONLY, nn.GELU(), "gelu"),
    (RELU_ONLY, nn.Sigmoid(), "sigmoid"),
    (RELU_ONLY, lambda x: x.clamp(min=0), "clamp"),
    (RELU_ONLY, nn.LeakyReLU(), "leaky_relu"),
    (MODIFIED[:2], torch.abs, "abs"),
    (MODIFIED[:2], torch.erf, "erf"),
    (MODIFIED[:2], lambda x: x**2, "pow"),
    (MODIFIED[:2], lambda x: x * x, "mul"),
    (MODIFIED[:2], lambda x: x * (x > 0), "gt"),
    (MODIFIED[:2], lambda x: x * x.detach(), "detach"),
    (MODIFIED, drops_its_result, "in-place"),
    (MODIFIED, Double.apply, "outside Python"),
    (MODIFIED, torch.jit.script(nn.Sequential(nn.ReLU())), "outside Python"),
    (["lrp-z"], depending, "weights that depend on the image"),
    (["lrp-z"], nn.BatchNorm2d(4, track_running_stats=False), "the batch's own statistics"),
    (RELU_ONLY[::2], nn.Hardtanh(), "hardtanh"),  # a floor below zero
    (["deep-lift"], nn.Softshrink(), "softshrink"),
    (["deep-lift"], nn.Softmax(dim=1), "softmax"),
    (["deep-lift"], nn.GroupNorm(2, 4), "group_norm"),
    (["deep-lift"], nn.BatchNorm2d(4, track_running_stats=False), "batch_norm"),
    (["deep-lift"], lambda x: x * x, "mul"),
    (["deep-lift"], lambda x: 1 / x, "div"),
    (["deep-lift"], lambda x: x @ x, "matmul"),
    (["deep-lift"], depending, "conv2d"),
    (["deep-lift"], drops_its_result, "use their results"),
    (["deep-lift"], lambda x: x if x.sum() > 0 else -x, "gt"),
]


@pytest.mark.filterwarnings("ignore:the model's answer:salgen.errors.SalgenWarning")
@pytest.mark.parametrize(("method", "flaw", "words"), [(m, flaw, words) for ms, flaw, words in REFUSED for m in ms])
def test_what_has_no_rule_is_refused(method, flaw, words, images):
    net = Flawed(flaw)
    before = state_of(net)
    with pytest.raises(SalgenError, match=f"{method} has no rule for .*{words}"):
        salgen.explain(net, images[:1] if flaw is depending else images, 0, method=method)
    assert state_of(net) == before


@pytest.mark.parametrize("method", BACKWARD)
def test_a_network_that_begins_in_place_leaves_the_images_alone(method, images):
    net = nn.Sequential(nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(64, 2))
    before = images.clone()
    salgen.explain(net, images, method=method)
    assert torch.equal(images, before)
    after = salgen.explain(net, images, 0, method="input-x-gradient", reduce=None).values
    torch.testing.assert_close(after, images * net[2].weight[0].view(1, 1, 8, 8).detach(), rtol=1e-5, atol=1e-6)
