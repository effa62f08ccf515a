import json
from collections import Counter
import numpy as np
import pytest
from salgen.generators.drawing.catalogue import FOLDER, catalogue
from salgen.generators.drawing.outlines import SHAPES, bar


@pytest.mark.parametrize("folder", sorted(path.name for path in FOLDER.iterdir() if path.is_dir()))
def test_a_name_stands_once_in_a_folder(folder):
    names = [name for path in (FOLDER / folder).glob("*.json") for name in json.loads(path.read_text(encoding="utf-8"))]
    assert max(Counter(names).values()) == 1
    assert set(catalogue(f"{folder}/*.json")) == set(names)


@pytest.mark.parametrize(
    ("shape", "values", "area"),
    [
        ("poly", ("0,0 4,0 4,2",), 4),
        ("box", (1, 2, 4, 6), 12),
        ("box", (0, 0, 10, 10, 2), 100 - (4 - np.pi) * 4),
        ("boxes", ("0,0 1,1 2,2 4,3",), 3),
        ("frame", (0, 0, 10, 10, 2), 100 - 36),
        ("oval", (0, 0, 3, 2), np.pi * 6),
        ("ring", (0, 0, 3, 3, 1), np.pi * 5),
        ("dots", (2, "0,0 9,9"), np.pi * 8),
        ("keys", (0, 9, "0 5", 3, 1, 4), 2 * 3 * 2 * 4),
    ],
)
def test_outlines_have_the_area_of_their_shape(shape, values, area):
    assert sum(map(_area, SHAPES[shape](*values))) == pytest.approx(area, rel=0.02)


def test_a_line_is_as_wide_as_it_says():
    outline = np.concatenate(SHAPES["line"](2, "0,0 10,0"))
    assert np.abs(outline).max(axis=0) == pytest.approx((11, 1))
    np.testing.assert_array_equal(bar(np.zeros(2), np.zeros(2), 1.0), np.zeros((4, 2)))


def _area(outline):
    x, y = outline.T
    return (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2
