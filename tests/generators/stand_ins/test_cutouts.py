import hashlib
import pytest
from salgen.generators.stand_ins.cutouts import KINDS, cutout
from salgen.seeding import Stream


def drawn(name, side, index=0):
    return cutout(name, Stream("cutouts", name, index=index), side)


@pytest.mark.parametrize("side", [24, 41, 160])
@pytest.mark.parametrize("name", ["fork", "kite", "airplane", "stop sign", "tennis racket"])
def test_the_longer_side_is_as_asked_for(name, side):
    for index in range(3):
        assert max(drawn(name, side, index).shape[:2]) == side


def test_all_objects_are_drawn_as_in_this_version():
    pictures = [drawn(name, 48) for name in KINDS]
    content = b"".join(repr(pixels.shape).encode() + pixels.tobytes() for pixels in pictures)
    assert hashlib.sha256(content).hexdigest()[:16] == "5fba0aabc80a1376"
