"""Medians of interleaved runs, and rows of a table."""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes
    ----------
    step, peer
        What is done, and beside whom.
    peer_us, ours_us
        Median microseconds.
    goal
        The ratio aimed at, peer over ours unless the step says otherwise; or "".
    held_by
        What holds a ratio that misses its goal.
    """

    step: str
    peer: str
    peer_us: float
    ours_us: float
    goal: str
    held_by: str = "not looked into"

    @property
    def ratio(self) -> float:
        """How many times longer the peer takes."""
        return self.peer_us / self.ours_us

    @property
    def missed(self) -> bool:
        """Whether there is a goal, and the ratio is below it."""
        return bool(self.goal) and self.ratio < float(self.goal.removeprefix("≥ "))


def medians_us(
    work: Mapping[str, Callable[[], object]], rounds: int, repeats: Mapping[str, int] | None = None
) -> dict[str, float]:
    """Median microseconds of each piece of work, taken in turns so that noise meets all alike.

    `repeats` says how often a short piece runs within one timing.
    """
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, run in work.items():
            count = (repeats or {}).get(name, 1)
            started = time.perf_counter()
            for _ in range(count):
                run()
            times[name].append((time.perf_counter() - started) / count * 1e6)
    return {name: statistics.median(values) for name, values in times.items()}


def table(rows: list[Row]) -> str:
    """The rows in Markdown, and below them what holds those that miss their goals."""
    lines = ["| step | peer | peer, µs | salgen, µs | ratio | goal |", "| --- | --- | --- | --- | --- | --- |"]
    lines += [
        f"| {r.step} | {r.peer} | {r.peer_us:,.0f} | {r.ours_us:,.0f} | {r.ratio:,.1f} | {r.goal} |" for r in rows
    ]
    held = dict.fromkeys(f"- {row.step}, {row.peer}: {row.held_by}" for row in rows if row.missed)
    return "\n".join([*lines, "", "What holds missed goals:", "", *held] if held else lines)
