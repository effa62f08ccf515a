"""`salgen.compat.xaibenchmark`: the scores of Saliency-Bench's package, written a second time, and its loaders."""

from itertools import chain
from types import SimpleNamespace
import numpy as np
import pandas
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from marked_trees import attention_map, nearest, write_benchmark
from torch import nn
from salgen.compat import xaibenchmark
from salgen.errors import SalgenError

CLASSES = ("bus", "bushes")
COUNT = 10


def slowly(maps, gts, of_image):
    """The mean over images with a mask, from the pixels of each, one at a time."""
    values = []
    for saliency, truth in zip(maps.tolist(), gts.tolist(), strict=True):
        pixels = list(zip(chain(*saliency), map(bool, chain(*truth)), strict=True))
        if any(m for _, m in pixels):
            values.append(of_image(pixels))
    return sum(values) / len(values)


def overlap(pixels):
    both = sum(s > 0 and m for s, m in pixels)
    return both / sum(s > 0 or m for s, m in pixels)


def share_of_marked(pixels):
    marked = [m for s, m in pixels if s > 0]
    return sum(marked) / len(marked) if marked else 0.0  # NaN in the package


def share_of_mask(pixels):
    inside = [s > 0.5 for s, m in pixels if m]
    return sum(inside) / len(inside)


def any_largest(pixels):
    largest = max(s for s, _ in pixels)
    return float(any(m for s, m in pixels if s == largest))


ORACLES = {"iou": overlap, "precision": share_of_marked, "recall": share_of_mask, "hit": any_largest}


@given(st.integers(0, 2**32 - 1))
def test_scores_are_those_of_the_package(seed):
    rng = np.random.default_rng(seed)
    maps = rng.integers(-2, 5, (4, 3, 4)) / 4  # of few values, so that many are tied, and some at the thresholds
    gts = rng.integers(0, 2, (4, 3, 4)) * rng.integers(0, 2, (4, 1, 1))
    gts[0, 0, 0] = 1
    for name, of_image in ORACLES.items():
        expected = slowly(maps, gts, of_image)
        assert getattr(xaibenchmark, name)(maps, gts) == pytest.approx(expected, rel=1e-12)


def test_exact_scores_depend_on_no_scale_and_take_ties_in_proportion():
    gts = np.zeros((1, 2, 4), dtype=int)
    gts[0, 0] = 1
    ramp = np.arange(8.0)[::-1].reshape(1, 2, 4)
    for scale in (1.0, 100.0):
        assert xaibenchmark.iou(scale * ramp - 3, gts, exact=True) == 1.0
    assert xaibenchmark.hit(np.ones((1, 2, 4)), gts) == 1.0
    assert xaibenchmark.hit(np.ones((1, 2, 4)), gts, exact=True) == 0.5
    assert xaibenchmark.precision(-ramp, gts) == 0.0
    assert xaibenchmark.precision(np.full((1, 2, 4), np.nan), gts, exact=True) == 0.0  # a map that failed counts
    with pytest.raises(SalgenError, match="all 1 masks are empty"):
        xaibenchmark.iou(ramp, np.zeros((1, 2, 4), int))


@pytest.fixture
def benchmarks(tmp_path, monkeypatch):
    monkeypatch.setenv("SALGEN_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    write_benchmark(tmp_path / "Benchmarks" / "Scene-XAI", CLASSES, COUNT)
    return tmp_path


def test_loaders_give_batches_of_images_attention_and_classes(benchmarks):
    loaders = xaibenchmark.loading("Scene-XAI", "bushes,bus")
    sizes = [len(loader.dataset) for loader in loaders]
    assert sum(sizes) == 2 * COUNT
    assert sizes[0] == 14
    masks = [np.zeros((224, 224)), *(nearest(attention_map(n) > 0, (224, 224)) for n in range(1, COUNT))]
    for loader in loaders:
        for images, attention, classes in loader:
            assert images.shape[1:] == (3, 224, 224)
            assert images.dtype == torch.float32
            assert 0 <= images.min() <= images.max() <= 1
            assert attention.dtype == torch.float64
            assert all(any(np.array_equal(one, mask) for mask in masks) for one in attention.numpy())
            assert set(classes.tolist()) <= {0, 1}
    again = xaibenchmark.loading("Scene-XAI", "bushes,bus")
    assert [loader.dataset.ids for loader in loaders] == [loader.dataset.ids for loader in again]
    assert loaders[0].dataset.tasks == {"environment": ("bushes", "bus")}


def test_the_readmes_example_works(benchmarks):
    dataset = xaibenchmark.load_dataset("Scene-XAI")
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
    found = xaibenchmark.evaluate_method("GradCAM", dataset, model, scale="demo")
    assert set(found) == {"mIoU", "PG", "iAUC"}
    assert all(0 <= value <= 1 for value in found.values())


@pytest.mark.parametrize(
    ("method", "scale", "row"),
    [
        ("SmoothGrad", "small", "smoothgrad"),
        ("smoothgrad:noise=0.15,n=9", "small", "smoothgrad:n=9"),
        ("rise", "demo", "rise:n=200"),
    ],
)
def test_scores_are_those_of_the_call_and_not_of_an_earlier_one(monkeypatch, method, scale, row):
    rows = ["smoothgrad:n=3", "smoothgrad", "smoothgrad:n=9", "rise", "rise:n=200"]
    means = pandas.DataFrame({metric: range(5) for metric in xaibenchmark.MEASURES.values()}, index=rows)
    monkeypatch.setattr(xaibenchmark, "evaluate", lambda *_, **__: SimpleNamespace(means=means))
    found = xaibenchmark.evaluate_method(method, SimpleNamespace(path="data"), scale=scale)
    assert found == dict.fromkeys(xaibenchmark.MEASURES, rows.index(row))


def test_an_unknown_name_is_refused(benchmarks):
    with pytest.raises(SalgenError, match=r"unknown data set of Saliency-Bench 'Glasses-XAI'"):
        xaibenchmark.load_dataset("Glasses-XAI")
    with pytest.raises(SalgenError, match="Pet-XAI"):
        xaibenchmark.load_dataset("Pet-XAI")
