"""Predictions of a model for every image of a split: `predictions.parquet`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
import numpy as np
from numpy.typing import NDArray
from salgen.evaluation.runs.artifacts.run_record import CHUNK
from salgen.files import atomic_path
from salgen.progress import progress
from salgen.types import Float32, Mask

if TYPE_CHECKING:
    import pyarrow as pa
    from salgen.datasets.reading.reader import Dataset

FILE = "predictions.parquet"
SEEN = 0.5  # probability above which a multi-label model predicts that an image shows a class

Classes = NDArray[np.int64]


@dataclass(frozen=True)
class Predictions:
    """A model's predictions for every sample of a split."""

    labels: Classes  # int64 (N,): the true class
    probabilities: Float32  # float32 (N, K)
    present: Mask | None = None  # bool (N, K): the classes that each image shows, for multi-label data; else None

    @cached_property
    def predicted(self) -> Classes:
        """int64 (N,): see :func:`predicted_classes`."""
        return predicted_classes(self.probabilities, self.labels, self.present is not None)

    @property
    def accuracy(self) -> float:
        """Share of samples whose predicted class is the true class."""
        return float(np.mean(self.labels == self.predicted))

    @property
    def chance(self) -> float:
        """Accuracy of always the most frequent class; of multi-label data the share of absent classes predicted."""
        if self.present is None:
            return float(np.bincount(self.labels).max() / len(self.labels))
        absent = ~self.present
        return float(np.mean(self.probabilities[absent] > SEEN)) if absent.any() else 0.0


def predicted_classes(probabilities: Float32, labels: Classes, multi_label: bool) -> Classes:
    """The predicted class of each sample, int64 (N,), from probabilities (N, K): the most likely one.

    In multi-label data each sample is about one class of its image, its label. That class is predicted if its
    probability is above a half, and otherwise the most likely other class.
    """
    if not multi_label:
        return np.asarray(probabilities.argmax(axis=1), dtype=np.int64)
    rows = np.arange(len(labels))
    remaining = probabilities.copy()
    remaining[rows, labels] = -1.0
    return np.where(probabilities[rows, labels] > SEEN, labels, remaining.argmax(axis=1)).astype(np.int64)


def predict_split(dataset: Dataset, task: str, path: Path, predict: Callable[[Float32], Float32]) -> Predictions:
    """The predictions in the file `path`, or those of ``predict(images) -> probabilities``, which are written to it."""
    from salgen.evaluation.runs.artifacts.chunk_files import read_rows  # takes pyarrow

    labels = np.asarray(dataset.column(task), dtype=np.int64)
    if not path.exists():
        probabilities, done = np.empty((len(dataset), len(dataset.tasks[task])), dtype=np.float32), 0
        with progress("predict", len(dataset), "images") as advance:
            for batch in dataset.batches(CHUNK):  # kept in one place: small arrays among freed images split the heap
                probabilities[done : done + len(batch)] = predict(batch.images)
                done += len(batch)
                advance(len(batch))
        keep_probabilities(path, probabilities)
    column = read_rows(path)["probabilities"].combine_chunks()
    return Predictions(labels, column.flatten().to_numpy().reshape(len(labels), -1), present_in(dataset, task))


def keep_probabilities(path: Path, probabilities: Float32) -> None:
    """Write a model's probabilities of the samples of a split, float32 (N, K), for :func:`predict_split` to read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with atomic_path(path) as temporary:
        pq.write_table(pa.table({"probabilities": _lists(probabilities)}), temporary)


def present_in(dataset: Dataset, task: str) -> Mask | None:
    """The classes that each image shows, bool (N, K), for multi-label data; else None."""
    return dataset.classes_present(task) if task in dataset.manifest.multi_label else None


def write_predictions(
    run: Path, ids: Sequence[str], models: Sequence[tuple[str, int]], predictions: Sequence[Predictions]
) -> None:
    """Write ``predictions.parquet``."""
    import pyarrow.parquet as pq

    with atomic_path(run / FILE) as temporary:
        pq.write_table(predictions_table(ids, models, predictions), temporary)


def predictions_table(
    ids: Sequence[str], models: Sequence[tuple[str, int]], predictions: Sequence[Predictions]
) -> pa.Table:
    """A row for each model, seed and sample; in multi-label data `present` has the numbers of the classes shown."""
    import pyarrow as pa

    def shown(present: Mask) -> pa.Array:
        return pa.array([np.flatnonzero(row).tolist() for row in present], pa.list_(pa.int64()))

    tables = [
        pa.table(
            {
                "model": pa.array([name] * len(ids), pa.string()),
                "training_seed": pa.array([seed] * len(ids), pa.int64()),
                "sample_id": pa.array(ids, pa.string()),
                "label": pa.array(of_model.labels, pa.int64()),
                "predicted": pa.array(of_model.predicted, pa.int64()),
                "probabilities": _lists(of_model.probabilities),
                **({} if of_model.present is None else {"present": shown(of_model.present)}),
            }
        )
        for (name, seed), of_model in zip(models, predictions, strict=True)
    ]
    return pa.concat_tables(tables)


def _lists(values: Float32) -> Any:
    import pyarrow as pa

    return pa.array(list(values.astype(np.float32)), pa.list_(pa.float32()))
