"""The commands that are broken, what each leaves when it is let be, and what two results are compared by."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
import pyarrow.parquet as pq
from disks import FailingDisk
from forked import TMP, Fault, Finished, finish

TINY = ("--scale", "demo", "--set", "image_size=16,16", "--set", "diameter=4")
STATED = ("--license", "CC0-1.0", "--date", "2026-11-22")
TIMES = re.compile(r"seconds|created|command|timings|images_per_second")
OF_A_STOPPED_RUN = "training.pt"

Contents = dict[str, Any]


@dataclass(frozen=True)
class Amount:
    """How much a command has to do."""

    samples: tuple[int, int, int]  # of train, val and test
    epochs: int
    methods: str


@dataclass(frozen=True)
class Size:
    """How often everything is broken: a little in the test suite, much under ``make torture``."""

    kills: int
    killed: Amount  # while they do this; all else is broken while it does LITTLE
    sizes: int  # of files, which cannot grow beyond
    changes: int  # of the disk, which fail: so many of them, or each where there are fewer
    races: int


LITTLE = Amount(samples=(12, 5, 6), epochs=2, methods="gradient")
SMALL = Size(kills=2, killed=LITTLE, sizes=2, changes=2, races=1)
LARGE = Size(kills=50, killed=Amount((60, 10, 16), 10, "gradient,grad-cam"), sizes=8, changes=40, races=5)


@dataclass
class Work:
    """A command that runs in a folder of its own, and what it leaves there when nothing happens."""

    arguments: tuple[str, ...]
    root: Path
    places: int = field(default=0, init=False)
    last: Path = field(init=False)

    @cached_property
    def usual(self) -> tuple[Contents, Finished]:
        """What is there after it, and how it went."""
        self.last = self.place()
        done = finish(self.arguments, self.last)
        assert done.status == 0, done.text
        return contents(self.last), done

    def place(self) -> Path:
        """A new, empty folder."""
        self.places += 1
        return self.root / f"{self.arguments[0]}-{self.places}"


@dataclass
class Stage:
    """The material of all commands, made once."""

    root: Path
    size: Size
    amount: Amount = LITTLE

    @cached_property
    def longer(self) -> Stage:
        """The same with as much to do as there is while commands are killed."""
        amount = self.size.killed
        return self if amount == self.amount else Stage(self.root / "longer", self.size, amount)

    @cached_property
    def works(self) -> Mapping[str, Work]:
        """By name, commands that need nothing but their folder."""
        archive = str(self.archive)
        chosen = {
            "make": self._make("1"),
            "make with workers": self._make("2"),
            "evaluate": (*self.evaluate("scnn"), "--keep-maps"),
            "evaluate lesion-cnn": self.evaluate("lesion-cnn"),
            **{f"publish {form}": ("publish", str(self.data), f"out{form}", *STATED) for form in FORMS},
            "publish run": ("publish", str(self.run), "out.tar", *STATED),
            "unpack": ("unpack", archive, "out"),
            "verify": ("verify", archive),
        }
        works = {}
        for number, (name, arguments) in enumerate(chosen.items()):
            works[name] = Work(arguments, self.root / f"work-{number}")
        return works

    @cached_property
    def data(self) -> Path:
        """A data set."""
        return self._given(self._make("1")) / "out"

    @cached_property
    def run(self) -> Path:
        """A run that keeps its maps."""
        return self._given((*self.evaluate("scnn"), "--keep-maps")) / "run"

    @cached_property
    def archive(self) -> Path:
        """It, published."""
        return self._given(("publish", str(self.data), "out.tar", *STATED)) / "out.tar"

    def evaluate(self, model: str) -> tuple[str, ...]:
        """A command that trains a small model, lesion-cnn for reliance, and scores methods and the controls."""
        options = {"scnn": ("--no-reliance",), "lesion-cnn": ("--set", "widths=4,4,4", "--set", "hidden=8")}[model]
        chosen = ("--model", model, "--n-trainings", "1", "--methods", self.amount.methods)
        epochs = ("--set", f"epochs={self.amount.epochs}")
        return ("evaluate", str(self.data), "--out", "run", *chosen, *epochs, *options)

    def _make(self, workers: str) -> tuple[str, ...]:
        counts = zip(("--train", "--val", "--test"), map(str, self.amount.samples), strict=True)
        sizes = [word for pair in counts for word in pair]
        return ("make", "perlin-lesions", "out", *TINY, *sizes, "--workers", workers)

    def _given(self, arguments: tuple[str, ...]) -> Path:
        place = self.root / f"given-{arguments[0]}"
        done = finish(arguments, place)
        assert done.status == 0, done.text
        return place


FORMS = (".tar", ".tar.gz", ".zip")


def changes(work: Work) -> int:
    """How many changes of the disk an undisturbed run makes."""
    place = work.place()
    count: int = finish(work.arguments, place, FailingDisk(str(place))).figures[0]
    return count


def some(total: int, count: int) -> list[int]:
    """So many of the numbers below `total`, evenly spread with the first and the last; all where there are fewer."""
    if count >= total:
        return list(range(total))
    return sorted({round(k * (total - 1) / max(count - 1, 1)) for k in range(count)})


def contents(place: Path) -> Contents:
    """Every file and folder in a place, hidden ones too; of files that tell times what is left without these.

    A log is left out: it tells of each run, and the run that was killed may not have come to write it.
    """
    found = sorted(path for path in place.rglob("*") if path.suffix != ".log")
    return {str(path.relative_to(place)): None if path.is_dir() else _content(path) for path in found}


def leftovers(place: Path) -> list[str]:
    """What is there under no final name: temporary files and folders, and what lies in them."""
    return [name for name in contents(place) if name != TMP and re.search(rf"(^|/)\.|^{TMP}/", name)]


def assert_whole(place: Path, usual: Contents) -> None:
    """Whatever has a final name is what an undisturbed command would have written there."""
    hidden = set(leftovers(place))
    for name, content in contents(place).items():
        if name not in hidden and Path(name).name != OF_A_STOPPED_RUN:
            assert name in usual, f"{name} does not belong there"
            assert content == usual[name], f"{name} is not whole"


def assert_refused(done: Finished, *words: str) -> None:
    """It ended with status 2 and one line that says why."""
    assert done.status == 2, (done.status, done.text)
    assert "Traceback" not in done.text, done.text
    lines = done.text.splitlines()
    assert [line for line in lines if line.startswith("error: ")] == lines[-1:], done.text
    for word in words:
        assert word in lines[-1]


def assert_goes_on(work: Work, place: Path, *faults: Fault) -> None:
    """The same command again ends as one that was never disturbed, and nothing else is left.

    An archive or a folder that was finished already is not written twice, and what was left beside it may stay.
    """
    done = finish(work.arguments, place, *faults)
    if re.search("already exists: remove it|is not empty: choose", done.text):
        assert_refused(done)
        for left in place.glob(".*.unfinished"):
            shutil.rmtree(left)
    else:
        assert done.status == 0, done.text
        assert "Traceback" not in done.text
    assert_equal(place, work.usual[0])


def assert_equal(place: Path, usual: Contents) -> None:
    """Two places hold the same."""
    found = contents(place)
    assert sorted(found.keys() ^ usual.keys()) == []
    assert [name for name in found if found[name] != usual[name]] == []


def _content(path: Path) -> Any:
    if path.suffix == ".json":
        return _timeless(json.loads(path.read_text()))
    if path.name == "report.html":
        return None
    if {"parts", "maps"} & set(path.parts) and path.suffix == ".parquet" and not path.name.startswith("."):
        return str(pq.read_table(path).replace_schema_metadata(None).to_pydict())
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(item) for key, item in value.items() if not TIMES.search(key)}
    return [_timeless(item) for item in value] if isinstance(value, list) else value
