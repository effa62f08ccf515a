"""Many damaged inputs, each tried in a process that may crash, hang or run out of memory without harm to the tests.

A trial damages one input, gives it to what a user calls, and says how that ended. `damage` is what the tests call.
"""

import contextlib
import hashlib
import io
import multiprocessing
import os
import resource
import shutil
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock
import pytest
import torch
import salgen
from salgen.cli.main import main
from salgen.errors import SalgenError, SalgenWarning

SHARE = 50  # of the large number of inputs, one in so many is tried by default
SHOWN = 1500  # characters of a fault
SECONDS = 120.0  # after which an input counts as a hang
ROOM = 3 << 29  # bytes of address space that a trial may take on top of what the process has: 1.5 GiB
REFUSED, HARMLESS, FAULT = "refused", "harmless", "broke something"

Calls = Mapping[str, Callable[[], Any]]
Change = Callable[[bytes, Random], bytes]
Look = Callable[["Box", Path, bool, Random], tuple[str, Calls]]


@dataclass(frozen=True)
class Result:
    """How one input ended."""

    number: int
    outcome: str
    text: str
    seconds: float


class BrokenError(AssertionError):
    """What must not happen did: the input is a defect found."""


class Box:
    """A folder with a copy of an input to damage, `inside`, and a place to write to, `out`; all else must stay."""

    def __init__(self, original: Path) -> None:
        self._original = original
        self._root = Path(tempfile.mkdtemp(prefix="salgen-mutated-"))
        self.inside, self.out = self._root / "in" / original.name, self._root / "out"
        self._scratch, self._cache = self._root / "scratch", self._root / "cache"

    def fresh(self) -> None:
        """The undamaged input, and nothing else."""
        for place in (self.inside.parent, self.out, self._scratch, self._cache):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
        copy = shutil.copytree if self._original.is_dir() else shutil.copy
        copy(self._original, self.inside)

    def attempt(self, damaged: str, calls: Calls) -> str:
        """Call everything, and say what was refused, which must name what is damaged; an empty text if nothing was.

        A list that is returned holds problems. A :class:`BrokenError` is raised if a refusal is not one line, or if
        anything but `out` was changed.
        """
        before = digests(self.inside.parent)
        refused = [f"{name}: {text}" for name, call in calls.items() for text in self._refusals(name, call, damaged)]
        if digests(self.inside.parent) != before:
            raise BrokenError("the input was changed")
        there = {path.name for path in (*self._root.iterdir(), *self._scratch.iterdir())}
        if there != {"in", "out", "scratch", "cache"}:
            raise BrokenError(f"left behind: {sorted(there)}")
        return " | ".join(refused)

    def _refusals(self, name: str, call: Callable[[], Any], damaged: str) -> list[str]:
        with _places(self._scratch, self._cache):
            try:
                found = call()
            except SalgenError as error:
                check_line(f"{name}: {error}", damaged)
                return [str(error)]
        lines = found if isinstance(found, list) else []
        for line in lines:
            check_line(line, "")
        return lines

    def remove(self) -> None:
        """Remove it all."""
        shutil.rmtree(self._root, ignore_errors=True)


def check_line(text: str, named: str) -> None:
    """A refusal is one line, not too long, that names the input."""
    if "\n" in text or "\r" in text or len(text) > 2000:
        raise BrokenError(f"not one line of up to 2000 characters: {text[:300]!r}")
    if named not in text:
        raise BrokenError(f"does not name {named}: {text!r}")


def verified(path: Path, altered: bool, samples: int) -> list[str]:
    """The problems that verifying finds; there must be some where a byte was altered."""
    problems = salgen.verify(path, samples=samples)
    if altered and not problems:
        raise BrokenError("what was altered was verified")
    return problems


def command(*arguments: str) -> None:
    """Run the command line; it may refuse with one last line, which is raised, and without a traceback."""
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        status = main(list(arguments))
    said = errors.getvalue()
    if status not in (0, 2) or "Traceback" in said:
        raise BrokenError(f"status {status}: {said[-2000:]!r}")
    if status:
        last = said.strip().rpartition("\n")[2]
        if not last.startswith("error: "):
            raise BrokenError(f"does not end with a line that says what is wrong: {said[-2000:]!r}")
        raise SalgenError(last)


def damage(
    request: pytest.FixtureRequest, box: Box, kind: str, large: int, files: str, change: Change, calls: Look
) -> None:
    """Damage one of the `files` in each trial: it is refused in one line, or harmless; undamaged nothing is refused.

    `calls` gives what a refusal must name, and what to call, for the file and whether its bytes are others.
    """

    def tried(change: Change, rng: Random) -> str:
        box.fresh()
        path = rng.choice(sorted(path for pattern in files.split() for path in box.inside.glob(pattern)))
        before = path.read_bytes()
        data = change(before, rng)
        path.write_bytes(data)
        return box.attempt(*calls(box, path, data != before, rng))

    assert tried(lambda data, _: data, Random(0)) == ""
    results = _results(kind, how_many(request, large), lambda rng: tried(change, rng))
    count(request, kind, results)
    faults = {result.text.strip().rpartition("\n")[2][:60]: result for result in results if result.outcome == FAULT}
    shown = "\n\n".join(f"input {one.number} of {kind!r}:\n{one.text[-SHOWN:]}" for one in faults.values())
    assert not faults, shown


def how_many(request: pytest.FixtureRequest, large: int) -> int:
    """How many inputs to try: `large` where the large number is asked for, else a small share of it."""
    return large if request.config.getoption("--torture") else max(4, large // SHARE)


def count(request: pytest.FixtureRequest, kind: str, results: Sequence[Result]) -> None:
    """Record the figures of one kind: how many inputs, how they ended, and the slowest."""
    outcomes = [result.outcome for result in results]
    ended = ", ".join(f"{outcomes.count(one):,} {one}" for one in (REFUSED, HARMLESS, FAULT))
    slowest = max((result.seconds for result in results), default=0.0)
    figure = f"mutated {kind}: {len(results):,} inputs: {ended}; slowest {slowest:.2f} s"
    request.node.user_properties.append(("figure", figure))


def digests(folder: Path) -> dict[str, str]:
    """Relative path to SHA-256 of every file, and the folders and links as they are."""
    found = {}
    for path in sorted(folder.rglob("*")):
        kind = "link" if path.is_symlink() else "folder" if path.is_dir() else ""
        found[str(path.relative_to(folder))] = kind or hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def _results(kind: str, wanted: int, trial: Callable[[Random], str]) -> list[Result]:
    """Every input's result; after a crash or a hang a new process goes on with the next one."""
    results: list[Result] = []
    while len(results) < wanted:
        ours, theirs = multiprocessing.Pipe(duplex=False)
        child = multiprocessing.get_context("fork").Process(
            target=_try_all, args=(kind, range(len(results), wanted), trial, theirs)
        )
        child.start()
        theirs.close()
        results += _received(ours, child, len(results), wanted)
    return results


def _received(ours: Connection, child: Any, first: int, wanted: int) -> list[Result]:
    """What one process tells, until it is done, crashes or hangs."""
    found: list[Result] = []
    while first + len(found) < wanted:
        if not ours.poll(SECONDS):
            child.kill()
            found.append(Result(first + len(found), FAULT, f"no answer within {SECONDS:g} s: a hang", SECONDS))
            break
        try:
            found.append(ours.recv())
        except EOFError:
            child.join()
            found.append(Result(first + len(found), FAULT, f"the process ended: exit code {child.exitcode}", 0.0))
            break
    child.join()
    return found


def _try_all(kind: str, numbers: range, trial: Callable[[Random], str], pipe: Connection) -> None:
    """In a process of its own: try one input after the other, with little memory and nothing on the screen."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(quiet, stream)
    torch.set_num_threads(1)  # the threads of the process that was forked are not here: their pool would wait for ever
    limit = _address_space() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for number in numbers:
        started = time.monotonic()
        outcome, text = _tried(trial, Random(f"{kind} {number}"))
        pipe.send(Result(number, outcome, text, time.monotonic() - started))
    pipe.close()
    os._exit(0)  # nothing of the test session that was copied must be cleaned up here


def _tried(trial: Callable[[Random], str], rng: Random) -> tuple[str, str]:
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            text = trial(rng)
        foreign = [str(one.message) for one in warned if not issubclass(one.category, SalgenWarning)]
        if foreign:
            return FAULT, f"{len(foreign)} warnings, the first: {foreign[0]}"
        return (REFUSED if text else HARMLESS), text
    except BaseException:  # whatever it is, it is a defect
        return FAULT, traceback.format_exc()[-3000:]


def _address_space() -> int:
    with open("/proc/self/statm") as handle:
        return int(handle.read().split()[0]) * resource.getpagesize()


@contextlib.contextmanager
def _places(scratch: Path, cache: Path) -> Any:
    """Temporary files and the cache in places of the box's own."""
    usual = tempfile.tempdir
    with mock.patch.dict(os.environ, {"TMPDIR": str(scratch), "SALGEN_CACHE": str(cache)}):
        tempfile.tempdir = None
        try:
            yield
        finally:
            tempfile.tempdir = usual
