import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from maps_and_masks import cases

from salgen.evaluation.ranking import Ranking
from salgen.registry import METRICS, Entry
from salgen.testing import check_metric

PIXELWISE = ("roc-auc", "average-precision", "prec99", "m-gt", "relevance-mass", "pointing-game")
BY_RANK = tuple(name for name in PIXELWISE if name != "relevance-mass")


def score_of(name, saliency, mask):
    return METRICS.create(name)(Ranking(saliency, mask))


def same(a, b):
    return a == b or (math.isnan(a[0]) and math.isnan(b[0]) and a[1] == b[1])


@pytest.mark.parametrize("name", METRICS.names())
def test_conforms(name):
    check_metric(name)


def test_variant_conforms():
    check_metric("prec99", {"compat": "authors_exact"})


@pytest.mark.parametrize("name", PIXELWISE)
@given(cases(min_negatives=1), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=40)
def test_order_of_pixels_does_not_matter(name, case, random):
    saliency, mask = case
    order = list(range(saliency.size))
    random.shuffle(order)
    shuffled = saliency.ravel()[order], mask.ravel()[order]
    assert same(score_of(name, saliency.ravel(), mask.ravel()), score_of(name, *shuffled))


@pytest.mark.parametrize("name", BY_RANK)
@given(cases(min_negatives=1))
@settings(deadline=None, max_examples=40)
def test_strictly_increasing_transforms_do_not_matter(name, case):
    saliency, mask = case
    ranks = np.unique(saliency, return_inverse=True)[1].reshape(saliency.shape)
    assert same(score_of(name, saliency, mask), score_of(name, np.exp(ranks / 7.0), mask))


@pytest.mark.parametrize("name", PIXELWISE)
@given(cases(min_negatives=1))
@settings(deadline=None, max_examples=60)
def test_no_map_leaves_the_bounds_or_beats_the_mask_itself(name, case):
    saliency, mask = case
    result, _ = score_of(name, saliency, mask)
    oracle, _ = score_of(name, mask.astype(np.float32), mask)
    assert oracle == METRICS.create(name).ceiling(int(mask.sum()), int((~mask).sum()))
    assert math.isnan(result) or 0.0 <= result <= oracle


@pytest.mark.parametrize("name", PIXELWISE)
@given(st.integers(1, 399), st.floats(2.0**-10, 1024.0, width=32))
@settings(deadline=None, max_examples=30)
def test_constant_map_has_chance(name, p, level):
    mask = np.arange(400).reshape(20, 20) < p
    result, reason = score_of(name, np.full((20, 20), level, dtype=np.float32), mask)
    if name == "prec99" and 400 - p <= 100:
        assert reason == "too_few_negatives"
    else:
        assert result == pytest.approx(0.5 if name == "roc-auc" else p / 400, abs=1e-15)


class ByPixelOrder:
    """What check_metric must find: a metric that lets the order of pixels decide."""

    def __call__(self, ranking):
        largest = np.argsort(ranking.saliency, axis=None, kind="stable")[-ranking.p :]
        return float(ranking.mask.ravel()[largest].mean()), ""


class NeverAtItsCeiling:
    def __call__(self, ranking):
        return 0.5, ""


class UnexplainedNan:
    def __call__(self, ranking):
        return math.nan, ""


@pytest.mark.parametrize(
    ("fault", "law"),
    [(ByPixelOrder, "where they are"), (NeverAtItsCeiling, "ceiling"), (UnexplainedNan, "without a reason")],
)
def test_check_metric_finds_faults(fault, law, monkeypatch):
    faulty = type("Faulty", (METRICS.load("m-gt"),), {"name": "faulty", "aliases": (), "__call__": fault.__call__})

    class Fake(Entry):
        def load(self):
            return faulty

    monkeypatch.setitem(METRICS.entries, "faulty", Fake("faulty", "here", ""))
    with pytest.raises(AssertionError, match=law):
        check_metric("faulty")
