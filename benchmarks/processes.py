"""Measurements in a process of their own, and what is known of processes that run: memory and processor time."""

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from salgen.progress import repeated

INTERVAL_S = 0.1
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # as `make bench` sets them


def all_cores() -> dict[str, str]:
    """The environment of a program that may use all cores."""
    return {name: value for name, value in os.environ.items() if name not in ONE_THREAD}


def in_a_process(module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What a module prints as JSON in its last line, run as a program of its own."""
    command = [sys.executable, "-m", module, *arguments]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    return dict(json.loads(printed.splitlines()[-1]))


def peak_mb(process: int | str = "self") -> float:
    """Peak resident memory of a program alone; `getrusage` would count what the parent had before exec."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0) / 1024


@dataclass
class Watched:
    """What was seen of the processes that this one started, and those that they started.

    Attributes
    ----------
    peaks_mb
        Process number to its peak resident memory; memory that processes share counts for each.
    cpu_s
        Process number to processor seconds.
    """

    peaks_mb: dict[int, float] = field(default_factory=dict)
    cpu_s: dict[int, float] = field(default_factory=dict)


@contextmanager
def watching() -> Iterator[Watched]:
    """Look at all descendants ten times a second; what a process does after the last look is missed."""
    seen = Watched()
    with repeated(lambda: _look(seen), INTERVAL_S):
        yield seen


def _look(seen: Watched) -> None:
    stats = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                fields = (folder / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            stats[int(folder.name)] = (int(fields[1]), (int(fields[11]) + int(fields[12])) / TICKS_PER_S)
    for process in _descendants({number: parent for number, (parent, _) in stats.items()}):
        try:
            seen.peaks_mb[process] = max(peak_mb(process), seen.peaks_mb.get(process, 0.0))
        except OSError:
            continue
        seen.cpu_s[process] = stats[process][1]


def _descendants(parents: dict[int, int]) -> set[int]:
    found: set[int] = set()
    newest = {os.getpid()}
    while newest:
        newest = {process for process, parent in parents.items() if parent in newest}
        found |= newest
    return found


def within(limit: float, work: Callable[..., Any], *arguments: Any) -> Any:
    """What `work` returns in a process of its own, or None if it is killed after `limit` seconds.

    Raises
    ------
    RuntimeError
        If it fails; its traceback is on standard error.
    """
    spawning = multiprocessing.get_context("spawn")
    receiver, sender = spawning.Pipe(duplex=False)
    process = spawning.Process(target=_send, args=(sender, work, arguments))
    process.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(max(limit, 0.0)) else None
    except EOFError:
        raise RuntimeError(f"{work.__name__} failed in its process") from None
    finally:
        process.kill()
        process.join()


def _send(sender: Connection, work: Callable[..., Any], arguments: Sequence[Any]) -> None:
    sender.send(work(*arguments))
