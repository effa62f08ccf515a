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
    places = [(i, j) for i in range(padded.shape[0]) for j in range(padded.shape[1])]
    found = np.zeros(truth.shape)
    for i in range(truth.shape[0]):
        for j in range(truth.shape[1]):
            others = [p for p in places if padded[p] != truth[i, j]]
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


@given(arrays(np.bool_, SIDES), st.data())
def test_a_simple_point_is_one_whose_flip_keeps_all_components(image, data):
    i, j = (data.draw(st.integers(0, side - 1)) for side in image.shape)
    padded = np.pad(image, 1)
    code = sum(int(padded[i + 1 + row, j + 1 + column]) << bit for bit, (row, column) in enumerate(AROUND))
    changed = image.copy()
    changed[i, j] ^= True
    assert SIMPLE[code] == (topology(changed) == topology(image))


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


def test_a_moved_boundary_is_no_error():
    rows, columns = np.mgrid[:24, :24]
    truth = (rows - 10) ** 2 + (columns - 10) ** 2 <= 36
    for radius, shift in ((9, 0), (3, 0), (6, 2), (8, 1)):
        found = (rows - 10 - shift) ** 2 + (columns - 10) ** 2 <= radius**2
        for warp in ("prediction", "reference"):
            assert value(WarpingErrorMetric(warp=warp), found.astype(float), truth) == 0.0


def test_what_is_missing_spurious_merged_or_pierced_is_an_error():
    truth = np.zeros((12, 20), dtype=bool)
    truth[3:9, 2:8] = truth[3:9, 12:18] = True
    pierced, spurious, merged, missing = truth.copy(), truth.copy(), truth.copy(), truth.copy()
    pierced[5, 5] = False
    spurious[10, 10] = True
    merged[4:8, 8:12] = True  # which is warped to a bridge of one row
    missing[:, 10:] = False
    kinds = {"pierced": (pierced, 1), "spurious": (spurious, 1), "merged": (merged, 4), "missing": (missing, 36)}
    for name, (found, pixels) in kinds.items():
        assert value(WarpingErrorMetric(), found.astype(float), truth) == pixels / 240, name


def test_outside_of_the_region_is_background():
    truth, region = np.zeros((9, 9), dtype=bool), np.zeros((9, 9), dtype=bool)
    truth[2:5, 2:5] = region[1:8, 1:8] = True
    found = np.zeros((9, 9))
    found[1:6, 1:6] = 1.0
    spoilt = np.where(region, found, 7.0)
    assert value(WarpingErrorMetric(), spoilt, truth, region) == 0.0
    found[3, 3] = 0.0
    assert value(WarpingErrorMetric(), np.where(region, found, -7.0), truth, region) == 1 / 49
