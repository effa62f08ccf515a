import hashlib
import numpy as np
import pytest
from salgen.generators.drawing.catalogue import FOLDER, catalogue
from salgen.generators.drawing.choices import Choices
from salgen.generators.drawing.outlines import ring, smooth
from salgen.generators.drawing.pictures import resize_rgb
from salgen.generators.stand_ins.cutouts import KINDS, cutout
from salgen.generators.stand_ins.cutouts.painting import CHOICES, FIRST, OBJECTS, painted, sketch
from salgen.generators.stand_ins.cutouts.sketch import Group, Sketch, posed, read_items
from salgen.generators.stand_ins.cutouts.skins import COMMON, MARKINGS, MATERIALS, PALETTES, Skin, marking
from salgen.seeding import Stream


def drawn(name, side=32, index=0):
    return cutout(name, Stream("cutouts", name, index=index), side)


def every_part(items):
    for item in items:
        if isinstance(item, Group):
            for option in item.options:
                yield from every_part(option)
        else:
            yield item


def test_names_begin_with_those_of_bam_and_are_as_many_as_ebam_has():
    assert KINDS[:10] == FIRST
    assert len(KINDS) >= 53
    assert len(set(KINDS)) == len(KINDS) == sum(len(catalogue(f"objects/{path.name}")) for path in FOLDER.glob(OBJECTS))
    assert list(KINDS[10:]) == sorted(KINDS[10:])
    with pytest.raises(KeyError):
        cutout("unicorn", Stream(0), 32)


@pytest.mark.parametrize("name", KINDS)
def test_a_cutout_is_tight_and_has_a_soft_edge_around_an_opaque_inside(name):
    pixels = drawn(name)
    assert pixels.dtype == np.uint8
    assert pixels.shape[2] == 4
    assert max(pixels.shape[:2]) == 32
    alpha = pixels[..., 3]
    assert all(edge.any() for edge in (alpha[0], alpha[-1], alpha[:, 0], alpha[:, -1]))
    assert ((alpha > 0) & (alpha < 255)).any(), "no soft edge"
    alpha = drawn(name, 64)[..., 3]
    assert (alpha == 255).sum() > 0.25 * (alpha > 0).sum(), "hardly anything is opaque"
    assert drawn(name, 64)[alpha == 255][:, :3].std() > 8, "one flat colour"


@pytest.mark.parametrize("side", [24, 41, 160])
@pytest.mark.parametrize("name", ["fork", "kite", "airplane", "stop sign", "tennis racket"])
def test_the_longer_side_is_as_asked_for(name, side):
    for index in range(3):
        assert max(drawn(name, side, index).shape[:2]) == side


def test_another_stream_gives_another_picture_in_other_colours():
    for name in FIRST:
        assert len({drawn(name, index=index).tobytes() for index in range(6)}) == 6
    means = [drawn("truck", index=index) for index in range(8)]
    means = np.array([pixels[pixels[..., 3] == 255][:, :3].mean(axis=0) for pixels in means])
    assert means.std(axis=0).min() > 8


def test_no_two_classes_look_alike():
    """On average over some of each, since things of one class differ too."""
    looks = []
    for name in KINDS:
        some = []
        for index in range(3):
            pixels = drawn(name, 24, index)
            square = np.zeros((24, 24, 3), dtype=np.uint8)
            square[: pixels.shape[0], : pixels.shape[1]] = pixels[..., 3:]
            some.append(resize_rgb(square, (12, 12))[..., 0].astype(float))
        looks.append(np.mean(some, axis=0))
    apart = np.abs(np.array(looks)[:, None] - np.array(looks)[None]).mean(axis=(2, 3))
    apart[np.eye(len(KINDS), dtype=bool)] = np.inf
    assert apart.min() > 2


@pytest.mark.parametrize("name", KINDS)
def test_every_sketch_uses_what_there_is(name):
    skins = {**COMMON, **sketch(name).skins}
    for part in every_part(sketch(name).parts):
        assert part.tint in skins
        assert all(len(outline) >= 3 for outline in part.outlines)
    for skin in sketch(name).skins.values():
        assert skin.material in MATERIALS
        assert skin.palette in PALETTES or skin.like in skins
        assert skin.marking is None or (skin.marking.kind in MARKINGS and skin.marking.tint in skins)


@pytest.mark.parametrize("kind", MARKINGS)
def test_a_marking_leaves_both_colours(kind):
    share = marking(kind, 0.2, (40, 30), Stream("marking"))
    assert share.shape == (40, 30)
    assert share.min() == 0
    assert share.max() == 1


def test_a_thin_tip_that_is_lost_is_made_up_for():
    rows = [["poly", "a", "0,0 100,0.1 0,0.2"], ["box", "a", 0, -4, 40, 4]]
    needle = Sketch({"a": Skin("vivid")}, read_items(rows), lean=0.0)
    for index in range(4):
        assert max(painted(needle, Stream("needle", index=index), 30).shape[:2]) == 30


def test_a_pose_fills_its_canvas():
    thing = posed(sketch("dog"), 50, Choices(Stream("pose"), CHOICES))
    places = np.concatenate(thing.outlines)
    assert max(thing.size) == 50
    assert places.min() >= -0.21
    assert (places.max(axis=0) <= np.array(thing.size) + 0.21).all()


def test_a_smooth_outline_passes_through_its_knots_and_keeps_corners():
    knots = np.array([(0.0, 0.0), (0.0, 0.0), (4.0, 1.0), (5.0, 5.0), (1.0, 4.0)])
    outline = smooth(knots)
    assert all((np.abs(outline - knot).sum(axis=1) < 1e-12).any() for knot in knots)
    assert len(outline) == 5 * 4


def test_a_ring_has_a_hole():
    areas = [
        ((outline[:, 0] * np.roll(outline[:, 1], -1)) - (outline[:, 1] * np.roll(outline[:, 0], -1))).sum() / 2
        for outline in ring(0, 0, 10, 10, 4)
    ]
    assert areas == pytest.approx([np.pi * 100, -np.pi * 36], rel=0.01)


def test_all_objects_are_drawn_as_in_this_version():
    pictures = [drawn(name, 48) for name in KINDS]
    content = b"".join(repr(pixels.shape).encode() + pixels.tobytes() for pixels in pictures)
    assert hashlib.sha256(content).hexdigest()[:16] == "5fba0aabc80a1376"
