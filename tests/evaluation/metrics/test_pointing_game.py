from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from maps_and_masks import cases, value

from salgen.evaluation.metrics.pointing_game import PointingGame


@given(cases(min_negatives=0))
@settings(deadline=None)
def test_is_the_share_of_the_largest_pixels_in_the_mask(case):
    saliency, mask = case
    highest = max(saliency.ravel().tolist())
    inside = [bool(m) for v, m in zip(saliency.ravel().tolist(), mask.ravel(), strict=True) if v == highest]
    assert value(PointingGame(), saliency, mask) == float(Fraction(sum(inside), len(inside)))


def test_hit_and_miss():
    mask = np.array([[True, False]])
    assert value(PointingGame(), [[1.0, 0.0]], mask) == 1.0
    assert value(PointingGame(), [[0.0, 1.0]], mask) == 0.0
    assert value(PointingGame(), [[-0.0, 0.0]], mask) == 0.5
