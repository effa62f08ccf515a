"""FullGrad from its paper, and what CAMs of many passes owe their users."""

import contextlib
import copy
import math
import pytest
import torch
from torch import nn
from torch.nn import functional
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.methods.full_grad import biases
from salgen.evaluation.methods.score_cam import _masks
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.testing.methods import state_of

TARGETS = torch.tensor([0, 1, 2])


class Network(nn.Module):
    """Two convolutions, batch norm, and one ReLU that is used twice."""

    def __init__(self, in_place=False):
        super().__init__()
        torch.manual_seed(7)
        self.conv1, self.norm = nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.conv2, self.relu = nn.Conv2d(4, 4, 3, stride=2), nn.ReLU(inplace=in_place)
        self.head = nn.Linear(4, 3)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.5)
        nn.init.normal_(self.norm.running_mean, std=0.3)
        nn.init.uniform_(self.norm.running_var, 0.5, 2)
        self.eval()

    def forward(self, x):
        x = self.relu(self.norm(self.conv1(x)))
        return self.head(self.relu(self.conv2(x)).mean(dim=(2, 3)))


class Separate(Network):
    """The same with a ReLU for each use, so that each can be read."""

    def __init__(self):
        super().__init__()
        self.relu2 = nn.ReLU()

    def forward(self, x):
        x = self.relu(self.norm(self.conv1(x)))
        return self.head(self.relu2(self.conv2(x)).mean(dim=(2, 3)))


@pytest.fixture(scope="module")
def images():
    return torch.rand(3, 2, 9, 11, generator=torch.Generator().manual_seed(3)) * 2 - 1


def explained(images, method, net=None, layer="relu", **kwargs):
    """Maps (3, 9, 11) by salgen, of a layer unless it is None."""
    chosen = {} if layer is None else {"layer": layer}
    return salgen.explain(net or Network(), images, TARGETS, method=method, **chosen, **kwargs).values


def gradient_at(image, target, layer):
    net, kept = Separate(), []
    net.get_submodule(layer).register_forward_hook(lambda _m, _i, output: kept.append(output))
    score = net(image[None])[0, target]
    return torch.autograd.grad(score, kept[0])[0][0]


def enlarged(maps):
    return functional.interpolate(torch.stack(maps)[:, None], (9, 11), mode="bilinear", align_corners=False)[:, 0]


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("method", ["score-cam", "ablation-cam"])
def test_of_a_relu_that_is_used_twice_the_last_use_counts(method, in_place, images):
    expected = explained(images, method, Separate(), "relu2")
    assert expected.max() > 0.1
    torch.testing.assert_close(explained(images, method, Network(in_place)), expected)


def test_full_grad_is_the_sum_of_absolute_terms(images):
    """Of the image, and of the bias of each channel, times their gradients."""
    net, expected = Separate(), []
    shift = net.norm.bias - net.norm.running_mean * net.norm.weight / (net.norm.running_var + net.norm.eps).sqrt()
    biases_of = {"conv1": net.conv1.bias, "norm": shift, "conv2": net.conv2.bias}
    for image, target in zip(images.clone(), TARGETS, strict=True):
        leaf = image[None].requires_grad_()
        total = (leaf * torch.autograd.grad(net(leaf)[0, target], leaf)[0])[0].detach().abs().sum(dim=0)
        for name, bias in biases_of.items():
            for channel in (bias[:, None, None] * gradient_at(image, target, name)).detach().abs():
                total = total + enlarged([channel])[0]
        expected.append(total)
    found = explained(images, "full-grad", net, layer=None)
    torch.testing.assert_close(found, torch.stack(expected), rtol=1e-4, atol=1e-5)


def test_a_batch_norm_without_statistics_or_weights_has_the_bias_that_it_has():
    bare = nn.BatchNorm2d(2, affine=False)
    bare.running_mean += 3
    shifts = biases(ModelView.of(nn.Sequential(bare, nn.Flatten())), torch.zeros(1, 2, 1, 1))
    torch.testing.assert_close(shifts["0"], torch.full((2,), -3 / math.sqrt(1 + 1e-5)))


@pytest.mark.parametrize("side", [1, 7])
def test_a_constant_channel_masks_everything(side):
    """Enlarging makes differences in the last digit of it, which must not be scaled to a mask."""
    channels = torch.rand(20, 1, 1, 1).expand(20, 1, side, side).contiguous()
    assert not _masks(channels, torch.zeros(20, 3, 33, 40)).any()


def test_ablating_a_channel_of_tokens_ablates_the_class_tokens_too():
    """A layer whose second channel alone reaches the logit, through the class token but for a factor of zero."""

    class Tokens(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Identity()
            self.multi_label = True  # its output is no logit of two classes

        def forward(self, x):
            patches = x.flatten(2).transpose(1, 2)
            tokens = self.tokens(torch.cat([patches.mean(dim=1, keepdim=True), patches], dim=1))
            return tokens[:, 0, 1:] + 0 * tokens[:, 1:, 1:].mean(dim=1)  # patches count, if for nothing

    image = torch.arange(8.0).view(1, 2, 2, 2)
    found = salgen.explain(Tokens(), image, 0, method="ablation-cam", layer="tokens").values
    torch.testing.assert_close(found, image[:, 1].mean() * image[:, 1])


@pytest.mark.parametrize("method", ["score-cam", "ablation-cam", "xgrad-cam", "hires-cam", "full-grad"])
def test_a_failure_in_the_middle_leaves_the_view_as_it_was(method, images):
    class Failing(Network):
        def forward(self, x):
            calls.append(1)
            return super().forward(x) if len(calls) < 6 else 1 / 0

    calls, view = [], ModelView.of(Failing())
    before = state_of(view.network)
    for _ in range(6):  # it fails at its first pass at last
        with contextlib.suppress(ZeroDivisionError, SalgenError):
            salgen.explain(view, images, TARGETS, method=method, max_memory=1e-9)
    assert len(calls) > 5
    assert state_of(view.network) == before


COLOURED = torch.rand(2, 3, 16, 16, generator=torch.Generator().manual_seed(0))


def test_a_convolution_that_is_called_again_counts_again():
    layers = (nn.Conv2d(3, 3, 3, padding=1), nn.ReLU()) * 3
    end = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 2)
    networks = nn.Sequential(*layers, *end), nn.Sequential(*map(copy.deepcopy, layers), *end)
    maps = [salgen.explain(network, COLOURED, 1, method="full-grad").values for network in networks]
    torch.testing.assert_close(*maps)


class Activated(nn.BatchNorm2d):
    """As timm's BatchNormAct2d: an identity or dropout, then the activation, within the norm."""

    def __init__(self, channels):
        super().__init__(channels)
        self.drop, self.act = nn.Identity(), nn.ReLU(inplace=True)
        nn.init.uniform_(self.running_mean)
        nn.init.uniform_(self.bias)

    def forward(self, x):
        return self.act(self.drop(super().forward(x)))


def test_the_bias_of_a_norm_that_applies_its_activation_stands_before_it():
    torch.manual_seed(0)
    norm, head = Activated(4).eval(), nn.Sequential(nn.Flatten(), nn.Linear(1024, 2))
    plain = nn.BatchNorm2d(4).eval()
    plain.load_state_dict(norm.state_dict())
    conv = nn.Conv2d(3, 4, 3, padding=1)
    networks = nn.Sequential(conv, norm, head), nn.Sequential(conv, plain, nn.ReLU(), head)
    maps = [salgen.explain(network, COLOURED, 1, method="full-grad").values for network in networks]
    torch.testing.assert_close(*maps)


class Function(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(2, 3, 3, 3)), nn.Parameter(torch.randn(2))

    def forward(self, x):
        return functional.conv2d(x, self.weight, self.bias).mean((2, 3))


HIDDEN = {
    "own": lambda network: Function(),
    "traced": lambda network: torch.jit.trace(network, COLOURED),
    "frozen": lambda network: torch.jit.freeze(torch.jit.script(network)),
    "exported": lambda network: torch.export.export(
        network, (COLOURED,), dynamic_shapes=({0: torch.export.Dim.AUTO},)
    ).module(),
}


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("hide", HIDDEN.values(), ids=HIDDEN)
def test_modules_that_may_hide_biases_are_refused(hide):
    layers = nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    with pytest.raises(SalgenError, match=r"full-grad: .* may hide biases: explain the network before torch.jit"):
        salgen.explain(hide(nn.Sequential(*layers, nn.Linear(4, 2)).eval()), COLOURED, 1, method="full-grad")
