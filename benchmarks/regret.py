"""What choosing a method from few masks costs: ``python -m benchmarks.regret`` fills the table of which_method.md.

``--write`` writes the covariance that salgen ships, and ``--run RUN`` prints the same figures for a run of your own.

Each network of salgen-bench that was trained for reliance is left out with its whole data set. The covariance comes
from the others. Masks are drawn 60 times for each number of them. A cluster counts as one mask.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
import numpy as np
import pandas as pd
import salgen
from benchmarks.filled_pages import filled
from salgen.evaluation.choosing.regret import TABLE, covariance_of, draw_means, regret_of
from salgen.evaluation.diagnostics.markdown import markdown_table
from salgen.registry import METHODS

RESULTS = Path(__file__).parents[1] / "results"
METRICS = ("average-precision", "roc-auc", "m-gt", "relevance-mass", "prec99")
HEADLINE = METRICS[0]
MASKS = (1, 2, 3, 5, 10)
REPEATS, DRAWS = 60, 400
ROUNDING = 1e-9
CEILING = "oracle"


class World(NamedTuple):
    """One trained network."""

    data: str
    scores: pd.DataFrame  # mean score of each cluster (rows) by each method (columns)


def worlds(metric: str) -> Iterator[World]:
    """Every training of every network, with the rightly classified images."""
    for folder in sorted(RESULTS.glob("*-reliance")):
        rows = pd.read_parquet(folder / "scores.parquet")
        rows = rows[(rows["metric"] == metric) & rows["correct"] & ~rows["method"].str.startswith(CEILING)]
        data = "-".join(folder.name.split("-")[: 1 if folder.name.startswith("bam") else 2])
        for _, of_training in rows.groupby("training_seed"):
            table = of_training.groupby(["cluster", "method"])["value"].mean().unstack()
            yield World(data, table.dropna(axis=1))


def pooled_covariance(chosen: Sequence[World]) -> pd.DataFrame:
    """The covariance of methods over clusters within worlds; of a pair that no world has together, NaN."""
    names = sorted(set().union(*(world.scores.columns for world in chosen)))
    total = pd.DataFrame(0.0, names, names)
    freedom = total.copy()
    for _, scores in chosen:
        columns = scores.columns
        total.loc[columns, columns] += scores.cov() * (len(scores) - 1)
        freedom.loc[columns, columns] += len(scores) - 1
    return total / freedom.where(freedom > 0)


def completed(covariance: pd.DataFrame) -> pd.DataFrame:
    """With the average covariance for pairs that are missing, and without negative eigenvalues, which those bring."""
    values = covariance.to_numpy(copy=True)
    apart = ~np.eye(len(values), dtype=bool)
    values[np.isnan(values)] = np.nanmean(values[apart])
    along, axes = np.linalg.eigh(values)
    return pd.DataFrame((axes * np.maximum(along, 0)) @ axes.T, covariance.index, covariance.columns)


def is_method(call: str) -> bool:
    """True unless it is a control."""
    return not METHODS.load(call.partition(":")[0]).control


def trials(scores: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """By number of masks: mean regret, that which is stated, its bound, and the share of bounds that hold."""
    random, rows = np.random.default_rng(0), []
    scores = scores[[name for name in scores if name in known and is_method(name)]]
    covariance, values = known.loc[scores.columns, scores.columns].to_numpy(), scores.to_numpy()
    true = values.mean(axis=0)
    for count in (count for count in MASKS if count <= len(values)):
        for _ in range(REPEATS):
            means = values[random.choice(len(values), count, replace=False)].mean(axis=0)
            chosen = int(means.argmax())
            regret = true.max() - true[chosen]
            stated = regret_of(draw_means(means, np.full(len(means), count), covariance, DRAWS), chosen)
            rows.append((count, regret, *stated, regret <= stated.bound + ROUNDING))
    return pd.DataFrame(rows, columns=["masks", "regret", "expected", "bound", "holds"]).groupby("masks").mean()


def calibration(every: Sequence[World]) -> pd.DataFrame:
    """The mean of trials over networks, each with the covariance of other data sets."""
    found = []
    for world in every:
        others = [other for other in every if other.data != world.data]
        found.append(trials(world.scores, completed(pooled_covariance(others))))
    return pd.concat(found).groupby("masks").mean()


def of_run(path: str) -> pd.DataFrame:
    """Trials on a user's run, such as one on photographs, with the covariance that salgen ships."""
    run = salgen.load(path)
    rows = run.scores[(run.scores["metric"] == HEADLINE) & run.scores["correct"]]
    rows = rows[rows["variant"] == run.record.headline_variant]
    scores = rows.groupby(["cluster", "method"])["value_worst_case"].mean().unstack().dropna(axis=1)
    names = list(scores.columns)
    print({name: round(float(mean), 3) for name, mean in scores.mean().sort_values(ascending=False).items()})
    return trials(scores, pd.DataFrame(covariance_of(HEADLINE, names), names, names))


def as_table(found: pd.DataFrame) -> str:
    """The trials in Markdown."""
    rows = [[str(row.Index), *(f"{value:.3f}" for value in row[1:])] for row in found.itertuples()]
    return markdown_table(["masks", "mean regret", "stated regret", "95 % bound", "bounds that hold"], rows)


class Tables:
    """The table of docs/which_method.md."""

    def calibration(self) -> str:
        """Regret by the number of masks."""
        return as_table(calibration(list(worlds(HEADLINE))))


def main() -> None:
    """Write the page's table, or the covariance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table of covariances that salgen ships")
    parser.add_argument("--run", help="print the same for a run of your own")
    asked = parser.parse_args()
    if asked.run:
        print(as_table(of_run(asked.run)))
        return
    if asked.write:
        tables = [completed(pooled_covariance(list(worlds(metric)))).assign(metric=metric) for metric in METRICS]
        whole = pd.concat(tables).rename_axis("method")
        whole.set_index("metric", append=True).to_csv(TABLE, float_format="%.3g", lineterminator="\n")
        return
    page = Path(__file__).parents[1] / "docs" / "which_method.md"
    page.write_text(filled(page.read_text(encoding="utf-8"), Tables()), encoding="utf-8")


if __name__ == "__main__":
    main()
