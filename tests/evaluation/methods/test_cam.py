"""CAM: where it is defined, and what it adds up to."""

import pytest
import torch
from repeats import often
from small_networks import Pyramid
from torch import nn
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.methods.cam import check_pooled_head
from salgen.evaluation.models.inspection.model_view import ModelView


@pytest.fixture
def images():
    return torch.rand(4, 1, 8, 12, generator=torch.Generator().manual_seed(5)) * 2 - 1


TARGETS = [0, 1, 2, 0]


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
