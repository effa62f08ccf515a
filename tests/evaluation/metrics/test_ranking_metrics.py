"""Metrics of how a map ranks its pixels, against their definitions and against scikit-learn."""

import math
from fractions import Fraction
from itertools import permutations, product
import numpy as np
import pytest
from hypothesis import given
from maps_and_masks import cases, value
from sklearn.metrics import average_precision_score, roc_auc_score
import salgen
from salgen.evaluation.metrics.average_precision import AveragePrecision
from salgen.evaluation.metrics.energy_pointing_game import EnergyPointingGame
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.evaluation.metrics.m_gt import MGt
from salgen.evaluation.metrics.relevance_mass import RelevanceMass
from salgen.evaluation.metrics.roc_auc import RocAuc


def ap_by_thresholds(saliency, mask):
    total, recall_before = Fraction(0), Fraction(0)
    for threshold in sorted(set(saliency.ravel().tolist()), reverse=True):
        selected = saliency >= threshold
        true = int((selected & mask).sum())
        recall = Fraction(true, int(mask.sum()))
        total += (recall - recall_before) * Fraction(true, int(selected.sum()))
        recall_before = recall
    return total


def auc_by_pairs(saliency, mask):
    won = Fraction(0)
    for inside, outside in product(saliency[mask].tolist(), saliency[~mask].tolist()):
        won += Fraction(int(inside > outside)) + Fraction(int(inside == outside), 2)
    return won / int(mask.sum()) / int((~mask).sum())


def m_gt_by_counting(saliency, mask):
    """The formula of the paper's metric with ties, by counting over the whole map."""
    p = int(mask.sum())
    t = np.sort(saliency, axis=None)[::-1][p - 1]
    above, tied = saliency > t, saliency == t
    hits = int((above & mask).sum()) + (p - int(above.sum())) * Fraction(int((tied & mask).sum()), int(tied.sum()))
    return hits / p


DEFINITIONS = {AveragePrecision: ap_by_thresholds, RocAuc: auc_by_pairs, MGt: m_gt_by_counting}
SCIKIT_LEARN = {AveragePrecision: average_precision_score, RocAuc: roc_auc_score}
IN_THE_FIRST_ROW = np.array([[True, True], [False, False]])
BY_HAND = [
    # 3 alone: precision 1 at recall 1/2; then both pixels of value 2 at once: 2/3 at recall 1
    (AveragePrecision, [[3.0, 2.0], [1.0, 2.0]], 1 / 2 + 1 / 2 * 2 / 3),
    (RocAuc, [[3.0, 2.0], [1.0, 2.0]], 3.5 / 4),  # 3 beats 1 and 2; 2 beats 1 and ties with 2
    (RelevanceMass, [[3.0, -5.0], [1.0, -9.0]], 0.75),
]


@pytest.mark.parametrize("metric", DEFINITIONS)
@given(cases())
def test_is_its_definition(metric, case):
    assert value(metric(), *case) == pytest.approx(float(DEFINITIONS[metric](*case)), rel=0, abs=1e-14)


@pytest.mark.parametrize("metric", SCIKIT_LEARN)
@given(cases())
def test_agrees_with_scikit_learn(metric, case):
    saliency, mask = case
    expected = SCIKIT_LEARN[metric](mask.ravel(), saliency.ravel())
    assert value(metric(), saliency, mask) == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize(("metric", "saliency", "expected"), BY_HAND)
def test_by_hand(metric, saliency, expected):
    assert value(metric(), saliency, IN_THE_FIRST_ROW) == pytest.approx(expected, rel=0, abs=1e-15)


@given(cases(min_negatives=0, max_side=2))
def test_m_gt_is_the_mean_over_all_orders_of_the_pixels(case):
    """Sort under every order, take the first p, count the hits, average."""
    values, inside = (part.ravel().tolist() for part in case)
    p, orders = sum(inside), list(permutations(range(len(values))))
    firsts = [sorted(order, key=lambda i: -values[i])[:p] for order in orders]  # a stable sort: ties stay as drawn
    hits = sum(inside[i] for first in firsts for i in first)
    assert value(MGt(), *case) == float(Fraction(hits, p * len(orders)))


@given(cases(min_negatives=0))
def test_relevance_mass_is_the_share_of_the_positive_part(case):
    saliency, mask = case
    inside, total = (math.fsum(max(v, 0.0) for v in part.ravel().tolist()) for part in (saliency[mask], saliency))
    if total > 0:
        assert value(RelevanceMass(), saliency, mask) == pytest.approx(inside / total, rel=1e-13)
    else:
        assert RelevanceMass()(Ranking(saliency, mask))[1] == "zero_energy"


@pytest.mark.parametrize("level", [1.7e308, 5e-324, np.float32(3e38)])
def test_relevance_mass_of_huge_and_tiny_values_does_not_overflow(level):
    assert value(RelevanceMass(), np.full((2, 2), level), np.eye(2, dtype=bool)) == 0.5


BOX, MASK = EnergyPointingGame(), EnergyPointingGame(within="mask")


def in_box(saliency, mask):
    """The share and the box's pixels, a pixel at a time; None for the share of nothing."""
    places = [place for place in np.ndindex(mask.shape) if mask[place]]
    (top, bottom), (left, right) = ((min(ends), max(ends)) for ends in zip(*places, strict=True))
    inside, total, pixels = [], [], 0
    for (row, column), v in np.ndenumerate(saliency):
        total.append(max(float(v), 0.0))
        if top <= row <= bottom and left <= column <= right:
            pixels += 1
            inside.append(max(float(v), 0.0))
    return (math.fsum(inside) / math.fsum(total) if any(total) else None), pixels


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


def test_a_constant_map_has_the_areas_share_and_relatively_one():
    mask, saliency = np.eye(6, dtype=bool)[:, :3], np.full((6, 3), 0.1)
    assert value(BOX, saliency, mask) == pytest.approx(9 / 18)
    assert value(MASK, saliency, mask) == pytest.approx(3 / 18)
    for within in ("box", "mask"):
        assert value(EnergyPointingGame(within, relative=True), saliency, mask) == pytest.approx(1.0)


def test_relative_reaches_its_ceiling_and_its_worst_is_zero():
    assert (MASK.ignores_position, BOX.ignores_position) == (True, False)
    relative, mask = EnergyPointingGame("mask", relative=True), np.eye(4, dtype=bool)
    assert value(relative, mask.astype(float), mask) == relative.ceiling(4, 12) == 4.0
    scores = salgen.score(np.full((1, 4, 4), np.nan), mask[np.newaxis], [relative])
    assert [float(worst[0]) for worst in scores.worst_case.values()] == [0.0]
