"""Metrics on maps of known quality: a bright square, which alone moves the model, made worse step by step."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple
import numpy as np
import torch
from scipy.ndimage import distance_transform_edt, gaussian_filter, shift
from torch import Tensor, nn
from salgen.evaluation.diagnostics.markdown import markdown_table
from salgen.evaluation.metrics.inputs.metric import Metric, RetrainingMetric
from salgen.evaluation.metrics.single_deletion import PartDeletion
from salgen.evaluation.scoring.scoring import score
from salgen.seeding import Stream
from salgen.types import Float32, Float64, Mask

SIZE = 32
SIDE = 8
SAMPLES = 24
STEPS = (0.0, 1.0, 2.0, 4.0, 8.0)
TOLERANCE = 1e-5  # models answer in single precision
BRIGHT, DARK = 1.0, 0.5  # the square, and the brightest background


class Trend(NamedTuple):
    """The course of a metric while maps get worse in one way."""

    metric: str  # its call
    degradation: str
    values: tuple[float, ...]  # its mean at each step, from the truth to the worst; NaN where no map has a value
    verdict: str  # as of :func:`verdict`


def trends(metrics: Mapping[str, Metric]) -> list[Trend]:
    """Every metric under every degradation, except those with an :func:`obstacle`."""
    found = []
    for name, metric in metrics.items():
        for degradation in DEGRADATIONS if not obstacle(metric) else ():
            values = tuple(_mean(metric, degradation, step) for step in range(len(STEPS)))
            found.append(Trend(name, degradation, values, verdict(values, bool(metric.higher_is_better), degradation)))
    return found


def obstacle(metric: Metric) -> str:
    """The reason why a metric cannot be checked; "" if it can."""
    if isinstance(metric, RetrainingMetric) or "training" in metric.needs:
        return "trains models: it is no function of a given map"
    if metric.needs & {"method", "shuffled_maps"}:
        return "explains again: it is no function of a given map"
    if metric.higher_is_better is None:
        return "has no direction: it does not say which map is better"
    if isinstance(metric, PartDeletion):
        return "compares an image's parts, and the images of this check have one"
    return ""


def verdict(values: Sequence[float], higher_is_better: bool, degradation: str) -> str:
    """``"falls"``, ``"flat"``, or ``"rises at ..."`` the first step that is rated better than the one before.

    That is of quality: a lower value of a metric for which less is better is a rise. Undefined is worse than any value.
    """
    quality = [-math.inf if math.isnan(v) else v if higher_is_better else -v for v in values]
    for step, (before, after) in enumerate(pairwise(quality), start=1):
        if after > before + TOLERANCE:
            return f"rises at {DEGRADATIONS[degradation].levels[step]:g}"
    return "falls" if quality[-1] < quality[0] - TOLERANCE else "flat"


def _mean(metric: Metric, degradation: str, step: int) -> float:
    """The mean of a metric over all images; failed maps are left out, unless there are no others."""
    masks, images = _scenes()
    # A model that ignores the feature should not mark it: for metrics that compare twins the best map is the rest.
    ignores = "twin_maps" in metric.needs
    truth = ~masks if ignores else masks
    maps = DEGRADATIONS[degradation].apply(truth, DEGRADATIONS[degradation].levels[step])
    noise = Stream(0, "metrics check", "other").uniform(maps.size).reshape(maps.shape)
    scores = score(
        maps,
        masks,
        {"it": metric},
        model=_detector(),
        images=images,
        targets=np.ones(len(maps), dtype=np.int64),
        twins=list(np.where(masks[:, np.newaxis], np.float32(0.0), images)),
        twin_maps=noise,
        patched_maps=maps,
        paired_maps=noise,
        correct=np.ones(len(maps), dtype=bool),
        attributions=truth.astype(np.float32),
    )["it"]
    finite = scores[np.isfinite(scores)]
    return float(finite.mean()) if finite.size else math.nan


@cache
def _scenes() -> tuple[Mask, Float32]:
    """Masks bool (N, H, W) of one square each, and images float32 (N, 1, H, W) in which it is bright."""
    stream = Stream(0, "metrics check")
    corners = stream.integers(SIZE - 2 * SIDE, 2 * SAMPLES).reshape(SAMPLES, 2) + SIDE // 2
    masks = np.zeros((SAMPLES, SIZE, SIZE), dtype=bool)
    for mask, (row, column) in zip(masks, corners, strict=True):
        mask[row : row + SIDE, column : column + SIDE] = True
    noise = stream.uniform(SAMPLES * SIZE * SIZE, 0.0, DARK).reshape(masks.shape)
    images = np.where(masks, BRIGHT, noise).astype(np.float32)
    return masks, images[:, np.newaxis]


@cache
def _detector() -> Any:
    """A network that adds up how far pixels are above the background, and answers "square" from half of it on."""

    class Bright(nn.Module):
        def forward(self, images: Tensor) -> Tensor:
            evidence = (images - DARK).clamp(min=0.0).sum(dim=(1, 2, 3)) / (SIDE * SIDE * (BRIGHT - DARK))
            return torch.stack([torch.zeros_like(evidence), 8.0 * (evidence - 0.5)], dim=1)

    return Bright().eval()


class Degradation(NamedTuple):
    """A way in which a map can be wrong: its levels from none to much, their unit, and how to apply it."""

    unit: str
    levels: tuple[float, ...]
    apply: Callable[[Mask, float], Float64]


def _noisy(truth: Mask, deviation: float) -> Float64:
    noise = Stream(0, "metrics check", "noise").normal(truth.size).reshape(truth.shape)
    return truth + deviation * noise


def _flipped(truth: Mask, share: float) -> Float64:
    """A growing share of the truth's pixels, the same ones and more at each step, with a negative sign."""
    order = Stream(0, "metrics check", "flip").uniform(truth.size, 0.0, 1.0).reshape(truth.shape)
    return np.where(truth, np.where(order < share, -1.0, 1.0), 0.0)


DEGRADATIONS = {
    "shift": Degradation(
        "pixels down and right",
        STEPS,
        lambda truth, by: shift(truth.astype(float), (0, by, by), order=0, cval=float(truth[0, 0, 0])),
    ),
    "dilation": Degradation(
        "pixels of radius",
        STEPS,
        lambda truth, radius: np.stack([distance_transform_edt(~mask) <= radius for mask in truth]).astype(float),
    ),
    "noise": Degradation("deviation, where the truth is 1", tuple(step / 2.0 for step in STEPS), _noisy),
    "blur": Degradation(
        "pixels of deviation", STEPS, lambda truth, by: gaussian_filter(truth.astype(float), (0, by, by))
    ),
    "sign flip": Degradation("share of the truth's pixels", (0.0, 0.25, 0.5, 0.75, 1.0), _flipped),
}


def table(all_trends: Sequence[Trend]) -> str:
    """The trends as a Markdown table: a row for each metric, a column for each degradation."""
    cells: dict[str, dict[str, str]] = {}
    for trend in all_trends:
        first, last = (("–" if math.isnan(v) else f"{v:.2f}") for v in (trend.values[0], trend.values[-1]))  # noqa: RUF001
        cells.setdefault(trend.metric, {})[trend.degradation] = f"{trend.verdict} ({first} to {last})"
    rows = [[f"`{name}`", *(of_metric[way] for way in DEGRADATIONS)] for name, of_metric in cells.items()]
    return markdown_table(["metric", *DEGRADATIONS], rows)
