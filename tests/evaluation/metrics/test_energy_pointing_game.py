import math
import numpy as np
import pytest
from hypothesis import given
from maps_and_masks import cases, value
import salgen
from salgen.evaluation.metrics.energy_pointing_game import EnergyPointingGame
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.evaluation.metrics.relevance_mass import RelevanceMass

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
