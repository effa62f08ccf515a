"""Damaged run folders, given to the report and the leaderboard."""

import io
import runpy
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
import numpy as np
import pytest
from mutations import either, mutated_bytes, mutated_json, mutated_table
from trials import Box, Calls, Change, command, damage
from salgen.evaluation.leaderboard.site import leaderboard
from salgen.evaluation.report import console_summary, report

METHODS = ("gradient", "random", "oracle")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run, made up."""
    place = tmp_path_factory.mktemp("original")
    run_folders = runpy.run_path(str(Path(__file__).parents[1] / "support" / "run_folders.py"))
    made = run_folders["make_run"](
        place / "run", methods=METHODS, metrics=("roc-auc", "m-gt"), samples=8, pictures=2, size=16, coverage=0.5
    )
    report([made], place / "report.html")  # what this compiles, all trials share
    return Path(made)


def look(box: Box, path: Path, altered: bool, rng: Random) -> tuple[str, Calls]:
    """Report on the run."""
    calls: dict[str, Callable[[], object]] = {
        "report": lambda: report([box.inside], box.out / "report.html"),
        "console": lambda: console_summary([box.inside]),
    }
    if rng.random() < 0.1:
        calls["leaderboard"] = lambda: leaderboard([box.inside], box.out / "site")
    if rng.random() < 0.05:
        calls["salgen report"] = lambda: command("report", str(box.inside), "--out", str(box.out / "again.html"))
    return box.inside.name, calls


def mutated_arrays(data: bytes, rng: Random) -> bytes:
    """A whole npz in which one array has another shape, type or values, or other bytes, or is gone."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(buffer, "w") as target:
        chosen = rng.choice(source.namelist())
        for name in source.namelist():
            member = source.read(name)
            if name != chosen:
                target.writestr(name, member)
            elif rng.random() < 0.9:
                target.writestr(name, other_array(member, rng))
    return buffer.getvalue()


def other_array(member: bytes, rng: Random) -> bytes:
    if rng.random() < 0.3:
        return mutated_bytes(member[:128], rng) + member[128:]
    if rng.random() < 0.2:  # a head that announces more than there can be
        shape = rng.choice(((2**40,), (2**31, 2**31), (10**6, 10**5), (-1,), (0,), (1 << 20, 600)))
        buffer = io.BytesIO()
        np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": shape})
        return buffer.getvalue() + bytes(rng.choice((0, 64)))
    array = np.load(io.BytesIO(member), allow_pickle=False)
    ways: tuple[Callable[[], np.ndarray], ...] = (
        lambda: array[:0],
        lambda: array[..., :1],
        lambda: array.ravel(),
        lambda: array[None],
        lambda: array.astype(str),
        lambda: np.full_like(array, rng.choice((0, 1))),
        lambda: array.astype(np.float64) * np.nan if array.dtype.kind in "fiub" else array[::-1],
        lambda: array.astype(np.int64) * -(2**40) if array.dtype.kind in "fiub" else array[:1],
        lambda: array.astype(np.complex128) if array.dtype.kind in "fiub" else array.astype("S"),
    )
    buffer = io.BytesIO()
    np.save(buffer, rng.choice(ways)())
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("large", "file", "change"),
    [
        (150, "run.json", mutated_json),
        (100, "scores.parquet", either(mutated_bytes, mutated_table)),
        (20, "predictions.parquet", either(mutated_bytes, mutated_table)),
        (80, "gallery.npz", either(mutated_bytes, mutated_arrays)),
    ],
)
def test_damaged(request: pytest.FixtureRequest, box: Box, large: int, file: str, change: Change) -> None:
    damage(request, box, file, large, file, change, look)
