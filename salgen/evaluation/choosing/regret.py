"""The regret of choosing a method from few images: how far its mean may lie below that of the best one.

The means of methods over few images of a network are taken as normal around the true ones. Their covariance is that of
images within the networks of salgen-bench, pooled, as five images do not tell it: ``covariance.csv``, which
``python -m benchmarks.regret`` derives and checks by leaving out each data set.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple
import numpy as np
import pandas as pd
from salgen.errors import unknown_name
from salgen.seeding import Stream
from salgen.types import Float64

TABLE = Path(__file__).with_name("covariance.csv")
DRAWS = 4000
LEVEL = 0.95


class Regret(NamedTuple):
    """How far the mean of a chosen method lies below that of the best one."""

    expected: float
    bound: float  # not exceeded with 95 %


@cache
def _table() -> pd.DataFrame:
    """A row for each metric and method, with a column for each method."""
    return pd.read_csv(TABLE, index_col=["metric", "method"])


def covariance_of(metric: str, methods: Sequence[str]) -> Float64:
    """Covariance (M, M) of the scores of an image by methods; one that the table lacks counts as the average one."""
    metrics = _table().index.unique("metric")
    if metric not in metrics:
        raise unknown_name("metric to choose by", metric, metrics)
    known = _table().loc[[metric]].droplevel("metric")
    values, same = known[known.index].to_numpy(), np.eye(len(methods), dtype=bool)
    average = np.where(same, values.diagonal().mean(), values[~np.eye(len(values), dtype=bool)].mean())
    found = known.reindex(index=list(methods), columns=list(methods)).to_numpy()
    return np.asarray(np.where(np.isnan(found), average, found))


def draw_means(means: Float64, counts: Float64, covariance: Float64, draws: int = DRAWS) -> Float64:
    """Draws (draws, M) of the true means, given means (M,) over the first `counts` (M,) of the same clusters."""
    values, vectors = np.linalg.eigh(covariance / np.maximum.outer(counts, counts))
    normal = Stream("choosing").normal(draws * len(means)).reshape(draws, -1)
    return np.asarray(means + (normal * np.sqrt(np.maximum(values, 0))) @ vectors.T)


def regret_of(draws: Float64, chosen: int) -> Regret:
    """The regret of the method with that number, from draws (D, M) of the true means."""
    lost = draws.max(axis=1) - draws[:, chosen]
    return Regret(float(lost.mean()), float(np.quantile(lost, LEVEL)))


def chances_of_best(draws: Float64) -> Float64:
    """The share (M,) of draws in which each method is the best."""
    return np.bincount(draws.argmax(axis=1), minlength=draws.shape[1]) / len(draws)
