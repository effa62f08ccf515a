import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from salgen.generators.drawing.shapes import FINE, paint, polygon

SIZE = (16, 18)
places = st.tuples(st.integers(-30, 160), st.integers(-30, 180))  # eighths of a pixel, so that all sums are exact


@given(st.tuples(places, places, places))
def test_a_triangle_covers_the_places_inside_it(corners):
    """Those on its edges may count or not."""
    corners = np.array(corners) / 8
    rows, columns = ((np.arange(size * FINE) + 0.5) / FINE for size in SIZE)
    sides = np.stack(
        [
            (end[0] - start[0]) * (columns[None, :] - start[1]) - (end[1] - start[1]) * (rows[:, None] - start[0])
            for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True)
        ]
    )
    inside = (sides > 0).all(axis=0) | (sides < 0).all(axis=0)
    or_on = (sides >= 0).all(axis=0) | (sides <= 0).all(axis=0)
    least, most = (found.reshape(SIZE[0], FINE, SIZE[1], FINE).mean(axis=(1, 3)) for found in (inside, or_on))
    covered = polygon(corners, SIZE)
    assert (least <= covered).all()
    assert (covered <= most).all()


def test_a_rectangle_covers_its_own_area():
    covered = polygon([(2, 3), (2, 7.5), (5.25, 7.5), (5.25, 3)], SIZE)
    assert covered[2:5, 3:7].min() == 1
    assert covered[3, 7] == 0.5
    assert covered[5, 3] == 0.25
    assert covered.sum() == pytest.approx(3.25 * 4.5)


def test_paint_mixes_by_coverage_and_leaves_the_rest_bit_for_bit():
    canvas = np.random.default_rng(0).random((*SIZE, 3))
    before = canvas.copy()
    covered = polygon([(2, 3), (2, 7.5), (5.25, 7.5), (5.25, 3)], SIZE)
    paint(canvas, (1.0, 0.5, 0.0), covered)
    assert np.array_equal(canvas[covered == 0], before[covered == 0])
    np.testing.assert_allclose(canvas[3, 4], (1.0, 0.5, 0.0))
    np.testing.assert_allclose(canvas[3, 7], (before[3, 7] + (1.0, 0.5, 0.0)) / 2)
