"""What the methods of the CAM family have in common: layers, shared passes, laws."""

import pytest
import torch
from repeats import often
from small_networks import Pyramid, batch_sizes
from torch import nn
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.methods.cam import check_pooled_head
from salgen.evaluation.models.inspection.layers import last_spatial_layer
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_trace import NetworkTrace


@pytest.fixture
def images():
    return torch.rand(4, 1, 8, 12, generator=torch.Generator().manual_seed(5)) * 2 - 1


TARGETS = [0, 1, 2, 0]
AT_ONE_LAYER = ["grad-cam", "grad-cam++", "layer-cam", "eigen-cam", "eigen-grad-cam", "xgrad-cam", "hires-cam"]
FAMILY = [*AT_ONE_LAYER, "cam", "smooth-grad-cam++", "score-cam", "ablation-cam"]


def test_the_networks_layout_is_found_once_per_size(images):
    network = Pyramid()
    forwards, view = batch_sizes(network), ModelView.of(network)
    for size in (8, 8, 6, 8):
        part = images[:, :, :size]
        assert last_spatial_layer(view, part) == "coarse"
        assert NetworkTrace.of(view, part).outputs["fine"] == (1, 4, size, 12)
    assert forwards == [1, 1, 1]  # the first sees what the network gives


@pytest.mark.parametrize("method", FAMILY)
def test_several_layers_are_channels_of_the_finest(method, images):
    layers = ["coarse", "coarse.3"] if method == "cam" else ["coarse", "fine"]
    size = (4, 6) if method == "cam" else (8, 12)
    raw = salgen.explain(Pyramid(), images, TARGETS, method=method, layer="+".join(layers), reduce=None)
    assert raw.native_resolution == size
    for channel, layer in enumerate(layers):
        alone = salgen.explain(Pyramid(), images, TARGETS, method=method, layer=layer)
        torch.testing.assert_close(raw.values[:, channel], alone.values, rtol=1e-4, atol=1e-6)
    summed = salgen.explain(Pyramid(), images, TARGETS, method=method, layer=layers)
    torch.testing.assert_close(summed.values, raw.values.sum(dim=1))


@pytest.mark.parametrize("layer", ["fine+", "fine+fine", "+"])
def test_layers_are_different_names(layer, images):
    with pytest.raises(SalgenError, match=r"must be different names joined by \+"):
        salgen.explain(Pyramid(), images, 0, method="grad-cam", layer=layer)


def test_a_layer_that_gives_no_tensor_is_refused(images):
    class Pair(nn.Module):
        def forward(self, x):
            return x, x

    class Paired(Pyramid):
        def __init__(self):
            super().__init__()
            self.pair = Pair()

        def forward(self, x):
            return super().forward(self.pair(x)[0])

    with pytest.raises(SalgenError, match="layer 'pair' gives tuple, not one tensor: choose another, such as 'coarse'"):
        salgen.explain(Paired(), images, 0, method="grad-cam", layer="pair")


def test_the_default_layer_is_one_whose_last_call_has_space():
    class Reused(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.relu = nn.Conv2d(1, 2, 3), nn.ReLU()
            self.dense, self.head = nn.Linear(2, 4), nn.Linear(4, 2)

        def forward(self, x):
            x = self.relu(self.conv(x)).mean(dim=(2, 3))
            return self.head(self.relu(self.dense(x)))

    found = salgen.explain(Reused(), torch.rand(2, 1, 6, 6), 0, method="grad-cam")
    assert found.native_resolution == (4, 4)


@pytest.mark.parametrize("method", [*AT_ONE_LAYER, "smooth-grad-cam++", "fast-cam", "fast-cam++"])
def test_the_margin_is_the_difference_of_two_logits(method, images):
    """A network whose first logit is the margin over the best other class has the same map."""

    class Margin(Pyramid):
        def forward(self, x):
            logits = super().forward(x)
            others = logits[:, 1:].amax(dim=1, keepdim=True)
            return torch.cat([logits[:, :1] - others, logits[:, 1:]], dim=1)

    found = salgen.explain(Pyramid(), images, 0, method=method, layer="coarse", score="margin", reduce=None).values
    expected = salgen.explain(Margin(), images, 0, method=method, layer="coarse", reduce=None).values
    assert expected.abs().max() > 0
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)


class TwoChannels(nn.Module):
    """Two channels (the image, its negative), rectified and averaged, then a dense layer."""

    def __init__(self, in_place=False):
        super().__init__()
        self.stem = nn.Conv2d(1, 2, 1, bias=False)
        self.stem.weight.data = torch.tensor([1.0, -1.0]).view(2, 1, 1, 1)
        self.relu = nn.ReLU(inplace=in_place)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.unused = nn.Conv2d(1, 1, 1)
        self.head = nn.Linear(2, 2, bias=False)
        self.head.weight.data = torch.tensor([[4.0, 8.0], [-4.0, 4.0]])

    def forward(self, x):
        return self.head(self.pool(self.relu(self.stem(x))).flatten(1))


IMAGE = torch.tensor([[1.0, -2.0], [0.0, 3.0]]).view(1, 1, 2, 2)


def test_a_layer_before_an_in_place_relu_is_seen_before_it():
    for in_place in (False, True):
        found = salgen.explain(TwoChannels(in_place), IMAGE, 1, method="grad-cam", layer="stem")
        # gradients: -1 where the image is positive (one half), 1 where its negative is (one quarter)
        torch.testing.assert_close(found.values[0], (-0.5 * IMAGE - 0.25 * IMAGE)[0, 0].clamp(min=0))


def test_faults_name_the_layer():
    with pytest.raises(SalgenError, match="unknown layer 'rleu': did you mean 'relu'"):
        salgen.explain(TwoChannels(), IMAGE, 0, method="grad-cam", layer="rleu")
    with pytest.raises(SalgenError, match="'unused' does not run"):
        salgen.explain(TwoChannels(), IMAGE, 0, method="grad-cam", layer="unused")
    with pytest.raises(SalgenError, match=r"'head' gives \(1, 2\), which has no known axes .*, such as 'relu'"):
        salgen.explain(TwoChannels(), IMAGE, 0, method="grad-cam", layer="head")
    with pytest.raises(SalgenError, match="no layer whose numbers have a place in the image"):
        salgen.explain(nn.Sequential(nn.Flatten(), nn.Linear(4, 2)), IMAGE, 0, method="grad-cam")


@pytest.mark.parametrize("score", ["logit", "margin"])
def test_the_mean_of_cam_is_the_logit_without_its_bias(score, images):
    """At the layer's own resolution, so that no resizing comes between."""
    net = nn.Sequential(nn.Upsample(scale_factor=2), Pyramid()).eval()
    logits, column = net(images).detach(), torch.tensor(TARGETS)[:, None]
    found = salgen.explain(net, images, TARGETS, method="cam", layer="1.coarse", score=score, reduce=None)
    assert found.native_resolution == (8, 12)
    assert found.signed
    evidence = logits - net[1].head.bias.detach()
    expected = evidence.gather(1, column)
    if score == "margin":
        expected -= evidence.gather(1, logits.scatter(1, column, -torch.inf).argmax(dim=1, keepdim=True))
    torch.testing.assert_close(found.values.mean(dim=(2, 3)), expected, rtol=1e-4, atol=1e-5)


def test_rectified_cam_is_grad_cam_times_the_pixels(images):
    net = nn.Sequential(nn.Upsample(scale_factor=2), Pyramid())
    at = {"targets": TARGETS, "layer": "1.coarse", "reduce": None}
    cam, grad_cam = (salgen.explain(net, images, method=method, **at).values for method in ("cam", "grad-cam"))
    assert cam.min() < 0 < cam.max()
    torch.testing.assert_close(cam.clamp(min=0) / (8 * 12), grad_cam, rtol=1e-4, atol=1e-7)


class Headed(Pyramid):
    def __init__(self, head):
        super().__init__()
        self.other = head

    def forward(self, x):
        return self.other(self.coarse(self.fine(x)), x)


DENSE = nn.Linear(5, 3)


def mean(maps):
    return maps.mean(dim=(2, 3))


def heads(seed):
    """Heads that are no linear layer of the means, with weights of their own."""
    torch.manual_seed(seed)
    dense, hidden = nn.Linear(5, 3), nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
    grid = nn.Linear(5 * 24, 3)
    return {
        "ReLU": lambda maps, x: dense(mean(maps)).relu(),
        "MLP": lambda maps, x: hidden(mean(maps)),
        "GELU MLP": lambda maps, x: hidden[2](nn.functional.gelu(hidden[0](mean(maps)))),
        "tanh": lambda maps, x: nn.functional.linear(mean(maps), dense.weight).tanh(),
        "norm": lambda maps, x: dense(nn.functional.normalize(mean(maps))),
        "clipped": lambda maps, x: dense(mean(maps).clamp(-6, 6)),
        "max pooling": lambda maps, x: dense(maps.amax(dim=(2, 3))),
        "a grid": lambda maps, x: grid(maps.flatten(1)),
        "a ReLU on the way": lambda maps, x: dense(mean((maps - 0.1).relu())),
        "the image beside": lambda maps, x: dense(mean(maps)) + mean(x),
    }


@pytest.mark.parametrize("head", heads(0))
def test_no_draw_of_weights_makes_a_nonlinear_head_linear(head, images):
    for seed in often(6, 30):
        view = ModelView.of(Headed(heads(seed)[head]).eval())
        with pytest.raises(SalgenError, match="cam is not defined for this network: after layer 'coarse' must come"):
            check_pooled_head(view, images[:1], "coarse")


@pytest.mark.parametrize("layer", ["coarse.2", "coarse.1", "fine"])
def test_cam_is_refused_at_a_layer_that_is_not_pooled(layer, images):
    with pytest.raises(SalgenError, match="must come global average pooling"):
        salgen.explain(Pyramid(), images, 0, method="cam", layer=layer)


POOLED = {
    "a softmax, which is left out": lambda maps, x: DENSE(mean(maps)).softmax(dim=1),
    "a pool": lambda maps, x: DENSE(nn.functional.adaptive_avg_pool2d(maps, 1).flatten(1)),
    "a sum": lambda maps, x: DENSE(maps.sum(dim=(2, 3)) / 24),
    "a 1x1 convolution": lambda maps, x: mean(nn.functional.conv2d(maps, DENSE.weight[:, :, None, None], DENSE.bias)),
}


@pytest.mark.parametrize("head", POOLED)
def test_the_style_of_writing_a_pooled_head_does_not_matter(head, images):
    model = Pyramid()
    model.head = DENSE
    expected = salgen.explain(model, images, TARGETS, method="cam", layer="coarse").values
    found = salgen.explain(Headed(POOLED[head]), images, TARGETS, method="cam", layer="coarse").values
    assert expected.abs().max() > 0
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)


class Style(nn.Module):
    """A head that holds its modules, so that they become half or double with the network."""

    def __init__(self, run, dense, norm):
        super().__init__()
        self.run, self.dense, self.norm = run, dense, norm

    def forward(self, maps, x):
        return self.run(self.dense, self.norm, maps)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("bias", [0, 1, 100])
def test_pooled_heads_are_accepted_in_every_precision(dtype, bias, images):
    for seed in often(2, 30):
        torch.manual_seed(seed)
        dense, batch_norm = nn.Linear(5, 3), nn.BatchNorm1d(5)
        dense.bias.data *= bias
        styles = [
            lambda dense, norm, maps: dense(mean(maps)),
            lambda dense, norm, maps: dense(nn.functional.adaptive_avg_pool2d(maps, 1).flatten(1)),
            lambda dense, norm, maps: dense(norm(mean(maps))),
            lambda dense, norm, maps: dense(maps.movedim(1, -1)).mean(dim=(1, 2)),
        ]
        for style in styles:
            view = ModelView.of(Headed(Style(style, dense, batch_norm)).to(dtype).eval())
            check_pooled_head(view, view.like(images[:1].to(dtype)), "coarse")
