import hashlib
import pytest
from salgen.generators.stand_ins.sceneries import KINDS, scenery
from salgen.seeding import Stream


def drawn(name, index, size):
    return scenery(name, Stream(0, "sceneries", name, index=index), size)


@pytest.mark.parametrize("size", [(32, 80), (80, 32), (224, 224)])
def test_any_size(size):
    for name in KINDS[::11]:
        assert drawn(name, 2, size).shape == (*size, 3)


def test_all_scenes_are_drawn_as_in_this_version():
    """A change of these is a change of every data set that shows scenes."""
    content = b"".join(drawn(name, 0, (48, 64)).tobytes() for name in KINDS)
    assert hashlib.sha256(content).hexdigest()[:16] == "6610b6b59396c0ca"
