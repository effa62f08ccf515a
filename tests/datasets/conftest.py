from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from salgen.registry import GENERATORS, IMPORTERS, Entry

os.environ["HF_DATASETS_OFFLINE"] = os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the tests' generator and importer, as an entry point of a third party would."""
    entry = Entry("squares", "squares", "A bright square on coloured noise.")
    monkeypatch.setitem(vars(GENERATORS), "entries", {**GENERATORS.entries, "squares": entry})
    tiles = Entry("tiles", "tiles", "Coloured tiles.")
    monkeypatch.setitem(vars(IMPORTERS), "entries", {**IMPORTERS.entries, "tiles": tiles})


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five samples per shard, so that tiny data sets have several."""
    monkeypatch.setattr("salgen.datasets.format.manifest.SAMPLES_PER_SHARD", 5)
    monkeypatch.setattr("salgen.datasets.format.manifest.ROWS_PER_GROUP", 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A complete data set: 12 train, 4 val and 6 test samples."""
    return made(tmp_path / "squares")


def made(out: Path, **arguments: Any) -> Path:
    """Make squares at `out` in this process."""
    from salgen.datasets.making import make

    return make("squares", out, **{"workers": 1, **arguments})


def contents(folder: Path) -> dict[str, bytes]:
    """Relative path to bytes, of every file in a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def assert_resumable(name: str, copy: Path, out: Path, workers: int, **parameters: Any) -> None:
    """An import that is killed and run again ends with the bytes of one that is not."""
    from salgen.datasets.making import make

    chosen = {"image_size": [16, 16], **parameters}
    arguments: dict[str, Any] = {"source": str(copy), "scale": "demo", "parameters": chosen}
    whole = contents(make(name, out / "whole", **arguments, workers=3 - workers))
    killed = out / "killed"
    program = Path(__file__).with_name("make_imported.py")
    command = [sys.executable, str(program), name, str(killed), str(workers), json.dumps(arguments)]
    assert subprocess.run(command, stderr=subprocess.DEVNULL).returncode == -signal.SIGKILL
    assert len(list(killed.glob("data/*.parquet"))) >= 1
    assert not (killed / "SHA256SUMS").exists()
    assert contents(make(name, killed, **arguments, workers=workers)) == whole
