"""Undefined scores and their reasons, with equal cases on one line."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from salgen.evaluation.metrics.inputs.metric import (
    CONSTANT_MAP,
    EMPTY_MASK,
    FITTED_METHOD,
    MISCLASSIFIED,
    NO_TWIN,
    NON_FINITE_MAP,
    PATCH_MATTERS,
    PATCH_VANISHED,
    TOO_FEW_NEGATIVES,
    TRIVIAL_FULL_MASK,
    UNUSABLE_SAMPLE,
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
}

BY_NEED = {
    (MISCLASSIFIED, "twin_maps"): "the model does not give both the image and its twin the image's class",
    (MISCLASSIFIED, "paired_twin_maps"): "the second model does not give both the image and its twin its task's class",
    (MISCLASSIFIED, "paired_maps"): "one of the two models classifies the image wrongly",
    (CONSTANT_MAP, "method"): "the map, or one that it is compared with, is the same everywhere",
    (CONSTANT_MAP, "shuffled_maps"): "the map, or one that it is compared with, is the same everywhere",
}  # (reason, need of the metric) to the reason's meaning


@dataclass(frozen=True)
class UndefinedLine:
    """One reason for which the same number of scores of some methods and metrics were undefined."""

    run: str
    model: str
    variant: str
    reason: str
    meaning: str
    metrics: str
    methods: str
    count: int
    total: int
    consequence: str


def undefined_lines(run: LoadedRun) -> list[UndefinedLine]:
    """Every reason in a run; methods and metrics with equal counts share a line."""
    lines: list[UndefinedLine] = []
    for model in run.model_names:
        for variant in run.variants:
            cases = [(metric, key) for metric in run.metrics for key in run.keys(model)]
            rows = {case: row for case in cases if (row := run.row(model, case[1], case[0], variant)) is not None}
            for reason in sorted({reason for row in rows.values() for reason in row.reasons}):
                lines += _lines(run, model, variant, reason, rows)
    return lines


def meaning(reason: str, metric: str) -> str:
    """The meaning of a reason for a metric's values in plain words; "" for an unknown reason."""
    needs = create_metric(metric).needs
    own = (words for (name, need), words in BY_NEED.items() if name == reason and need in needs)
    return next(own, MEANINGS.get(reason, ""))


def _lines(
    run: LoadedRun, model: str, variant: str, reason: str, rows: Mapping[tuple[str, Key], SummaryRow]
) -> Iterator[UndefinedLine]:
    # what is alike of a line, and the metric, to methods; then what is alike, and the methods, to metrics
    methods_of: dict[tuple[Any, ...], list[Key]] = defaultdict(list)
    for (metric, key), row in rows.items():
        if reason in row.reasons:
            consequence = _consequence(row, reason, run.higher_is_better[metric])
            case = meaning(reason, metric), row.reasons[reason], row.n + row.n_undefined, consequence
            methods_of[case, metric].append(key)
    metrics_of: dict[tuple[Any, ...], dict[tuple[Key, ...], list[str]]] = defaultdict(lambda: defaultdict(list))
    for (case, metric), of_metric in methods_of.items():
        metrics_of[case][tuple(of_metric)].append(metric)
    for (words, count, total, consequence), by_keys in metrics_of.items():
        for keys, metrics in by_keys.items():
            labels = [run.method_label(model, key) for key in keys]
            named = _listing(metrics, run.metrics, "metrics"), _listing(labels, run.keys(model), "methods")
            yield UndefinedLine(run.label, model, variant, reason, words, *named, count, total, consequence)


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
