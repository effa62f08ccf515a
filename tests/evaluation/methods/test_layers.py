"""One network with its numbers arranged in several ways: every method with a layer has the same map."""

import pytest
import torch
from small_networks import Of
from torch import nn
from torchvision import models
from torchvision.models.convnext import CNBlockConfig
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.models.inspection.layers import last_spatial_layer
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_trace import NetworkTrace
from salgen.registry import MODELS

IMAGES = torch.rand(2, 1, 8, 8, generator=torch.Generator().manual_seed(4)) - 0.3


def first(x):
    return x


def last(x):
    return x.permute(0, 2, 3, 1)


def transposed(x):
    return x.transpose(2, 3)


def tokens(x):
    return x.flatten(2).transpose(1, 2)


def windows(x):
    n, k, h, w = x.shape
    return x.view(n, k, h // 2, 2, w // 2, 2).permute(0, 2, 4, 3, 5, 1).reshape(n, -1, 4, k)


def from_windows(x):
    return x.view(len(x), 2, 2, 2, 2, -1).permute(0, 5, 1, 3, 2, 4).reshape(len(x), -1, 4, 4)


def from_tokens(x):
    return x.mT.reshape(len(x), -1, 4, 4)


ORDER = torch.randperm(16, generator=torch.Generator().manual_seed(1))
ARRANGEMENTS = {
    "channels last": (last, lambda x: x.permute(0, 3, 1, 2)),
    "columns before rows": (transposed, transposed),
    "tokens": (tokens, from_tokens),
    "windows": (windows, from_windows),
    "tokens in any order": (lambda x: tokens(x)[:, ORDER], lambda x: from_tokens(x[:, ORDER.argsort()])),
}


class Arranged(nn.Module):
    """Four channels of 4 x 4 pixels, so that no axis can be told by its length."""

    def __init__(self, there=first, back=first):
        super().__init__()
        torch.manual_seed(5)
        self.there, self.back = there, back
        self.conv, self.layer, self.head = nn.Conv2d(1, 4, 3, 2, 1), nn.ReLU(), nn.Linear(4, 3)

    def forward(self, x):
        return self.head(self.back(self.layer(self.there(self.conv(x)))).mean(dim=(2, 3)))


METHODS = [
    *("cam", "grad-cam", "grad-cam++", "xgrad-cam", "hires-cam", "layer-cam", "eigen-cam", "eigen-grad-cam"),
    *("fem", "kpca-cam", "finer-cam", "shapley-cam", "recipro-cam", "opti-cam:steps=3"),
    *("score-cam", "ablation-cam", "smooth-grad-cam++", "guided-grad-cam", "excitation-backprop"),
    *("fast-cam:layers=layer", "poly-cam-plus:layers=layer"),
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_the_arrangement_of_a_layer_does_not_matter(arrangement, method):
    if arrangement == "tokens in any order" and method in ("excitation-backprop", "guided-grad-cam"):
        pytest.skip("these follow no operation that gathers by an index")
    other = Arranged(*ARRANGEMENTS[arrangement])
    options = {} if "poly" in method else {"layer": "layer"}
    expected = salgen.explain(Arranged(), IMAGES, [0, 1], method=method, reduce=None, **options)
    found = salgen.explain(other, IMAGES, [0, 1], method=method, reduce=None, **options)
    assert found.native_resolution == expected.native_resolution
    assert expected.values.abs().max() > 0
    torch.testing.assert_close(found.values, expected.values, rtol=1e-4, atol=1e-6)
    assert last_spatial_layer(ModelView.of(Arranged()), IMAGES) == "layer"


class Tokens(nn.Module):
    """A class token and registers beside the patches of an oblong image, mixed by one attention."""

    def __init__(self, reads="mean"):
        super().__init__()
        torch.manual_seed(6)
        self.embed, self.extra = nn.Conv2d(1, 8, 4, 4), nn.Parameter(torch.randn(1, 3, 8))
        self.before, self.after = nn.Identity(), nn.Identity()
        self.attention, self.head, self.reads = nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 3), reads

    def forward(self, x):
        extra = self.extra.expand(len(x), -1, -1)
        x = self.before(torch.cat([extra[:, :1], self.embed(x).flatten(2).mT, extra[:, 1:]], dim=1))
        x = self.after(x + self.attention(x, x, x)[0])
        return self.head(x[:, 0] if self.reads == "class token" else x.mean(dim=1))


OBLONG = torch.rand(2, 1, 8, 16, generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize("layer", ["before", "after"])
def test_tokens_beside_the_patches_are_left_out_wherever_they_are(layer):
    net = Tokens().eval()
    kept = []
    handle = net.get_submodule(layer).register_forward_hook(lambda _m, _i, output: kept.append(output))
    (gradient,) = torch.autograd.grad(net(OBLONG)[:, 1].sum(), kept)
    handle.remove()
    weights = gradient[:, 1:9].mean(dim=1, keepdim=True)
    expected = (weights * kept[0][:, 1:9]).detach().sum(dim=2).clamp(min=0).view(2, 1, 2, 4)
    expected = nn.functional.interpolate(expected, (8, 16), mode="bilinear")
    found = salgen.explain(net, OBLONG, 1, method="grad-cam", layer=layer, reduce=None)
    assert expected.max() > 0
    assert found.native_resolution == (2, 4)
    torch.testing.assert_close(found.values, expected, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("zero", [False, True])
def test_patches_that_do_not_count_are_no_layer(zero):
    """Whatever the weights are: an untrained head of zeros gives zero gradients everywhere."""
    net = Tokens("class token")
    if zero:
        nn.init.zeros_(net.head.weight)
    with pytest.raises(
        SalgenError, match=r"'after' .* read no pixel, only the class token: .*, such as 'before' \(layer='before' "
    ):
        salgen.explain(net, OBLONG, 0, method="grad-cam", layer="after")
    assert last_spatial_layer(ModelView.of(net), OBLONG) == "before"


class Through(nn.Module):
    """A convolution, then anything, then its rectified output."""

    def __init__(self, function):
        super().__init__()
        torch.manual_seed(7)
        self.conv, self.function = nn.Conv2d(1, 4, 3, 1, 1), function
        self.layer, self.head = nn.ReLU(), nn.LazyLinear(2)

    def forward(self, x):
        return self.head(self.layer(self.function(self.conv(x))).flatten(1))


def written(x):
    out = torch.zeros(len(x), 6, *x.shape[2:])
    out[:, 1:5] = x
    return out


TAKEN = {
    "padding by zeros": (nn.Sequential(nn.ZeroPad2d((0, 1, 0, 1)), nn.Conv2d(4, 2, 3, 2)), (4, 4)),
    "circular padding": (nn.Conv2d(4, 3, 3, padding=1, padding_mode="circular"), (8, 8)),
    "reflected padding": (nn.Conv2d(4, 3, 3, padding=1, padding_mode="reflect"), (8, 8)),
    "transposed convolution": (nn.ConvTranspose2d(4, 2, 2, 2), (16, 16)),
    "pixel shuffle": (nn.PixelShuffle(2), (16, 16)),
    "pixels to channels": (nn.PixelUnshuffle(2), (4, 4)),
    "nearest neighbours": (nn.Upsample(scale_factor=3), (24, 24)),
    "written into memory": (written, (8, 8)),
    "two branches": (lambda x: torch.cat([nn.functional.avg_pool2d(x, 2), x[:, :, ::2, ::2]], dim=1), (4, 4)),
    "gated": (lambda x: x * x.mean(dim=(2, 3), keepdim=True).sigmoid(), (8, 8)),
    "dense layers over channels": (lambda x: (x.movedim(1, 3) @ torch.ones(4, 5)).movedim(3, 1), (8, 8)),
    "tokens mixed beside a shortcut": (lambda x: x + (x.flatten(2) @ torch.ones(64, 64)).view_as(x), (8, 8)),
    "a shift and its undoing": (lambda x: x.roll((3, 1), (2, 3)).relu().roll((-3, -1), (2, 3)), (8, 8)),
    "rows of patches": (nn.Unfold(2, stride=2), (4, 4)),
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_followed(name):
    function, size = TAKEN[name]
    net = Through(function)
    net(IMAGES)
    found = salgen.explain(net, IMAGES, 0, method="grad-cam", layer="layer", reduce=None)
    assert found.native_resolution == size


REFUSED = {
    "sorted": lambda x: x.sort(dim=3).values,
    "shifted": lambda x: x.roll(3, dims=2) + x,
    "tokens mixed": lambda x: (x.flatten(2) @ torch.ones(64, 64)).view_as(x),
    "a part of the pixels": lambda x: x.flatten(2)[:, :, :11],
    "images on the second axis": lambda x: x.flatten(2).permute(2, 0, 1),
    "several heads": lambda x: x.flatten(2).unflatten(1, (2, 2)),
    "a mean over pixels": lambda x: x.mean(dim=(2, 3)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_arrangement_is_refused_and_another_layer_named(name):
    class Flat(Through):
        def forward(self, x):
            out = self.layer(self.function(self.conv(x)))
            return self.head((out.movedim(1, 0) if name == "images on the second axis" else out).flatten(1))

    net = Flat(REFUSED[name])
    net(IMAGES)
    with pytest.raises(
        SalgenError, match=r"^layer 'layer' gives \(.*\), which has no known axes .*, such as 'conv' \(layer='conv' "
    ):
        salgen.explain(net, IMAGES, 0, method="grad-cam", layer="layer")
    assert salgen.explain(net, IMAGES, 0, method="grad-cam", layer="conv", reduce=None).native_resolution == (8, 8)


def test_a_network_without_any_layer_names_another_kind_of_method():
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 2))
    for options in ({}, {"layer": "1"}):
        with pytest.raises(SalgenError, match="choose a method that needs no layer, such as occlusion"):
            salgen.explain(net, IMAGES, 0, method="grad-cam", **options)


def test_one_channel_of_one_pixel_is_a_map():
    net = nn.Sequential(nn.Conv2d(1, 1, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1, 2))
    assert salgen.explain(net, IMAGES, 0, method="grad-cam", layer="1", reduce=None).native_resolution == (1, 1)


IMAGE = torch.rand(1, 3, 64, 64, generator=torch.Generator().manual_seed(0))


def built(name, **options):
    torch.manual_seed(0)
    return models.get_model(name, weights=None, num_classes=3, **options).eval()


def narrow(name):
    return MODELS.create(name, MODELS.load(name).quick).build(3, 3, (64, 64)).eval()


DENSE = {"growth_rate": 4, "block_config": (2, 2), "num_init_features": 8, "bn_size": 2}
BLOCKS = [CNBlockConfig(8, 12, 1), CNBlockConfig(12, None, 2)]
SWIN = {"patch_size": [4, 4], "embed_dim": 8, "depths": [1, 2], "num_heads": [1, 2], "window_size": [2, 2]}
DEFAULTS = {
    "resnet18": (lambda: narrow("resnet18"), "layer4"),
    "vgg16": (lambda: narrow("vgg16"), "features.29"),
    "mobilenet_v2": (lambda: built("mobilenet_v2", width_mult=0.25), "features.18"),
    "mobilenet_v3": (lambda: built("mobilenet_v3_small", width_mult=0.25), "features.12"),
    "efficientnet": (lambda: built("efficientnet_b0"), "features.8"),
    "googlenet": (lambda: built("googlenet", init_weights=False), "inception5b"),
    "densenet": (lambda: models.DenseNet(**DENSE), "features"),
    "convnext": (lambda: models.ConvNeXt(BLOCKS), "features"),
    "swin": (lambda: models.SwinTransformer(**SWIN), "permute"),
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_the_default_is_the_last_map_that_all_goes_through(name):
    """The same map as that of the expected module, though a module around it may give it too."""
    build, expected = DEFAULTS[name]
    model = build().eval()
    found = last_spatial_layer(ModelView.of(model), IMAGE)
    assert expected.startswith(found)
    maps = [
        salgen.explain(model, IMAGE, 0, method="eigen-cam", layer=layer, reduce=None) for layer in (found, expected)
    ]
    assert torch.equal(maps[0].values, maps[1].values)
    assert min(maps[0].native_resolution) > 1


@pytest.mark.parametrize("method", ["grad-cam", "layer-cam", "guided-grad-cam", "eigen-cam", "excitation-backprop"])
def test_a_models_own_layer_is_not_taken_where_it_is_one_pixel(method):
    model = built("resnet18")
    model.cam_layer = "layer4"
    found = salgen.explain(model, IMAGE[..., :32, :32], 0, method=method, reduce=None)
    assert min(found.native_resolution) > 1
    assert last_spatial_layer(ModelView.of(built("resnet18")), IMAGE[..., :32, :32]) == "layer3"
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


OF_BROKEN_LAYERS = [
    *("eigen-cam", "grad-cam", "cam", "score-cam", "ablation-cam"),
    *("fast-cam:layers=2", "poly-cam-plus:layers=2"),
]


@pytest.mark.parametrize("value", [torch.inf, torch.nan])
@pytest.mark.parametrize("method", OF_BROKEN_LAYERS)
def test_activations_that_are_not_finite_are_refused(method, value):
    def spoilt(x):
        x[len(x) // 2, 1, 2, 3] = value
        return x

    end = Of(lambda x: x.nan_to_num(0, 0, 0).mean(dim=(2, 3))), nn.Linear(4, 2)
    net = nn.Sequential(nn.Conv2d(3, 4, 8, 8), Of(spoilt), nn.ReLU(), *end)
    layer = {} if ":" in method else {"layer": "2"}
    with pytest.raises(SalgenError, match=r"layer '2' has NaN or infinite values|cam is not defined"):
        salgen.explain(net, IMAGE.repeat(3, 1, 1, 1), 0, method=method, **layer)
