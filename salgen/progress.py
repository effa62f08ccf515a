"""Progress of long work: a bar with rate and estimate on a terminal, plain lines on a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

PLAIN_INTERVAL_S = 15.0


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


@contextmanager
def _bar(label: str, total: int, unit: str, done: int) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    rate = TextColumn("{task.fields[rate]}")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), rate, TimeRemainingColumn())
    started, count = time.monotonic(), 0
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total, completed=done, rate="")

        def advance(step: int = 1) -> None:
            nonlocal count
            count += step
            bar.update(task, advance=step, rate=_rate(count, started, unit))

        yield advance


@contextmanager
def _lines(label: str, total: int, unit: str, done: int) -> Iterator[Advance]:
    started = last = time.monotonic()
    count = 0

    def advance(step: int = 1) -> None:
        nonlocal count, last
        count += step
        now = time.monotonic()
        if now - last >= PLAIN_INTERVAL_S and done + count < total:
            last = now
            left = (total - done - count) * max(now - started, 0.0) / count
            print(
                f"{label}: {done + count}/{total}, {_rate(count, started, unit)}, {left:.0f} s left",
                file=sys.stderr,
                flush=True,
            )

    yield advance
    if count:
        print(f"{label}: {done + count}/{total}, {_rate(count, started, unit)}", file=sys.stderr, flush=True)


def _rate(count: int, started: float, unit: str) -> str:
    rate = count / max(time.monotonic() - started, 1e-9)
    return f"{rate:,.0f} {unit}/s" if rate >= 10 else f"{rate:.2g} {unit}/s"
