"""Patterns against loops over every patch, straight from the paper."""

import copy
import gc
import math
import numpy as np
import pytest
import safetensors.torch
import torch
from small_networks import Normalise
from torch import nn
from torch.nn import functional as F
from salgen.errors import SalgenError
from salgen.evaluation.attribution import patterns
from salgen.evaluation.attribution.patterns import Patterns, fit_patterns
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.testing.methods import state_of

SEED = 11


def units(tensor):
    return tensor.detach().double().reshape(len(tensor), -1)


def patches_of(images, conv):
    """Every patch (of zero-padded images) that each unit of a convolution sees: {unit: [vector, ...]}."""
    (kh, kw), (sh, sw), (dh, dw) = conv.kernel_size, conv.stride, conv.dilation
    both = {"valid": (0, 0), "same": (dh * (kh - 1), dw * (kw - 1))}.get(conv.padding)  # sides together
    down, right = both or (2 * conv.padding[0], 2 * conv.padding[1])
    padded = np.pad(images, ((0, 0), (0, 0), (down // 2, down - down // 2), (right // 2, right - right // 2)))
    per_group, outs = images.shape[1] // conv.groups, conv.out_channels // conv.groups
    high, wide = dh * (kh - 1) + 1, dw * (kw - 1) + 1
    found = {unit: [] for unit in range(conv.out_channels)}
    for image in padded:
        for top in range(0, image.shape[1] - high + 1, sh):
            for left in range(0, image.shape[2] - wide + 1, sw):
                window = image[:, top : top + high : dh, left : left + wide : dw]
                for unit, patches in found.items():
                    first = unit // outs * per_group
                    patches.append(window[first : first + per_group].ravel())
    return found


def pattern_of(weight, bias, patches, rectified):
    """One unit's pattern by the two-component or the linear estimator, patch by patch."""
    ys = [float(np.dot(weight, x)) for x in patches]
    mean_y = math.fsum(ys) / len(ys)
    firing = [(x, y) for x, y in zip(patches, ys, strict=True) if not rectified or y + bias > 0]
    if not firing:
        return np.zeros_like(weight)
    mean_x, mean_xy = np.zeros_like(weight), np.zeros_like(weight)
    for x, y in firing:
        mean_x += x / len(firing)
        mean_xy += x * y / len(firing)
    numerator = mean_xy - mean_x * mean_y
    return numerator / np.dot(weight, numerator)


def slow_patterns(weight, bias, patches, rectified):
    rows = units(weight).numpy()
    biases = np.zeros(len(rows)) if bias is None else bias.detach().double().numpy()
    return np.stack([pattern_of(rows[k], biases[k], patches[k], rectified) for k in range(len(rows))])


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(SEED)
    net = nn.Sequential(
        *(nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(3, 4, 3, stride=2, bias=False), nn.ReLU(), nn.Flatten()),
        *(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3)),
    )
    nn.init.constant_(net[6].bias, 0.4)
    return net


@pytest.fixture(scope="module")
def images():
    return np.random.default_rng(SEED).standard_normal((12, 2, 8, 8)).astype(np.float32)


def test_patterns_are_those_of_the_paper(network, images):
    signal, expected = torch.from_numpy(images), []
    for place, layer in enumerate(network):
        if isinstance(layer, nn.Conv2d):
            patches = patches_of(signal.numpy().astype(np.float64), layer)
        elif isinstance(layer, nn.Linear):
            rows = list(signal.numpy().astype(np.float64))
            patches = [rows for _ in range(layer.out_features)]
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            rectified = place + 1 < len(network)
            expected.append(slow_patterns(layer.weight, layer.bias, patches, rectified))
        with torch.no_grad():
            signal = layer(signal)
    found = fit_patterns(network, images)
    assert found.degenerate == (0, 0, 0, 0)
    for pattern, slow in zip(found.by_map, expected, strict=True):
        assert pattern.dtype == torch.float64
        np.testing.assert_allclose(units(pattern), slow, rtol=1e-7, atol=1e-10)
    assert found.by_map[0].shape == network[0].weight.shape


CONVOLUTIONS = [
    {"stride": 2},
    {"padding": (2, 1)},
    {"padding": "same", "kernel_size": (3, 4)},
    {"padding": "valid", "stride": (2, 1)},
    {"dilation": 2, "padding": 2},
    {"groups": 2},
    {"groups": 4, "stride": (1, 2), "padding": 1, "dilation": (2, 1)},
    {"kernel_size": (1, 4)},
]


@pytest.mark.parametrize("form", CONVOLUTIONS)
def test_every_form_of_convolution(form, images):
    torch.manual_seed(SEED)
    conv = nn.Conv2d(4, 8, **{"kernel_size": 3, **form})
    signal = np.concatenate([images[:4], images[4:8] ** 2 - 1], axis=1)
    net = nn.Sequential(conv, nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    expected = slow_patterns(conv.weight, conv.bias, patches_of(signal.astype(np.float64), conv), rectified=True)
    np.testing.assert_allclose(units(fit_patterns(net, signal).by_map[0]), expected, rtol=1e-7, atol=1e-10)


def test_units_that_never_fire_or_never_vary_are_degenerate(images):
    torch.manual_seed(SEED)
    net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 2))
    net[0].bias.data[1] = -1e6
    net[4].weight.data[0] = torch.tensor([0.0, 3.0, 0.0])  # sees the dead unit alone
    found = fit_patterns(net, images)
    assert found.degenerate == (1, 1)
    assert found.by_map[0][1].count_nonzero() == 0
    assert found.by_map[0][0].count_nonzero() > 0
    assert found.by_map[1][0].count_nonzero() == 0
    constant = fit_patterns(net, np.full((3, 2, 8, 8), 0.3, np.float32))
    assert constant.degenerate == (3, 2)


class Styles(nn.Module):
    """Which of its four maps a ReLU follows depends on the path, not on the names of layers."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(SEED)
        self.stem, self.conv = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.hidden, self.head = nn.Linear(16, 6), nn.Linear(6, 2)
        self.norm, self.drop = nn.BatchNorm2d(4), nn.Dropout()
        for layer in (self.stem, self.conv, self.hidden, self.head):
            nn.init.normal_(layer.bias)

    def forward(self, x):
        x = F.relu_(F.max_pool2d(self.drop(self.norm(self.stem(x))), 2))  # through norm, dropout, pool
        x = torch.relu(x + self.conv(x))  # a sum is between
        x = self.hidden(F.avg_pool2d(x, 2).flatten(1)).view(-1, 2, 3).relu()  # through a change of shape
        return self.head(x.flatten(1))


def test_which_maps_a_relu_follows(images):
    model = Styles().eval()
    network = patterns._Observed.forward("test", ModelView.of(model), torch.from_numpy(images[:, :1]))
    assert network.rectified == {0, 2}
    found = fit_patterns(model, images[:, :1])
    with torch.no_grad():
        before = F.relu(F.max_pool2d(model.norm(model.stem(torch.from_numpy(images[:, :1]))), 2))
    patches = patches_of(before.double().numpy(), model.conv)
    linear = slow_patterns(model.conv.weight, model.conv.bias, patches, rectified=False)
    np.testing.assert_allclose(units(found.by_map[1]), linear, rtol=1e-3, atol=1e-5)


def test_a_layer_that_is_called_twice_has_two_patterns(images):
    conv, end = nn.Conv2d(2, 2, 3, padding=1), (nn.ReLU(), nn.Flatten(), nn.Linear(128, 2))
    first, second, _ = fit_patterns(nn.Sequential(conv, nn.ReLU(), conv, *end), images).by_map
    assert not torch.allclose(first, second, rtol=0.01)


def test_a_batch_norm_of_its_own_is_a_map(images):
    norm = nn.BatchNorm2d(2)
    norm.weight.data = torch.tensor([2.0, -0.5])
    found = fit_patterns(nn.Sequential(norm, nn.Flatten(), nn.Linear(128, 2)), images).by_map[0]
    np.testing.assert_allclose(found, math.sqrt(1 + norm.eps) / norm.weight.detach().double().numpy(), rtol=1e-6)


def test_batches_pieces_and_blocks_do_not_matter(network, images, monkeypatch):
    network = copy.deepcopy(network).double()  # in float32 a layer's output depends a little on the batch
    whole = fit_patterns(network, images)
    ragged = fit_patterns(network, iter([images[:1], torch.from_numpy(images[1:8]), images[8:]]))
    monkeypatch.setattr(patterns, "BATCH_SIZE", 5)
    pieces = fit_patterns(network, images, max_memory=1e-9)
    sizes, block = [], patterns._block
    monkeypatch.setattr(patterns, "_block", lambda *given: sizes.append(len(given[1])) or block(*given))
    monkeypatch.setattr(patterns, "BLOCK", 1)
    blocks = fit_patterns(network, torch.from_numpy(images))
    assert set(sizes) == {1}
    for other in (ragged, pieces, blocks):
        assert other.degenerate == whole.degenerate
        for left, right in zip(other.by_map, whole.by_map, strict=True):
            torch.testing.assert_close(left, right, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore:out of memory")
def test_a_part_that_fails_is_counted_once(network, images, monkeypatch):
    network, of, room = copy.deepcopy(network).double(), patterns.MapMoments.of, 12

    def short_of_memory(call, rectified):
        if len(call.signal) > room and call.position == 2:
            raise MemoryError
        return of(call, rectified)

    monkeypatch.setattr(patterns.MapMoments, "of", short_of_memory)
    expected, room = fit_patterns(network, images), 4
    for left, right in zip(fit_patterns(network, images).by_map, expected.by_map, strict=True):
        torch.testing.assert_close(left, right, rtol=1e-9, atol=1e-12)
    room = 0
    with pytest.raises(SalgenError, match="more memory than cpu has"):
        fit_patterns(network, images)


def test_a_classifier_is_fitted_behind_its_normalisation(network, images):
    pixels = torch.rand(6, 2, 8, 8)
    model = Classifier(network, Normalise(0.5, 0.25)).train()
    before = state_of(model)
    found = fit_patterns(model, pixels)
    assert state_of(model) == before
    for left, right in zip(found.by_map, fit_patterns(network, (pixels - 0.5) * 4).by_map, strict=True):
        torch.testing.assert_close(left, right)
    prepared = fit_patterns(network, pixels, preprocess=((0.5, 0.5), (0.25, 0.25)))
    assert all(map(torch.equal, found.by_map, prepared.by_map))


@pytest.mark.parametrize(
    ("model", "given_images", "words"),
    [
        (3, torch.rand(1, 2, 8, 8), "model is int"),
        (None, torch.rand(0, 2, 8, 8), "no images"),
        (None, [], "no images"),
        (None, torch.rand(3, 8, 8), r"must be \(N, C, H, W\)"),
        (None, torch.zeros(1, 2, 8, 8, dtype=torch.uint8), "must be float32"),
        (None, torch.full((1, 2, 8, 8), torch.nan), "NaN"),
        (nn.Sequential(nn.Flatten(), nn.Linear(128, 2), nn.GELU()), torch.rand(1, 2, 8, 8), "no rule for gelu"),
    ],
)
def test_what_cannot_be_fitted(network, model, given_images, words):
    with pytest.raises(SalgenError, match=words):
        fit_patterns(network if model is None else model, given_images)


def test_saved_patterns_come_back_to_the_bit(network, images, tmp_path):
    found = Patterns(fit_patterns(network, images).by_map, (0, 2, 0, 1))
    found.save(tmp_path / "patterns.safetensors")
    back = Patterns.load(str(tmp_path / "patterns.safetensors"))
    assert back.degenerate == (0, 2, 0, 1)
    assert all(map(torch.equal, back.by_map, found.by_map))
    assert [path.name for path in tmp_path.iterdir()] == ["patterns.safetensors"]


def test_missing_and_foreign_files_and_folders(tmp_path, network, images):
    (tmp_path / "weights").write_bytes(safetensors.torch.save({"map0000": torch.ones(2, 2)}))
    (tmp_path / "text").write_text("not safetensors at all")
    for name in ("nothing", "weights", "text", ""):
        with pytest.raises(SalgenError, match=r"holds no patterns .*: give what Patterns\.save wrote"):
            Patterns.load(tmp_path / name)
    with pytest.raises(SalgenError, match="cannot write the patterns"):
        fit_patterns(network, images).save(tmp_path / "no" / "such" / "folder")


def test_memory_does_not_grow_with_the_number_of_images(network, images):
    """Neither batches nor anything made of them is alive when the next one is asked for."""
    held = []

    def stream():
        for _ in range(4):
            yield torch.from_numpy(images.copy())
            gc.collect()
            held.append(sum(item.nbytes for item in gc.get_objects() if type(item) in (torch.Tensor, nn.Parameter)))

    gc.freeze()  # what other tests left behind is not looked through
    fit_patterns(network, stream())
    gc.unfreeze()
    assert held[-1] <= held[1]
