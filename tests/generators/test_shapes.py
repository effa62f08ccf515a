"""Coverages of shapes, against scikit-image and formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage.draw import polygon2mask

from salgen.generators.shapes import FINE, oval, paint, polygon

SIZE = (16, 18)
places = st.tuples(st.floats(-3.1, 19.3), st.floats(-4.3, 22.7))


@settings(deadline=None, max_examples=40)
@given(st.tuples(places, places, places))
def test_a_triangle_covers_what_scikit_image_says(corners):
    """But for places on an edge, which may count either way."""
    corners = np.array(corners) + 0.0137
    fine = polygon2mask((SIZE[0] * FINE, SIZE[1] * FINE), corners * FINE - 0.5)
    expected = fine.reshape(SIZE[0], FINE, SIZE[1], FINE).mean(axis=(1, 3))
    assert np.abs(polygon(corners, SIZE) - expected).max() <= 1 / 16


def test_a_rectangle_covers_its_own_area():
    covered = polygon([(2, 3), (2, 7.5), (5.25, 7.5), (5.25, 3)], SIZE)
    assert covered[2:5, 3:7].min() == 1
    assert covered[3, 7] == 0.5
    assert covered[5, 3] == 0.25
    assert covered.sum() == pytest.approx(3.25 * 4.5)


def test_an_oval_has_the_area_of_an_ellipse():
    covered = polygon(oval((30.0, 32.0), (20.0, 25.0)), (60, 64))
    assert covered.sum() == pytest.approx(np.pi * 20 * 25, rel=0.01)


def test_paint_mixes_by_coverage_and_leaves_the_rest_bit_for_bit():
    canvas = np.random.default_rng(0).random((*SIZE, 3))
    before = canvas.copy()
    covered = polygon([(2, 3), (2, 7.5), (5.25, 7.5), (5.25, 3)], SIZE)
    paint(canvas, (1.0, 0.5, 0.0), covered)
    assert np.array_equal(canvas[covered == 0], before[covered == 0])
    np.testing.assert_allclose(canvas[3, 4], (1.0, 0.5, 0.0))
    np.testing.assert_allclose(canvas[3, 7], (before[3, 7] + (1.0, 0.5, 0.0)) / 2)
