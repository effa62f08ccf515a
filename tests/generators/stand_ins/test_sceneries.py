import hashlib
from functools import lru_cache
import numpy as np
import pytest
from salgen.generators.drawing.shapes import polygon
from salgen.generators.stand_ins.sceneries import KINDS, scenery
from salgen.generators.stand_ins.sceneries.painting import PARTS, play
from salgen.generators.stand_ins.sceneries.sheet import Ink, Sheet
from salgen.generators.stand_ins.sceneries.stage import Stage
from salgen.seeding import Stream

TEN = (
    *("bamboo_forest", "bedroom", "bowling_alley", "bus_interior", "cockpit", "corn_field", "laundromat", "runway"),
    *("ski_slope", "track/outdoor"),
)
SMALL = (32, 32)


@lru_cache(maxsize=1024)
def drawn(name, index, size=SMALL):
    return scenery(name, Stream(0, "sceneries", name, index=index), size)


def test_there_are_a_hundred_names_and_the_ten_of_bam_come_first():
    assert KINDS[:10] == TEN
    assert len(set(KINDS)) == len(KINDS) == 100
    assert list(KINDS[10:]) == sorted(KINDS[10:])


@pytest.mark.parametrize("size", [(32, 80), (80, 32), (224, 224)])
def test_any_size(size):
    for name in KINDS[::11]:
        assert drawn(name, 2, size).shape == (*size, 3)


def test_all_scenes_are_drawn_as_in_this_version():
    """A change of these is a change of every data set that shows scenes."""
    content = b"".join(drawn(name, 0, (48, 64)).tobytes() for name in KINDS)
    assert hashlib.sha256(content).hexdigest()[:16] == "6610b6b59396c0ca"


def test_a_sheet_keeps_the_last_shape_and_clean_edges():
    sheet = Sheet()
    square = [(0.25, 0.25), (0.75, 0.25), (0.75, 0.75), (0.25, 0.75)]
    sheet.add(square, Ink((1.0, 0.0, 0.0)))
    sheet.add([(0.5, 0.1), (0.9, 0.6), (0.4, 0.9)], Ink((0.0, 1.0, 0.0)))
    pixels = sheet.drawn((16, 16))
    over = polygon([(1.6, 8.0), (9.6, 14.4), (14.4, 6.4)], (16, 16))
    np.testing.assert_array_equal(pixels[..., 1], over)
    assert (pixels[..., 0] + pixels[..., 1] == pixels[..., 8]).all()
    assert pixels[4:12, 4:12, 8].min() == 1
    assert pixels[..., 0].max() == 1


def test_a_window_shows_a_part_of_the_sheet():
    sheet = Sheet()
    sheet.add([(0.5, 0.5), (1.0, 0.5), (1.0, 1.0), (0.5, 1.0)], Ink((1.0, 1.0, 1.0)))
    assert sheet.drawn((8, 8), (0.5, 0.5, 0.5))[..., 8].min() == 1
    assert sheet.drawn((8, 8), (0.5, 0.0, 0.5))[..., 8].max() == 0


def played(row):
    """The options of each call of a part that a row is about."""
    seen = []
    PARTS["seen"] = lambda stage, **options: seen.append(options)
    try:
        play(Stage(Stream(0), SMALL), [["seen", row]])
    finally:
        del PARTS["seen"]
    return seen


def test_choices_of_a_step():
    """A pair is drawn once, one in `each` for each repetition, and `over` runs from one value to another."""
    seen = played({"u": [0.0, 0.2], "each": {"w": [0.0, 1.0]}, "over": {"z": (3.0, 1.0)}, "times": 3, "both": True})
    assert [options["z"] for options in seen] == [3.0, 3.0, 2.0, 2.0, 1.0, 1.0]
    assert len({options["w"] for options in seen}) == 3
    assert len({options["u"] for options in seen}) == 2
    assert seen[0]["u"] == pytest.approx(1.0 - seen[1]["u"])


def test_a_row_with_columns_is_several_steps():
    row = {"name": "tree", "times": [2, 4], "for": {"u": [0.1, 0.9], "ink": ["leaf", "rock"]}}
    steps = [tuple(options.items()) for options in played(row)]
    first, second = (("name", "tree"), ("u", 0.1), ("ink", "leaf")), (("name", "tree"), ("u", 0.9), ("ink", "rock"))
    assert steps == [first] * steps.count(first) + [second] * steps.count(second)
    assert {2, 3, 4} >= {steps.count(first), steps.count(second)}


def test_a_step_is_taken_by_its_chance():
    assert not played({"chance": 0.0})
    assert played({"chance": 1.0})
