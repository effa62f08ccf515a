"""Does cost per image, and peak memory, depend on the size of the data set? ``python -m benchmarks.growth``.

Measures making, making recipes and evaluating at several sizes, each in a process of its own, and fits a line. Beside
an evaluation stands the time of its bare passes and sorts: as many images through the network, forwards or forwards and
backwards, and as many sorts of a region's values, and nothing else, in the same process.
"""

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
import numpy as np
from benchmarks.processes import in_a_process, peak_mb

SIZES = {
    "make": (1_000, 10_000, 100_000),
    "recipes": (10_000, 100_000, 1_000_000),
    "evaluate": (1_000, 10_000),
    "evaluate, 2 redraws": (1_000, 10_000, 100_000),  # by default 8, with which 100,000 images take 23 minutes
}
BATCH = 32  # the fastest measured
BARE_BATCHES = 250


def measure(step: str, size: int) -> dict[str, float]:
    """Seconds per image and peak memory of one step at one size, in a process of its own."""
    return in_a_process("benchmarks.growth", "--step", step, "--size", str(size))


def lines(sizes: Mapping[str, Sequence[int]]) -> Iterator[str]:
    """A table of the steps at their sizes, and what it says of growth; rows come as they are measured."""
    heads = ["step", "images", "µs per image", "bare passes and sorts, µs", "ratio (goal: ≤ 1.5)", "peak memory, MB"]
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    fits = []
    for step, several in sizes.items():
        times, peaks = [], []
        for size in several:
            result = measure(step, size)
            whole, bare = result["us_per_image"], result["bare_us_per_image"]
            beside = f"{bare:,.0f} | {whole / bare:.2f}" if bare else " | "
            yield f"| {step} | {size:,} | {whole:,.0f} | {beside} | {result['peak_mb']:,.0f} |"
            times.append(whole)
            peaks.append(result["peak_mb"])
        grown = f"an image takes {times[-1] / times[0]:.2f} times as long at the largest size as at the smallest"
        memory = f"peak memory is {peaks[-1] / peaks[0]:.2f} times as large"
        fits.append(f"- {step}: {_line(several, times)}; {grown} (goal: 0.9 to 1.1), {memory} (goal: 1)")
    yield from ["", "Lines through these times, by least squares of the relative error:", "", *fits]


def _line(sizes: Sequence[int], us_per_image: Sequence[float]) -> str:
    """Seconds as a line in the number of images."""
    seconds = np.array(sizes) * us_per_image / 1e6
    slope, fixed = np.polyfit(sizes, seconds, 1, w=1 / seconds)
    worst = np.abs(np.polyval([slope, fixed], sizes) / seconds - 1).max()
    return f"{fixed:.2f} s and {slope * 1e6:,.0f} µs an image, at most {worst:.0%} away"


def _make(size: int, folder: Path, *, recipes_only: bool = False) -> tuple[float, float]:
    from salgen.datasets.making import make

    how: dict[str, Any] = {"workers": 1, "recipes_only": recipes_only}
    make("perlin-lesions", folder / "warm", splits={"train": 512}, **how)
    started = time.perf_counter()
    make("perlin-lesions", folder / "data", splits={"train": size}, **how)
    return time.perf_counter() - started, 0.0


def _evaluate(size: int, folder: Path, *, redraws: int | None = None) -> tuple[float, float]:
    from salgen.datasets.making import make
    from salgen.evaluation.runs.running import evaluate

    data, methods = folder / "data", ["gradient"]
    make("perlin-lesions", data, splits={"test": size})
    # the network is trained on other data, since training decodes its splits whole
    small = make("perlin-lesions", folder / "small", splits={"train": 256, "val": 64, "test": 64})
    warm = evaluate(small, methods=methods, settings={"epochs": 1}, n_trainings=1, out=folder / "warm")
    checkpoint = warm / "lesion-cnn-seed0"
    with _counting_images() as shown:
        started = time.perf_counter()
        run = evaluate(data, model=checkpoint, methods=methods, redraws=redraws, out=folder / "run")
        seconds = time.perf_counter() - started
    return seconds, _bare_passes(checkpoint, shown) + _bare_sorts(run)


@contextmanager
def _counting_images() -> Iterator[Counter[bool]]:
    """Counts images that pass a first convolution of one channel, by whether their gradient is taken."""
    from torch.nn import Conv2d
    from torch.nn.modules.module import register_module_forward_pre_hook

    shown: Counter[bool] = Counter()

    def count(module: Any, inputs: Any) -> None:
        if isinstance(module, Conv2d) and module.in_channels == 1:
            shown[inputs[0].requires_grad] += len(inputs[0])

    handle = register_module_forward_pre_hook(count)
    try:
        yield shown
    finally:
        handle.remove()


def _bare_passes(checkpoint: Path, shown: Mapping[bool, int]) -> float:
    """Seconds of as many images forwards, and of those whose gradient is taken backwards too, from those of a few."""
    import torch
    from salgen.evaluation.training.checkpoints import load_checkpoint

    classifier = load_checkpoint(checkpoint).classifier
    seconds = 0.0
    for backwards, images in shown.items():
        batch = torch.rand(BATCH, 1, 64, 64, requires_grad=backwards)
        with torch.inference_mode(not backwards):
            started = time.perf_counter()
            for _ in range(BARE_BATCHES):
                logits = classifier(batch)
                if backwards:
                    torch.autograd.grad(logits.sum(), batch)
            seconds += (time.perf_counter() - started) * images / (BARE_BATCHES * BATCH)
    return seconds


def _bare_sorts(run: Path) -> float:
    """Seconds of a sort of each map's values in each region, inside the mask and outside."""
    from salgen.evaluation.statistics.score_cube import score_cubes

    scored = np.bool_(False)  # by any metric: (series, variants, seeds, samples)
    for cube in score_cubes(run):
        scored = scored | cube.scored.any(axis=1)
    values = np.random.default_rng(0).normal(size=64 * 64).astype(np.float32)
    count = int(scored.sum())
    started = time.perf_counter()
    for _ in range(count):
        np.sort(values)
    return time.perf_counter() - started


def main() -> None:
    """Measure one step in this process and print the result, or all at all sizes and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.growth", description="What a data set costs as it grows."
    )
    parser.add_argument("--step", choices=tuple(SIZES))
    parser.add_argument("--size", type=int)
    arguments = parser.parse_args()
    if arguments.step is None:
        for line in lines(SIZES):
            print(line, flush=True)
        return
    steps: dict[str, Callable[..., tuple[float, float]]] = {
        "make": _make,
        "recipes": partial(_make, recipes_only=True),
        "evaluate": _evaluate,
        "evaluate, 2 redraws": partial(_evaluate, redraws=2),
    }
    with tempfile.TemporaryDirectory() as place:
        measured = steps[arguments.step](arguments.size, Path(place))
    seconds, bare = (value / arguments.size * 1e6 for value in measured)
    print(json.dumps({"us_per_image": seconds, "bare_us_per_image": bare, "peak_mb": peak_mb()}))


if __name__ == "__main__":
    main()
