import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from salgen.generators.drawing.shapes import covered

SIZE = (12, 9)
coordinates = st.tuples(st.integers(-40, 200), st.integers(-40, 160))
triangles = st.lists(st.tuples(coordinates, coordinates, coordinates), min_size=1, max_size=3)


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
