"""Folders that may be read and not written."""

import ctypes
import os
import struct
from contextlib import contextmanager
import pytest
from forked import finish
from works import STATED, assert_refused, contents, leftovers

CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2
PR_CAPBSET_DROP = 24
VERSION_3 = 0x20080522


def bound_by_permissions():
    """Root writes where it likes: give that right up in this process, for its workers too."""
    if os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, data = struct.pack("Ii", VERSION_3, 0), ctypes.create_string_buffer(24)
    assert libc.capget(header, data) == 0
    low, high = struct.unpack("3I", data.raw[:12]), struct.unpack("3I", data.raw[12:])
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        assert libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0
        low = tuple(bits & ~(1 << capability) for bits in low)
    assert libc.capset(header, struct.pack("6I", *low, *high)) == 0


@contextmanager
def read_only(folder):
    """A folder in which nothing can be written, and all folders within it."""
    folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    for path in folders:
        path.chmod(0o555)
    try:
        yield
    finally:
        for path in folders:
            path.chmod(0o755)


def run(arguments, place):
    return finish(arguments, place, bound_by_permissions)


@pytest.mark.parametrize("name", ["make", "make with workers", "evaluate", "publish .tar", "unpack"])
def test_where_out_cannot_be_written_it_says_so(stage, name):
    work = stage.works[name]
    place = work.place()
    (place / "tmp").mkdir(parents=True)
    with read_only(place):
        done = run(work.arguments, place)
    assert_refused(done, "ermission")
    assert list(contents(place)) == ["tmp"]


def test_a_data_set_that_cannot_be_written_is_as_good_as_any(stage, tmp_path):
    (make, place) = (stage.works["make"], stage.works["make"].place())
    assert finish(make.arguments, place).status == 0
    with read_only(place / "out"):
        again = run(make.arguments, place)
        assert (again.status, "complete: nothing to do" in again.text) == (0, True)
        assert run(("verify", str(place / "out")), tmp_path).status == 0
        assert run(("publish", str(place / "out"), "out.tar", *STATED), tmp_path).status == 0
        words = [str(place / "out") if word == str(stage.data) else word for word in stage.evaluate("scnn")]
        evaluated = run(words, tmp_path)
        assert evaluated.status == 0, evaluated.text
    assert (tmp_path / "out.tar").read_bytes() == stage.archive.read_bytes()
    assert leftovers(tmp_path) == []


def test_a_finished_run_that_cannot_be_written_is_refused_in_one_line(stage):
    work = stage.works["evaluate"]
    place = work.place()
    assert finish(work.arguments, place).status == 0
    with read_only(place / "run"):
        assert_refused(run(work.arguments, place), "ermission")


def test_a_cache_that_cannot_be_written_serves_what_it_holds(stage, tmp_path, monkeypatch):
    work = stage.works["make"]
    monkeypatch.setenv("SALGEN_CACHE", str(tmp_path / "cache"))  # the stage has its own by now
    first = work.place()
    (tmp_path / "cache").mkdir()
    with read_only(tmp_path / "cache"):
        assert_refused(run(work.arguments, first), "SALGEN_CACHE")
    assert finish(work.arguments, first).status == 0
    with read_only(tmp_path / "cache"):
        assert run(work.arguments, work.place()).status == 0
