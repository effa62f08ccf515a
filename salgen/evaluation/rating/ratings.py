"""The answers of people: a Parquet file for each rater, and how far raters agree."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from salgen.datasets.annotation.agreement import krippendorff_alpha
from salgen.datasets.annotation.loopback import check_name
from salgen.errors import SalgenError, readable
from salgen.evaluation.rating.trials import RatingTrials
from salgen.files import atomic_path, remove_temporaries

QUESTIONS = {
    "covers": "Covers the relevant region",
    "excludes": "Excludes irrelevant regions",
    "trust": "Would you trust it?",
}
LOWEST, HIGHEST = 1, 5
TABLE, AGREEMENT_TABLE = "ratings.parquet", "agreement.parquet"
SCHEMA = pa.schema(
    [("rater", pa.string()), ("seed", pa.int64()), ("model", pa.string()), ("sample_id", pa.string()),
     ("method", pa.string()), ("position", pa.int64()), *((question, pa.int8()) for question in QUESTIONS)]
)  # fmt: skip
AGREEMENT = pa.schema(
    [("question", pa.string()), ("raters", pa.list_(pa.string())),
     ("explanations", pa.int64()), ("alpha", pa.float64())]
)  # fmt: skip

Answers = dict[tuple[int, int], dict[str, int]]  # (image, position) to question and answer


class Ratings:
    """A folder of answers; a rater's file is replaced as a whole after each of them, so a kill loses none.

    One process at a time may write it, see :func:`salgen.datasets.format.output_folder.sole_writer`.
    """

    def __init__(self, trials: RatingTrials, folder: Path) -> None:
        self.trials, self.folder = trials, folder
        (folder / "raters").mkdir(parents=True, exist_ok=True)
        remove_temporaries(folder, below=True)
        for rater in self.raters:
            self.answers(rater)  # what belongs to other trials is reported before anybody answers

    @property
    def raters(self) -> list[str]:
        """Those who answered."""
        return sorted(path.stem for path in (self.folder / "raters").glob("*.parquet"))

    def answers(self, rater: str) -> Answers:
        """What a rater answered."""
        return dict(self._placed(rater, row) for row in self._rows(rater))

    def answer(self, rater: str, image: int, position: int, question: str, value: int) -> None:
        """Keep an answer, from 1 to 5, in place of the one before."""
        if question not in QUESTIONS or not LOWEST <= value <= HIGHEST:
            raise SalgenError(f"{question} = {value!r}: answer {', '.join(QUESTIONS)} by {LOWEST} to {HIGHEST}")
        answers = self.answers(rater)
        answers.setdefault((image, position), {})[question] = value
        trials = self.trials
        rows = [
            {"rater": rater, "seed": trials.seed, "model": trials.model, "sample_id": trials.sample_ids[image],
             "method": trials.order(rater, image)[position], "position": position, **given}
            for (image, position), given in sorted(answers.items())
        ]  # fmt: skip
        _write(rows, SCHEMA, self._path(rater))

    def rows(self) -> list[dict[str, Any]]:
        """All answers, as `ratings.parquet` has them."""
        return [row for rater in self.raters for row in self._rows(rater)]

    def finish(self) -> list[dict[str, Any]]:
        """Write `ratings.parquet` with all answers and `agreement.parquet`, whose rows are returned."""
        if not self.raters:
            raise SalgenError(f"{self.folder}: nobody answered yet")
        rows = self.rows()
        _write(rows, SCHEMA, self.folder / TABLE)
        agreement = [{"question": question, **agreement_of(rows, question)} for question in QUESTIONS]
        _write(agreement, AGREEMENT, self.folder / AGREEMENT_TABLE)
        return agreement

    def _path(self, rater: str) -> Path:
        return self.folder / "raters" / f"{check_name(rater)}.parquet"

    def _rows(self, rater: str) -> list[dict[str, Any]]:
        path = self._path(rater)
        with readable(f"{path} is damaged", ": restore the file, or remove it"):
            return list(pq.read_table(path, schema=SCHEMA).to_pylist()) if path.is_file() else []

    def _placed(self, rater: str, row: Mapping[str, Any]) -> tuple[tuple[int, int], dict[str, int]]:
        trials, position = self.trials, row["position"]
        image = trials.sample_ids.index(row["sample_id"]) if row["sample_id"] in trials.sample_ids else None
        same = image is not None and (row["seed"], row["model"]) == (trials.seed, trials.model)
        if not same or image is None or trials.order(rater, image)[position : position + 1] != [row["method"]]:
            raise SalgenError(f"{self._path(rater)} has answers to other images or methods: give those, or another OUT")
        return (image, position), {name: row[name] for name in QUESTIONS if row[name] is not None}


def agreement_of(rows: Sequence[Mapping[str, Any]], question: str) -> dict[str, Any]:
    """Krippendorff's alpha of ordinal data, whose units are explanations and whose coders are raters.

    It is None where all answers are the same, or no explanation has those of two raters.
    """
    given = pd.DataFrame(rows).dropna(subset=[question])
    table = given.pivot(index="rater", columns=["sample_id", "method"], values=question)
    shared = table.loc[:, table.count() >= 2].to_numpy(float)
    varied = len(np.unique(shared[np.isfinite(shared)])) > 1
    alpha = krippendorff_alpha("ordinal", reliability_data=shared) if varied else None
    return {"raters": [*table.index], "explanations": shared.shape[1], "alpha": alpha}


def means(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Method to the mean answer to each question, of those that were answered."""
    answers = pd.DataFrame(rows).astype(dict.fromkeys(QUESTIONS, float))
    table = answers.groupby("method", sort=False)[[*QUESTIONS]].mean()
    return {str(method): {str(q): float(v) for q, v in row.dropna().items()} for method, row in table.iterrows()}


def _write(rows: Sequence[Mapping[str, Any]], schema: pa.Schema, path: Path) -> None:
    with atomic_path(path) as temporary:
        pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), temporary)
