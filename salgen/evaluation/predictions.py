"""What a model says of every image of a split: `predictions.parquet`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from salgen.errors import SalgenError
from salgen.evaluation.conventions import CHUNK
from salgen.files import atomic_path
from salgen.types import Float32

if TYPE_CHECKING:
    from salgen.datasets.reader import Dataset

FILE = "predictions.parquet"

Classes = NDArray[np.int64]


@dataclass(frozen=True)
class Predictions:
    """What a model says of every sample of a split.

    Attributes
    ----------
    labels
        int64 (N,): the true class.
    probabilities
        float32 (N, K): softmax.
    """

    labels: Classes
    probabilities: Float32

    @property
    def predicted(self) -> Classes:
        """int64 (N,): the most likely class."""
        return np.asarray(self.probabilities.argmax(axis=1), dtype=np.int64)

    @property
    def accuracy(self) -> float:
        """Share of samples whose predicted class is the true one."""
        return float(np.mean(self.labels == self.predicted))


def predict_split(dataset: Dataset, task: str, path: Path, ask: Callable[[Float32], Float32]) -> Predictions:
    """The predictions kept in the file `path`, or those of ``ask(images) -> probabilities``, which are then kept there.

    Raises
    ------
    SalgenError
        If the file is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    labels = np.asarray(dataset.column(task), dtype=np.int64)
    if not path.exists():
        found = np.concatenate([ask(batch.images) for batch in dataset.batches(CHUNK)])
        with atomic_path(path) as temporary:
            pq.write_table(pa.table({"probabilities": _lists(found)}), temporary)
    try:
        column = pq.read_table(path)["probabilities"].combine_chunks()
        probabilities = np.stack(column.to_numpy(zero_copy_only=False)).astype(np.float32)
        if len(probabilities) != len(labels):
            raise ValueError("it holds other rows")
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise SalgenError(f"{path} is damaged ({error}): remove it and run the same command again") from None
    return Predictions(labels, probabilities)


def write_predictions(
    run: Path, ids: Sequence[str], models: Sequence[tuple[str, int]], said: Sequence[Predictions]
) -> None:
    """Write ``predictions.parquet``: a row for each model, training seed and sample of the split."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = [
        pa.table(
            {
                "model": pa.array([name] * len(ids), pa.string()),
                "training_seed": pa.array([seed] * len(ids), pa.int64()),
                "sample_id": pa.array(ids, pa.string()),
                "label": pa.array(one.labels, pa.int64()),
                "predicted": pa.array(one.predicted, pa.int64()),
                "probabilities": _lists(one.probabilities),
            }
        )
        for (name, seed), one in zip(models, said, strict=True)
    ]
    with atomic_path(run / FILE) as temporary:
        pq.write_table(pa.concat_tables(tables), temporary)


def _lists(values: Float32) -> Any:
    import pyarrow as pa

    return pa.array(list(values.astype(np.float32)), pa.list_(pa.float32()))
