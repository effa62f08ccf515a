"""Metrics of how a map ranks its pixels, against their definitions and against scikit-learn."""

import math
from fractions import Fraction
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps_and_masks import cases, value
from sklearn.metrics import average_precision_score, precision_score, roc_auc_score, roc_curve
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.evaluation.metrics.pointing_game import EnergyPointingGame, PointingGame
from salgen.evaluation.metrics.ranking_metrics import (
    AveragePrecision,
    MGt,
    Prec99,
    RelevanceMass,
    RocAuc,
    allowed_false_positives,
)
from salgen.evaluation.scoring.metric_selection import create_metric


def m_gt_by_counting(saliency, mask):
    """The formula of the paper's metric with ties, by counting over the whole map."""
    p = int(mask.sum())
    t = np.sort(saliency, axis=None)[::-1][p - 1]
    above, tied = saliency > t, saliency == t
    hits = int((above & mask).sum()) + (p - int(above.sum())) * Fraction(int((tied & mask).sum()), int(tied.sum()))
    return hits / p


SCIKIT_LEARN = {AveragePrecision: average_precision_score, RocAuc: roc_auc_score}


@given(cases())
def test_m_gt_is_its_definition(case):
    assert value(MGt(), *case) == pytest.approx(float(m_gt_by_counting(*case)), rel=0, abs=1e-14)


@pytest.mark.parametrize("metric", SCIKIT_LEARN)
@given(cases())
def test_agrees_with_scikit_learn(metric, case):
    saliency, mask = case
    expected = SCIKIT_LEARN[metric](mask.ravel(), saliency.ravel())
    assert value(metric(), saliency, mask) == pytest.approx(expected, rel=0, abs=1e-12)


@given(cases(min_negatives=0))
def test_relevance_mass_is_the_share_of_the_positive_part(case):
    saliency, mask = case
    inside, total = (math.fsum(max(v, 0.0) for v in part.ravel().tolist()) for part in (saliency[mask], saliency))
    if total > 0:
        assert value(RelevanceMass(), saliency, mask) == pytest.approx(inside / total, rel=1e-13)
    else:
        assert RelevanceMass()(Ranking(saliency, mask))[1] == "zero_energy"


BOX, MASK = EnergyPointingGame(), EnergyPointingGame(within="mask")


def in_box(saliency, mask):
    """The share, or None of nothing, and the number of the box's pixels."""
    (top, left), (bottom, right) = np.argwhere(mask).min(axis=0), np.argwhere(mask).max(axis=0)
    energy = np.maximum(saliency.astype(float), 0)
    box = energy[top : bottom + 1, left : right + 1].ravel().tolist()
    return (math.fsum(box) / math.fsum(energy.ravel().tolist()) if energy.any() else None), len(box)


@given(cases(min_negatives=0))
def test_is_the_share_in_the_box(case):
    expected, pixels = in_box(*case)
    if expected is None:
        assert BOX(Ranking(*case))[1] == "zero_energy"
        return
    assert value(BOX, *case) == pytest.approx(expected, rel=1e-12)
    relative = expected * case[1].size / pixels
    assert value(EnergyPointingGame(relative=True), *case) == pytest.approx(relative, rel=1e-12)


@given(cases(min_negatives=0))
def test_in_the_mask_it_is_relevance_mass_and_no_more_than_in_the_box(case):
    inside, mass = MASK(Ranking(*case)), RelevanceMass()(Ranking(*case))
    if mass[1]:
        assert inside[1] == mass[1]
    else:
        assert inside == mass
        assert value(BOX, *case) >= inside[0] - 1e-12


def test_relative_reaches_its_ceiling_and_its_worst_is_zero():
    assert (MASK.ignores_position, BOX.ignores_position) == (True, False)
    relative, mask = EnergyPointingGame("mask", relative=True), np.eye(4, dtype=bool)
    assert value(relative, mask.astype(float), mask) == 4.0
    scores = salgen.score(np.full((1, 4, 4), np.nan), mask[np.newaxis], [relative])
    assert [float(worst[0]) for worst in scores.worst_case.values()] == [0.0]


STEPS = st.integers(1, 60) | st.just(10**6)  # of these many, none ties


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


@given(tie_free(), STEPS)
def test_enters_ties_in_proportion(case, steps):
    saliency, mask = coarse(case, steps)
    expected = precision_in_proportion(saliency, mask)
    found = value(Prec99(), saliency, mask)
    assert math.isnan(found) if expected is None else found == float(expected)


@given(tie_free(), STEPS)
def test_authors_exact_is_scikit_learns_curve(case, steps):
    saliency, mask = coarse(case, steps)
    fpr, _, thresholds = roc_curve(mask.ravel(), saliency.ravel(), drop_intermediate=False)
    threshold = thresholds[np.flatnonzero(1 - fpr > 0.99)[-1]]
    found = value(Prec99(compat="authors_exact"), saliency, mask)
    if np.isinf(threshold):  # the curve's artificial end point
        assert found == (0.0 if saliency.min() == saliency.max() else 1.0)
    else:
        assert found == precision_score(mask.ravel(), saliency.ravel() >= threshold)


def test_authors_exact_tells_a_constant_map_from_a_plateau_at_the_top():
    mask = np.zeros((20, 20), dtype=bool)
    mask[:2] = True
    plateau = np.ones((20, 20), dtype=np.float32)
    plateau[-1, -1] = 0
    assert value(Prec99(compat="authors_exact"), np.ones_like(plateau), mask) == 0.0
    assert value(Prec99(compat="authors_exact"), plateau, mask) == 1.0


@pytest.mark.parametrize(("n", "allowed"), [(0, 0), (1, 0), (100, 0), (101, 1), (200, 1), (201, 2), (26_680, 266)])
def test_limit_is_strictly_below_one_percent(n, allowed):
    assert allowed_false_positives(n) == allowed
    assert n == 0 or (100 * allowed < n <= 100 * (allowed + 1))


def test_no_false_positive_allowed():
    mask = np.array([[True, True, False, False]])
    metric = Prec99()
    assert value(metric, [[4.0, 1.0, 3.0, 2.0]], mask) == 1.0
    assert metric(Ranking(np.array([[3.0, 1.0, 3.0, 2.0]]), mask))[1] == "too_few_negatives"
    assert metric(Ranking(np.array([[3.0, 1.0, 4.0, 2.0]]), mask))[1] == "too_few_negatives"
    assert metric(Ranking(np.zeros((1, 4)), mask))[1] == "too_few_negatives"


def hits(saliency, mask, tolerance=0.0, valid=None):
    """For each of the largest pixels in reading order, whether it lies in the mask or close to it."""
    valid = np.ones_like(mask) if valid is None else valid
    places = [place for place in np.ndindex(mask.shape) if valid[place]]
    highest = max(float(saliency[place]) for place in places)
    truth = [place for place in places if mask[place]]

    def close(place):
        return any((place[0] - r) ** 2 + (place[1] - c) ** 2 < tolerance**2 or place == (r, c) for r, c in truth)

    return [close(place) for place in places if float(saliency[place]) == highest]


@given(cases(min_negatives=0), st.sampled_from([0.0, 0.5, 1.0, 1.25, 2.0, 3.0, 100.0]), st.randoms())
def test_tolerance_and_ties_pixel_by_pixel(case, tolerance, random):
    saliency, mask = case
    valid = mask | np.array([random.random() < 0.7 for _ in range(mask.size)]).reshape(mask.shape)
    found = hits(saliency, mask, tolerance, valid)
    outside = np.where(valid, saliency, np.nan)
    assert value(PointingGame(tolerance), outside, mask, valid) == float(Fraction(sum(found), len(found)))
    assert value(PointingGame(tolerance, "any"), outside, mask, valid) == float(any(found))
    assert value(PointingGame(tolerance, "first"), outside, mask, valid) == float(found[0])


def test_the_mask_grows_from_its_part_in_the_region_only():
    mask, valid = np.array([[True, False, False, True]]), np.array([[False, True, True, True]])
    saliency = np.array([[0.0, 1.0, 0.0, 0.0]])
    assert value(PointingGame(1.5), saliency, mask, valid) == 0.0
    assert value(PointingGame(1.5), saliency, mask) == 1.0


def test_xaibenchmark_always_hits_with_a_constant_map():
    masks, constant = np.zeros((2, 3, 3), dtype=bool), np.ones((2, 3, 3))
    masks[0, 0, 0] = masks[1, 2, 2] = True
    scores = salgen.score(constant, masks, ["pointing-game:compat=xaibenchmark", "pointing-game:ties=first"])
    assert [values.tolist() for values in scores.values()] == [[1.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize("call", ["tolerance=15", "ties=first"])
def test_compat_stands_alone(call):
    with pytest.raises(SalgenError, match="give compat alone"):
        create_metric(f"pointing-game:compat=xaibenchmark,{call}")
