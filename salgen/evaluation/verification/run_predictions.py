"""A run as its checks look at it: what its files hold, read once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError, reason
from salgen.evaluation.metrics.inputs.metric import Metric
from salgen.evaluation.runs.artifacts import predictions
from salgen.evaluation.runs.artifacts.conventions import CHUNK, Conventions
from salgen.evaluation.runs.artifacts.predictions import Classes
from salgen.evaluation.runs.evaluated_models import EvaluatedModel
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.runs.source_run import SourceRun
from salgen.evaluation.scoring.metric_selection import create_metric
from salgen.evaluation.statistics.score_cube import ScoreCube, read_scores
from salgen.parameters import build, parse_call
from salgen.registry import METHODS
from salgen.types import Float32

Model = tuple[str, int]  # name and training seed


@dataclass(frozen=True)
class RunPredictions:
    """What ``predictions.parquet`` holds of one model.

    Attributes
    ----------
    ids
        The samples' names, in the file's order.
    labels, predicted
        int64 (N,).
    probabilities
        float32 (N, K).
    present
        For each sample the numbers of the classes that its image shows, where it may show several.
    """

    ids: list[str]
    labels: Classes
    predicted: Classes
    probabilities: Float32
    present: list[list[int]] | None = None


@dataclass(frozen=True)
class CheckedRun:
    """A run folder and its record; the rest is read when a check first asks for it, which may raise a SalgenError."""

    folder: Path
    record: Mapping[str, Any]
    source: str | None = None

    @cached_property
    def cube(self) -> ScoreCube:
        """All scores."""
        return read_scores(self.folder)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each sample among the scores."""
        return {name: place for place, name in enumerate(self.cube.samples)}

    @cached_property
    def models(self) -> list[Model]:
        """The models that the record speaks of."""
        return [(str(model["name"]), int(model["seed"])) for model in self.record["models"]]

    @cached_property
    def calls(self) -> list[str]:
        """The methods that the record speaks of."""
        return [str(method["call"]) for method in self.record["methods"]]

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """The metrics that the record speaks of."""
        return {call: create_metric(call) for call in self.record["metrics"]}

    @cached_property
    def said(self) -> dict[Model, RunPredictions]:
        """What each model said of every sample."""
        return _read_said(self.folder / predictions.FILE)

    @cached_property
    def given(self) -> SourceRun | None:
        """The run as others score it, where it kept its maps."""
        return SourceRun.read(self.folder) if self.record.get("maps") else None

    @cached_property
    def dataset(self) -> Dataset | None:
        """The data that it keeps beside its maps."""
        return None if self.given is None else self.given.dataset(source=self.source)

    @property
    def is_multi_label(self) -> bool:
        """Whether an image may show several classes of the task."""
        data = self.record["dataset"]
        return next(iter(data["tasks"])) in data.get("multi_label", [])

    @cached_property
    def ids(self) -> list[str]:
        """The split's samples: those of the data, or where they are not there those that the first model saw."""
        if self.dataset is not None:
            return [str(name) for name in self.dataset.column("id")]
        return next(iter(self.said.values())).ids

    def plan(self, metrics: Mapping[str, Metric], models: list[EvaluatedModel]) -> Plan:
        """The plan to score the maps that are there under some metrics."""
        return replace(self._plan, metrics=dict(metrics), models=models)

    @cached_property
    def _plan(self) -> Plan:
        assert self.given is not None  # only maps that were kept are scored again
        assert self.dataset is not None
        methods = {call: METHODS.create(*parse_call(call)) for call in self.given.calls}
        conventions = build(Conventions, self.record["conventions"])
        return Plan.of(self.dataset, conventions, [], methods, {}, source_run=self.given)

    @cached_property
    def scored(self) -> tuple[int, ...] | None:
        """The places of the samples that are scored, where the data that tell it are there."""
        return None if self.dataset is None else self.plan(self.metrics, []).scored

    def explained(self, said: RunPredictions) -> Classes:
        """The class that the run explains for each sample, int64 (N,)."""
        target = self.record["conventions"]["target"]
        if target in ("label", "pred"):
            return said.labels if target == "label" else said.predicted
        classes = list(next(iter(self.record["dataset"]["tasks"].values())))
        return np.full(len(said.labels), classes.index(target), dtype=np.int64)


def _read_said(path: Path) -> dict[Model, RunPredictions]:
    if not path.is_file():
        raise SalgenError(f"{path} is missing: the run is not finished")
    try:
        table = pq.read_table(path, read_dictionary=["model"])
        who = table.select(["model", "training_seed"]).group_by(["model", "training_seed"]).aggregate([]).to_pylist()
        return {(one["model"], one["training_seed"]): _of_model(table, one) for one in who}
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError) as error:
        raise SalgenError(f"{path} is damaged ({reason(error)}): fetch the archive, or evaluate, again") from None


def _of_model(table: pa.Table, who: Mapping[str, Any]) -> RunPredictions:
    mine = pc.and_(pc.equal(table["model"], who["model"]), pc.equal(table["training_seed"], who["training_seed"]))
    rows = table.filter(mine).combine_chunks()
    column = rows["probabilities"].combine_chunks()
    widths = set(column.value_lengths().to_pylist())
    if len(widths) != 1 or any(rows[name].null_count for name in rows.column_names):
        raise ValueError("it has gaps, or answers of different lengths")
    return RunPredictions(
        rows["sample_id"].to_pylist(),
        rows["label"].to_numpy().astype(np.int64),
        rows["predicted"].to_numpy().astype(np.int64),
        column.flatten().to_numpy().astype(np.float32).reshape(len(rows), -1),
        rows["present"].to_pylist() if "present" in rows.column_names else None,
    )


def drawn(plan: Plan, count: int) -> Iterator[tuple[int, list[int]]]:
    """Places of up to `count` samples in the split, evenly spread over the scored ones: by number of their chunk."""
    places = spread(len(plan.scored), count)
    for number in np.unique(places // CHUNK).tolist():
        yield number, [plan.scored[place] for place in places[places // CHUNK == number]]


def spread(total: int, count: int) -> NDArray[np.int64]:
    """Up to `count` of the numbers below `total`, evenly spread."""
    return np.unique(np.linspace(0, total - 1, min(count, total)).round().astype(np.int64))
