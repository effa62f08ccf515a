"""The layer that the CAM family takes where a model names none."""

import pytest
import torch
from torch import nn
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.models.inspection.layers import last_spatial_layer
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_trace import NetworkTrace
from salgen.registry import MODELS

IMAGE = torch.rand(1, 3, 64, 64, generator=torch.Generator().manual_seed(0))


def built(name, **options):
    from torchvision.models import get_model

    torch.manual_seed(0)
    return get_model(name, weights=None, num_classes=3, **options).eval()


def narrow(name):
    """An architecture that salgen has too, with few channels."""
    return MODELS.create(name, MODELS.load(name).quick).build(3, 3, (64, 64)).eval()


def densenet():
    from torchvision.models import DenseNet

    return DenseNet(growth_rate=4, block_config=(2, 2), num_init_features=8, bn_size=2, num_classes=3).eval()


def convnext():
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt

    return ConvNeXt([CNBlockConfig(8, 12, 1), CNBlockConfig(12, None, 2)], num_classes=3).eval()


def swin():
    from torchvision.models import SwinTransformer

    options = {"patch_size": [4, 4], "embed_dim": 8, "depths": [1, 2], "num_heads": [1, 2], "window_size": [2, 2]}
    return SwinTransformer(**options, num_classes=3).eval()


NETWORKS = {
    "resnet18": (lambda: narrow("resnet18"), "layer4"),
    "vgg16": (lambda: narrow("vgg16"), "features.29"),
    "mobilenet_v2": (lambda: built("mobilenet_v2", width_mult=0.25), "features.18"),
    "mobilenet_v3": (lambda: built("mobilenet_v3_small", width_mult=0.25), "features.12"),
    "efficientnet": (lambda: built("efficientnet_b0"), "features.8"),
    "googlenet": (lambda: built("googlenet", init_weights=False), "inception5b"),
    "densenet": (densenet, "features"),
    "convnext": (convnext, "features"),
    "swin": (swin, "permute"),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_the_default_is_the_last_map_that_all_goes_through(name):
    """The same map as that of the expected module, though a module around it may give it too."""
    build, expected = NETWORKS[name]
    model = build()
    found = last_spatial_layer(ModelView.of(model), IMAGE)
    assert expected.startswith(found)
    maps = [
        salgen.explain(model, IMAGE, 0, method="eigen-cam", layer=layer, reduce=None) for layer in (found, expected)
    ]
    assert torch.equal(maps[0].values, maps[1].values)
    assert min(maps[0].native_resolution) > 1


def test_a_resnet_whose_last_map_is_one_pixel_has_the_one_before():
    assert last_spatial_layer(ModelView.of(built("resnet18")), IMAGE[..., :32, :32]) == "layer3"


@pytest.mark.parametrize("method", ["grad-cam", "layer-cam", "guided-grad-cam", "eigen-cam", "excitation-backprop"])
def test_a_models_own_layer_is_not_taken_where_it_is_one_pixel(method):
    model = built("resnet18")
    model.cam_layer = "layer4"
    found = salgen.explain(model, IMAGE[..., :32, :32], 0, method=method, reduce=None)
    assert min(found.native_resolution) > 1
    named = salgen.explain(model, IMAGE, 0, method="grad-cam", layer="layer4")
    assert torch.equal(salgen.explain(model, IMAGE, 0, method="grad-cam").values, named.values)


def test_a_layer_norm_over_a_whole_map_leaves_its_channels_first():
    net = nn.Sequential(nn.Conv2d(3, 4, 8, 8), nn.LayerNorm([4, 8, 8]), nn.Flatten(), nn.Linear(256, 2))
    view = ModelView.of(net)
    assert last_spatial_layer(view, IMAGE) == "1"
    assert NetworkTrace.of(view, IMAGE).grids["1"].channel_axis == 1


def test_a_model_of_two_branches_has_no_default():
    class Branches(nn.Module):
        def __init__(self):
            super().__init__()
            self.left, self.right, self.head = nn.Conv2d(3, 2, 3), nn.Conv2d(3, 2, 3), nn.Linear(4, 2)

        def forward(self, x):
            return self.head(torch.cat([self.left(x).mean(dim=(2, 3)), self.right(x).relu().mean(dim=(2, 3))], dim=1))

    with pytest.raises(SalgenError, match=r"no layer of more than one pixel through which .* name one with layer="):
        salgen.explain(Branches(), IMAGE, 0, method="grad-cam")
    assert salgen.explain(Branches(), IMAGE, 0, method="grad-cam", layer="left").values.shape == (1, 64, 64)


METHODS = [
    "eigen-cam",
    "grad-cam",
    "cam",
    "score-cam",
    "ablation-cam",
    "fast-cam:layers=relu",
    "poly-cam-plus:layers=relu",
]


@pytest.mark.parametrize("value", [torch.inf, torch.nan])
@pytest.mark.parametrize("method", METHODS)
def test_activations_that_are_not_finite_are_refused(method, value):
    """Though the logits are finite."""

    class Broken(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.relu, self.head = nn.Conv2d(3, 4, 8, 8), nn.ReLU(), nn.Linear(4, 2)

        def forward(self, x):
            x = self.conv(x)
            x[len(x) // 2, 1, 2, 3] = value
            return self.head(self.relu(x).nan_to_num(0, 0, 0).mean(dim=(2, 3)))

    layer = {} if ":" in method else {"layer": "relu"}
    with pytest.raises(SalgenError, match=r"layer 'relu' has NaN or infinite activations|cam is not defined"):
        salgen.explain(Broken(), IMAGE.repeat(3, 1, 1, 1), 0, method=method, **layer)
