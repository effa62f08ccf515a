"""Poly-CAM against loops over channels and pixels, and against what the authors' code computes."""

import numpy as np
import pytest
import torch
from slow_resizing import enlarged_by_loops
from small_networks import batch_sizes
from torch import nn
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.attribution.explaining import explain

VARIANTS = ("poly-cam-plus", "poly-cam-minus", "poly-cam-pm")


class Network(nn.Module):
    """Three stages of 9x7, 4x3 and 2x1 pixels; the second channel of the first is never active."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.stage1 = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.ReLU())
        self.stage2 = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(4, 5, 3, padding=1), nn.ReLU())
        self.stage3 = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(5, 6, 3, padding=1), nn.ReLU())
        self.head = nn.Linear(12, 3)
        self.stage1[0].bias.data[1] = -100
        self.head.bias.data += 1  # logits are mostly positive
        self.double()

    def forward(self, x):
        return 8 * self.head(self.stage3(self.stage2(self.stage1(x))).flatten(1))


LAYERS = ("stage1", "stage2", "stage3")


@pytest.fixture(scope="module")
def network():
    return Network().eval()


@pytest.fixture(scope="module")
def images():
    return torch.rand(3, 2, 9, 7, generator=torch.Generator().manual_seed(0)) * 2 - 1


TARGETS = torch.tensor([0, 2, 1])


def mask_of(channel, size, compat):
    if not compat:
        channel = enlarged_by_loops(channel, size)
    low, high = np.percentile(channel, [0.1, 99.9])
    span = high if compat else high - low
    scaled = np.clip((channel - low) / span, 0, 1) if span > 0 else np.zeros_like(channel)
    return enlarged_by_loops(scaled, size) if compat else scaled


def value(network, image, target, output):
    logits = network(torch.from_numpy(image)[None])[0].detach().numpy()
    if output == "score":
        return logits[target]
    return np.exp(logits[target] - logits.max()) / np.exp(logits - logits.max()).sum()


def weight(variant, network, image, target, mask, output):
    kept = value(network, image * mask, target, output)
    fall = value(network, image, target, output) - value(network, image * (1 - mask), target, output)
    return {"poly-cam-plus": kept, "poly-cam-minus": max(fall, 0), "poly-cam-pm": max(kept + fall, 0)}[variant]


def slow(variant, network, image, target, channels=None, output="probability", compat=True, layers=LAYERS):
    image = image.double().numpy()
    signal, activations = torch.from_numpy(image)[None], {}
    for name in LAYERS:
        signal = getattr(network, name)(signal)
        activations[name] = signal[0].detach().numpy()
    found = None
    for name in reversed(layers):
        total = np.zeros(activations[name].shape[1:])
        most_active = np.argsort(-activations[name].mean(axis=(1, 2)))[:channels]
        for k in most_active:
            mask = mask_of(activations[name][k], image.shape[1:], compat)
            total += weight(variant, network, image, target, mask, output) * activations[name][k]
        total = np.maximum(total, 0)
        if found is None:
            found = total
            continue
        local = enlarged_by_loops(enlarged_by_loops(total, found.shape), total.shape)
        floor = 1e-12 if compat else 1e-6 * max(total.max(), 1e-30)
        found = total / np.maximum(local, floor) * enlarged_by_loops(found, total.shape)
    return found


CASES = [{}, {"compat": False}, {"output": "score"}, {"channels": 2}, {"layers": ("stage1", "stage3")}]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("options", CASES, ids=str)
def test_equals_the_formula(network, images, variant, options):
    given = {**options, "layers": " + ".join(options.get("layers", LAYERS))}
    found = salgen.explain(network, images, TARGETS, method=variant, reduce=None, **given)
    assert found.native_resolution == (9, 7)
    positive = 0
    for image, target, attribution in zip(images, TARGETS, found.values, strict=True):
        expected = slow(variant, network, image, int(target), **options)
        positive += expected.max() > 0
        np.testing.assert_allclose(attribution[0], expected, rtol=1e-4, atol=1e-5 * expected.max())
    assert positive >= 2


def test_the_default_layers_are_the_last_relus_of_each_resolution(network, images):
    named = salgen.explain(network, images, TARGETS, method="poly-cam-plus", layers="+".join(LAYERS)).values
    torch.testing.assert_close(salgen.explain(network, images, TARGETS, method="poly-cam-plus").values, named)


@pytest.mark.parametrize("variant", VARIANTS)
def test_maps_are_finite_and_not_negative(network, images, variant):
    extreme = torch.cat([images, torch.zeros_like(images[:1]), images[:1] * 1e4, torch.ones_like(images[:1])])
    found = salgen.explain(network, extreme, 0, method=variant).values
    assert torch.isfinite(found).all()
    assert (found >= 0).all()


def passed_through(images, *methods):
    network = Network().eval()
    sizes = batch_sizes(network)
    explain(network, images, TARGETS, method=methods)
    return sum(sizes)


def test_the_variants_share_their_passes(images):
    plus, minus, both = (passed_through(images, name) for name in VARIANTS)
    together = passed_through(images, *VARIANTS)
    channels = len(images) * (3 + 5 + 6)  # one channel of the first layer is dead
    assert plus >= 0.7 * channels  # some others are dead for an image
    assert both < plus + minus
    assert together < both + len(images)  # what has been said of one variant is not asked again


def test_layers_without_channels_are_refused(network, images):
    with pytest.raises(SalgenError, match="has no known axes of channels"):
        salgen.explain(network, images, 0, method="poly-cam-pm", layers="head")
