"""Does cost per image, and peak memory, depend on the size of the data set? Making and evaluating at two sizes."""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from benchmarks.processes import in_a_process, peak_mb


def measure(step: str, size: int) -> dict[str, float]:
    """Seconds per image and peak memory of one step at one size, in a process of its own."""
    return in_a_process("benchmarks.growth", "--step", step, "--size", str(size))


def lines(sizes: dict[str, tuple[int, int]]) -> list[str]:
    """A table of both steps at two sizes each."""
    text = ["| step | images | µs per image | peak memory, MB |", "| --- | --- | --- | --- |"]
    for step, pair in sizes.items():
        for size in pair:
            result = measure(step, size)
            text.append(f"| {step} | {size:,} | {result['us_per_image']:,.0f} | {result['peak_mb']:,.0f} |")
    return text


def _make(size: int, folder: Path) -> float:
    from salgen.datasets.making import make

    make("perlin-lesions", folder / "warm", splits={"train": 512, "val": None, "test": None}, workers=1)
    started = time.perf_counter()
    make("perlin-lesions", folder / "data", splits={"train": size, "val": None, "test": None}, workers=1)
    return time.perf_counter() - started


def _evaluate(size: int, folder: Path) -> float:
    from salgen.datasets.making import make
    from salgen.evaluation.runs.running import evaluate

    make("perlin-lesions", folder / "data", splits={"train": 256, "val": 64, "test": size})
    data, methods = folder / "data", ["gradient"]
    warm = evaluate(data, methods=methods, settings={"epochs": 1}, seeds=1, limit=64, out=folder / "warm")
    started = time.perf_counter()
    evaluate(data, model=warm / "lesion-cnn-seed0", methods=methods, out=folder / "run")
    return time.perf_counter() - started


def main() -> None:
    """Measure one step in this process and print the result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--step", choices=("make", "evaluate"), required=True)
    parser.add_argument("--size", type=int, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        seconds = {"make": _make, "evaluate": _evaluate}[arguments.step](arguments.size, Path(place))
    print(json.dumps({"us_per_image": seconds / arguments.size * 1e6, "peak_mb": peak_mb()}))


if __name__ == "__main__":
    main()
