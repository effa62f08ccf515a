import math
from fractions import Fraction
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps_and_masks import value
from sklearn.metrics import precision_score, roc_curve
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.evaluation.metrics.prec99 import Prec99, allowed_false_positives


@st.composite
def tie_free(draw):
    """A map without ties whose mask leaves between 101 and some 400 pixels outside it."""
    height, width = draw(st.integers(11, 20)), draw(st.integers(11, 20))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = height * width
    saliency = rng.permutation(size).astype(np.float32)
    mask = np.zeros(size, dtype=bool)
    mask[rng.permutation(size)[: draw(st.integers(1, size - 101))]] = True
    saliency[mask] += draw(st.sampled_from([0, size // 2])) + 0.5  # some maps find the mask
    return saliency.reshape(height, width), mask.reshape(height, width)


def coarse(case, steps):
    saliency, mask = case
    return np.floor(saliency / saliency.max() * steps), mask


def precision_at_lowest_threshold(saliency, mask):
    """The definition, literally: the lowest threshold with specificity > 0.99."""
    n = int((~mask).sum())
    for threshold in sorted(saliency.ravel().tolist()):
        selected = saliency >= threshold
        false = int((selected & ~mask).sum())
        if Fraction(n - false, n) > Fraction(99, 100):
            return Fraction(int((selected & mask).sum()), int(selected.sum()))
    return None


def precision_in_proportion(saliency, mask):
    """Enter groups of ties from the top; the one that goes over the limit in proportion."""
    n = int((~mask).sum())
    allowed = math.ceil(Fraction(n, 100)) - 1
    true, false = Fraction(0), Fraction(0)
    for level in sorted(set(saliency.ravel().tolist()), reverse=True):
        group = saliency == level
        positives, negatives = int((group & mask).sum()), int((group & ~mask).sum())
        if false + negatives > allowed:
            true += Fraction(allowed - false, negatives) * positives
            break
        true, false = true + positives, false + negatives
    return true / (true + allowed) if true + allowed else None


@given(tie_free())
def test_is_the_definition_where_nothing_ties(case):
    assert value(Prec99(), *case) == float(precision_at_lowest_threshold(*case))
    assert value(Prec99(compat="authors_exact"), *case) == float(precision_at_lowest_threshold(*case))


@given(tie_free(), st.integers(1, 60))
def test_enters_ties_in_proportion(case, steps):
    saliency, mask = coarse(case, steps)
    expected = precision_in_proportion(saliency, mask)
    found = value(Prec99(), saliency, mask)
    assert math.isnan(found) if expected is None else found == float(expected)


@given(tie_free(), st.integers(1, 60))
def test_authors_exact_is_scikit_learns_curve(case, steps):
    saliency, mask = coarse(case, steps)
    fpr, _, thresholds = roc_curve(mask.ravel(), saliency.ravel(), drop_intermediate=False)
    threshold = thresholds[np.flatnonzero(1 - fpr > 0.99)[-1]]
    found = value(Prec99(compat="authors_exact"), saliency, mask)
    if np.isinf(threshold):  # the curve's artificial end point
        assert found == (0.0 if saliency.min() == saliency.max() else 1.0)
    else:
        assert found == precision_score(mask.ravel(), saliency.ravel() >= threshold)


@pytest.mark.parametrize(("n", "allowed"), [(0, 0), (1, 0), (100, 0), (101, 1), (200, 1), (201, 2), (26_680, 266)])
def test_limit_is_strictly_below_one_percent(n, allowed):
    assert allowed_false_positives(n) == allowed
    assert n == 0 or (100 * allowed < n <= 100 * (allowed + 1))


def test_oracle_of_two_lesions_at_the_papers_size():
    mask = np.zeros((140, 192), dtype=bool)
    mask[20:30, 40:50] = mask[50:60, 100:110] = True
    assert value(Prec99(), mask.astype(np.float32), mask) == 200 / (200 + 266)
    assert Prec99().ceiling(200, 140 * 192 - 200) == 200 / (200 + 266)
    assert round(200 / (200 + 266), 2) == 0.43


def test_a_constant_map_has_the_prevalence_and_a_plateau_at_the_top_its_part():
    mask, constant, plateau = np.zeros((20, 20), dtype=bool), np.full((20, 20), 0.3), np.zeros((20, 20))
    mask[:4, :5] = True
    plateau[:10] = 1.0  # all 20 mask pixels and 180 others; FP* = 3 of 380
    assert value(Prec99(), constant, mask) == 20 / 400
    assert value(Prec99(), plateau, mask) == pytest.approx((3 / 180 * 20) / (3 / 180 * 20 + 3))
    assert [value(Prec99("authors_exact"), saliency, mask) for saliency in (constant, plateau)] == [0.0, 1.0]


def test_no_false_positive_allowed():
    mask = np.array([[True, True, False, False]])
    metric = Prec99()
    assert value(metric, [[4.0, 1.0, 3.0, 2.0]], mask) == 1.0
    assert metric(Ranking(np.array([[3.0, 1.0, 3.0, 2.0]]), mask))[1] == "too_few_negatives"
    assert metric(Ranking(np.array([[3.0, 1.0, 4.0, 2.0]]), mask))[1] == "too_few_negatives"
    assert metric(Ranking(np.zeros((1, 4)), mask))[1] == "too_few_negatives"
