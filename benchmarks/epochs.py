"""What an epoch of training for reliance costs beside a plain one: ``python -m benchmarks.epochs``.

scnn on drawn-signs of scale demo, where every image has a twin. Trainings of two lengths are timed, so that their
difference is of epochs alone.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from statistics import median

from salgen.datasets.making import make
from salgen.evaluation.training.training import train
from salgen.evaluation.training.training_settings import RELIANCE

IMAGES = 512
SHORT, LONG = 2, 6  # epochs
ROUNDS = 3


def main() -> None:
    """Print the medians of the seconds of an epoch, and their ratio."""
    times: dict[float, list[float]] = {0.0: [], RELIANCE: []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = make("drawn-signs", folder / "data", scale="demo", splits={"train": IMAGES, "val": 64, "test": 64})
        _seconds(data, folder / "warm", 1, RELIANCE)
        for number in range(ROUNDS):
            for reliance, found in times.items():
                short, long = (
                    _seconds(data, folder / f"{number}-{epochs}-{reliance}", epochs, reliance)
                    for epochs in (SHORT, LONG)
                )
                found.append((long - short) / (LONG - SHORT))
    plain, reliant = (median(found) for found in times.values())
    print(f"plain {plain:.2f} s, for reliance {reliant:.2f} s an epoch: {reliant / plain:.1f} times")


def _seconds(data: Path, out: Path, epochs: int, reliance: float) -> float:
    started = time.perf_counter()
    train(data, out, model="scnn", scale="demo", settings={"epochs": epochs, "reliance": reliance})
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
