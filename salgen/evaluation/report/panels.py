"""All tables of a model: for each subset of samples and variant, metrics of one reading and family together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from salgen.evaluation.metrics.inputs.metric import FAMILIES
from salgen.evaluation.report.images import samples_counted
from salgen.evaluation.report.runs import Run
from salgen.evaluation.report.tables import MeansTable, means_table
from salgen.evaluation.report.verdicts import verdict
from salgen.evaluation.scoring.metric_selection import by_reading, create_metric
from salgen.evaluation.statistics.score_cube import ALL, CERTIFIED, CORRECT

ONE_TABLE = 8  # at most so many metrics share one table, whatever their families
NAMES = {ALL: "all", CORRECT: "correctly classified", CERTIFIED: "certified"}
TITLES = {
    "ranking": "Ranking: do the mask's pixels have the largest values?",
    "localization": "Localisation: does the map mark the object?",
    "faithfulness": "Faithfulness: does the prediction depend on the pixels that the map marks?",
    "contrast": "Contrast: does the map change when the cause does?",
    "sensitivity": "Sensitivity: is the map stable, and does it tell classes apart?",
    "sanity": "Sanity checks: does the map depend on the model's weights and labels?",
    "diagnostic": "Diagnostics: no ranking",
}


@dataclass(frozen=True)
class Block:
    """A table of metrics that belong together."""

    title: str
    reading: str | None  # the code or paper whose deviating reading they follow; None for the canonical ones
    table: MeansTable


@dataclass(frozen=True)
class PanelView:
    """The tables of one variant."""

    variant: str
    blocks: list[Block]


@dataclass(frozen=True)
class Panel:
    """The tables of one subset of samples."""

    samples: str
    name: str
    # count, total: numbers of (sample, training seed) pairs in the subset, and in all
    count: int
    total: int
    powerless: str  # what is too few for any test of the headline metric to be significant; empty if nothing is
    views: list[PanelView]

    @property
    def same_as_all(self) -> bool:
        """True if the subset leaves no sample out."""
        return self.samples != ALL and self.count == self.total


def panels(run: Run, model: str) -> list[Panel]:
    """The panels of a model, without tables that would be empty or repeat those of all samples."""
    total, subset_panels = sample_count(run, model, ALL), []
    for samples in run.cube.subsets:
        count = sample_count(run, model, samples)
        made = count > 0 and (samples == ALL or count < total)
        powerless = verdict(run, model, run.headline, samples).powerless if made and run.headline is not None else ""
        views = [_view(run, model, variant, samples) for variant in run.variants] if made else []
        subset_panels.append(Panel(samples, NAMES[samples], count, total, powerless, [v for v in views if v.blocks]))
    return subset_panels


def sample_count(run: Run, model: str, samples: str) -> int:
    """The number of the headline metric's samples in a subset, each counted once for each training seed."""
    cube, counted = run.cube, samples_counted(run, model)
    number = cube.models.index(model)
    kept = {CORRECT: cube.correct, CERTIFIED: cube.certified}.get(samples)
    return int(np.sum(counted if kept is None else counted & kept[number]))


def _view(run: Run, model: str, variant: str, samples: str) -> PanelView:
    """The tables of a variant: all metrics in the headline variant, elsewhere those scored in both."""
    headline = run.variants[0]
    metrics = [m for m in run.metrics if variant == headline or (run.has(m, variant) and run.has(m, headline))]
    return PanelView(
        variant,
        [
            Block(title, reading, means_table(run, model, variant, group, samples))
            for title, reading, group in metric_blocks(metrics)
        ],
    )


def metric_blocks(metrics: Sequence[str]) -> Iterator[tuple[str, str | None, list[str]]]:
    """Title, reading and metrics of each table: canonical metrics by family, or all together where they are few."""
    for reading, group in by_reading(metrics).items():
        if reading is not None:
            yield f"As in the code or text of {reading}", reading, group
        elif len(group) <= ONE_TABLE:
            yield from [("", None, group)] if group else []
        else:
            family = {metric: create_metric(metric).family for metric in group}
            for name in FAMILIES:
                members = [metric for metric in group if family[metric] == name]
                if members:
                    yield TITLES[name], None, members
