from fractions import Fraction
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps_and_masks import cases, value
from sklearn.metrics import mean_absolute_error
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.evaluation.metrics.overlap import Dice, IoSR, IoU, Mae, Precision, Recall, SoftF1
from salgen.evaluation.metrics.ranking_metrics import MGt
from salgen.evaluation.scoring.metric_selection import create_metric


def scaled(saliency):
    """mm(S), value by value."""
    low, high = min(saliency), max(saliency)
    return [(v - low) / (high - low) if high > low else 0.0 for v in saliency]


THRESHOLDS = (0.0, 0.25, 0.5, 0.9)


def counts(predicted, mask):
    """TP, FP and FN, a pixel at a time."""
    pairs = list(zip(predicted, mask, strict=True))
    return tuple(sum(pair == kind for pair in pairs) for kind in ((True, True), (True, False), (False, True)))


@pytest.mark.parametrize("threshold", THRESHOLDS)
@given(cases(min_negatives=0))
def test_is_counted_pixel_by_pixel(threshold, case):
    saliency, mask = case[0].astype(np.float64).ravel().tolist(), case[1].ravel().tolist()
    true, false, missed = counts([v > threshold for v in scaled(saliency)], mask)
    assert value(IoU(threshold), *case) == true / (true + false + missed)
    assert value(Dice(threshold), *case) == 2 * true / (2 * true + false + missed)
    assert value(Precision(threshold), *case) == (true / (true + false) if true + false else 0.0)
    assert value(Recall(threshold), *case) == true / (true + missed)


@given(cases(min_negatives=0))
def test_of_matched_area_dice_precision_and_recall_are_m_gt(case):
    expected = value(MGt(), *case)
    for metric in (Dice, Precision, Recall):
        assert value(metric(select="area"), *case) == expected
    assert value(IoU(select="area"), *case) == pytest.approx(expected / (2 - expected), abs=1e-15)


@given(cases(min_negatives=0))
def test_xaibenchmark_compares_the_raw_map(case):
    saliency, mask = case[0].ravel().tolist(), case[1].ravel().tolist()
    true, false, missed = counts([v > 0 for v in saliency], mask)
    assert value(IoU(compat="xaibenchmark"), *case) == true / (true + false + missed)
    assert value(Precision(compat="xaibenchmark"), *case) == (true / (true + false) if true + false else 0.0)
    true, false, missed = counts([v > 0.5 for v in saliency], mask)
    assert value(Recall(compat="xaibenchmark"), *case) == true / (true + missed)


@given(cases(min_negatives=0))
def test_aabid_is_the_recall_of_what_reaches_the_mean(case):
    saliency, mask = case
    values = [Fraction(v) for v in saliency.astype(np.float64).ravel().tolist()]
    mean = sum(values) / len(values)
    near = any(v != mean and abs(v - mean) < Fraction(1, 10**9) for v in values)
    predicted = [v >= mean for v in values]
    true, _, missed = counts(predicted, mask.ravel().tolist())
    assert near or value(IoU(compat="aabid"), saliency, mask) == true / (true + missed)


def test_aabid_of_constant_and_huge_maps():
    assert value(IoU(compat="aabid"), [[0.0, 1.0, 2.0]], [[False, True, False]]) == 1.0  # the mean itself
    assert value(IoU(compat="aabid"), [[0.1] * 3], [[True, False, False]]) == 1.0  # whose floating-point mean is larger
    mask = np.eye(3, dtype=bool)
    for level in (0.1, -0.3, 1.7e308, 5e-324):
        assert value(IoU(compat="aabid"), np.full((3, 3), level), mask) == 1.0
    assert value(IoU(compat="aabid"), np.where(mask, 1.7e308, 1.6e308), mask) == 1.0
    assert value(IoU(compat="aabid"), np.where(mask, 1.6e308, 1.7e308), mask) == 0.0


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        ("dice:select=area,threshold=0.3", "selects pixels: give one"),
        ("iou:compat=aabid,threshold=0.3", "selects pixels: give one"),
        ("recall:compat=xaibenchmark,select=area", "selects pixels: give one"),
    ],
)
def test_contradictions_are_refused(call, fault):
    with pytest.raises(SalgenError, match=fault):
        create_metric(call)


@given(cases(min_negatives=0))
def test_mae_is_the_mean_absolute_difference(case):
    expected = mean_absolute_error(case[1].ravel(), scaled(case[0].astype(np.float64).ravel().tolist()))
    assert value(Mae(), *case) == pytest.approx(expected, abs=1e-14)


def test_empty_masks_have_a_value_and_full_ones_are_trivial():
    maps = np.array([[[0.0, 1.0], [0.5, 0.5]]] * 3 + [[[0.0, np.nan], [0.5, 0.5]]])
    masks = np.zeros((4, 2, 2), dtype=bool)
    masks[1], masks[2, 0, 1] = True, True
    scores = salgen.score(maps, masks, ["mae", "iou"])
    assert np.allclose(scores["mae"], [0.5, 0.5, 0.25, np.nan], equal_nan=True)
    assert scores.reasons["mae"] == ["", "trivial_full_mask", "", "non_finite_map"]
    assert scores.worst_case["mae"][3] == 1.0
    assert scores.reasons["iou"][0] == "empty_mask"
    assert salgen.score(np.zeros((1, 2, 2)), masks[:1], "mae")["mae"][0] == 0.0
    assert salgen.score(np.ones((1, 2, 2)), masks[1:2], "iou")["iou"][0] == 0.0
    assert salgen.score(np.ones((1, 2, 2)), masks[1:2], "mae")["mae"][0] == 1.0


def test_of_several_masks_an_empty_one_is_none_at_all():
    saliency = np.array([[[0.0, 0.0, 0.0, 1.0]]])
    masks = np.array([[[[False] * 4], [[True, True, True, False]]]])
    assert salgen.score(saliency, masks, "mae")["mae"][0] == 1.0  # the empty one would give 0.25


@given(cases(min_negatives=0), st.sampled_from([0.0, 0.25, 0.5, 0.75]))
def test_iosr_is_counted_pixel_by_pixel(case, threshold):
    saliency, mask = case[0].astype(np.float64).ravel().tolist(), case[1].ravel().tolist()
    if max(saliency) <= 0:
        assert IoSR(threshold)(Ranking(*case))[1] == "zero_energy"
    else:
        true, false, _ = counts([v > threshold * max(saliency) for v in saliency], mask)
        assert value(IoSR(threshold), *case) == true / (true + false)


def test_a_constant_positive_map_has_the_masks_share():
    for level in (5e-324, 0.3, 1.7e308):
        for threshold in (0.0, 0.5, 0.99):
            assert value(IoSR(threshold), np.full((4, 4), level), np.eye(4, dtype=bool)) == 0.25


def soft_f1_slowly(saliency, mask):
    """2 P R / (P + R) from the sums, a pixel at a time; None where precision is 0 / 0."""
    shares = scaled(saliency)
    if not any(shares):
        return None
    inside = sum(s for s, m in zip(shares, mask, strict=True) if m)
    precision, recall = inside / sum(shares), inside / sum(mask)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@given(cases(min_negatives=0))
def test_is_the_harmonic_mean_of_soft_precision_and_recall(case):
    expected = soft_f1_slowly(case[0].astype(np.float64).ravel().tolist(), case[1].ravel().tolist())
    if expected is None:
        assert SoftF1()(Ranking(*case))[1] == "zero_energy"
    else:
        assert value(SoftF1(), *case) == pytest.approx(expected, rel=1e-12)


def test_within_the_box_it_is_compared_with_the_bounding_box_of_the_mask():
    saliency = np.random.default_rng(0).normal(size=(5, 6))
    mask, box = np.zeros((5, 6), bool), np.zeros((5, 6), bool)
    mask[1, 2] = mask[3, 4] = True
    box[1:4, 2:5] = True
    expected = soft_f1_slowly(saliency.ravel().tolist(), box.ravel().tolist())
    assert value(SoftF1(within="box"), saliency, mask) == pytest.approx(expected, rel=1e-12)


def test_a_constant_map_is_as_bad_as_none_in_the_mask():
    scores = salgen.score(np.ones((1, 1, 3)), np.array([[[True, False, False]]]), "soft-f1")
    assert scores.worst_case["soft-f1"][0] == 0.0
