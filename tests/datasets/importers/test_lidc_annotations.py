"""The outlines of LIDC-IDRI's readers against slow second versions: what a line surrounds, one nodule, a consensus."""

from collections import Counter
import numpy as np
from ct_series import ring
from hypothesis import given
from hypothesis import strategies as st
from salgen.datasets.layouts.saliency_bench import lidc_annotations

SIZE = (24, 26)
ROUND = st.tuples(st.integers(8, 15), st.integers(8, 17), st.floats(1.5, 7), st.floats(1.5, 7))


def around(row, column, height, width):
    """The pixels of an ellipse's line, (column, row), each beside the next."""
    steps = [
        (round(column + width * np.cos(angle)), round(row + height * np.sin(angle)))
        for angle in np.linspace(0, 2 * np.pi, 400, endpoint=False)
    ]
    return [point for place, point in enumerate(steps) if point != steps[place - 1]]


def outline(points, inside=True):
    return lidc_annotations.NoduleOutline(0.0, np.array(points), inside)


def surrounded(points):
    """The pixels that cannot be reached from the image's edge by steps to the side without crossing the line."""
    line = {(y, x) for x, y in points}
    reached, todo = set(), [(-1, -1)]
    while todo:
        y, x = todo.pop()
        if -1 <= y <= SIZE[0] and -1 <= x <= SIZE[1] and (y, x) not in reached | line:
            reached.add((y, x))
            todo += [(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)]
    return {(y, x) for y in range(SIZE[0]) for x in range(SIZE[1])} - reached - line


def pixels(mask):
    return set(zip(*(where.tolist() for where in np.nonzero(mask)), strict=True))


@given(ROUND)
def test_a_line_surrounds_what_it_keeps_from_the_edge_and_is_outside_itself(shape):
    points = around(*shape)
    inside, line = outline(points).paint(SIZE)
    assert pixels(inside) == surrounded(points)
    assert pixels(line) == {(y, x) for x, y in points}


def test_a_rectangle_of_which_corners_alone_are_stated_and_a_single_point():
    points = ring(4, 5, 9, 17)
    corners = [(4, 3), (17, 3), (17, 9), (4, 9)]
    for given_points in (points, corners):
        inside, line = outline(given_points).paint(SIZE)
        assert pixels(inside) == {(y, x) for y in range(4, 9) for x in range(5, 17)}
        assert pixels(line) == {(y, x) for x, y in points}
    inside, line = outline([(3, 7)]).paint(SIZE)
    assert not inside.any()
    assert pixels(line) == {(7, 3)}


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 2), ROUND, st.booleans()), min_size=1, max_size=3), min_size=1, max_size=4
    )
)
def test_the_consensus_is_what_half_of_the_readers_hold(readings):
    counts = Counter()
    for reading in readings:
        for place in range(3):
            held = set()
            for where, shape, inside in sorted(reading, key=lambda one: not one[2]):
                points = around(*shape)
                if where == place and inside:
                    held |= surrounded(points)
                elif where == place:
                    held -= surrounded(points) | {(y, x) for x, y in points}
            counts.update((place, *pixel) for pixel in held)
    expected = {voxel for voxel, count in counts.items() if count / len(readings) >= 0.5}
    placed = [
        {
            place: [outline(around(*shape), inside) for where, shape, inside in reading if where == place]
            for place in range(3)
        }
        for reading in readings
    ]
    found = lidc_annotations.consensus(placed, SIZE)
    assert {(place, *pixel) for place, mask in found.items() for pixel in pixels(mask)} == expected
    assert list(found) == sorted({place for place, *_ in expected})


def slowly(points, distance):
    """Outlines that are linked by pairs no further apart; again with a shorter distance while five are linked."""
    apart = [
        [min(np.sqrt(((a - b) ** 2).sum()) for a in first for b in second) for second in points] for first in points
    ]
    while True:
        left, groups = set(range(len(points))), []
        while left:
            group, todo = set(), [min(left)]
            while todo:
                one = todo.pop()
                if one not in group:
                    group.add(one)
                    todo += [other for other in left if apart[one][other] <= distance]
            left -= group
            groups.append(sorted(group))
        if max(map(len, groups)) <= 4 or distance * 0.9 < 0.1:
            return groups
        distance *= 0.9


@given(
    st.lists(st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=1, max_size=4), min_size=1, max_size=9),
    st.floats(0.5, 5),
)
def test_outlines_are_of_one_nodule_if_they_are_close(outlines, distance):
    points = [np.array(one, dtype=np.float64) * (0.7, 0.7, 2.5) for one in outlines]
    assert sorted(lidc_annotations.same_nodules(points, distance)) == sorted(slowly(points, distance))
