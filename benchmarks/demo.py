"""How long `make install` and `make demo` take in an empty clone: ``python -m benchmarks.demo``.

Packages are fetched anew, so the network is part of it; the demo has all cores.
"""

import subprocess
import tempfile
import time
from pathlib import Path
from benchmarks.processes import all_cores
from benchmarks.timing import Row, table

ROOT = Path(__file__).parents[1]
GOAL = 180e6  # µs


def rows() -> list[Row]:
    """Both together; of it the install in seconds."""
    with tempfile.TemporaryDirectory() as name:
        clone = Path(name) / "clone"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        caches = ("UV_CACHE_DIR", "PIP_CACHE_DIR", "SALGEN_CACHE")
        environment = {**all_cores(), **{cache: f"{name}/{cache}" for cache in caches}}
        for inherited in ("MAKEFLAGS", "MAKELEVEL"):
            environment.pop(inherited, None)
        times = []
        for target in ("install", "demo"):
            started = time.perf_counter()
            subprocess.run(["make", target], cwd=clone, env=environment, check=True, stdout=subprocess.DEVNULL)
            times.append(time.perf_counter() - started)
    step = f"install ({times[0]:.0f} s) and make demo"
    return [Row(step, "goal: 3 min", GOAL, 1e6 * sum(times), "≥ 1", "the trainings")]


if __name__ == "__main__":
    print(table(rows()))
