"""Does smoothing a map help? ``python -m benchmarks.smoothed_maps GRIDS CHECKPOINT...``, GRIDS of the setting gridpg.

Prints for each network the mean share of the positive part in the target's cell, of maps smoothed with Gaussian kernels
of several widths, on the first test images; docs/designed.md has the table.
"""

import sys
from collections.abc import Sequence
import numpy as np
import torch
from scipy.ndimage import gaussian_filter
import salgen
from salgen.evaluation.runs.given_models import GivenModel

IMAGES = 48
WIDTHS = (0, 1, 2, 4, 8)  # standard deviations in pixels
METHODS = ("input-x-gradient", "integrated-gradients")


def main(grids: str, checkpoints: Sequence[str]) -> None:
    """Print the table."""
    dataset = salgen.load(grids)
    batch = next(dataset.batches(IMAGES))
    images, targets = torch.tensor(batch.images), torch.tensor(batch.labels)
    print(f"| network | method | {' | '.join(f'{width} px' for width in WIDTHS)} |")
    print(f"|---|---|{'--:|' * len(WIDTHS)}")
    for checkpoint in checkpoints:
        classifier = GivenModel(f"gridpg:model={checkpoint}").load(dataset)
        for method in METHODS:
            maps = salgen.explain(classifier, images, targets, method=method, reduce="sum", batch_size=8).values.numpy()
            shares = []
            for width in WIDTHS:
                smooth = [
                    np.clip(gaussian_filter(saliency, width) if width else saliency, 0, None) for saliency in maps
                ]
                parts = [part[mask].sum() / part.sum() for part, mask in zip(smooth, batch.masks, strict=True)]
                shares.append(f"{np.mean(parts):.2f}")
            print(f"| {checkpoint} | {method} | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
