"""Numbers of Clever Hans candidates by each method's maps, for runs with the two metrics that this takes."""

from dataclasses import dataclass

import numpy as np

from salgen.errors import SalgenError
from salgen.evaluation.diagnostics.clever_hans import FAITHFULNESS, LOCALIZATION, Thresholds, suspicious
from salgen.evaluation.report.cell_scores import scores
from salgen.evaluation.report.runs import METHOD, Run
from salgen.evaluation.runs.artifacts.predictions import FILE


@dataclass(frozen=True)
class SuspectCount:
    """The candidates by one method's maps, all training seeds together, and the number of samples examined."""

    method: str
    count: int
    total: int
    command: list[str]


def suspect_counts(run: Run, model: str) -> list[SuspectCount]:
    """Counts for each method under test, the largest first; empty if the run lacks one of the two metrics."""
    if not {LOCALIZATION, FAITHFULNESS} <= set(run.metrics):
        return []
    probabilities, counts = _probabilities(run, model), []
    for call in dict.fromkeys(call for call, _ in run.keys(model) if run.role(call) == METHOD):
        count, total = _count(run, model, call, probabilities)
        command = ["salgen", "find", "clever-hans", run.path.resolve().name, "-m", call, "--data", "DATA"]
        counts.append(SuspectCount(call, count, total, command))
    return sorted(counts, key=lambda suspects: -suspects.count)


def _count(run: Run, model: str, call: str, probabilities: dict[tuple[int, str], list[float]]) -> tuple[int, int]:
    cube, number, count, total = run.cube, run.cube.models.index(model), 0, 0
    for series, (name, method, _) in enumerate(cube.series):
        for seed in cube.seeds_of(model) if (name, method) == (model, call) else ():
            right = np.flatnonzero(cube.correct[number, seed])
            localized, faithful = (
                scores(run, series, metric)[0][seed, right] for metric in (LOCALIZATION, FAITHFULNESS)
            )
            classes = cube.target[number, seed][right]
            confidences = [
                probabilities[cube.seeds[seed], cube.samples[i]][c] for i, c in zip(right, classes, strict=True)
            ]
            count += len(suspicious(np.array(confidences, dtype=np.float64), localized, faithful, Thresholds()))
            total += len(right)
    return count, total


def _probabilities(run: Run, model: str) -> dict[tuple[int, str], list[float]]:
    """Training seed and sample to the probability of each class."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = run.path / FILE
    try:
        rows = pq.read_table(path, filters=[("model", "=", model)]).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise SalgenError(f"{path} is missing or damaged ({error}): evaluate again") from None
    return {(row["training_seed"], row["sample_id"]): row["probabilities"] for row in rows}
