"""Scoring by PyTorch, many maps at once, beside NumPy, one after the other: ``python -m benchmarks.batched_scoring``.

Maps on an accelerator are scored there by PyTorch; this says why maps on a CPU are scored by NumPy.
"""

import numpy as np
import torch
from benchmarks.timing import Row, medians_us, table
from salgen.evaluation.metrics.inputs.device_maps import DeviceMaps
from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.evaluation.scoring.metric_computation import compute_metrics
from salgen.evaluation.scoring.metric_selection import choose_metrics

SIZES = ((64, 64), (140, 192), (224, 224))
METRICS = ["roc-auc", "average-precision", "prec99", "m-gt"]
MAPS = 24


def rows() -> list[Row]:
    """Four ranking metrics of maps against two squares, in microseconds per map on this processor."""
    return [_row(size) for size in SIZES]


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    print(table(rows()))


def _row(size: tuple[int, int]) -> Row:
    maps = np.random.default_rng(0).normal(size=(MAPS, *size)).astype(np.float32)
    masks = np.zeros((MAPS, 1, *size), dtype=bool)
    masks[..., 10:20, 10:20] = masks[..., 30:40, 30:40] = True
    metrics = choose_metrics(METRICS)
    work = {
        "torch": lambda: compute_metrics(MetricInputs(DeviceMaps(torch.from_numpy(maps)), masks), metrics),
        "numpy": lambda: compute_metrics(MetricInputs(maps, masks), metrics),
    }
    times = medians_us(work, 15)
    step = f"four ranking metrics of a map of {size[0]}x{size[1]}"
    return Row(step, "the same by PyTorch, many maps at once", times["torch"] / MAPS, times["numpy"] / MAPS, "")


if __name__ == "__main__":
    main()
