"""Metrics in maps per second, from maps of noise on the device."""

from collections.abc import Sequence
from functools import partial
import torch
import salgen
from benchmarks.gpu.campaign import Bench, Row, Step
from benchmarks.gpu.measuring import Work, costs
from benchmarks.gpu.networks import PAPER, SMALL, lesion_masks, shown
from salgen.evaluation.scoring.metric_selection import DEFAULT

RANKING = ("roc-auc", "average-precision", "prec99", "m-gt")
ASKING = ("insertion-auc", "deletion-auc", "insertion-auc:baseline=mean", "average-drop")
MODELS = ("lesion-cnn", "resnet50", "vit-b-16")


def metrics(bench: Bench) -> dict[str, Step]:
    """Metrics of a mask, and metrics that ask the model about changed images, each of these alone."""
    steps: dict[str, Step] = {
        "four metrics that rank pixels": partial(_of_masks, list(RANKING), bench),
        "a run's metrics": partial(_of_masks, list(DEFAULT), bench),
        "all metrics of a mask": partial(_of_masks, "all", bench),
    }
    for model in MODELS:
        for metric in ASKING:
            steps[f"{model}: {metric}"] = partial(_asking, model, metric, bench)
    return steps


def _of_masks(names: list[str] | str, bench: Bench) -> list[Row]:
    count, size = (4, SMALL) if bench.small else (200, PAPER)
    maps = torch.randn(count, *size, device=bench.device)
    masks = lesion_masks(count, size)
    return _row(count, lambda: salgen.score(maps, masks, names), size, bench)


def _asking(model: str, metric: str, bench: Bench) -> list[Row]:
    network = shown(model, 1 if bench.small else 8, bench)
    count, *size = network.images[:, 0].shape
    maps, targets = torch.randn(count, *size, device=bench.device), torch.ones(count, dtype=torch.int64)

    def work() -> object:
        return salgen.score(maps, None, metric, model=network.view, images=network.images, targets=targets)

    return _row(count, work, size, bench)


def _row(count: int, work: Work, size: Sequence[int], bench: Bench) -> list[Row]:
    found, failures = costs({"salgen": work}, bench.device)
    if failures:
        raise RuntimeError(failures["salgen"])
    cost = found["salgen"]
    pixels = "x".join(map(str, size))
    return [{"maps": count, "size": pixels, "maps/s": count / cost.seconds, "peak, GB": cost.peak_gb}]
