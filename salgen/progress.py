"""Progress of long work: a bar with rate and time left on a terminal, plain lines on a pipe."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

PLAIN_INTERVAL_S = 15.0
STEADY_S = 300.0  # of the time that is left


class Advance(Protocol):
    """A function called with the number of units done since the last call."""

    def __call__(self, count: int = 1, /) -> None:
        """Report `count` more units as done."""
        ...


@contextmanager
def progress(label: str, total: int, unit: str, *, done: int = 0) -> Iterator[Advance]:
    """Show the progress of some work on standard error.

    Parameters
    ----------
    label
        Name of the work.
    total
        Number of units in all.
    unit
        Name of the units: "images".
    done
        Units that an earlier run has done already; they do not count in the rate.
    """
    show = _bar if sys.stderr.isatty() else _lines
    with show(label, total, unit, done) as advance:
        yield advance


class _Pace:
    """How fast work is done: its mean rate, and the time that is left at a steadied one.

    Units that were done longer ago than `STEADY_S` hardly count for the time that is left: one slow unit does not make
    it jump, and a slower part of the work shows within minutes.
    """

    def __init__(self, left: int, unit: str) -> None:
        self.left, self.unit, self.count = left, unit, 0
        self.started = self.last = time.monotonic()
        self.units = self.seconds = 0.0

    def advance(self, step: int) -> None:
        """Count `step` units that were done since the last call."""
        now = time.monotonic()
        passed, self.last = max(now - self.last, 0.0), now
        faded = math.exp(-passed / STEADY_S)
        self.units, self.seconds = faded * self.units + step, faded * self.seconds + passed
        self.left, self.count = self.left - step, self.count + step

    @property
    def remaining(self) -> str:
        """The time that is left, in minutes."""
        minutes = round(self.left * self.seconds / self.units / 60) if self.units else 0
        return f"{minutes} min left" if minutes else "less than a minute left"

    @property
    def rate(self) -> str:
        """The mean rate since the beginning, with its unit."""
        rate = self.count / max(time.monotonic() - self.started, 1e-9)
        return f"{rate:,.0f} {self.unit}/s" if rate >= 10 else f"{rate:.2g} {self.unit}/s"


@contextmanager
def _bar(label: str, total: int, unit: str, done: int) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[pace]}"))
    pace = _Pace(total - done, unit)
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total, completed=done, pace="")

        def advance(step: int = 1) -> None:
            pace.advance(step)
            bar.update(task, advance=step, pace=f"{pace.rate}, {pace.remaining}" if pace.left else pace.rate)

        yield advance


@contextmanager
def _lines(label: str, total: int, unit: str, done: int) -> Iterator[Advance]:
    pace = _Pace(total - done, unit)
    last = time.monotonic()

    def line() -> str:
        return f"{label}: {total - pace.left}/{total}, {pace.rate}"

    def advance(step: int = 1) -> None:
        nonlocal last
        pace.advance(step)
        now = time.monotonic()
        if now - last >= PLAIN_INTERVAL_S and pace.left > 0:
            last = now
            print(f"{line()}, {pace.remaining}", file=sys.stderr, flush=True)

    yield advance
    if pace.count:
        print(line(), file=sys.stderr, flush=True)
