"""Undefined scores and their reasons, with equal cases on one line."""

from collections import defaultdict
from collections.abc import Collection
from itertools import product
from types import SimpleNamespace
from typing import Any
from salgen.evaluation.metrics.inputs.metric import (
    CONSTANT_ATTRIBUTION,
    CONSTANT_MAP,
    EMPTY_MASK,
    FITTED_METHOD,
    MISCLASSIFIED,
    NO_TWIN,
    NON_FINITE_MAP,
    ONE_PART,
    PATCH_MATTERS,
    PATCH_VANISHED,
    TOO_FEW_NEGATIVES,
    TRIVIAL_FULL_MASK,
    UNUSABLE_SAMPLE,
    ZERO_ATTRIBUTION,
    ZERO_ENERGY,
)
from salgen.evaluation.report.runs import LoadedRun
from salgen.evaluation.scoring.metric_selection import create_metric
from salgen.evaluation.statistics.comparison_groups import Key
from salgen.evaluation.statistics.summary import SummaryRow

DROPPED = "the image is left out for every method"
WORST = "left out of the mean; the worst possible score in ranks and tests"
NOT_RANKED = "the method is not scored by this metric"
KEPT = "a special case: the score is defined and counts"
UNRANKED = "left out of the mean"

MEANINGS = {
    EMPTY_MASK: "the scored region holds no ground-truth pixel",
    TRIVIAL_FULL_MASK: "the mask fills the scored region: any map is right",
    ZERO_ENERGY: "the map has no positive value",
    NON_FINITE_MAP: "the map holds NaN or infinity",
    CONSTANT_MAP: "the map is the same everywhere, so nothing can be compared with it",
    FITTED_METHOD: "the method was fitted to the model by training images, so it cannot explain another model",
    MISCLASSIFIED: "the image is misclassified, and the metric is defined for correctly classified images only",
    NO_TWIN: "the image has no twin without the feature",
    PATCH_MATTERS: "no patch was found that looks like the feature and leaves the logits as they are without it",
    PATCH_VANISHED: "the patch that the model ignores can hardly be told from the image without the feature",
    TOO_FEW_NEGATIVES: "too few pixels outside the mask for 99 % specificity, and none of the mask above them all",
    ZERO_ATTRIBUTION: "the exact attribution is 0 everywhere",
    CONSTANT_ATTRIBUTION: "the exact attribution is the same everywhere",
    ONE_PART: "the mask has fewer than two pieces",
}

BY_NEED = {
    (MISCLASSIFIED, "twin_maps"): "the model does not give both the image and its twin the image's class",
    (MISCLASSIFIED, "paired_twin_maps"): "the second model does not give both the image and its twin its task's class",
    (MISCLASSIFIED, "paired_maps"): "one of the two models classifies the image wrongly",
    (CONSTANT_MAP, "method"): "the map, or one that it is compared with, is the same everywhere",
    (CONSTANT_MAP, "shuffled_maps"): "the map, or one that it is compared with, is the same everywhere",
}  # (reason, need of the metric) to the reason's meaning


def undefined_lines(run: LoadedRun) -> list[SimpleNamespace]:
    """Every reason for undefined scores of a run; methods and metrics with equal counts share a line."""
    lines = []
    for model, variant in product(run.model_names, run.variants):
        of_metric: dict[Any, list[Key]] = defaultdict(list)  # (what a line says, metric) to the methods
        for metric, key in product(run.metrics, run.keys(model)):
            if (row := run.row(model, key, metric, variant)) is None:
                continue
            for reason, count in row.reasons.items():
                consequence = _consequence(row, reason, run.higher_is_better[metric])
                case = reason, meaning(reason, metric), count, row.n + row.n_undefined, consequence
                of_metric[case, metric].append(key)
        of_methods: dict[Any, list[str]] = defaultdict(list)  # (what a line says, methods) to the metrics
        for (case, metric), keys in of_metric.items():
            of_methods[case, tuple(keys)].append(metric)
        for ((reason, words, count, total, consequence), keys), metrics in of_methods.items():
            line = SimpleNamespace(
                run=run.label,
                model=model,
                variant=variant,
                reason=reason,
                meaning=words,
                metrics=_listing(metrics, run.metrics, "metrics"),
                methods=_listing([call for call, _ in keys], run.keys(model), "methods"),
                count=count,
                total=total,
                consequence=consequence,
            )
            lines.append(line)
    return sorted(lines, key=lambda line: line.reason)


def meaning(reason: str, metric: str) -> str:
    """The meaning of a reason for a metric's values in plain words; "" for an unknown reason."""
    needs = create_metric(metric).needs
    own = (words for (name, need), words in BY_NEED.items() if name == reason and need in needs)
    return next(own, MEANINGS.get(reason, ""))


def _consequence(row: SummaryRow, reason: str, higher_is_better: bool | None) -> str:
    defined_with_a_reason = sum(row.reasons.values()) - row.n_undefined
    if reason in (TRIVIAL_FULL_MASK, CONSTANT_MAP) and defined_with_a_reason:
        return KEPT
    if reason == FITTED_METHOD:
        return NOT_RANKED
    if reason in UNUSABLE_SAMPLE:
        return DROPPED
    return WORST if higher_is_better is not None else UNRANKED


def _listing(names: list[str], everything: Collection[object], noun: str) -> str:
    return f"all {len(names)} {noun}" if len(names) == len(everything) > 1 else ", ".join(names)
