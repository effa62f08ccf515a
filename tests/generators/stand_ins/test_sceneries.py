import hashlib
from functools import lru_cache
from itertools import combinations
import numpy as np
import pytest
from salgen.generators.drawing.shapes import polygon
from salgen.generators.stand_ins.sceneries import KINDS, scenery
from salgen.generators.stand_ins.sceneries.painting import LAYOUTS, PARTS, Step, play, read_layout
from salgen.generators.stand_ins.sceneries.planes import PATTERNS
from salgen.generators.stand_ins.sceneries.sheet import RANGES, Ink, Sheet
from salgen.generators.stand_ins.sceneries.stage import Stage
from salgen.generators.stand_ins.sceneries.structures import THINGS
from salgen.seeding import Stream

TEN = (
    *("bamboo_forest", "bedroom", "bowling_alley", "bus_interior", "cockpit", "corn_field", "laundromat", "runway"),
    *("ski_slope", "track/outdoor"),
)
SMALL = (32, 32)
PASTED = ("backpack", "bird", "dog", "elephant", "kite", "pizza", "stop sign", "toilet", "truck", "zebra")


@lru_cache(maxsize=1024)
def drawn(name, index, size=SMALL):
    return scenery(name, Stream(0, "sceneries", name, index=index), size)


def test_there_are_a_hundred_names_and_the_ten_of_bam_come_first():
    assert KINDS[:10] == TEN
    assert len(set(KINDS)) == len(KINDS) == 100
    assert list(KINDS[10:]) == sorted(KINDS[10:])


@pytest.mark.parametrize("name", KINDS)
def test_every_scene_is_drawn_and_varies(name):
    first, second = drawn(name, 0), drawn(name, 1)
    for image in (first, second):
        assert image.dtype == np.uint8
        assert image.shape == (*SMALL, 3)
        assert image.flags["C_CONTIGUOUS"]
        assert image.std() > 12, "nothing is flat"
    assert np.abs(first.astype(int) - second).mean() > 6


@pytest.mark.parametrize("size", [(32, 80), (80, 32), (224, 224)])
def test_any_size(size):
    for name in KINDS[::11]:
        assert drawn(name, 2, size).shape == (*size, 3)


def test_all_scenes_are_drawn_as_in_this_version():
    """A change of these is a change of every data set that shows scenes."""
    content = b"".join(drawn(name, 0, (48, 64)).tobytes() for name in KINDS)
    assert hashlib.sha256(content).hexdigest()[:16] == "6610b6b59396c0ca"


def test_mean_colour_does_not_tell_the_ten_apart():
    """A nearest-centroid classifier on it, where chance is 10 %."""
    means = np.array([[drawn(name, index).reshape(-1, 3).mean(axis=0) for index in range(24)] for name in TEN])
    centroids = means[:, :12].mean(axis=1)
    nearest = ((means[:, 12:, np.newaxis] - centroids) ** 2).sum(axis=-1).argmin(axis=-1)
    assert (nearest == np.arange(10)[:, np.newaxis]).mean() < 0.5


def test_layout_tells_the_ten_apart():
    """A nearest-centroid classifier on normalised grey images and their mirrors."""
    grey = np.array([[_normalised(drawn(name, index)) for index in range(24)] for name in TEN])
    centroids = (grey[:, :12] + grey[:, :12, :, ::-1]).mean(axis=1)
    nearest = (grey[:, 12:, np.newaxis] * _unit(centroids)).sum(axis=(-1, -2)).argmax(axis=-1)
    assert (nearest == np.arange(10)[:, np.newaxis]).mean() > 0.6


def test_no_two_scenes_are_alike():
    """Mean images of the same streams' scenes, mirrored so that left and right count alike."""
    grey = {name: np.mean([_normalised(drawn(name, index)) for index in range(2)], axis=0) for name in KINDS}
    for first, second in combinations(KINDS, 2):
        a, b = (_unit(grey[name] + grey[name][:, ::-1]) for name in (first, second))
        assert (a * b).sum() < 0.97, f"{first} is like {second}"


def _normalised(image):
    grey = image.mean(axis=2)
    return _unit(grey - grey.mean())


def _unit(values):
    return values / np.sqrt((values * values).sum(axis=(-1, -2), keepdims=True))


def test_layouts_use_what_there_is_and_nothing_that_is_pasted():
    for layout in LAYOUTS.values():
        for entry in layout:
            options = entry.options
            assert entry.part in PARTS
            assert options.get("name", "slab") in THINGS
            assert str(options.get("ink", "wood")).rstrip("0123456789*") in RANGES
            if entry.part in ("room", "ground"):
                covers = [value for value in options.values() if isinstance(value, list) and len(value) == 3]
                assert {pattern for _, pattern, _ in covers} <= set(PATTERNS)
    assert not set(PASTED) & set(THINGS)


def test_inks_of_things_exist_and_outlines_have_no_notch():
    """What has a notch in a row would be filled across it."""
    for name, pieces in THINGS.items():
        for piece in pieces:
            assert piece.ink.rstrip("0123456789*") in (*RANGES, ""), name
            corners = [((y + 0.4) * 12, (x + 0.9) * 12) for x, y in piece.points]
            sheet = Sheet()
            sheet.add([(x / 24, y / 24) for y, x in corners], Ink((1.0, 1.0, 1.0)))
            found = sheet.drawn((24, 24))[..., 8]
            assert np.abs(found - polygon(corners, (24, 24))).sum() <= 0.25, f"{name}: {piece}"


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


def test_choices_of_a_step():
    """A pair is drawn once, one in `each` for each repetition, and `over` runs from one value to another."""
    seen = []
    PARTS["seen"] = lambda stage, **options: seen.append(options)
    try:
        play(
            Stage(Stream(0), SMALL),
            [Step("seen", {"u": [0.0, 0.2]}, each={"w": [0.0, 1.0]}, over={"z": (3.0, 1.0)}, times=3, both=True)],
        )
    finally:
        del PARTS["seen"]
    assert [options["z"] for options in seen] == [3.0, 3.0, 2.0, 2.0, 1.0, 1.0]
    assert len({options["w"] for options in seen}) == 3
    assert len({options["u"] for options in seen}) == 2
    assert seen[0]["u"] == pytest.approx(1.0 - seen[1]["u"])


def test_a_row_with_columns_is_several_steps():
    row = ["thing", {"name": "tree", "times": [2, 4], "chance": 0.5, "for": {"u": [0.1, 0.9], "ink": ["leaf", "rock"]}}]
    assert read_layout([row]) == (
        Step("thing", {"name": "tree", "u": 0.1, "ink": "leaf"}, times=[2, 4], chance=0.5),
        Step("thing", {"name": "tree", "u": 0.9, "ink": "rock"}, times=[2, 4], chance=0.5),
    )
