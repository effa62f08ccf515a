"""Progress of long work: a bar with rate and time left on a terminal, plain lines on a pipe."""

import io
import math
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, redirect_stderr
from typing import TextIO, TypeVar

PLAIN_INTERVAL_S = 10.0
WIDE = 120  # columns of a terminal that has room for a bar
STEADY_S = 1800.0  # units done so long ago count a third in the time that is left
Item = TypeVar("Item")
EARLY = 0.05  # share of the work before which the time that is left cannot be told


Advance = Callable[..., None]  # takes the units done since the last call, by default 1, and their share of the work


@contextmanager
def progress(
    label: str | Callable[[], str], total: int, unit: str, *, done: int = 0, work: float | None = None
) -> Iterator[Advance]:
    """Show the progress of some work on standard error, every ten seconds also while a single unit takes longer.

    `total` units, such as "images", are to be done. Those `done` by an earlier run do not count in the rate. `work` is
    what is left, in seconds or any unit, where units differ in it. A label that changes is a function.
    """
    said, pace = label if callable(label) else lambda: label, _Pace(total - done, unit, work)
    with (_bar if sys.stderr.isatty() else _lines)(said, total, pace) as show:

        def advance(step: int = 1, work: float | None = None) -> None:
            pace.advance(step, step if work is None else work)
            show(step)

        yield advance


def tracked(label: str, items: Collection[Item], unit: str) -> Iterator[Item]:
    """Some items one by one, with the progress of the work that is done on each; see :func:`progress`."""
    with progress(label, len(items), unit) as advance:
        for item in items:
            yield item
            advance()


@contextmanager
def labelled(label: str) -> Iterator[None]:
    """Begin each line on standard error with a label, where several processes write there; there are no bars."""
    with redirect_stderr(_Labelled(label, sys.stderr)):
        yield


class _Labelled(io.TextIOBase):
    def __init__(self, label: str, stream: TextIO) -> None:
        self.label, self.stream, self.begun = label, stream, ""

    def write(self, text: str) -> int:
        *lines, self.begun = (self.begun + text).split("\n")
        self.stream.write("".join(f"{self.label}: {line}\n" for line in lines))
        self.stream.flush()
        return len(text)


class _Pace:
    """How fast work is done; for the time left, units done `STEADY_S` ago count a third, so that it does not jump."""

    def __init__(self, left: int, unit: str, work: float | None) -> None:
        self.left, self.unit, self.count = left, unit, 0
        self.work = float(left if work is None else work)
        self.late = (1 - EARLY) * self.work
        self.started = self.last = time.monotonic()
        self.units = self.seconds = 0.0

    def advance(self, step: int, work: float) -> None:
        """Count `step` units that were done since the last call."""
        now = time.monotonic()
        passed, self.last = max(now - self.last, 0.0), now
        faded = math.exp(-passed / STEADY_S)
        self.units, self.seconds = faded * self.units + work, faded * self.seconds + passed
        self.left, self.count, self.work = self.left - step, self.count + step, self.work - work

    @property
    def rate_and_time(self) -> str:
        """The mean rate, and the time that is left in minutes, unless all is done or it is too early to tell."""
        rate = self.count / max(time.monotonic() - self.started, 1e-9)
        text = f"{rate:,.0f} {self.unit}/s" if rate >= 10 else f"{rate:.2g} {self.unit}/s"
        if self.left <= 0 or self.work > self.late or not self.units:
            return text
        minutes = round(self.work * self.seconds / self.units / 60)
        return f"{text}, {minutes} min left" if minutes else f"{text}, less than a minute left"


@contextmanager
def _bar(label: Callable[[], str], total: int, pace: _Pace) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Column

    console = Console(stderr=True)
    shortened = Column(ratio=1, no_wrap=True, overflow="ellipsis")  # so that count and time are whole
    bars = [BarColumn()] if console.width >= WIDE else []
    pace_text = TextColumn("{task.fields[pace]}", table_column=Column(no_wrap=True))
    shown = (TextColumn("{task.description}", table_column=shortened), *bars, MofNCompleteColumn(), pace_text)
    with Progress(*shown, TimeElapsedColumn(), console=console, expand=True) as bar:  # which redraws itself
        task = bar.add_task(label(), total=total, completed=total - pace.left, pace="")
        yield lambda step: bar.update(task, advance=step, description=label(), pace=pace.rate_and_time)


@contextmanager
def _lines(label: Callable[[], str], total: int, pace: _Pace) -> Iterator[Callable[[int], None]]:
    last, lock = time.monotonic(), threading.Lock()

    def line() -> None:
        print(f"{label()}: {total - pace.left}/{total}, {pace.rate_and_time}", file=sys.stderr, flush=True)

    def line_if_due(step: int = 0) -> None:
        nonlocal last
        with lock:
            now = time.monotonic()
            if now - last >= PLAIN_INTERVAL_S and pace.left > 0:
                last = now
                line()

    with repeated(line_if_due, 1.0):
        yield line_if_due
    if pace.count:
        line()


@contextmanager
def repeated(work: Callable[[], None], seconds: float) -> Iterator[None]:
    """Do some work every so many seconds, in a thread of its own."""
    finished = threading.Event()

    def watch() -> None:
        while not finished.wait(seconds):
            work()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        finished.set()
        watcher.join()
