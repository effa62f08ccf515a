"""Which metrics a run scores, and what a group leaves out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.metrics.inputs.metric import FAMILIES, Metric
from salgen.evaluation.metrics.inputs.metric_inputs import OF_THE_MASK
from salgen.evaluation.scoring.metric_selection import ALL, DEFAULT, choose_metrics, swept
from salgen.evaluation.scoring.scoring import HOW_TO_GIVE, check_needs
from salgen.evaluation.training.checkpoints import CARD
from salgen.registry import MODELS

BY_NAME_ONLY = frozenset({"training", "shuffled_maps"})  # what takes trainings of its own
TWINS = frozenset({"twin", "twin_maps", "patched_maps"})
PAIRED_TWINS = frozenset({"paired_twin_maps", "paired_patched_maps"})


def run_metrics(
    calls: Sequence[str] | None, scale: str, dataset: Dataset, model: str | Path, paired: bool
) -> dict[str, Metric]:
    """The metrics by their calls; groups stand for those that take no training of their own.

    What a group leaves out is said in a warning.

    Raises
    ------
    SalgenError
        If a metric that is named needs what this run cannot give, or a second model is given in vain.
    """
    given = _given(dataset, model, paired)
    chosen = swept(calls or DEFAULT, given - BY_NAME_ONLY, scale)
    for call, metric in chosen.items():
        _check(call, metric, given, dataset, model)
    check_needs(chosen, given)
    if paired and not any("paired_maps" in metric.needs for metric in chosen.values()):
        raise SalgenError(
            "a paired model or task is given, but no metric contrasts two models: name mcs, mcr or idr:of=paired, or "
            "leave it out"
        )
    groups = [call for call in calls or () if call == ALL or call in FAMILIES]
    if left_out := "; ".join(_left_out(groups, chosen, given)):
        warnings.warn(f"metrics left out of {', '.join(groups)}: {left_out}", SalgenWarning, stacklevel=3)
    return chosen


def _given(dataset: Dataset, model: str | Path, paired: bool) -> frozenset[str]:
    """What metrics may need and this run can give."""
    given = {*OF_THE_MASK, "image", "target", "correct", "model", "method"}
    if dataset.manifest.twins:
        given |= TWINS
    if paired:
        given |= {"paired_maps", *(PAIRED_TWINS if dataset.manifest.twins else ())}
    if str(model) in MODELS.entries or (Path(model) / CARD).is_file():
        given |= BY_NAME_ONLY
    return frozenset(given)


def _check(call: str, metric: Metric, given: frozenset[str], dataset: Dataset, model: str | Path) -> None:
    missing = metric.needs - given
    if missing & BY_NAME_ONLY:
        raise SalgenError(
            f"metric {call!r} trains the model again: give a registered model or a checkpoint, not {model}"
        )
    if "paired_maps" in missing:
        raise SalgenError(
            f"metric {call!r} contrasts two models: give the second one (paired_model, --paired-model), or what it "
            "shall learn (paired_task, --paired-task)"
        )
    if missing & (TWINS | PAIRED_TWINS):
        raise SalgenError(f"metric {call!r} compares images with their twins: {dataset.path} holds none")


def _left_out(groups: Sequence[str], chosen: dict[str, Metric], given: frozenset[str]) -> Iterator[str]:
    """In words, what the groups among the calls would hold if there were more."""
    there = {metric.name for metric in chosen.values()}
    everything = {*HOW_TO_GIVE, "training"}
    missing = {
        name: metric
        for group in groups
        for name, metric in choose_metrics(group, everything).items()
        if name not in there
    }
    reasons = {
        "which train models and are taken by name": BY_NAME_ONLY,
        "which take a second model (paired_model, paired_task)": {"paired_maps"} - given,
        "which compare images with twins, and there are none": TWINS - given,
    }
    for why, needs in reasons.items():
        names = [name for name, metric in missing.items() if metric.needs & needs]
        if names:
            yield f"{', '.join(names)}, {why}"
