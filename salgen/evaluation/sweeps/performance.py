"""What the runs of all doses say: which images a model is right about, and the scores of methods."""

from collections.abc import Sequence
import numpy as np
import pyarrow.parquet as pq
from salgen.errors import warn
from salgen.evaluation.report.runs import LoadedRun
from salgen.evaluation.runs.artifacts.predictions import FILE as PREDICTIONS
from salgen.types import Float64


def right(run: LoadedRun, images: Sequence[str]) -> Float64:
    """Whether each training is right about each image of the split, float64 (S, N)."""
    table = pq.read_table(run.path / PREDICTIONS).to_pandas()
    table["right"] = (table["label"] == table["predicted"]).astype(float)
    wide = table.pivot(index="training_seed", columns="sample_id", values="right")
    return np.asarray(wide[list(images)].to_numpy(), dtype=np.float64)


def scores(run: LoadedRun, call: str, metric: str) -> Float64:
    """A metric of a method's maps, float64 (S, N) of the scored images; NaN where undefined."""
    (place,) = [number for number, (_, method, _) in enumerate(run.cube.series) if method == call]
    return run.scores(place, metric)[0]


def methods_of_all(runs: Sequence[LoadedRun]) -> list[str]:
    """The methods that every run has, with a warning about the others."""
    calls = [[method for _, method, _ in run.cube.series] for run in runs]
    shared = [call for call in calls[0] if all(call in others for others in calls)]
    if left_out := sorted({call for of_run in calls for call in of_run} - set(shared)):
        warn(f"left out, as they have no scores at some dose: {', '.join(left_out)}")
    return shared
