from fractions import Fraction
import numpy as np
import pytest
from hypothesis import given
from maps_and_masks import cases, value
from sklearn.metrics import f1_score, jaccard_score, precision_score, recall_score
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.metrics.m_gt import MGt
from salgen.evaluation.metrics.overlap import Dice, IoU, Precision, Recall
from salgen.evaluation.scoring.metric_selection import create_metric

SKLEARN = {IoU: jaccard_score, Dice: f1_score, Precision: precision_score, Recall: recall_score}
THRESHOLDS = (0.0, 0.25, 0.5, 0.9)


def counts(predicted, mask):
    """TP, FP and FN, a pixel at a time."""
    true = false = missed = 0
    for guess, truth in zip(predicted, mask, strict=True):
        true += guess and truth
        false += guess and not truth
        missed += truth and not guess
    return true, false, missed


def above(saliency, threshold):
    """Whether mm(S) exceeds the threshold, for each value."""
    low, high = min(saliency), max(saliency)
    return [high > low and (v - low) / (high - low) > threshold for v in saliency]


@pytest.mark.parametrize("threshold", THRESHOLDS)
@given(cases(min_negatives=0))
def test_is_counted_pixel_by_pixel(threshold, case):
    saliency, mask = case[0].astype(np.float64).ravel().tolist(), case[1].ravel().tolist()
    true, false, missed = counts(above(saliency, threshold), mask)
    assert value(IoU(threshold), *case) == true / (true + false + missed)
    assert value(Dice(threshold), *case) == 2 * true / (2 * true + false + missed)
    assert value(Precision(threshold), *case) == (true / (true + false) if true + false else 0.0)
    assert value(Recall(threshold), *case) == true / (true + missed)


@pytest.mark.parametrize("metric", SKLEARN)
@given(cases(min_negatives=0))
def test_agrees_with_scikit_learn(metric, case):
    saliency, mask = case
    predicted = above(saliency.astype(np.float64).ravel().tolist(), 0.5)
    assert value(metric(), *case) == pytest.approx(SKLEARN[metric](mask.ravel(), predicted, zero_division=0.0))


@pytest.mark.parametrize("metric", [IoU(), Dice(), Precision(), Recall()])
def test_a_constant_map_predicts_nothing(metric):
    for level in (-1.0, 0.0, 0.7):
        assert value(metric, np.full((4, 4), level), np.eye(4, dtype=bool)) == 0.0


@given(cases(min_negatives=0))
def test_of_matched_area_dice_precision_and_recall_are_m_gt(case):
    expected = value(MGt(), *case)
    for metric in (Dice, Precision, Recall):
        assert value(metric(select="area"), *case) == expected
    assert value(IoU(select="area"), *case) == pytest.approx(expected / (2 - expected), abs=1e-15)


def test_of_matched_area_by_hand():
    mask = np.array([[True, True, True, False, False, False]])
    assert value(IoU(select="area"), [[5.0, 4.0, 1.0, 3.0, 2.0, 0.0]], mask) == 2 / 4
    tied = Fraction(1) + Fraction(2, 4) * 2  # one largest, and two of the four tied ones, half of which are in the mask
    assert value(IoU(select="area"), [[5.0, 1.0, 1.0, 1.0, 1.0, 0.0]], mask) == float(tied / (6 - tied))


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


def test_a_full_mask_is_scored_and_called_trivial():
    full = np.ones((1, 2, 2), dtype=bool)
    scores = salgen.score(np.array([[[0.0, 1.0], [2.0, 3.0]]]), full, ["iou", "recall", "precision"])
    assert [float(v[0]) for v in scores.values()] == [0.5, 0.5, 1.0]
    assert all(reasons == ["trivial_full_mask"] for reasons in scores.reasons.values())
    assert IoU().ceiling(4, 0) == salgen.score(full.astype(float), full, "iou")["iou"][0] == 0.0


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        ("iou:threshold=1", "no value of mm"),
        ("iou:threshold=-0.1", "from 0.0 to 1.0"),
        ("dice:select=area,threshold=0.3", "select=area takes no threshold"),
        ("iou:compat=aabid,threshold=0.3", "give compat alone"),
        ("recall:compat=xaibenchmark,select=area", "give compat alone"),
        ("recall:compat=aabid", "must be one of xaibenchmark"),
    ],
)
def test_contradictions_are_refused(call, fault):
    with pytest.raises(SalgenError, match=fault):
        create_metric(call)
