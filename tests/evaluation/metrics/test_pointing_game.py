from fractions import Fraction
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps_and_masks import cases, value
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.metrics.pointing_game import PointingGame
from salgen.evaluation.scoring.metric_selection import create_metric


def hits(saliency, mask, tolerance=0.0, valid=None):
    """For each of the largest pixels in reading order, whether it lies in the mask or close to it."""
    valid = np.ones_like(mask) if valid is None else valid
    places = [place for place in np.ndindex(mask.shape) if valid[place]]
    highest = max(float(saliency[place]) for place in places)
    truth = [place for place in places if mask[place]]

    def close(place):
        return any((place[0] - r) ** 2 + (place[1] - c) ** 2 < tolerance**2 or place == (r, c) for r, c in truth)

    return [close(place) for place in places if float(saliency[place]) == highest]


def test_hit_and_miss():
    mask = np.array([[True, False]])
    assert value(PointingGame(), [[1.0, 0.0]], mask) == 1.0
    assert value(PointingGame(), [[0.0, 1.0]], mask) == 0.0
    assert value(PointingGame(), [[-0.0, 0.0]], mask) == 0.5


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
