"""The published scores of a world: written from its runs, and read."""

from collections.abc import Sequence
from pathlib import Path
import numpy as np
import pandas as pd
from salgen.evaluation.results.run import Run
from salgen.evaluation.statistics.score_cube import SCORES
from salgen.files import atomic_path

SAMPLE = ["training_seed", "sample_id"]
SCORED = ["method", "metric", *SAMPLE]
OF_SAMPLE = ["cluster", "correct", "certified"]


def published_rows(run: Run) -> pd.DataFrame:
    """Scores of the headline region, and of metrics without one; `value` is the worst where the map has `failed`."""
    scores, headline = run.scores, run.scores["variant"] == run.record.headline_variant
    scores = scores[headline | ~scores["metric"].isin(scores.loc[headline, "metric"])]
    value = scores["value_worst_case"].astype(np.float32)
    return scores[[*SCORED, *OF_SAMPLE]].assign(value=value, failed=scores["value"].isna() & value.notna())


def store_rows(rows: Sequence[pd.DataFrame], results: Path) -> None:
    """Write ``scores.parquet`` in little room."""
    with atomic_path(results / SCORES) as path:
        pd.concat(rows).to_parquet(
            path,
            index=False,
            compression="zstd",
            compression_level=19,
            # a dictionary of values, which hardly repeat, would take more room
            use_dictionary=[*SCORED, "cluster"],
            use_byte_stream_split=["value"],
        )


def is_certified(rows: pd.DataFrame) -> pd.Series:
    """Whether the network is known to use the cause on the sample of each row, bool."""
    return rows["certified"].fillna(value=False).astype(bool)
