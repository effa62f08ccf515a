"""Scoring: ROC-AUC, average precision, PREC99 and m-gt of 140x192 maps, beside other libraries.

Peers take one call per metric, as their users write it. scikit-learn has no PREC99 and no m-gt: its
curve and its precision at a threshold stand for them. torchmetrics lacks m-gt.
"""

import warnings
from collections.abc import Callable
from typing import Any
import numpy as np
import quantus
import torch
import torchmetrics.functional.classification as torch_metrics
from sklearn.metrics import average_precision_score, precision_score, roc_auc_score, roc_curve
import salgen
from benchmarks.timing import Row, medians_us, table

SIZE = (140, 192)
METRICS = ["roc-auc", "average-precision", "prec99", "m-gt"]
MAPS = 8
LOCALISATION = ("AUC", "PointingGame", "RelevanceMassAccuracy", "RelevanceRankAccuracy", "TopKIntersection")


def rows() -> list[Row]:
    """Every comparison of scoring, in microseconds per map, with two lesions of 10x10 pixels as the mask."""
    maps, masks = _lesion_cases()
    peers = _peers(maps, masks)
    work = {"salgen": lambda: salgen.score(maps, masks, METRICS), "np.sort": lambda: [np.sort(m, None) for m in maps]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        times = medians_us({**{name: peer for name, (peer, _, _) in peers.items()}, **work}, 7, dict.fromkeys(work, 3))
    step = "four ranking metrics of a map"
    held = "some forty NumPy calls a map beside the sort"
    ours = times["salgen"] / MAPS
    found = [Row(step, name, times[name] / count, ours, goal, held) for name, (_, count, goal) in peers.items()]
    floor = Row(step + " (ratio: floor over salgen)", "np.sort", times["np.sort"] / MAPS, ours, "≥ 0.5", held)
    return [*found, floor, *_other_maps()]


def agreement() -> dict[str, float]:
    """Largest difference from scikit-learn: all four where little ties, the first two on plateaus as well."""
    maps, masks = _lesion_cases()
    differences: dict[str, list[float]] = {name: [] for name in METRICS}
    for values, names in ((maps, METRICS), (np.maximum(maps, 0), METRICS[:2]), (np.rint(maps), METRICS[:2])):
        scores = salgen.score(values, masks, METRICS)
        expected = [_by_scikit_learn(v.ravel(), m.ravel()) for v, m in zip(values, masks, strict=True)]
        for column, name in enumerate(names):
            differences[name].append(float(np.abs(scores[name] - np.array(expected)[:, column]).max()))
    return {name: max(values) for name, values in differences.items()}


def main() -> None:
    """Print the table, and how far scikit-learn's values are."""
    print(table(rows()))
    print()
    for name, difference in agreement().items():
        print(f"{name}: at most {difference:.1e} from scikit-learn")


def _lesion_cases() -> tuple[np.ndarray, np.ndarray]:
    maps = np.random.default_rng(0).normal(size=(MAPS, *SIZE)).astype(np.float32)
    masks = np.zeros(maps.shape, dtype=bool)
    masks[:, 20:30, 40:50] = masks[:, 50:60, 100:110] = True
    return maps, masks


def _other_maps() -> list[Row]:
    """The same beside np.sort where plateaus or large masks change the work."""
    maps, masks = _lesion_cases()
    large = np.zeros_like(masks)
    large[:, :, :38] = True
    half = np.zeros_like(masks)
    half[:, :, ::2] = True
    cases = {
        "half the pixels zero": (np.maximum(maps, 0), masks),
        "mask of 20 % of the pixels": (maps, large),
        "mask of 50 % of the pixels": (maps, half),
    }
    return [_beside_sort(name, *case) for name, case in cases.items()]


def _beside_sort(name: str, maps: np.ndarray, masks: np.ndarray) -> Row:
    work = {
        "sort": lambda: [np.sort(values, None) for values in maps],
        "salgen": lambda: salgen.score(maps, masks, METRICS),
    }
    times = medians_us(work, 15)
    return Row(f"the same, {name}", "np.sort", times["sort"] / MAPS, times["salgen"] / MAPS, "")


def _peers(maps: np.ndarray, masks: np.ndarray) -> dict[str, tuple[Callable[[], object], int, str]]:
    """Name to what is called, for how many maps, and the goal."""
    values, inside = maps[0].ravel(), masks[0].ravel()
    return {
        "scikit-learn, one call per metric": (lambda: _by_scikit_learn(values, inside), 1, "≥ 60"),
        "torchmetrics (three of the four)": (_torchmetrics(values, inside), 1, "≥ 40"),
        "Quantus, five localisation classes": (_quantus(maps, masks), MAPS, "≥ 100"),
        "Quantus, their kernels alone": (_quantus_kernels(maps, masks), MAPS, "≥ 20"),
    }


def _by_scikit_learn(values: np.ndarray, inside: np.ndarray) -> list[float]:
    fpr, _, thresholds = roc_curve(inside, values, drop_intermediate=False)
    threshold = thresholds[np.flatnonzero(fpr < 0.01)[-1]]
    pth_largest = np.sort(values)[-int(inside.sum())]
    return [
        roc_auc_score(inside, values),
        average_precision_score(inside, values),
        precision_score(inside, values >= threshold),
        precision_score(inside, values >= pth_largest),
    ]


def _torchmetrics(values: np.ndarray, inside: np.ndarray) -> Callable[[], object]:
    scores = torch.sigmoid(torch.from_numpy(values))  # values outside [0, 1] are taken for logits
    truth = torch.from_numpy(inside).long()
    return lambda: [
        torch_metrics.binary_auroc(scores, truth),
        torch_metrics.binary_average_precision(scores, truth),
        torch_metrics.binary_sensitivity_at_specificity(scores, truth, 0.99),
    ]


def _quantus_metrics() -> list[Any]:
    quiet = {"disable_warnings": True, "display_progressbar": False}
    return [getattr(quantus, name)(**quiet) for name in LOCALISATION]


def _quantus(maps: np.ndarray, masks: np.ndarray) -> Callable[[], object]:
    """The classes as called, with maps that are there already and a model that need not run."""
    attributions, segments = maps[:, np.newaxis], masks[:, np.newaxis]
    model = torch.nn.Identity()
    labels = np.zeros(len(maps), dtype=int)
    metrics = _quantus_metrics()
    return lambda: [m(model, attributions, labels, attributions, segments) for m in metrics]


def _quantus_kernels(maps: np.ndarray, masks: np.ndarray) -> Callable[[], object]:
    attributions, segments = maps[:, np.newaxis], masks[:, np.newaxis]
    metrics = _quantus_metrics()
    return lambda: [m.evaluate_batch(a_batch=attributions, s_batch=segments) for m in metrics]


if __name__ == "__main__":
    main()
