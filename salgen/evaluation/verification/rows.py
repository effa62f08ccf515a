"""Does each row of a run's scores say of its data, its method and its sample what the rest of the run says?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from salgen.errors import SalgenError, reason
from salgen.evaluation.runs.artifacts import predictions
from salgen.evaluation.runs.artifacts.certificates import FILE as CERTIFICATES
from salgen.evaluation.runs.artifacts.certificates import read_certificates
from salgen.evaluation.runs.artifacts.chunk_files import RESULT_COLUMNS
from salgen.evaluation.runs.artifacts.run_record import RECORD
from salgen.evaluation.statistics.score_cube import SCORES
from salgen.evaluation.verification.run_predictions import CheckedRun, Model

ROWS = 1 << 16  # of the table that are looked at together
UNKNOWN = -1  # instead of yes (1) or no (0), where there is no certificate
OF_THE_CUBE = ("method_parameters", "reduction", "metric", "variant", "value", "value_worst_case", "reason")


def row_problems(run: CheckedRun) -> Iterator[str]:
    """Rows of another data set or resolution, and targets, verdicts and certificates that are not their sample's."""
    path = run.folder / SCORES
    try:
        with pq.ParquetFile(path) as file:
            if not file.schema_arrow.remove_metadata().equals(pa.schema(RESULT_COLUMNS)):
                yield f"{path} has other columns than salgen writes"
                return
            standing = _Standing(run)
            wrong: Counter[str] = Counter()
            for rows in file.iter_batches(ROWS, columns=[name for name in RESULT_COLUMNS if name not in OF_THE_CUBE]):
                for name, right in standing.of(rows).items():
                    wrong[name] += int((~right).sum())
    except (pa.ArrowException, OSError) as error:
        raise SalgenError(f"{path} is damaged ({reason(error)}): evaluate again into a new folder") from None
    for name, count in wrong.items():
        if count:
            yield f"{path}: {count} entries of {name} are not what {standing.source(name)} says"


class _Standing:
    """What each row must say of its data set, its method, and its sample under its model."""

    def __init__(self, run: CheckedRun) -> None:
        self._run = run
        data = run.record["dataset"]
        self._shared = {
            "dataset": data["name"],
            "dataset_fingerprint": data["fingerprint"],
            "split": data["split"],
            "task": next(iter(data["tasks"])),
        }
        self._ids, self._calls = pa.array(run.ids), pa.array(run.calls)
        self._resolution = pa.array([str(method["native_resolution"]) for method in run.record["methods"]])
        self._said = [run.said[model] for model in run.models]
        answers = [(run.explained(said), said.labels == said.predicted) for said in self._said]
        self._known = {
            "target": np.stack([target for target, _ in answers]),
            "correct": np.stack([right for _, right in answers]).astype(np.int64),
            "certified": np.stack([self._certified(model) for model in run.models]),
        }

    def _certified(self, model: Model) -> NDArray[np.int64]:
        path = self._run.folder / CERTIFICATES
        found = read_certificates(path).certified.get(model, {}) if path.is_file() else {}
        return np.array([found.get(name, UNKNOWN) for name in self._run.ids], dtype=np.int64)

    def source(self, name: str) -> str:
        """Where it stands what a column must say."""
        return {"target": predictions.FILE, "correct": predictions.FILE, "certified": CERTIFICATES}.get(name, RECORD)

    def of(self, rows: pa.RecordBatch) -> dict[str, NDArray[np.bool_]]:
        """For each column whether its entries are right, bool (rows,)."""
        found = {name: _true(pc.equal(rows[name], text)) for name, text in self._shared.items()}
        methods = pc.index_in(rows["method"], self._calls)
        found["native_resolution"] = _true(pc.equal(rows["native_resolution"], self._resolution.take(methods)))
        sample = pc.index_in(rows["sample_id"], self._ids).fill_null(0).to_numpy()
        model = np.zeros(len(sample), dtype=np.int64)
        for number, (name, seed) in enumerate(self._run.models):
            model[_true(pc.and_(pc.equal(rows["model"], name), pc.equal(rows["training_seed"], seed)))] = number
        for name, known in self._known.items():
            there = rows[name].cast(pa.int8() if name != "target" else pa.int64()).fill_null(UNKNOWN)
            found[name] = there.to_numpy(zero_copy_only=False) == known[model, sample]
        return found


def _true(answers: Any) -> NDArray[np.bool_]:
    return np.asarray(answers.fill_null(False).to_numpy(zero_copy_only=False), dtype=bool)
