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


class Residual(nn.Module):
    def __init__(self, in_place=False):
        super().__init__()
        torch.manual_seed(5)
        self.stem = nn.Conv2d(2, 4, 3, padding=1, padding_mode="reflect")
        self.norm1, self.norm2 = nn.BatchNorm2d(4), nn.BatchNorm2d(4)
        self.conv = nn.Conv2d(4, 4, 3, padding=1, bias=False)
        self.head = nn.Linear(8, 3)
        self.relu = nn.ReLU(inplace=in_place)
        self.in_place = in_place
        for norm in (self.norm1, self.norm2):
            nn.init.normal_(norm.running_mean, std=0.2)
            nn.init.normal_(norm.bias, std=0.2)
            nn.init.uniform_(norm.running_var, 0.5, 2)

    def forward(self, x):
        x = self.relu(self.norm1(self.stem(x)))
        y = self.norm2(self.conv(x))
        if self.in_place:
            y += x
        else:
            y = x + y
        y = torch.cat([self.relu(y), x * 2], dim=1)
        return self.head(y.mean(dim=(2, 3)))


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("target", [0, 2])
def test_lrp_z_times_the_logit_is_input_x_gradient(in_place, target):
    """Batch norm merged, sums and averages in proportion: else relevance would grow by 2 at the sum."""
    net = Residual(in_place).double().eval()
    images = torch.rand(4, 2, 8, 8, generator=torch.Generator().manual_seed(1)) * 2 - 1
    expected = salgen.explain(net, images, target, method="input-x-gradient", reduce=None).values
    logits = net(images.double())[:, target].detach().float()
    found = salgen.explain(net, images, target, method="lrp-z", stabiliser=1e-13, reduce=None).values
    torch.testing.assert_close(found * logits.view(-1, 1, 1, 1), expected, rtol=1e-3, atol=1e-5)
    started = salgen.explain(net, images, target, method="lrp-z:start=logit", stabiliser=1e-13, reduce=None).values
    torch.testing.assert_close(started, expected, rtol=1e-3, atol=1e-5)


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


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
    (
        ["lrp-z"],
        lambda x: F.conv2d(x, x[:1].mean((2, 3), keepdim=True).expand(4, -1, 1, 1)),
        "weights that depend on the image",
    ),
    (["lrp-z"], nn.BatchNorm2d(4, track_running_stats=False), "the batch's own statistics"),
]


@pytest.mark.filterwarnings("ignore:the model's answer:salgen.errors.SalgenWarning")
@pytest.mark.parametrize(("method", "flaw", "words"), [(m, flaw, words) for ms, flaw, words in REFUSED for m in ms])
def test_what_has_no_rule_is_refused(method, flaw, words, images):
    net = Flawed(flaw)
    before = state_of(net)
    with pytest.raises(SalgenError, match=f"{method} has no rule for .*{words}"):
        salgen.explain(net, images[:1] if "weights" in words else images, 0, method=method)
    assert state_of(net) == before


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", MODIFIED)
def test_scripted_parts_are_refused(method, images):
    net = Flawed(torch.jit.script(nn.Sequential(nn.ReLU())))
    with pytest.raises(SalgenError, match="outside Python"):
        salgen.explain(net, images, 0, method=method)


@pytest.mark.parametrize("method", BACKWARD)
def test_a_network_that_begins_in_place_leaves_the_images_alone(method, images):
    net = nn.Sequential(nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(64, 2))
    before = images.clone()
    salgen.explain(net, images, method=method)
    assert torch.equal(images, before)
    after = salgen.explain(net, images, 0, method="input-x-gradient", reduce=None).values
    torch.testing.assert_close(after, images * net[2].weight[0].view(1, 1, 8, 8).detach(), rtol=1e-5, atol=1e-6)
