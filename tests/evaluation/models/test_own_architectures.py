"""salgen's own networks: their layers and formulas, and what they refuse."""

from itertools import pairwise, product
import pytest
import torch
from torch import nn
from salgen.errors import SalgenError
from salgen.evaluation.models.lesion_cnn import LesionCNN
from salgen.evaluation.models.scnn import SCNN
from salgen.registry import MODELS

PAPER = LesionCNN(**LesionCNN.scales["full"])


def parameter_count(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def test_papers_network_has_the_papers_layers():
    network = PAPER.build(1, 2, (140, 192))
    convolutions = [m for m in network.modules() if isinstance(m, nn.Conv2d)]
    assert [(m.in_channels, m.out_channels) for m in convolutions] == [
        (1, 32), (32, 32), (32, 64), (64, 64), (64, 128), (128, 128), (128, 256), (256, 256),
    ]  # fmt: skip
    dense = [m for m in network.modules() if isinstance(m, nn.Linear)]
    assert [(m.in_features, m.out_features) for m in dense] == [(24_576, 128), (128, 2)]
    assert not any(isinstance(m, nn.BatchNorm2d) for m in network.modules())
    widths = [1, 32, 32, 64, 64, 128, 128, 256, 256]
    expected = sum(9 * a * b + b for a, b in pairwise(widths)) + 24_577 * 128 + 129 * 2
    assert parameter_count(network) == expected


NETWORKS = {
    "lesion-cnn": (LesionCNN(widths=(3, 4), hidden=5, batch_norm=False), ("conv1", "conv2")),
    "scnn": (SCNN(widths=(3, 4)), ("conv",)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_the_forward_pass_is_the_formula(name):
    plugin, layers = NETWORKS[name]
    network = plugin.build(2, 3, (9, 14)).double()
    weights = dict(network.named_parameters())
    x = images = torch.rand(2, 2, 9, 14, dtype=torch.float64)
    for block, layer in product((1, 2), layers):
        place = f"block{block}.{layer}"
        x = nn.functional.conv2d(x, weights[f"{place}.weight"], weights[f"{place}.bias"], padding=1).clamp(min=0)
        x = nn.functional.max_pool2d(x, 2) if layer == layers[-1] else x
    if name == "scnn":
        x = x.mean(dim=(2, 3))
    else:
        x = (x.flatten(1) @ weights["hidden.weight"].T + weights["hidden.bias"]).clamp(min=0)
    torch.testing.assert_close(network(images), x @ weights["logits.weight"].T + weights["logits.bias"])


def test_weights_start_he_uniform_and_every_relu_is_its_own():
    network = PAPER.build(1, 2, (32, 32)).requires_grad_(False)
    for module in network.modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            fan_in = module.weight[0].numel()
            bound = (6 / fan_in) ** 0.5
            assert module.weight.abs().max() <= bound
            if module.weight.numel() > 1000:
                assert module.weight.abs().max() > 0.98 * bound
                assert module.weight.std() == pytest.approx(bound / 3**0.5, rel=0.05)
            assert not module.bias.any()
    for plugin, count in ((LesionCNN(), 9), (SCNN(), 4)):
        network, calls = plugin.build(1, 2, (16, 16)), []
        for module in network.modules():
            if isinstance(module, nn.ReLU):
                assert not module.inplace
                module.register_forward_hook(lambda module, _, __, calls=calls: calls.append(module))
        network.eval()(torch.rand(1, 1, 16, 16))
        assert len(calls) == len(set(calls)) == count


@pytest.mark.parametrize("plugin", [LesionCNN(widths=(4,)), LesionCNN(widths=(4, 8, 8)), SCNN(widths=(3, 4, 5))])
def test_cam_layer_is_the_last_relu_before_the_last_pool(plugin):
    network = plugin.build(1, 2, (16, 24))
    modules = list(network.modules())
    layer = network.get_submodule(plugin.cam_layer(network))
    assert isinstance(layer, nn.ReLU)
    assert modules.index(layer) == max(k for k, m in enumerate(modules) if isinstance(m, nn.MaxPool2d)) - 1


@pytest.mark.parametrize("name", ["lesion-cnn", "scnn"])
def test_what_they_cannot_be_is_refused(name):
    plugin = MODELS.create(name)
    with pytest.raises(SalgenError, match=rf"15x64 is too small for {name}: each side must be at least 16"):
        plugin.build(1, 2, (15, 64))
    plugin.build(1, 2, (16, 16))
