import hashlib
import numpy as np
import pytest
from salgen.generators.drawing.catalogue import FOLDER, catalogue
from salgen.generators.drawing.outlines import smooth
from salgen.generators.stand_ins.cutouts import KINDS, cutout
from salgen.generators.stand_ins.cutouts.painting import FIRST, OBJECTS, painted
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.generators.stand_ins.cutouts.skins import Skin
from salgen.seeding import Stream


def drawn(name, side=32, index=0):
    return cutout(name, Stream("cutouts", name, index=index), side)


def test_names_begin_with_those_of_bam_and_are_as_many_as_ebam_has():
    assert KINDS[:10] == FIRST
    assert len(KINDS) >= 53
    assert len(set(KINDS)) == len(KINDS) == sum(len(catalogue(f"objects/{path.name}")) for path in FOLDER.glob(OBJECTS))
    assert list(KINDS[10:]) == sorted(KINDS[10:])
    with pytest.raises(KeyError):
        cutout("unicorn", Stream(0), 32)


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


def test_a_thin_tip_that_is_lost_is_made_up_for():
    rows = [["poly", "a", "0,0 100,0.1 0,0.2"], ["box", "a", 0, -4, 40, 4]]
    needle = Sketch({"a": Skin("vivid")}, rows, lean=0.0)
    for index in range(4):
        assert max(painted(needle, Stream("needle", index=index), 30).shape[:2]) == 30


def test_a_smooth_outline_passes_through_its_knots_and_keeps_corners():
    knots = np.array([(0.0, 0.0), (0.0, 0.0), (4.0, 1.0), (5.0, 5.0), (1.0, 4.0)])
    outline = smooth(knots)
    assert all((np.abs(outline - knot).sum(axis=1) < 1e-12).any() for knot in knots)
    assert len(outline) == 5 * 4


def test_all_objects_are_drawn_as_in_this_version():
    pictures = [drawn(name, 48) for name in KINDS]
    content = b"".join(repr(pixels.shape).encode() + pixels.tobytes() for pixels in pictures)
    assert hashlib.sha256(content).hexdigest()[:16] == "5fba0aabc80a1376"
