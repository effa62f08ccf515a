"""Commands of salgen in processes that can be broken: each is forked from one that has imported everything."""

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

PATIENCE_S = 300.0
TMP = "tmp"  # the folder for temporary files, in the place of each command

Fault = Callable[[], Any]  # sets itself up in the forked process; may return a function that tells a figure


@dataclass(frozen=True)
class Finished:
    """How a command ended: its status (negative: the signal), what it printed, and what its faults counted."""

    status: int
    text: str
    seconds: float
    figures: tuple[Any, ...] = ()


@dataclass
class Running:
    """A command at work in a session of its own."""

    process: BaseProcess
    control: Connection
    output: Connection
    started: float = field(default_factory=time.perf_counter)

    @property
    def pid(self) -> int:
        assert self.process.pid is not None
        return self.process.pid

    def family(self) -> list[int]:
        """The processes of its session: it and its workers."""
        return [pid for pid in _processes() if _state(pid)[1] == self.pid]

    def kill(self) -> None:
        """Kill it and all its workers, it first."""
        for pid in (self.pid, *self.family()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def stop(self) -> bool:
        """Stop it until `go_on`; False if it ended before it could be stopped."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGSTOP)
        while (state := _state(self.pid)[0]) not in "TZX":
            time.sleep(0.001)
        return state == "T"

    def go_on(self) -> None:
        """Let it go on after `stop`."""
        os.kill(self.pid, signal.SIGCONT)

    def wait(self) -> Finished:
        """Wait until it and its workers have ended."""
        self.process.join(PATIENCE_S)
        seconds = time.perf_counter() - self.started
        if self.process.exitcode is None:
            self.kill()
            raise AssertionError(f"hangs: {self._text()}")
        while self.family():
            assert time.perf_counter() - self.started < PATIENCE_S, "a worker outlives its parent"
            time.sleep(0.005)
        return Finished(self.process.exitcode, self._text(), seconds, tuple(self._figures()))

    def _figures(self) -> Iterator[Any]:
        with suppress(EOFError, OSError), self.control:
            while self.control.poll():
                yield self.control.recv()

    def _text(self) -> str:
        pieces = []
        with self.output:
            while piece := os.read(self.output.fileno(), 1 << 16):
                pieces.append(piece)
        return b"".join(pieces).decode()


@cache
def _context() -> Any:
    """What forks: a process with one thread for arithmetic and with this folder's modules in reach."""
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    usual = dict(os.environ)
    os.environ.update({**threads, "PYTHONPATH": path, "HF_HUB_OFFLINE": "1"})
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["preloaded"])
    first = context.Process(target=os.getpid)
    first.start()
    os.environ.clear()
    os.environ.update(usual)
    first.join()
    return context


def start(arguments: Sequence[str], place: Path, *faults: Fault) -> Running:
    """Start ``salgen ARGUMENTS`` in the folder `place`; returns when it is about to begin."""
    (place / TMP).mkdir(parents=True, exist_ok=True)
    here, control = multiprocessing.Pipe()
    output, written = multiprocessing.Pipe(duplex=False)
    settings = (list(arguments), str(place), os.environ["SALGEN_CACHE"], faults)
    process = _context().Process(target=_run, args=(*settings, control, written))
    process.start()
    control.close()
    written.close()
    assert here.recv() == "ready"
    return Running(process, here, output)


def finish(arguments: Sequence[str], place: Path, *faults: Fault) -> Finished:
    """Run ``salgen ARGUMENTS`` to its end."""
    return start(arguments, place, *faults).wait()


def _run(
    arguments: list[str], place: str, cache: str, faults: Sequence[Fault], control: Connection, output: Connection
) -> None:
    """Run a command in this process, which was forked for it."""
    from salgen.cli.main import main
    from salgen.datasets.format import manifest

    manifest.SAMPLES_PER_SHARD, manifest.ROWS_PER_GROUP = 5, 2  # so that tiny data sets have several shards
    os.setsid()
    os.chdir(place)
    os.environ["TMPDIR"] = tempfile.tempdir = str(Path(place) / TMP)
    os.environ["SALGEN_CACHE"] = cache
    for stream in (1, 2):
        os.dup2(output.fileno(), stream)
    sys.argv = ["salgen", *arguments]
    sys.stdout, sys.stderr = (open(stream, "w", buffering=1, closefd=False) for stream in (1, 2))  # noqa: SIM115
    figures = [figure for fault in faults if (figure := fault()) is not None]
    control.send("ready")
    status = main(arguments)
    for figure in figures:
        control.send(figure())
    os._exit(status)


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _state(pid: int) -> tuple[str, int]:
    """The state of a process (T: stopped, Z or X: ended) and its session, -1 if it has ended."""
    try:
        state, _, _, session = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:4]
    except OSError:
        return "X", -1
    return state, -1 if state in "ZX" else int(session)
