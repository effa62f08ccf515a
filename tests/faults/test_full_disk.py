"""No room, at any point: one line, nothing half-written under a final name, and with room it goes on."""

import pytest
from disks import FailingDisk, SmallFiles
from forked import finish
from repeats import mixed
from works import assert_goes_on, assert_refused, assert_whole, changes, leftovers, some

NAMES = ["make", "evaluate", "publish .tar", "publish .tar.gz", "publish .zip", "unpack", "verify"]
HOWS = ["once", "lasting"]


def slow(*values):
    """Parameters of a test that breaks what others do, with more to do."""
    return pytest.param(*values, marks=pytest.mark.torture)


ROOM = ("File too large", "No space left on device", "disk is full", "cannot be unpacked")


def assert_stopped_cleanly(work, place, done):
    """It said that there is no room, and what is there is whole."""
    assert_refused(done)
    assert any(word in done.text.splitlines()[-1] for word in ROOM), done.text
    assert_whole(place, work.usual[0])
    assert leftovers(place) == []


@pytest.mark.parametrize(
    "name", [*(n for n in NAMES if n != "evaluate"), *map(slow, ("evaluate", "make with workers", "publish run"))]
)
def test_where_files_cannot_grow_it_says_so_and_goes_on(stage, name, record_property):
    work = stage.works[name]
    sizes = some(largest(work, stage), stage.size.sizes)
    for size in sizes:
        place = work.place()
        assert_stopped_cleanly(work, place, finish(work.arguments, place, SmallFiles(size)))
        assert_goes_on(work, place)
    record_property("figure", f"full: {name}: no file above {len(sizes)} sizes from {sizes[0]} to {sizes[-1]} bytes")


def largest(work, stage):
    """The size of the largest file that a command writes."""
    written = stage.data if work.usual and work.arguments[0] == "verify" else work.last
    return max(path.stat().st_size for path in written.rglob("*") if path.is_file())


@pytest.mark.parametrize(("name", "how"), [*mixed(NAMES, HOWS), *(slow("publish run", how) for how in HOWS)])
def test_where_any_change_of_the_disk_fails_it_says_so_and_goes_on(stage, name, how, record_property):
    work = stage.works[name]
    total = changes(work)
    chosen = some(total, stage.size.changes)
    for nth in chosen:
        place = work.place()
        done = finish(work.arguments, place, FailingDisk(str(place), nth, how))
        assert_stopped_cleanly(work, place, done)
        assert_goes_on(work, place)
    record_property("figure", f"full: {name}: {len(chosen)} of its {total} changes of the disk fail, {how}")
