import math
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from maps_and_masks import value
from scipy.ndimage import label
from salgen.evaluation.metrics.warping_error import AROUND, SIMPLE, WarpingErrorMetric, distance_to_boundary, warped

EIGHT = np.ones((3, 3))
SIDES = st.tuples(st.integers(1, 7), st.integers(1, 7))


@st.composite
def pairs(draw):
    """Two masks of one shape, the second with at least one pixel."""
    start = draw(arrays(np.bool_, draw(SIDES)))
    return start, draw(arrays(np.bool_, start.shape).filter(np.any))


def topology(image):
    """How many components foreground (8-connected) and background (4-connected, with all outside) have."""
    padded = np.pad(image, 1)
    return label(padded, EIGHT)[1], label(~padded)[1]


def distance_slowly(truth):
    """By looking at all pairs of pixels, with a rim of background."""
    padded = np.pad(truth, 1)
    found = np.zeros(truth.shape)
    for i, j in np.ndindex(truth.shape):
        others = [p for p in np.ndindex(padded.shape) if padded[p] != truth[i, j]]
        found[i, j] = min(math.sqrt((a - i - 1) ** 2 + (b - j - 1) ** 2) for a, b in others)
    return found


def warped_slowly(start, goal):
    """Each time the farthest pixel whose flip changes no count of components in the whole image."""
    image, distance = start.copy(), distance_slowly(goal)
    while True:
        allowed = []
        for i, j in np.argwhere(image != goal).tolist():
            changed = image.copy()
            changed[i, j] ^= True
            if topology(changed) == topology(image):
                allowed.append((-distance[i, j], i, j))
        if not allowed:
            return image
        _, i, j = min(allowed)
        image[i, j] ^= True


def test_simple_points_are_those_that_keep_the_components_of_their_neighbourhood():
    for code in range(256):
        near = np.zeros((3, 3), dtype=bool)
        for bit, (row, column) in enumerate(AROUND):
            near[1 + row, 1 + column] = bool(code >> bit & 1)
        foreground = label(near, EIGHT)[1]
        around = ~near
        around[1, 1] = False
        parts = label(around)[0]
        background = len({int(parts[p]) for p in ((0, 1), (1, 0), (1, 2), (2, 1))} - {0})
        assert SIMPLE[code] == (foreground == 1 and background == 1)


@given(arrays(np.bool_, SIDES).filter(np.any))
def test_distance_to_the_boundary(truth):
    assert np.array_equal(distance_to_boundary(truth), distance_slowly(truth))


@given(pairs())
def test_warping_is_best_first(pair):
    start, goal = pair
    found = warped(start, goal)
    assert np.array_equal(found, warped_slowly(start, goal))
    assert topology(found) == topology(start)
    assert not (found != goal)[start == goal].any()


@pytest.mark.parametrize("warp", ["prediction", "reference"])
@given(pairs())
def test_value_is_the_share_that_stays_wrong(warp, pair):
    found, truth = pair
    if not found.any():
        found = ~found  # a constant map selects all
    start, goal = (found, truth) if warp == "prediction" else (truth, found)
    left = warped_slowly(start, goal) != goal
    assert value(WarpingErrorMetric(warp=warp), found.astype(float), truth) == left.sum() / truth.size


def test_outside_of_the_region_is_background():
    truth, region = np.zeros((9, 9), dtype=bool), np.zeros((9, 9), dtype=bool)
    truth[2:5, 2:5] = region[1:8, 1:8] = True
    found = np.zeros((9, 9))
    found[1:6, 1:6] = 1.0
    spoilt = np.where(region, found, 7.0)
    assert value(WarpingErrorMetric(), spoilt, truth, region) == 0.0
    found[3, 3] = 0.0
    assert value(WarpingErrorMetric(), np.where(region, found, -7.0), truth, region) == 1 / 49
