import numpy as np
import pytest
from hypothesis import given
from maps_and_masks import cases, value
import salgen
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.evaluation.metrics.overlap import Dice
from salgen.evaluation.metrics.soft_f1 import SoftF1


def slowly(saliency, mask):
    """2 P R / (P + R) from the sums, a pixel at a time; None where precision is 0 / 0."""
    low, high = min(saliency), max(saliency)
    if high == low:
        return None
    scaled = [(v - low) / (high - low) for v in saliency]
    inside = sum(s for s, m in zip(scaled, mask, strict=True) if m)
    precision, recall = inside / sum(scaled), inside / sum(mask)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@given(cases(min_negatives=0))
def test_is_the_harmonic_mean_of_soft_precision_and_recall(case):
    expected = slowly(case[0].astype(np.float64).ravel().tolist(), case[1].ravel().tolist())
    if expected is None:
        assert SoftF1()(Ranking(*case))[1] == "zero_energy"
    else:
        assert value(SoftF1(), *case) == pytest.approx(expected, rel=1e-12)


def test_within_the_box_it_is_compared_with_the_bounding_box_of_the_mask():
    saliency = np.random.default_rng(0).normal(size=(5, 6))
    mask, box = np.zeros((5, 6), bool), np.zeros((5, 6), bool)
    mask[1, 2] = mask[3, 4] = True
    box[1:4, 2:5] = True
    expected = slowly(saliency.ravel().tolist(), box.ravel().tolist())
    assert value(SoftF1(within="box"), saliency, mask) == pytest.approx(expected, rel=1e-12)


@given(cases(min_negatives=0))
def test_of_a_map_of_two_values_it_is_dice(case):
    saliency = np.where(case[0] > 0, 3.0, -1.0)
    if saliency.min() < saliency.max():
        assert value(SoftF1(), saliency, case[1]) == value(Dice(), saliency, case[1])


def test_nothing_in_the_mask_is_zero_and_a_constant_map_undefined():
    mask = np.array([[True, False, False]])
    assert value(SoftF1(), [[0.0, 1.0, 2.0]], mask) == 0.0
    scores = salgen.score(np.ones((1, 1, 3)), mask[np.newaxis], "soft-f1")
    assert scores.reasons["soft-f1"] == ["zero_energy"]
    assert scores.worst_case["soft-f1"][0] == 0.0
    assert np.isnan(SoftF1().ceiling(3, 0))
