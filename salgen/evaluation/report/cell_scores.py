"""The scores of one method in one cell of a grid, over all its runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from salgen.errors import SalgenError
from salgen.evaluation.report.runs import Run
from salgen.evaluation.statistics.jackknife import Estimate, RunScores, mean_estimate
from salgen.types import Float64

Member = tuple[Run, str]  # a run and the name that it gives the model


@dataclass(frozen=True)
class CellEntry:
    """The scores of one method in a cell."""

    # float64 (n,): of all samples and training seeds, in which a map that failed has the worst value; empty where the
    # method was not scored in all runs of the cell, or is undefined for every sample
    values: Float64
    failed: int = 0  # number of them that are of failed maps
    scores: tuple[RunScores, ...] = ()  # the same of each run

    @cached_property
    def mean(self) -> float:
        """The mean of the values; NaN where it is undefined."""
        return float(self.values.mean()) if self.values.size else float("nan")

    @cached_property
    def estimate(self) -> Estimate:
        """The mean, with what it would be without each cluster and training.

        Splits whose names begin alike hold the same samples in variants, with the same numbers.
        """
        return mean_estimate(self.scores)


def cell_entry(
    members: Sequence[Member], call: str, metric: str, counted: NDArray[np.bool_] | None = None
) -> CellEntry:
    """The scores of a method in the runs of a cell, pooled.

    Parameters
    ----------
    counted
        bool (N,): the samples that take part, by default all; of one run.
    """
    places = [(run, series(run, model, call)) for run, model in members]
    arrays = [scores(run, place, metric) for run, place in places if place is not None]
    if len(arrays) < len(members):
        return CellEntry(np.empty(0))
    if counted is not None:
        arrays = [(value, np.where(counted, worst, np.nan)) for value, worst in arrays]
    value, worst = (np.concatenate([array.ravel() for array in parts]) for parts in zip(*arrays, strict=True))
    defined = np.isfinite(worst)
    if not np.isfinite(value[defined]).any():
        return CellEntry(np.empty(0))
    parts = tuple(_scores_of(run, model, worst) for (run, model), (_, worst) in zip(members, arrays, strict=True))
    return CellEntry(worst[defined], int((~np.isfinite(value[defined])).sum()), parts)


def _scores_of(run: Run, model: str, worst: Float64) -> RunScores:
    split, _, _ = run.split.partition("_")
    names = [name.removeprefix(f"{run.split}-") for name in run.cube.cluster_names]
    return RunScores(
        worst, np.array(names)[run.cube.clusters], np.array(run.cube.seeds), run.record.dataset.name, split, model
    )


def model_in(run: Run, name: str) -> str:
    """The name of a cell's model in a run: the same, or any name if it is the only model."""
    if name in run.model_names:
        return name
    if len(run.model_names) == 1:
        return run.model_names[0]
    raise SalgenError(f"{run.path} has no scores of model {name!r}: it has {', '.join(run.model_names)}")


def series(run: Run, model: str, call: str) -> int | None:
    """The index of a method on the first axis of a run's cube; None if the run has no scores of it."""
    places = [i for i, (name, method, _) in enumerate(run.cube.series) if (name, method) == (model, call)]
    if len(places) > 1:
        raise SalgenError(
            f"{run.path} reduces {call} in {len(places)} ways: a grid takes runs that reduce it in only one"
        )
    return places[0] if places else None


def scores(run: Run, place: int, metric: str) -> tuple[Float64, Float64]:
    """A method's scores in the headline variant and, with failed maps as worst: float64 (seeds, samples) each."""
    index = place, run.cube.metrics.index(metric), run.cube.variants.index(run.variant_of(metric))
    return run.cube.value[index], run.cube.worst[index]
