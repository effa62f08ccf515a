"""Methods against captum, zennit and pytorch-grad-cam, where those do the same thing."""

import captum.attr
import numpy as np
import pytest
import torch
from torch import nn

import salgen
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.lesion_cnn import LesionCNN


@pytest.fixture(scope="module")
def network():
    """The lesion network with batch norm, with running statistics that do something."""
    torch.manual_seed(2)
    net = LesionCNN(widths=(4, 8), hidden=8).build(1, 3, (16, 20))
    for layer in net.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.running_mean.normal_(std=0.2)
            layer.running_var.uniform_(0.5, 2)
        if isinstance(layer, (nn.BatchNorm2d, nn.Linear)):
            nn.init.normal_(layer.bias, std=0.2)
    return net.eval()


@pytest.fixture(scope="module")
def images():
    return torch.rand(5, 1, 16, 20, generator=torch.Generator().manual_seed(0)) * 2 - 1


TARGETS = torch.tensor([0, 1, 2, 0, 1])

PEERS = {
    "gradient": lambda net: captum.attr.Saliency(net),
    "input-x-gradient": captum.attr.InputXGradient,
    "guided-backprop": captum.attr.GuidedBackprop,
    "deconvnet": captum.attr.Deconvolution,
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("method", PEERS)
def test_equals_captum(network, images, method):
    extra = {"abs": False} if method == "gradient" else {}
    expected = PEERS[method](network).attribute(images.clone().requires_grad_(), target=TARGETS, **extra)
    found = salgen.explain(network, images, TARGETS, method=method, reduce=None).values
    torch.testing.assert_close(found, expected.detach(), rtol=1e-4, atol=1e-6)


def test_integrated_gradients_equal_captum_from_black(network, images):
    """Black is mapped through the normalisation: it is not the zero of the normalised space."""

    class Normalise(nn.Module):
        def forward(self, pixels):
            return (pixels - 0.3) / 0.5

    pixels = images / 2 + 0.5
    inputs = (pixels - 0.3) / 0.5
    black = torch.full_like(inputs[:1], (0 - 0.3) / 0.5)
    expected = captum.attr.IntegratedGradients(network).attribute(inputs, black, target=TARGETS, n_steps=50)
    model = Classifier(network, Normalise())
    found = salgen.explain(model, pixels, TARGETS, method="integrated-gradients", reduce=None)
    torch.testing.assert_close(found.values, expected.float(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("quadrature", ["gauss-legendre", "midpoint"])
@pytest.mark.parametrize("score", ["logit", "margin"])
def test_integrated_gradients_are_complete(network, images, quadrature, score):
    def value(inputs):
        logits = network(inputs).detach()
        target = logits.gather(1, TARGETS[:, None])[:, 0]
        others = logits.scatter(1, TARGETS[:, None], -torch.inf).amax(dim=1)
        return target if score == "logit" else target - others

    found = salgen.explain(
        network, images, TARGETS, method="integrated-gradients", score=score, steps=300, quadrature=quadrature
    )
    gap = found.values.sum(dim=(1, 2)) - (value(images) - value(torch.zeros_like(images)))
    assert gap.abs().max() < 0.01 * value(images).abs().max()


def test_grad_cam_equals_captum(network, images):
    layer = network.block2.relu2
    peer = captum.attr.LayerGradCam(network, layer)
    expected = peer.attribute(images, target=TARGETS, relu_attributions=True).detach()
    found = salgen.explain(network, images, TARGETS, method="grad-cam", layer="block2.relu2", reduce=None)
    assert found.native_resolution == (8, 10)
    upsampled = captum.attr.LayerAttribution.interpolate(expected, (16, 20), "bilinear")
    assert upsampled.max() > 0
    torch.testing.assert_close(found.values, upsampled, rtol=1e-4, atol=1e-6)


def test_grad_cam_equals_pytorch_grad_cam_up_to_its_scaling(network, images):
    grad_cam = pytest.importorskip("pytorch_grad_cam")
    from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget

    targets = [ClassifierOutputTarget(int(target)) for target in TARGETS]
    with grad_cam.GradCAM(network, [network.block2.relu2]) as peer:
        weighted = peer(images, targets)
    found = salgen.explain(network, images, TARGETS, method="grad-cam", layer="block2.relu2").values
    compared = 0
    for ours, theirs in zip(found, weighted, strict=True):
        if theirs.max() > 0 and ours.max() > 0:
            compared += 1
            assert np.corrcoef(ours.flatten(), theirs.flatten())[0, 1] > 0.99
    assert compared >= 3


def composite(rules, canonizer=None):
    from zennit.composites import LayerMapComposite

    return LayerMapComposite(rules, canonizers=[canonizer] if canonizer else None)


@pytest.mark.parametrize(("alpha", "beta"), [pytest.param(1, 0, marks=pytest.mark.torture), (2, 1)])
@pytest.mark.parametrize("bias", [False, True])
def test_alpha_beta_equals_zennit_on_a_residual_network(alpha, beta, bias):
    from torchvision.models import resnet18
    from zennit.layer import Sum
    from zennit.rules import AlphaBeta, Norm, Pass
    from zennit.torchvision import ResNetCanonizer
    from zennit.types import Activation, AvgPool, BatchNorm, Linear

    torch.manual_seed(0)
    net = resnet18(num_classes=3).double().eval()
    for layer in net.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.running_var.uniform_(0.5, 2)
            nn.init.normal_(layer.bias, std=0.1)
    images = torch.rand(1, 3, 32, 32, generator=torch.Generator().manual_seed(1))
    rule = AlphaBeta(alpha, beta, zero_params=None if bias else ["bias"])
    rules = [(Activation, Pass()), (BatchNorm, Pass()), (Sum, Norm()), (AvgPool, Norm()), (Linear, rule)]
    with composite(rules, ResNetCanonizer()).context(net) as hooked:
        leaf = images.double().requires_grad_()
        start = torch.tensor([[0.0, 1.0, 0.0]]).double()
        (expected,) = torch.autograd.grad(hooked(leaf), leaf, start)
    found = salgen.explain(net, images, 1, method="lrp-alpha-beta", alpha=alpha, beta=beta, bias=bias, reduce=None)
    scale = float(expected.abs().max())
    torch.testing.assert_close(found.values / scale, (expected / scale).float(), rtol=1e-3, atol=1e-5)


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(4)
        self.conv, self.relu1, self.pool = nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2)
        self.dense1, self.relu2, self.dense2 = nn.Linear(252, 5), nn.ReLU(), nn.Linear(5, 3)

    def forward(self, x):
        x = self.pool(self.relu1(self.conv(x))).flatten(1)
        return self.dense2(self.relu2(self.dense1(x)))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_lrp_z_equals_captum(images):
    """captum starts from the logit, adds 1e-9 to denominators, and passes max pools to the winner too."""
    net = Plain().double()
    expected = captum.attr.LRP(net).attribute(images.double(), target=TARGETS).detach().float()
    found = salgen.explain(net, images, TARGETS, method="lrp-z:start=logit", stabiliser=1e-9, reduce=None).values
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4 * float(expected.abs().max()))
