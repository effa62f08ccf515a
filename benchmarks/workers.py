"""What Ray workers add on this machine, and what they leave to the process that started them.

    python -m benchmarks.workers [IMAGES]

Evaluates a data set of lesions, and makes one sixteen times as large, with 1, 2 and 4 workers on a Ray that runs
already. Beside it stands what as many processes reach that pass images through the network and do nothing else:
processors that share memory, or a core, give less than their number.
"""

import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from benchmarks.growth import BARE_BATCHES, BATCH
from benchmarks.processes import watching

IMAGES = 1024
MORE_MADE = 16  # making is so much faster
WORKERS = (1, 2, 4)
GENERATOR, METHODS = "perlin-lesions", ("gradient",)


def measure(folder: Path, workers: int, images: int, checkpoint: Path) -> dict[str, float]:
    """Images per second of making and evaluating, and processor time and bytes of an evaluated image."""
    import ray
    from salgen.datasets.making import make
    from salgen.evaluation.runs.running import evaluate

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    how: dict[str, Any] = {"executor": "ray", "workers": workers}
    try:
        splits = {"test": images}
        make(GENERATOR, folder / "warm", splits=splits, **how)  # starts the workers
        started = time.perf_counter()
        make(GENERATOR, folder / "made", splits={"test": MORE_MADE * images}, **how)
        making = (time.perf_counter() - started) / MORE_MADE
        data = make(GENERATOR, folder / "data", splits=splits, **how)
        asked: dict[str, Any] = {"model": checkpoint, "methods": METHODS, **how}
        evaluate(data, out=folder / "warm-run", limit=min(images, 128 * workers), **asked)
        with watching() as seen:
            time.sleep(1.0)  # a look at what the workers have used so far
            before, own, started = dict(seen.cpu_s), _own_cpu(), time.perf_counter()
            run = evaluate(data, out=folder / "run", **asked)
            evaluating, own = time.perf_counter() - started, _own_cpu() - own
            time.sleep(1.0)
    finally:
        ray.shutdown()
    used = sum(seconds - before.get(process, 0.0) for process, seconds in seen.cpu_s.items())
    written = sum(path.stat().st_size for path in (run / "parts").iterdir())
    return {
        "make": images / making,
        "evaluate": images / evaluating,
        "bare": _bare(checkpoint, workers),
        "driver_ms": own / images * 1e3,
        "workers_ms": used / images * 1e3,
        "bytes": written / images,
    }


def _bare(checkpoint: Path, processes: int) -> float:
    """Images per second of as many processes that pass images through the network."""
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        pool.map(_pass, [(checkpoint, 3)] * processes, chunksize=1)
        started = time.perf_counter()
        pool.map(_pass, [(checkpoint, BARE_BATCHES)] * processes, chunksize=1)
        return processes * BARE_BATCHES * BATCH / (time.perf_counter() - started)


def _pass(order: tuple[Path, int]) -> None:
    import torch
    from salgen.evaluation.training.checkpoints import load_checkpoint

    torch.set_num_threads(1)  # as a worker has
    checkpoint, batches = order
    classifier, batch = load_checkpoint(checkpoint).classifier, torch.rand(BATCH, 1, 64, 64)
    with torch.inference_mode():
        for _ in range(batches):
            classifier(batch)


def _own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def table(found: dict[int, dict[str, float]]) -> list[str]:
    """A row for each number of workers; speed-ups are over one worker, and over one bare process.

    The efficiency is the first as a share of the second.
    """
    one = found[WORKERS[0]]
    heads = ["workers", "make, images/s", "speed-up", "evaluate, images/s", "speed-up", "bare processes' speed-up"]
    heads += ["efficiency", "driver, ms per image", "workers, ms per image", "bytes per image"]
    return [
        f"| {' | '.join(heads)} |",
        f"|{' --- |' * len(heads)}",
        *(
            f"| {workers} | {row['make']:,.0f} | {row['make'] / one['make']:.2f} "
            f"| {row['evaluate']:,.1f} | {row['evaluate'] / one['evaluate']:.2f} "
            f"| {row['bare'] / one['bare']:.2f} "
            f"| {row['evaluate'] / one['evaluate'] / (row['bare'] / one['bare']):.2f} "
            f"| {row['driver_ms']:.2f} | {row['workers_ms']:.1f} "
            f"| {row['bytes']:,.0f} |"
            for workers, row in found.items()
        ),
    ]


def main(images: int) -> None:
    """Train a model for an epoch, measure with each number of workers, and print the table."""
    from salgen.datasets.making import make
    from salgen.evaluation.training.training import train

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        data = make(GENERATOR, folder / "data", splits={"train": 256, "val": 64, "test": 64})
        checkpoint = train(data, folder / "model", settings={"epochs": 1}).path
        found = {}
        for workers in WORKERS:
            (folder / str(workers)).mkdir()
            found[workers] = measure(folder / str(workers), workers, images, checkpoint)
    print("\n".join(table(found)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
