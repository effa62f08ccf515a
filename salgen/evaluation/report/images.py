"""The images behind the means: those with a mask, or all for accuracies of new trainings."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from salgen.evaluation.report.runs import Run
from salgen.evaluation.scoring.metric_selection import create_metric
from salgen.parameters import parse_call


def in_clusters(samples: int, clusters: int) -> str:
    """Such as ``"400 images in 40 clusters"``; the images alone where each is a cluster of its own."""
    return f"{samples} images" + (f" in {clusters} clusters" if clusters < samples else "")


def clusters_counted(run: Run, model: str) -> int:
    """The number of clusters that the headline metric's samples form."""
    return len(np.unique(run.cube.clusters[samples_counted(run, model).any(axis=0)]))


def of_all_images(metrics: Sequence[str]) -> list[str]:
    """The metrics that count every considered image, with or without a mask."""
    return [metric for metric in metrics if "training" in create_metric(metric).needs]


def images_counted(run: Run, metrics: Sequence[str]) -> tuple[str, str]:
    """The images that the headline metric counts, and the metrics that count other images, in words.

    Returns
    -------
    Such as ``("8 images with a mask", "roar, kar: all 16 images")``; the second is empty if there are none.
    """
    samples, everything = run.record.samples, of_all_images(metrics)
    if _counted(run) not in of_all_images(run.metrics):
        return f"{samples.with_mask} images with a mask", _of(everything, f"all {samples.considered} images")
    masked_only = [metric for metric in metrics if metric not in everything]
    words = f"{samples.considered} images, with a mask or without"
    return words, _of(masked_only, f"the {samples.with_mask} images with a mask")


def wrong(run: Run, model: str) -> float:
    """The share of the headline metric's images that a model misclassifies."""
    metric = _counted(run)
    return run.cube.wrong(model, metric, run.variant_of(metric))


def samples_counted(run: Run, model: str) -> NDArray[np.bool_]:
    """The headline metric's samples: bool (seeds, samples)."""
    metric = _counted(run)
    return run.cube.samples_of(model, metric, run.variant_of(metric))


def _counted(run: Run) -> str:
    """The headline metric, or the first one where all are diagnostics."""
    return run.headline or run.metrics[0]


def _of(metrics: Sequence[str], images: str) -> str:
    names = dict.fromkeys(parse_call(metric)[0] for metric in metrics)
    return f"{', '.join(names)}: {images}" if names else ""
