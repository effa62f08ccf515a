"""Two processes that write the same OUT: one wins, the other says so or finds it complete."""

import os
import time
import numpy as np
import pytest
from forked import finish, start
from works import assert_equal, assert_refused
from salgen.datasets.format.output_folder import sole_writer

NAMES = ["make", "make with workers", "publish .tar", "unpack", pytest.param("evaluate", marks=pytest.mark.torture)]
BUSY = "is being written by another salgen process: wait until it is done"
DONE = ("already exists", "is not empty")


@pytest.mark.parametrize("name", NAMES)
def test_while_one_is_at_work_the_other_is_refused(stage, name):
    work = stage.works[name]
    second = None
    for _ in range(20):
        place = work.place()
        first = start(work.arguments, place)
        while not begun(place):
            assert first.process.is_alive() or begun(place)
        if not first.stop():
            continue
        try:
            second = finish(work.arguments, place)
        finally:
            first.go_on()
        if BUSY in second.text:  # else the first one was done before it was stopped
            break
    assert_refused(second, BUSY)
    assert first.wait().status == 0
    assert_equal(place, work.usual[0])


def begun(place):
    """Whether something was written: a command that writes holds the lock by then."""
    return any(files for _, _, files in os.walk(place))


@pytest.mark.parametrize("name", NAMES)
def test_begun_within_a_moment_one_wins_and_the_result_is_whole(stage, name, record_property):
    work = stage.works[name]
    outcomes = []
    for between in np.random.default_rng(1).random(stage.size.races) * work.usual[1].seconds:
        place = work.place()
        first = start(work.arguments, place)
        time.sleep(between)
        second = start(work.arguments, place)
        both = [first.wait(), second.wait()]
        assert 0 in [done.status for done in both], [done.text for done in both]
        for done in both:
            if done.status != 0:
                assert_refused(done)
                assert any(words in done.text for words in (BUSY, *DONE)), done.text
        outcomes.append(BUSY in both[0].text + both[1].text)
        assert_equal(place, work.usual[0])
    record_property("figure", f"two writers: {name}: {len(outcomes)} races, in {sum(outcomes)} one was refused as busy")


def test_where_no_lock_can_be_had_one_still_writes(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SALGEN_CACHE", str(tmp_path / "file"))
    written = []
    with sole_writer(tmp_path):
        written.append("here")
    assert written
