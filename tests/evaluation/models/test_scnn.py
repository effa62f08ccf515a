import pytest
import torch
from torch import nn

from salgen.errors import SalgenError
from salgen.evaluation.models.scnn import SCNN
from salgen.registry import MODELS


def test_is_the_stated_network():
    network = SCNN().build(3, 2, (64, 64))
    layers = [module for module in network.modules() if not isinstance(module, nn.Sequential)]
    block = [nn.Conv2d, nn.ReLU, nn.MaxPool2d]
    assert [type(module) for module in layers] == [*(block * 4), nn.AdaptiveAvgPool2d, nn.Flatten, nn.Linear]
    assert [m.out_channels for m in layers if isinstance(m, nn.Conv2d)] == [32, 64, 128, 128]
    count = sum(9 * a * b + b for a, b in [(3, 32), (32, 64), (64, 128), (128, 128)]) + 2 * 128 + 2
    assert sum(parameter.numel() for parameter in network.parameters()) == count
    assert len({id(m) for m in layers if isinstance(m, nn.ReLU)}) == 4
    assert not any(m.inplace for m in layers if isinstance(m, nn.ReLU))


def test_forward_is_the_formula():
    network = SCNN(widths=(3, 4)).build(2, 3, (9, 14)).double()
    weights = dict(network.named_parameters())
    x = images = torch.rand(2, 2, 9, 14, dtype=torch.float64)
    for block in (1, 2):
        name = f"block{block}.conv"
        x = nn.functional.conv2d(x, weights[f"{name}.weight"], weights[f"{name}.bias"], padding=1).clamp(min=0)
        x = nn.functional.max_pool2d(x, 2)
    expected = x.mean(dim=(2, 3)) @ weights["logits.weight"].T + weights["logits.bias"]
    torch.testing.assert_close(network(images), expected)


def test_cam_layer_is_the_last_relu_before_its_pool():
    plugin = SCNN(widths=(3, 4, 5))
    network = plugin.build(1, 2, (16, 16))
    modules = list(network.modules())
    layer = network.get_submodule(plugin.cam_layer(network))
    assert isinstance(layer, nn.ReLU)
    assert modules.index(layer) == max(k for k, m in enumerate(modules) if isinstance(m, nn.MaxPool2d)) - 1


def test_image_too_small_is_an_error_that_says_how_large():
    with pytest.raises(SalgenError, match=r"15x64 is too small for scnn with 4 blocks: .* at least 16"):
        SCNN().build(1, 2, (15, 64))
    SCNN().build(1, 2, (16, 16))


def test_no_widths_is_an_error():
    with pytest.raises(SalgenError, match="widths is empty"):
        MODELS.create("scnn", {"widths": ""})
