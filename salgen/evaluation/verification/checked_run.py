"""A run folder under verification; each file is read once, when a check first needs it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from salgen.errors import SalgenError, reason
from salgen.evaluation.metrics.inputs.metric import Metric
from salgen.evaluation.runs.artifacts.predictions import FILE, Classes, Predictions, present_in
from salgen.evaluation.runs.artifacts.run_record import RunRecord
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.runs.source_run import SourceRun
from salgen.evaluation.scoring.metric_selection import create_metric
from salgen.evaluation.statistics.score_cube import ScoreCube, read_scores

Model = tuple[str, int]  # name and training seed


@dataclass(frozen=True)
class CheckedRun:
    """A run folder and its ``run.json``; every property may raise a SalgenError."""

    folder: Path
    record: RunRecord
    # the source data that its data set was made from, where that is not the generator's default
    source: str | None = None

    @cached_property
    def cube(self) -> ScoreCube:
        """All scores."""
        return read_scores(self.folder)

    @cached_property
    def models(self) -> list[Model]:
        """The models of the record."""
        return [(model.name, model.seed) for model in self.record.models]

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """The metrics of the record by their calls."""
        return {call: create_metric(call) for call in self.record.metrics}

    @cached_property
    def plan(self) -> Plan | None:
        """The plan to score the run's maps again under its own metrics; None if it kept no maps."""
        if not self.record.maps:
            return None
        run = SourceRun.read(self.folder)
        return Plan.of(run.dataset(source=self.source), run.conventions, [], run.methods, self.metrics, source_run=run)

    @cached_property
    def ids(self) -> list[str]:
        """The ids of the split's samples, from the data or, if these are not kept, from the first predictions."""
        if self.plan is not None:
            return self.plan.dataset.ids
        return list(self._rows(self.models[0])["sample_id"].to_pylist())

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each sample in the split."""
        return {name: place for place, name in enumerate(self.ids)}

    @cached_property
    def prediction_table(self) -> pa.Table:
        """The rows of ``predictions.parquet``."""
        path = self.folder / FILE
        try:
            return pq.read_table(path)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise SalgenError(f"{path} cannot be read ({reason(error)}): fetch the archive or evaluate again") from None

    @cached_property
    def predictions(self) -> dict[Model, Predictions]:
        """The predictions of each model, with the labels of the data if these are kept."""
        return {model: self._predictions(model) for model in self.models}

    def targets(self, model: Model) -> Classes:
        """The class that the run explains for each sample of the split, int64 (N,)."""
        target, predictions = self.record.conventions["target"], self.predictions[model]
        if target in ("label", "pred"):
            return predictions.labels if target == "label" else predictions.predicted
        number = self.record.dataset.class_names.index(target)
        return np.full(len(predictions.labels), number, dtype=np.int64)

    def _rows(self, model: Model) -> pa.Table:
        return self.prediction_table.filter((pc.field("model") == model[0]) & (pc.field("training_seed") == model[1]))

    def _predictions(self, model: Model) -> Predictions:
        rows = self._rows(model)
        if rows["sample_id"].to_pylist() != self.ids:
            raise SalgenError(
                f"{self.folder / FILE} does not hold each sample of {model[0]}, seed {model[1]}, once and in order"
            )
        probabilities = np.array(rows["probabilities"].to_pylist(), dtype=np.float32)
        if self.plan is not None:
            dataset, task = self.plan.dataset, self.plan.task
            return Predictions(np.asarray(dataset.column(task)), probabilities, present_in(dataset, task))
        present = None
        if "present" in rows.column_names:
            present = np.array(
                [np.isin(range(probabilities.shape[1]), classes) for classes in rows["present"].to_pylist()]
            )
        return Predictions(rows["label"].to_numpy(), probabilities, present)
