"""Whether methods stand in the same order on a drawn data set and on the real one that it stands for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING

from scipy.stats import spearmanr

from salgen.errors import SalgenError
from salgen.evaluation.bench.bench_spec import bench_spec
from salgen.evaluation.bench.published import SPEC, published_rows, read_scores
from salgen.evaluation.results.run import Run
from salgen.evaluation.scoring.metric_groups import higher_is_better
from salgen.types import Float64

if TYPE_CHECKING:
    import pandas as pd

FEWEST = 3


@dataclass(frozen=True)
class Transfer:
    """How alike the orders of methods by one metric are.

    Attributes
    ----------
    metric
        Its call.
    methods
        The number of methods that all trainings have a mean of.
    between
        Spearman's correlation of the methods' means, of each training on one data set with each on the other.
    within
        The same of each two trainings on one data set: what different trainings alone leave of the order.
    """

    metric: str
    methods: int
    between: list[float]
    within: list[float]


def transfer(drawn: Path, real: Path) -> list[Transfer]:
    """Compare the orders of methods of two runs, by each metric that both have and whose direction is known.

    Parameters
    ----------
    drawn, real
        Run folders, or published results, of the same methods and metrics, with any number of trainings.

    Raises
    ------
    SalgenError
        If they share no metric, or fewer than three methods.
    """
    sides = [_method_scores(path) for path in (drawn, real)]
    metrics = [metric for metric in sides[0]["metric"].unique() if metric in set(sides[1]["metric"])]
    found = [_compared(metric, *(_means(rows, metric) for rows in sides)) for metric in metrics if _ranks(metric)]
    if not any(one.methods >= FEWEST for one in found):
        raise SalgenError(f"{drawn} and {real} share no metric that ranks at least {FEWEST} methods which both have")
    return [one for one in found if one.methods >= FEWEST]


def _ranks(metric: str) -> bool:
    return higher_is_better(metric) is not None


def _method_scores(folder: Path) -> pd.DataFrame:
    """The scores of the methods of a run, or of published results, in the headline region; controls are left out."""
    if (folder / SPEC).is_file():
        return read_scores(bench_spec(), folder)
    run = Run(folder)
    methods = [method.call for method in run.record.methods if not method.control]
    rows = published_rows(run)
    return rows[rows["method"].isin(methods)]


def _means(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Methods in rows, trainings in columns."""
    return rows[rows["metric"] == metric].pivot_table(index="method", columns="training_seed", values="value")


def _compared(metric: str, drawn: pd.DataFrame, real: pd.DataFrame) -> Transfer:
    shared = drawn.dropna().index.intersection(real.dropna().index)
    first, second = (side.loc[shared].to_numpy().T for side in (drawn, real))
    within = [pair for side in (first, second) for pair in combinations(side, 2)]
    return Transfer(metric, len(shared), _correlations(product(first, second)), _correlations(within))


def _correlations(pairs: Iterable[tuple[Float64, Float64]]) -> list[float]:
    return [float(spearmanr(*pair).statistic) for pair in pairs if len(pair[0]) >= FEWEST]
