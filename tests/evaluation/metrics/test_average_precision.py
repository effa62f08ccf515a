from fractions import Fraction
from hypothesis import given
from maps_and_masks import cases, value
from sklearn.metrics import average_precision_score
from salgen.evaluation.metrics.average_precision import AveragePrecision


def ap_by_thresholds(saliency, mask):
    total, recall_before = Fraction(0), Fraction(0)
    for threshold in sorted(set(saliency.ravel().tolist()), reverse=True):
        selected = saliency >= threshold
        true = int((selected & mask).sum())
        recall = Fraction(true, int(mask.sum()))
        total += (recall - recall_before) * Fraction(true, int(selected.sum()))
        recall_before = recall
    return total


@given(cases(min_negatives=0))
def test_sums_over_thresholds(case):
    assert abs(value(AveragePrecision(), *case) - float(ap_by_thresholds(*case))) < 1e-14


@given(cases())
def test_agrees_with_scikit_learn(case):
    saliency, mask = case
    expected = average_precision_score(mask.ravel(), saliency.ravel())
    assert abs(value(AveragePrecision(), saliency, mask) - expected) < 1e-12


def test_hand_example():
    # 3 alone: precision 1 at recall 1/2; then both pixels of value 2 at once: 2/3 at recall 1.
    expected = 1 / 2 + 1 / 2 * 2 / 3
    assert abs(value(AveragePrecision(), [[3.0, 2.0], [1.0, 2.0]], [[True, True], [False, False]]) - expected) < 1e-15
