import numpy as np
import pytest
from hypothesis import given
from maps_and_masks import cases, value
from sklearn.metrics import mean_absolute_error
import salgen
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.evaluation.metrics.mae import Mae


def slowly(saliency, mask):
    """The mean of |mm(S) - M|, a pixel at a time."""
    low, high = min(saliency), max(saliency)
    scaled = [(v - low) / (high - low) if high > low else 0.0 for v in saliency]
    return sum(abs(s - m) for s, m in zip(scaled, mask, strict=True)) / len(mask)


@given(cases(min_negatives=0))
def test_is_the_mean_absolute_difference(case):
    saliency, mask = case[0].astype(np.float64), case[1]
    assert value(Mae(), *case) == pytest.approx(slowly(saliency.ravel().tolist(), mask.ravel().tolist()), abs=1e-14)
    assert value(Mae(), *case) == pytest.approx(mean_absolute_error(mask.ravel(), Ranking(*case).scaled.ravel()))


def test_a_constant_map_has_the_masks_share():
    for level in (-3.0, 0.0, 0.2, 1e300):
        assert value(Mae(), np.full((4, 4), level), np.eye(4, dtype=bool)) == 0.25


def test_empty_masks_have_a_value_and_full_ones_are_trivial():
    maps = np.array([[[0.0, 1.0], [0.5, 0.5]]] * 3 + [[[0.0, np.nan], [0.5, 0.5]]])
    masks = np.zeros((4, 2, 2), dtype=bool)
    masks[1], masks[2, 0, 1] = True, True
    scores = salgen.score(maps, masks, ["mae", "iou"])
    assert np.allclose(scores["mae"], [0.5, 0.5, 0.25, np.nan], equal_nan=True)
    assert scores.reasons["mae"] == ["", "trivial_full_mask", "", "non_finite_map"]
    assert scores.worst_case["mae"][3] == 1.0
    assert scores.reasons["iou"][0] == "empty_mask"
    assert Mae().ceiling(0, 4) == salgen.score(np.zeros((1, 2, 2)), masks[:1], "mae")["mae"][0] == 0.0
    assert Mae().ceiling(4, 0) == salgen.score(np.ones((1, 2, 2)), masks[1:2], "mae")["mae"][0] == 1.0


def test_of_several_masks_an_empty_one_is_none_at_all():
    saliency = np.array([[[0.0, 0.0, 0.0, 1.0]]])
    masks = np.array([[[[False] * 4], [[True, True, True, False]]]])
    assert salgen.score(saliency, masks, "mae")["mae"][0] == 1.0  # the empty one would give 0.25
