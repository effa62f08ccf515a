import warnings
from fractions import Fraction
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from skimage.measure import label, regionprops
import salgen
from salgen.evaluation.metrics.inputs.boxes import (
    NOTHING,
    Box,
    above_mean,
    box_overlap,
    largest_component,
    mask_overlap,
    tight_box,
)

SIDES = st.tuples(st.integers(1, 9), st.integers(1, 9))
MASKS = arrays(np.bool_, SIDES)


def components_slowly(selected):
    """Sets of 8-connected pixels, in raster order of their first pixels, by flooding."""
    left = {(int(i), int(j)) for i, j in zip(*np.nonzero(selected), strict=True)}
    found = []
    while left:
        front, component = [min(left)], set()
        while front:
            i, j = front.pop()
            if (i, j) in left:
                left.remove((i, j))
                component.add((i, j))
                front += [(i + a, j + b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
        found.append(component)
    return found


@given(arrays(np.float32, SIDES, elements=st.integers(-3, 3).map(float)), st.data())
def test_at_or_above_the_mean_of_the_region(saliency, data):
    region = data.draw(arrays(np.bool_, saliency.shape).filter(np.any))
    inside = [Fraction(float(v)) for v in saliency[region]]
    expected = [
        [bool(r) and Fraction(float(v)) * len(inside) >= sum(inside) for v, r in zip(*rows, strict=True)]
        for rows in zip(saliency, region, strict=True)
    ]
    spoilt = np.where(region, saliency, np.nan)
    assert np.array_equal(above_mean(spoilt, region), expected)


@given(arrays(np.float64, SIDES, elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_the_largest_value_is_in_and_the_smallest_out_unless_all_are_equal(saliency):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selected = above_mean(saliency, np.ones(saliency.shape, dtype=bool))
    assert selected[saliency == saliency.max()].all()
    assert selected[saliency == saliency.min()].any() == (saliency.min() == saliency.max())


@pytest.mark.parametrize("level", [0.1, -0.1, 1e-310, 1.7e308, 0.0])
def test_a_constant_map_selects_everything_whatever_its_sum_rounds_to(level):
    assert above_mean(np.full((11, 13), level), np.ones((11, 13), dtype=bool)).all()


def test_neighbouring_values_are_told_apart():
    for low in (0.1, 1.0, 1e-310, 1.7e308, -0.3):
        saliency = np.full((7, 9), low)
        saliency[2, 3] = np.nextafter(low, np.inf)
        assert np.argwhere(above_mean(saliency, np.ones((7, 9), dtype=bool))).tolist() == [[2, 3]]


@given(MASKS)
def test_largest_component_is_the_first_of_the_largest(selected):
    components = components_slowly(selected)
    expected = max(components, key=len) if components else set()  # the first of equal ones
    assert set(map(tuple, np.argwhere(largest_component(selected)).tolist())) == expected
    assert len(components) == label(selected, connectivity=2).max()


@given(MASKS)
def test_box_is_that_of_scikit_image(selected):
    box = tight_box(selected)
    if selected.any():
        (properties,) = regionprops(selected.astype(int))
        assert (box.top, box.left, box.bottom, box.right) == properties.bbox
        assert selected[box.pixels].sum() == selected.sum()
    else:
        assert box == NOTHING


def test_equal_components_go_by_raster_order():
    selected = np.zeros((6, 6), dtype=bool)
    selected[0:2, 4:6] = selected[4:6, 0:2] = True
    assert tight_box(largest_component(selected)) == Box(0, 2, 4, 6)
    assert tight_box(largest_component(selected[::-1])) == Box(0, 2, 0, 2)


@given(MASKS, st.data())
def test_overlap_of_boxes_is_that_of_their_pixels(first, data):
    second = data.draw(arrays(np.bool_, first.shape))
    filled = [np.zeros(first.shape, dtype=bool) for _ in range(2)]
    boxes = [tight_box(first), tight_box(second)]
    for image, box in zip(filled, boxes, strict=True):
        image[box.pixels] = True
    assert box_overlap(*boxes) == mask_overlap(*filled)


def test_a_box_within_a_box():
    assert Box(1, 2, 0, 3).within(Box(4, 9, 5, 9)) == Box(5, 6, 5, 8)


MARKED = [
    "localization-error",
    "mask-localization-error",
    "f1-box",
    "f1-mask",
    "box-accuracy",
    "box-accuracy:within=mask,threshold=image",
    "warping-error",
    "warping-error:warp=reference",
]
SHAPE = (9, 10)


def hot(value, elsewhere=0.0, kind=np.float64):
    saliency = np.full(SHAPE, elsewhere, dtype=kind)
    saliency[4, 5] = value
    return saliency


HUGE = {
    "float64": hot(1.7e308, -1.7e308),
    "float32": hot(3.4e38, -3.4e38, np.float32),
    "beside a denormal": hot(1.7e308, 5e-324),
}
MASK_SHAPES = {"full": np.s_[:, :], "pixel": np.s_[4, 5], "corner": np.s_[:2, :3], "border": np.s_[:, -1]}


@pytest.mark.parametrize("mask", MASK_SHAPES)
@pytest.mark.parametrize("name", HUGE)
def test_a_huge_pixel_marks_what_a_pixel_of_one_marks(name, mask):
    truth = np.zeros(SHAPE, dtype=bool)
    truth[MASK_SHAPES[mask]] = True
    huge, one = (salgen.score(saliency[np.newaxis], truth[np.newaxis], MARKED) for saliency in (HUGE[name], hot(1.0)))
    assert {key: value[0] for key, value in huge.items()} == {key: value[0] for key, value in one.items()}


@pytest.mark.parametrize("value", [0.0, -2.0, 3.5])
def test_an_image_of_one_pixel(value):
    scores = salgen.score(np.full((1, 1, 1), value), np.ones((1, 1, 1), dtype=bool), MARKED)
    best = {name: 0.0 if "error" in name else 1.0 for name in MARKED}
    assert {name: values[0] for name, values in scores.items()} == best
