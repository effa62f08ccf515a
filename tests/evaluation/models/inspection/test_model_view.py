"""Private copies of wrapped models and of weights made in inference mode, and models that are random."""

import pytest
import torch
from torch import nn

import salgen
from salgen.errors import SalgenError
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_trace import check_deterministic


def network():
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(72, 2)).eval()


IMAGES = torch.rand(2, 1, 8, 8, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("wrapper", [torch.compile, nn.DataParallel])
def test_wrappers_are_taken_off_at_any_depth(wrapper):
    plain = network()
    view = ModelView.of(Classifier(wrapper(plain)))
    assert [name for name, _ in view.network.named_modules()] == [name for name, _ in plain.named_modules()]
    assert view.network[0].weight.data_ptr() == plain[0].weight.data_ptr()


@pytest.mark.parametrize("method", ["gradient", "lrp-z"])
def test_weights_made_in_inference_mode(method):
    with torch.inference_mode():
        net = network()
    assert torch.isfinite(salgen.explain(net, IMAGES, 0, method=method).values).all()


def test_dropout_that_stays_on_is_refused_and_leaves_the_random_state():
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 2))
    net[0].register_forward_hook(lambda _m, _i, output: nn.functional.dropout(output, 0.5))
    before = torch.get_rng_state()
    for _ in range(2):
        with pytest.raises(SalgenError, match="draws random numbers"):
            check_deterministic(ModelView.of(net), IMAGES[:1])
    assert torch.equal(torch.get_rng_state(), before)
    check_deterministic(ModelView.of(network()), IMAGES[:1])


@pytest.mark.parametrize("first", ["auto", "box"])
def test_the_box_goes_through_a_batch_norm_that_comes_first(first):
    """Merged into the convolution by hand it is the same z-B rule."""
    torch.manual_seed(0)
    norm, conv = nn.BatchNorm2d(2), nn.Conv2d(2, 3, 3)
    norm.weight.data, norm.bias.data = torch.tensor([2.0, -0.5]), torch.tensor([0.3, -0.2])
    head = nn.Linear(108, 2)
    net = nn.Sequential(norm, conv, nn.ReLU(), nn.Flatten(), head).eval()
    scale = norm.weight.data / (1 + norm.eps) ** 0.5
    merged = nn.Conv2d(2, 3, 3)
    merged.weight.data = conv.weight.data * scale.view(1, 2, 1, 1)
    merged.bias.data = conv.bias.data + (conv.weight.data.sum(dim=(2, 3)) * norm.bias.data).sum(dim=1)
    peer = nn.Sequential(merged, nn.ReLU(), nn.Flatten(), head).eval()
    images = torch.rand(2, 2, 8, 8, generator=torch.Generator().manual_seed(2)) * 2 - 1
    maps = [
        salgen.explain(one, images, 0, method="deep-taylor", first=first, low=-1.0, high=1.0, reduce=None).values
        for one in (net, peer)
    ]
    torch.testing.assert_close(*maps, rtol=1e-4, atol=1e-5)
