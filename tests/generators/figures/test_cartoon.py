import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from salgen.generators.figures.drawing import Drawing, Placement, covered, oval, widened

SIZE = (12, 9)
coordinates = st.tuples(st.integers(-40, 200), st.integers(-40, 160))
triangles = st.lists(st.tuples(coordinates, coordinates, coordinates), min_size=1, max_size=3)


def plain():
    """Coordinates in pixels."""
    return Drawing(SIZE, Placement((0.0, 0.0), 1.0))


def winding(polygon, row, column):
    """How often a polygon runs around a place, edge by edge."""
    turns = 0
    for (r0, c0), (r1, c1) in zip(polygon, [*polygon[1:], polygon[0]], strict=True):
        if (r0 <= row) != (r1 <= row) and c0 + (row - r0) / (r1 - r0) * (c1 - c0) <= column:
            turns += 1 if r1 > r0 else -1
    return turns


@given(triangles)
def test_polygons_cover_the_places_that_they_run_around(drawn):
    polygons = [[(row / 10, column / 10) for row, column in triangle] for triangle in drawn]
    window, inside = covered(np.concatenate(polygons), [3] * len(polygons), SIZE)
    whole = np.zeros(SIZE, dtype=bool)
    whole[window] = inside
    for row, column in np.ndindex(SIZE):
        turns = sum(winding(polygon, row + 0.5, column + 0.5) for polygon in polygons)
        assert whole[row, column] == (turns != 0), (row, column)


def test_a_pixel_is_the_mean_of_its_places():
    drawing = plain()
    drawing.fill([(0, 0), (0, 9), (12, 9), (12, 0)], (200, 100, 0))
    drawing.fill([(2, 2), (2, 4.5), (4.25, 4.5), (4.25, 2)], (0, 100, 255))
    picture, coverage = drawing.picture()
    assert (coverage == 1).all()
    assert picture[3, 3].tolist() == [0, 100 / 255, 1]
    assert picture[3, 4].tolist() == pytest.approx([100 / 255, 100 / 255, 0.5])
    assert picture[4, 4, 2] == pytest.approx(1 / 8)
    assert picture[6, 6].tolist() == [200 / 255, 100 / 255, 0]


def test_over_keeps_a_shape_on_what_was_drawn_since():
    drawing = plain()
    drawing.fill([(0, 0), (0, 9), (12, 9), (12, 0)], (9, 9, 9))
    body = drawing.fill([(0, 0), (0, 4), (4, 4), (4, 0)], (50, 50, 50))
    belt = drawing.fill([(1, -5), (1, 20), (2, 20), (2, -5)], (99, 99, 99), over=body)
    assert drawing.share(belt).sum() == 4
    assert drawing.share(belt)[1, :4].tolist() == [1, 1, 1, 1]


def test_a_line_is_one_shape_with_round_ends():
    drawing = plain()
    share = drawing.share(drawing.line([(3, 3), (3, 6), (6, 6)], 2.0, (1, 2, 3)))
    assert share[3, 4] == share[4, 5] == share[5, 6] == 1
    assert 0 < share[2, 2] < 1
    assert share[6, 3] == 0
    bars, joint, ends = 2 * (3 * 2) - 1, np.pi / 4, np.pi  # the bars share a corner, and their outer one is round
    assert share.sum() == pytest.approx(bars + joint + ends, abs=0.3)


@given(st.floats(-1, 1), st.floats(1, 50))
def test_a_frame_turns_and_scales_and_does_nothing_else(turn, side):
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.3, -0.7]])
    placed = Placement((3.0, 4.0), side, turn).places(points)
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert placed[0].tolist() == [3.0, 4.0]
    assert np.allclose(np.linalg.norm(placed[:, None] - placed[None], axis=2), side * apart)
    angle = 2 * np.arctan(turn)
    assert np.allclose(placed[1], [3 + side * np.cos(angle), 4 - side * np.sin(angle)])


@pytest.mark.parametrize("way", [1, -1])
def test_widening_moves_a_circle_outwards_whichever_way_it_runs(way):
    wider = widened(oval((0.0, 0.0), (2.0, 2.0))[::way], 0.5)
    assert np.allclose(np.linalg.norm(wider, axis=1), 2.5, atol=1e-3)
