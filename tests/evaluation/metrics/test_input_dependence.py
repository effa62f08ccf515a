import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from maps_and_masks import cases, value

import salgen
from salgen.errors import SalgenError
from salgen.evaluation.metrics.g_cf import GCf
from salgen.evaluation.metrics.input_dependence import Idr, IdrBam, Iir
from salgen.evaluation.ranking import Ranking
from salgen.registry import METRICS


@st.composite
def with_and_without(draw):
    """Maps of an image and its twin; now and then the same, or with the same strength on the mask."""
    saliency, mask = draw(cases())
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    other = draw(st.sampled_from([saliency, np.rint(saliency / 2), rng.normal(size=saliency.shape)]))
    return saliency, other, mask


def of(metric, present, absent, mask):
    found, reason = metric(Ranking(present, mask), twin_map=absent)
    assert reason == ""
    assert found in (0.0, 1.0)
    return found


@given(with_and_without())
@settings(deadline=None, max_examples=100)
def test_the_two_rates_and_the_ties_sum_to_one(case):
    present, absent, mask = case
    strengths = [value(GCf(), values, mask) for values in (present, absent)]
    tied = float(strengths[0] == strengths[1])
    assert of(Idr(), *case) + of(IdrBam(), *case) + tied == 1.0
    assert of(Idr(), *case) == of(IdrBam(), absent, present, mask) == float(strengths[0] > strengths[1])


@given(with_and_without(), st.sampled_from([0.0, 0.1, 0.5, 2.0]))
@settings(deadline=None, max_examples=60)
def test_iir_asks_whether_the_change_is_below_a_share(case, tolerance):
    present, absent, mask = case
    patched, plain = (value(GCf(), values, mask) for values in (present, absent))
    assert of(Iir(tolerance=tolerance), *case) == float(abs(plain - patched) < tolerance * plain)


MASK = np.zeros((10, 10), dtype=bool)
MASK[:, :2] = True


def strength(level):
    """A map whose strength on the mask is `level`."""
    saliency = np.zeros((10, 10))
    saliency[:, :2], saliency[:, 2:5] = level, 1.0
    return saliency


def test_by_hand():
    assert of(Idr(), strength(0.6), strength(0.5), MASK) == 1.0
    assert of(IdrBam(), strength(0.6), strength(0.5), MASK) == 0.0
    assert of(Iir(), strength(0.54), strength(0.5), MASK) == 1.0
    assert of(Iir(), strength(0.56), strength(0.5), MASK) == 0.0
    assert of(Iir(), strength(0.46), strength(0.5), MASK) == 1.0


def test_the_share_is_of_the_image_without_the_patch():
    assert of(Iir(), strength(1.0), strength(0.905), MASK) == 0.0  # 0.095 is more than a tenth of 0.905
    assert of(Iir(), strength(0.905), strength(1.0), MASK) == 1.0


def test_ties_count_zero_in_both_rates_and_nothing_is_independent_of_nothing():
    zero = np.zeros((10, 10))
    assert [of(metric, zero, zero, MASK) for metric in (Idr(), IdrBam(), Iir())] == [0.0, 0.0, 0.0]
    same = strength(0.5)
    assert [of(metric, same, same, MASK) for metric in (Idr(), IdrBam(), Iir())] == [0.0, 0.0, 1.0]


def test_directions():
    assert METRICS.load("idr").higher_is_better is False
    assert METRICS.load("idr-bam").higher_is_better is True
    assert METRICS.load("iir").higher_is_better is True


def test_through_score():
    maps = np.stack([strength(0.6), strength(0.6), np.full((10, 10), np.nan), strength(0.5)])
    twins = np.stack([strength(0.5), strength(0.7), strength(0.5), np.full((10, 10), np.inf)])
    masks = np.stack([MASK] * 4)
    scores = salgen.score(maps, masks, ["idr", "idr-bam", "iir:tolerance=0.3"], twin_maps=twins)
    assert scores["idr"][:2].tolist() == [1.0, 0.0]
    assert scores["idr-bam"][:2].tolist() == [0.0, 1.0]
    assert scores["iir:tolerance=0.3"][:2].tolist() == [1.0, 1.0]
    for name, worst in {"idr": 1.0, "idr-bam": 0.0}.items():
        assert scores.reasons[name][2:] == ["non_finite_map"] * 2
        assert scores.worst_case[name][2:].tolist() == [worst] * 2
    wrong = salgen.score(maps[:1], masks[:1], "idr", twin_maps=twins[:1], correct=[False])
    assert wrong.reasons["idr"] == ["misclassified"]


def test_the_twins_maps_must_be_given():
    with pytest.raises(SalgenError, match="needs what is not given: twin_maps="):
        salgen.score(np.zeros((1, 10, 10)), MASK[None], "idr")
