"""One map ranked against one mask: every count is that of a slow definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from salgen.evaluation.metrics.inputs.ranking import Ranking

PIXELS = arrays(np.float32, (5, 6), elements=st.integers(-3, 3).map(float))
MASKS = arrays(np.bool_, (5, 6))


@given(PIXELS, MASKS, MASKS)
def test_levels_and_cuts_are_counts(saliency, mask, valid):
    ranking = Ranking(saliency, mask, valid)
    inside, outside = saliency[mask & valid], saliency[~mask & valid]
    assert (ranking.p, ranking.n) == (len(inside), len(outside))
    levels = sorted(set(inside.tolist()))
    assert ranking.levels.positives.tolist() == [int((inside == v).sum()) for v in levels]
    assert ranking.levels.negatives_below.tolist() == [int((outside < v).sum()) for v in levels]
    assert ranking.levels.negatives_tied.tolist() == [int((outside == v).sum()) for v in levels]
    assert ranking.levels.positives_from.tolist() == [int((inside >= v).sum()) for v in levels]
    assert ranking.levels.negatives_from.tolist() == [int((outside >= v).sum()) for v in levels]
    assert ranking.over_positives(lambda levels: levels.negatives_tied) == sum((outside == v).sum() for v in inside)
    for v in range(-4, 5):
        expected = [int(op.sum()) for side in (inside, outside) for op in (side > v, side == v)]
        assert list(ranking.cut(np.float32(v))) == expected


@given(PIXELS, MASKS, st.integers(0, 29), st.sampled_from([np.nan, np.inf, -np.inf]))
def test_a_value_that_is_not_finite_is_seen(saliency, mask, place, bad):
    assert Ranking(saliency, mask).finite
    spoilt = saliency.copy()
    spoilt.ravel()[place] = bad
    assert not Ranking(spoilt, mask).finite


def test_signed_zeros_are_tied():
    ranking = Ranking(np.array([[0.0, -0.0, 0.0, -0.0]]), np.array([[True, True, False, False]]))
    assert [counts.tolist() for counts in ranking.levels] == [[2], [0], [2], [2], [2]]


def test_the_map_is_left_as_it_is():
    saliency = np.array([[3.0, 1.0, 2.0]])
    ranking = Ranking(saliency, np.array([[True, True, True]]))
    assert ranking.positives.tolist() == [1.0, 2.0, 3.0]
    assert saliency.tolist() == [[3.0, 1.0, 2.0]]
