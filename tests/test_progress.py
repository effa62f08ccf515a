"""Progress on a pipe: plain lines, no control characters; the time that is left, in minutes that do not jump."""

import re
import sys
import time
import pytest
from salgen import progress as module
from salgen.progress import labelled, progress


def test_plain_lines_say_rate_and_estimate(capsys, monkeypatch):
    monkeypatch.setattr(module, "PLAIN_INTERVAL_S", 0.0)
    with progress("making", 4, "images", done=1) as advance:
        advance(1)
        advance(2)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("making: 2/4, ")
    assert lines[0].endswith(", less than a minute left")
    assert "images/s" in lines[1]
    assert lines[1].startswith("making: 4/4")
    assert "\x1b" not in "".join(lines)


def test_lines_of_several_processes_begin_with_their_labels(capsys):
    with labelled("signs"), progress("making", 2, "images") as advance:
        print("half", "way", file=sys.stderr)
        advance(2)
    assert re.fullmatch(r"signs: half way\nsigns: making: 2/2, .* images/s\n", capsys.readouterr().err)


def test_nothing_to_do_says_nothing(capsys):
    with progress("making", 4, "images", done=4):
        pass
    assert capsys.readouterr().err == ""


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)


def left(capsys):
    """(units done, minutes left) of each line that says minutes."""
    lines = re.findall(r" (\d+)/.*, (\d+) min left", capsys.readouterr().err)
    return [(int(count), int(minutes)) for count, minutes in lines]


def test_even_work_says_the_minutes_that_it_takes(capsys, monkeypatch):
    clock = Clock(monkeypatch)
    with progress("making", 100, "images", done=40) as advance:
        for _ in range(60):
            clock.now += 30.0
            advance()
    said = left(capsys)
    assert [count for count, _ in said][:56] == list(range(43, 99))  # from a twentieth on; then it is half a minute
    assert all(abs(minutes - (100 - count) * 30 / 60) <= 0.5 for count, minutes in said)


def test_slow_and_fast_units_in_turn_do_not_make_it_jump(capsys, monkeypatch):
    """Units of 2 s and 38 s: of the last unit alone it would be a tenth or twice of what it is."""
    clock = Clock(monkeypatch)
    with progress("explaining", 400, "maps") as advance:
        for number in range(400):
            clock.now += 38.0 if number % 2 else 2.0
            advance()
    said = [(count, minutes) for count, minutes in left(capsys) if 20 <= count <= 380]
    assert len(said) > 150
    for count, minutes in said:
        assert minutes == pytest.approx((400 - count) * 20 / 60, rel=0.15, abs=0.5)


def test_slow_units_at_the_beginning_do_not_frighten(capsys, monkeypatch):
    clock = Clock(monkeypatch)
    with progress("explaining", 100, "maps") as advance:
        clock.now += 90.0
        advance()
        assert capsys.readouterr().err == "explaining: 1/100, 0.011 maps/s\n"


def test_work_that_becomes_ten_times_slower_is_noticed(capsys, monkeypatch):
    clock = Clock(monkeypatch)
    with progress("explaining", 2000, "maps") as advance:
        for number in range(1300):
            clock.now += 1.0 if number < 500 else 10.0
            advance()
        count, minutes = left(capsys)[-1]
    assert minutes == pytest.approx((2000 - count) * 10 / 60, rel=0.1)


def test_a_terminal_of_80_columns_shows_count_and_minutes_whole(capsys, monkeypatch):
    clock = Clock(monkeypatch)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    with progress("measure what one image takes, efficientnet-lite0", 100, "methods and metrics") as advance:
        for _ in range(10):
            clock.now += 30.0
            advance()
    (line,) = (line for line in capsys.readouterr().err.splitlines() if "45 min left" in line)
    assert line.startswith("measure what one image")
    assert " 10/100 " in line
    assert len(line) <= 80


def test_a_long_unit_does_not_stand_still(capsys, monkeypatch):
    monkeypatch.setattr(module, "PLAIN_INTERVAL_S", 0.5)
    with progress("explaining", 2, "maps"):
        time.sleep(2.5)
        lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert set(lines) == {"explaining: 0/2, 0 maps/s"}


def test_units_that_take_longer_count_for_more(capsys, monkeypatch):
    """Ten units of 3 s, then ten of 57 s: of units alone the estimate would be half a minute after the first ten."""
    clock = Clock(monkeypatch)
    with progress("explaining", 20, "maps", work=600.0) as advance:
        for number in range(20):
            seconds = 57.0 if number >= 10 else 3.0
            clock.now += seconds
            advance(1, seconds)
            if number == 9:
                clock.now += 10.0
                advance(0, 0.0)
    assert left(capsys)[0] == (10, 13)
