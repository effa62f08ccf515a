"""Data sets that tests make, and their contents."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

SUPPORT = Path(__file__).parent
STATED: dict[str, Any] = {"license": "CC-BY-4.0", "date": "2026-01-31"}


def made(out: Path, **arguments: Any) -> Path:
    """Make squares at `out` in this process."""
    from salgen.datasets.making import make

    return make("squares", out, **{"workers": 1, **arguments})


def contents(folder: Path) -> dict[str, bytes]:
    """Relative path to bytes, of every file in a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def published(folder: Path, out: Path, **stated: Any) -> Path:
    """A folder that holds what is published of a data set."""
    from salgen.evaluation.publishing.publishing import open_release

    with open_release(folder, **{**STATED, **stated}) as found:
        for name, data in found.files.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(data if isinstance(data, bytes) else data.read_bytes())
    return out


def assert_resumable(name: str, copy: Path, out: Path, workers: int, **parameters: Any) -> None:
    """An import that is killed and run again ends with the bytes of one that is not."""
    from salgen.datasets.making import make

    chosen = {"image_size": [16, 16], **parameters}
    arguments: dict[str, Any] = {"source": str(copy), "scale": "demo", "parameters": chosen}
    whole = contents(make(name, out / "whole", **arguments, workers=3 - workers))
    killed = out / "killed"
    program = SUPPORT / "make_imported.py"
    command = [sys.executable, str(program), name, str(killed), str(workers), json.dumps(arguments)]
    assert subprocess.run(command, stderr=subprocess.DEVNULL).returncode == -signal.SIGKILL
    assert len(list(killed.glob("data/*.parquet"))) >= 1
    assert not (killed / "SHA256SUMS").exists()
    assert contents(make(name, killed, **arguments, workers=workers)) == whole
