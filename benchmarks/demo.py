"""How long `make install` and `make demo` take in an empty clone: ``python -m benchmarks.demo``.

Packages are fetched anew, so the network is part of it; the demo has all cores.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.processes import all_cores
from benchmarks.timing import Row, table

ROOT = Path(__file__).parents[1]
GOAL = 180e6  # µs


def rows() -> list[Row]:
    """The install alone, and both together."""
    with tempfile.TemporaryDirectory() as name:
        clone = Path(name) / "clone"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        caches = ("UV_CACHE_DIR", "PIP_CACHE_DIR", "SALGEN_CACHE")
        environment = {**all_cores(), **{cache: f"{name}/{cache}" for cache in caches}}
        times = []
        for target in ("install", "demo"):
            started = time.perf_counter()
            subprocess.run(["make", target], cwd=clone, env=environment, check=True, capture_output=True)
            times.append((time.perf_counter() - started) * 1e6)
    installed, whole = times[0], sum(times)
    return [
        Row("make install", "install and demo together", whole, installed, ""),
        Row("install and make demo", "goal: 3 min", GOAL, whole, "≥ 1", "the trainings"),
    ]


if __name__ == "__main__":
    print(table(rows()))
