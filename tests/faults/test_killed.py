"""SIGKILL at random moments and between any two changes of the disk; the same command again ends the same."""

import os
import signal
import time
import numpy as np
import pytest
from disks import FailingDisk
from forked import finish, start
from works import FORMS, assert_goes_on, assert_refused, assert_whole, changes, some

SHARE = {  # of the kills
    "make": 0.5,
    "make with workers": 0.5,
    "evaluate": 0.5,
    "evaluate lesion-cnn": 0.5,
    **{f"publish {form}": 0.34 for form in FORMS},
    "publish run": 0.34,
}


def moments(name, size, seconds):
    """Seeded moments, spread over the whole of an undisturbed run."""
    count = max(round(size.kills * SHARE[name]), 1)
    within = np.random.default_rng(sum(map(ord, name))).random(count)
    return [(k + u) / count * seconds for k, u in enumerate(within)]


def kill_and_go_on(work, after):
    """Kill it after so many seconds, or half as many where it was done by then, and so on; says how often it was."""
    place = work.place()
    running = start(work.arguments, place)
    time.sleep(after)
    running.kill()
    hit = running.wait().status == -signal.SIGKILL
    assert_whole(place, work.usual[0])
    if not hit:
        return 1 + kill_and_go_on(work, after / 2)
    assert_goes_on(work, place)
    return 0


SLOW = ("make with workers", "evaluate lesion-cnn", "publish run")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.torture if name in SLOW else ()) for name in SHARE]
)
def test_killed_at_any_moment_it_goes_on_and_ends_the_same(stage, name, record_property):
    work = stage.longer.works[name]
    seconds = work.usual[1].seconds
    late = [kill_and_go_on(work, after) for after in moments(name, stage.size, seconds)]
    record_property(
        "figure",
        f"killed: {name}: {len(late)} times while it worked, over {seconds:.2f} s; {sum(late)} more came too late",
    )


@pytest.mark.parametrize("name", ["make", "evaluate", "publish .tar.gz", "unpack"])
def test_killed_between_any_two_changes_of_the_disk_it_ends_the_same(stage, name, record_property):
    work = stage.works[name]
    total = changes(work)
    chosen = some(total, stage.size.changes)
    for nth in chosen:
        place = work.place()
        killed = finish(work.arguments, place, FailingDisk(str(place), nth, "killed"))
        assert killed.status == -signal.SIGKILL
        assert_whole(place, work.usual[0])
        assert_goes_on(work, place)
    record_property("figure", f"killed: {name}: before {len(chosen)} of its {total} changes of the disk")


def test_a_folder_that_was_made_before_the_kill_is_no_other_data_set(stage):
    work = stage.works["make"]
    place = work.place()
    (place / "out" / "data").mkdir(parents=True)
    (place / "out" / ".salgen.json.123.part").touch()
    assert_goes_on(work, place)


def test_where_only_the_parent_dies_its_workers_end_and_it_goes_on(stage):
    work = stage.works["make with workers"]
    place = work.place()
    running = start(work.arguments, place)
    workers = wait_for_workers(running, place)
    os.kill(running.pid, signal.SIGKILL)
    assert running.wait().status == -signal.SIGKILL  # and no worker is left
    assert workers
    assert_goes_on(work, place)


def test_where_a_worker_dies_it_says_so_and_goes_on(stage):
    work = stage.works["make with workers"]
    place = work.place()
    running = start(work.arguments, place)
    os.kill(wait_for_workers(running, place)[0], signal.SIGKILL)
    assert_refused(running.wait(), "a worker process was killed by signal 9", "the same command continues it")
    assert_whole(place, work.usual[0])
    assert_goes_on(work, place)


def wait_for_workers(running, place):
    while not (workers := [pid for pid in running.family() if pid != running.pid]):
        assert running.process.is_alive()
        time.sleep(0.001)
    return workers
