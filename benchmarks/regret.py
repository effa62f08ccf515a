"""What choosing a method from few masks costs: ``python -m benchmarks.regret`` fills the tables of which_method.md.

``--write`` writes the covariance that salgen ships, and ``--run RUN`` prints the same figures for a run of your own.
``--photographs DATASET`` chooses for EfficientNet-Lite0 by five photographs, and the others confirm it or not.

Each world of salgen-bench is left out with all worlds of its family and all of its architecture. The covariance, and
the board's order, come from the others. Masks are drawn 60 times for each number of them, and the regret is that on the
images that are left. A cluster counts as one mask.
"""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
import numpy as np
import pandas as pd
import salgen
from benchmarks.filled_pages import filled
from benchmarks.without_masks import CHEAP, DIFFERENCE, GRIDS, PHOTOGRAPHS, PLANTED, photographs
from benchmarks.without_masks import TABLE as JUDGED
from salgen.evaluation.bench.judge_metrics import agreement
from salgen.evaluation.bench.standing import is_floor
from salgen.evaluation.bench.worlds import WORLDS, read_worlds, world_spec
from salgen.evaluation.choosing.judges import ROAD
from salgen.evaluation.choosing.race import RACE
from salgen.evaluation.choosing.regret import TABLE, covariance_of, draw_means, regret_of
from salgen.evaluation.diagnostics.markdown import markdown_table

RESULTS = Path(__file__).parents[1] / "results"
METRICS = ("average-precision", "roc-auc", "relevance-mass")
HEADLINE = METRICS[0]
MASKS = (1, 2, 3, 5, 10)
REPEATS, DRAWS = 60, 400
ROUNDING = 1e-9
TWIN = "insertion-auc:step=256,baseline=twin"
STAND_INS = (ROAD, DIFFERENCE, *CHEAP, *GRIDS, PLANTED)
HALF = 0.5  # of the worlds have a method that the board puts first
HABITS = ("grad-cam", "integrated-gradients")


class World(NamedTuple):
    """A world with the scores of a metric."""

    name: str
    family: str
    kind: str  # of network
    scores: pd.DataFrame  # mean score of each cluster (rows) by each method (columns)

    def others(self, every: Sequence["World"]) -> list["World"]:
        """Worlds of other families with other kinds of network."""
        return [other for other in every if other.family != self.family and other.kind != self.kind]


def worlds(metric: str) -> list[World]:
    """The published worlds, with the certified images of the first training."""
    published = read_worlds(world_spec(), RESULTS / WORLDS)
    return [World(world.name, world.family, world.recipe.model, world.first_table(metric)) for world in published]


def pooled_covariance(chosen: Sequence[World]) -> pd.DataFrame:
    """The covariance of methods over clusters within worlds; of a pair that no world has together, NaN."""
    names = sorted(set().union(*(world.scores.columns for world in chosen)))
    total = pd.DataFrame(0.0, names, names)
    freedom = total.copy()
    for world in chosen:
        scores, columns = world.scores, world.scores.columns
        total.loc[columns, columns] += scores.cov() * (len(scores) - 1)
        freedom.loc[columns, columns] += len(scores) - 1
    return total / freedom.where(freedom > 0)


def completed(covariance: pd.DataFrame) -> pd.DataFrame:
    """With the average for what is missing, and without negative eigenvalues, which that brings."""
    values = covariance.to_numpy(copy=True)
    for part in (np.eye(len(values), dtype=bool), ~np.eye(len(values), dtype=bool)):
        values[part & np.isnan(values)] = np.nanmean(values[part])
    along, axes = np.linalg.eigh(values)
    return pd.DataFrame((axes * np.maximum(along, 0)) @ axes.T, covariance.index, covariance.columns)


def trials(scores: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """By number of masks, at most half of all: regret on the others, what is stated, its bound, bounds that hold."""
    random, rows = np.random.default_rng(0), []
    scores = scores[[name for name in scores if not is_floor(name)]]
    covariance, values = known.loc[scores.columns, scores.columns].to_numpy(), scores.to_numpy()
    for count in (count for count in MASKS if count <= len(values) / 2):
        for _ in range(REPEATS):
            drawn = random.permutation(len(values))
            means, others = values[drawn[:count]].mean(axis=0), values[drawn[count:]].mean(axis=0)
            chosen = int(means.argmax())
            regret = others.max() - others[chosen]
            stated = regret_of(draw_means(means, np.full(len(means), count), covariance, DRAWS), chosen)
            rows.append((count, regret, *stated, regret <= stated.bound + ROUNDING))
    return pd.DataFrame(rows, columns=["masks", "regret", "expected", "bound", "holds"]).groupby("masks").mean()


def calibration(every: Sequence[World]) -> pd.DataFrame:
    """The mean of trials over networks, each with the covariance of the others."""
    found = []
    for world in every:
        known = pooled_covariance(world.others(every)).reindex(index=world.scores.columns, columns=world.scores.columns)
        found.append(trials(world.scores, completed(known)))
    return pd.concat(found).groupby("masks").mean()


def lost(means: pd.Series, preferred: Iterable[str]) -> float:
    """The regret of the first of the preferred methods that the network takes, given the methods' means."""
    return float(means.max() - means[next(call for call in preferred if call in means)])


def without_asking(every: Sequence[World]) -> pd.DataFrame:
    """By world, the regret of choices that need no mask of one's own; of stand-ins where they were asked."""
    insertion = {world.name: world.scores.mean() for world in worlds(TWIN)}
    judged = pd.read_parquet(JUDGED)
    judged = judged[judged["judge"].isin(STAND_INS)]
    rows = {}
    for world in every:
        means = world.scores.mean()[[call for call in world.scores if not is_floor(call)]]
        others = pd.DataFrame([other.scores.mean() - other.scores.mean().max() for other in world.others(every)])
        board = others.loc[:, others.notna().mean() >= HALF].mean().sort_values(ascending=False).index
        of_world = judged[judged["world"] == world.name].pivot(index="method", columns="judge", values="value")
        rows[world.name] = {
            **{name: agreement(values, means).regret for name, values in of_world.items()},
            "insertion from the twin": lost(means, insertion[world.name].sort_values(ascending=False).index),
            "the best on other data and networks": lost(means, board),
            **{f"always `{habit}`": lost(means, [habit]) for habit in HABITS},
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def on_photographs() -> pd.Series:
    """The regret of choices without masks on photographs, among methods of a few passes."""
    judged = pd.read_parquet(JUDGED)
    rows = judged[judged["world"] == PHOTOGRAPHS].pivot(index="method", columns="judge", values="value")
    truth = rows[HEADLINE]
    by = {name: agreement(rows[name], truth).regret for name in STAND_INS if name in rows}
    return pd.Series(by | {f"always `{habit}`": lost(truth, [habit]) for habit in HABITS if habit in rows.index})


def of_run(path: str) -> pd.DataFrame:
    """Trials on a user's run, such as one on photographs, with the covariance that salgen ships."""
    run = salgen.load(path)
    rows = run.scores[(run.scores["metric"] == HEADLINE) & run.scores["correct"]]
    rows = rows[rows["variant"] == run.record.headline_variant]
    scores = rows.groupby(["cluster", "method"])["value_worst_case"].mean().unstack().dropna(axis=1)
    names = list(scores.columns)
    print({name: round(float(mean), 3) for name, mean in scores.mean().sort_values(ascending=False).items()})
    return trials(scores, pd.DataFrame(covariance_of(HEADLINE, names), names, names))


def confirmed(path: str) -> str:
    """The choice by five photographs of a data set, and its regret on the others among methods not given up."""
    data = photographs(path)
    numbers = np.arange(len(data.images))
    five = np.linspace(0, len(numbers) - 1, 5).round().astype(int)
    found = []
    for part in (five, np.setdiff1d(numbers, five)):
        images, masks, targets = data.images[part], data.masks[part], data.targets[part]
        rivals = list(found[0].table.index[found[0].table["chance"] >= RACE]) if found else None
        found.append(salgen.choose(data.view, images, masks, targets=targets, methods=rivals))
    first, second = found
    best, row = float(second.table["mean"][second.method]), second.table.loc[first.method]
    return (
        f"{first}\n{len(second.images)} others: {second.method} {best:.3f} is the best of {len(second.probability)}, "
        f"{first.method} has {row['mean']:.3f} on {row['images']}: a regret of {best - row['mean']:.3f}"
    )


def as_table(found: pd.DataFrame) -> str:
    """The trials in Markdown."""
    rows = [[str(row.Index), *(f"{value:.3f}" for value in row[1:])] for row in found.itertuples()]
    return markdown_table(["masks", "mean regret", "stated regret", "95 % bound", "bounds that hold"], rows)


class Tables:
    """The tables of docs/which_method.md."""

    def __init__(self) -> None:
        self.every = worlds(HEADLINE)

    def calibration(self) -> str:
        """Regret by the number of masks."""
        return as_table(calibration(self.every))

    def comparison(self) -> str:
        """Regret of choices without masks, the least first."""
        found, photographs = without_asking(self.every), on_photographs()
        rows = [
            [name, f"{mean:.3f}", f"{found[name].quantile(0.95):.2f}", f"{photographs.get(name, np.nan):.3f}"]
            for name, mean in found.mean().sort_values().items()
        ]
        return markdown_table(["choice by", "mean regret", "in 95 % of networks at most", "photographs"], rows).replace(
            "nan", ""
        )


def main() -> None:
    """Write the page's table, or the covariance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table of covariances that salgen ships")
    parser.add_argument("--run", help="print the same for a run of your own")
    parser.add_argument("--photographs", help="a data set of photographs with classes of ImageNet and masks")
    asked = parser.parse_args()
    if asked.photographs:
        print(confirmed(asked.photographs))
        return
    if asked.run:
        print(as_table(of_run(asked.run)))
        return
    if asked.write:
        tables = [completed(pooled_covariance(worlds(metric))).assign(metric=metric) for metric in METRICS]
        whole = pd.concat(tables).rename_axis("method")
        whole.set_index("metric", append=True).to_csv(TABLE, float_format="%.3g", lineterminator="\n")
        return
    page = Path(__file__).parents[1] / "docs" / "which_method.md"
    page.write_text(filled(page.read_text(encoding="utf-8"), Tables()), encoding="utf-8")


if __name__ == "__main__":
    main()
