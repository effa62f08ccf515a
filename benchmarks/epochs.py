"""What an epoch of training for reliance costs beside a plain one: ``python -m benchmarks.epochs``.

Data sets of scale demo, on all cores. Trainings of two lengths are timed, so that their difference is of epochs alone.
"""

import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
import numpy as np
from benchmarks.processes import all_cores, in_a_process
from benchmarks.timing import Row, table

CASES = {"perlin-lesions": "lesion-cnn", "drawn-signs": "scnn"}  # half of the images have a twin, and all of them
IMAGES, BATCH = 512, 32
SHORT, LONG = 2, 6  # epochs
ROUNDS = 3
AT_MOST = "≥ 0.29"  # at most 3.5 times as long


def rows() -> list[Row]:
    """An image in an epoch of each kind of training, by data set and network."""
    return [_row(data) for data in CASES]


def _row(data: str) -> Row:
    found = in_a_process("benchmarks.epochs", data, environment=all_cores())
    rendering = f"(rendering: {found['rendering']:.0%} of processor time)"
    step = f"training {CASES[data]} for reliance on {data}, an image {rendering}"
    plain, reliant = (found[kind] / IMAGES * 1e6 for kind in ("plain", "reliant"))
    return Row(step, "plain training", plain, reliant, AT_MOST, "more images pass the network: twins")


def _measure(name: str) -> dict[str, float]:
    """Seconds of an epoch of both kinds, and the share of rendering in the processor time of the second."""
    from salgen.datasets.making import make
    from salgen.evaluation.training.training_settings import RELIANCE

    times: dict[float, list[tuple[float, float]]] = {0.0: [], RELIANCE: []}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        data = make(name, folder / "data", scale="demo", splits={"train": IMAGES, "val": 64, "test": 64})
        _seconds(data, CASES[name], folder / "warm", 1, RELIANCE)
        for number in range(ROUNDS):
            for reliance, found in times.items():
                short, long = (
                    _seconds(data, CASES[name], folder / f"{number}-{epochs}-{reliance}", epochs, reliance)
                    for epochs in (SHORT, LONG)
                )
                found.append(tuple(np.subtract(long, short) / (LONG - SHORT)))
        rendering = _rendering(data)
    (plain, _), (reliant, processor) = (map(median, zip(*found, strict=True)) for found in times.values())
    return {"plain": plain, "reliant": reliant, "rendering": rendering / processor}


def _seconds(data: Path, model: str, out: Path, epochs: int, reliance: float) -> tuple[float, float]:
    """Of a whole training: on the clock, and of processors, those of its workers included."""
    from salgen.evaluation.training.training import train

    started, used = time.perf_counter(), _processor_time()
    train(data, out, model=model, scale="demo", settings={"epochs": epochs, "reliance": reliance})
    return time.perf_counter() - started, _processor_time() - used


def _processor_time() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def _rendering(data: Path) -> float:
    """Processor seconds of rendering an epoch's images and twins in this process."""
    from salgen.datasets.reading.reader import open_dataset
    from salgen.evaluation.training.reliance_penalty import Redraws

    redraws, started = Redraws.of(open_dataset(data)), time.process_time()
    for start in range(0, IMAGES, BATCH):
        redraws[0, range(start, start + BATCH)]
    return time.process_time() - started


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1])) if sys.argv[1:] else table(rows()))
