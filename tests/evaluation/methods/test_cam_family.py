"""What the methods of the CAM family have in common: layers, shared passes, laws."""

from itertools import product
import pytest
import torch
from repeats import often
from small_networks import Of, Pyramid, batch_sizes
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


def test_a_layer_that_gives_no_tensor_is_refused(images):
    net = nn.Sequential(Of(lambda x: (x, x)), Of(lambda pair: pair[0]), Pyramid())
    with pytest.raises(SalgenError, match=r"layer '0' gives tuple, not one tensor: .*, such as '2\.coarse'"):
        salgen.explain(net, images, 0, method="grad-cam", layer="0")


def test_the_default_layer_is_one_whose_last_call_has_space():
    relu = nn.ReLU()
    layers = nn.Conv2d(1, 2, 3), relu, Of(mean), nn.Linear(2, 4), relu, nn.Linear(4, 2)
    found = salgen.explain(nn.Sequential(*layers), torch.rand(2, 1, 6, 6), 0, method="grad-cam")
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


FAULTS = {
    "corase": "unknown layer 'corase': did you mean 'coarse'",
    "unused": "'unused' does not run",
    "head": r"'head' gives \(1, 3\), which has no known axes .*, such as 'coarse'",
    "fine+": r"must be different names joined by \+",
    "fine+fine": r"must be different names joined by \+",
}


@pytest.mark.parametrize("layer", FAULTS)
def test_faults_name_the_layer(layer, images):
    net = Pyramid()
    net.unused = nn.Conv2d(1, 1, 1)
    with pytest.raises(SalgenError, match=FAULTS[layer]):
        salgen.explain(net, images, 0, method="grad-cam", layer=layer)


@pytest.mark.parametrize("score", ["logit", "margin"])
def test_cam_weights_channels_as_the_class_does_less_the_best_other_of_a_margin(score, images):
    net = Pyramid().eval()
    classes = torch.einsum("nkhw,ck->nchw", net.coarse(net.fine(images)), net.head.weight).detach()
    logits, chosen = net(images).detach(), torch.arange(4)
    expected = classes[chosen, TARGETS]
    if score == "margin":
        logits[chosen, TARGETS] = -torch.inf
        expected = expected - classes[chosen, logits.argmax(dim=1)]
    expected = nn.functional.interpolate(expected[:, None], (8, 12), mode="bilinear")
    found = salgen.explain(net, images, TARGETS, method="cam", layer="coarse", score=score, reduce=None)
    assert found.signed
    assert found.values.min() < 0 < found.values.max()
    torch.testing.assert_close(found.values, expected, rtol=1e-4, atol=1e-6)


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


class Styled(Pyramid):
    def __init__(self, style):
        super().__init__()
        self.style, self.norm = style, nn.BatchNorm1d(5)

    def forward(self, x):
        return self.style(self, self.coarse(self.fine(x)))


STYLES = [
    lambda net, maps: net.head(net.norm(mean(maps))),
    lambda net, maps: net.head(maps.movedim(1, -1)).mean(dim=(1, 2)),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("bias", [0, 1, 100])
def test_pooled_heads_are_accepted_in_every_precision(dtype, bias, images):
    for seed, style in product(often(2, 30), STYLES):
        net = Styled(style)
        torch.manual_seed(seed)
        net.head.reset_parameters()
        net.head.bias.data *= bias
        view = ModelView.of(net.to(dtype).eval())
        check_pooled_head(view, view.like(images[:1].to(dtype)), "coarse")
