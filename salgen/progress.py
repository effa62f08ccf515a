"""Progress of long work: a bar with rate and time left on a terminal, plain lines on a pipe."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

PLAIN_INTERVAL_S = 15.0
STEADY_S = 1800.0  # of the time that is left
EARLY = 0.05  # share of the work before which the time that is left cannot be told


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

    For the time that is left, units that were done `STEADY_S` ago count a third: slow and fast units in turn do not
    make it jump, and long work that becomes slower is noticed. The first units say little, as they may be the slowest.
    """

    def __init__(self, left: int, unit: str) -> None:
        self.left, self.unit, self.count = left, unit, 0
        self.early = EARLY * left
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
    def rate(self) -> str:
        """The mean rate since the beginning, with its unit."""
        rate = self.count / max(time.monotonic() - self.started, 1e-9)
        return f"{rate:,.0f} {self.unit}/s" if rate >= 10 else f"{rate:.2g} {self.unit}/s"

    @property
    def rate_and_time(self) -> str:
        """The rate, and the time that is left in minutes, unless all is done or it is too early to tell."""
        if self.left <= 0 or self.count < self.early:
            return self.rate
        minutes = round(self.left * self.seconds / self.units / 60)
        return f"{self.rate}, {minutes} min left" if minutes else f"{self.rate}, less than a minute left"


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
            bar.update(task, advance=step, pace=pace.rate_and_time)

        yield advance


@contextmanager
def _lines(label: str, total: int, unit: str, done: int) -> Iterator[Advance]:
    pace = _Pace(total - done, unit)
    last = time.monotonic()

    def line() -> None:
        print(f"{label}: {total - pace.left}/{total}, {pace.rate_and_time}", file=sys.stderr, flush=True)

    def advance(step: int = 1) -> None:
        nonlocal last
        pace.advance(step)
        now = time.monotonic()
        if now - last >= PLAIN_INTERVAL_S and pace.left > 0:
            last = now
            line()

    yield advance
    if pace.count:
        line()
