"""Data sets that tests make, and their contents."""

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
