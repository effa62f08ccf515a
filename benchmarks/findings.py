"""The tables of docs/findings.md, from the results of salgen-bench: ``python -m benchmarks.findings``.

It puts each table where the page has a comment with its name. A test asks whether the page is up to date.
"""

import json
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from benchmarks.filled_pages import filled
from salgen.evaluation.bench.benchmark import judges
from salgen.evaluation.bench.board_rows import against_floors, groups
from salgen.evaluation.bench.questions import student_interval
from salgen.evaluation.bench.standing import CHOICE, METHOD, is_floor, method_means
from salgen.evaluation.bench.worlds import KINDS, RECORD, WORLDS, ScoredWorld, read_worlds, world_spec
from salgen.evaluation.choosing.race import HABIT
from salgen.evaluation.diagnostics.markdown import markdown_table

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "results", ROOT / "docs" / "findings.md"
FIRST = 12  # methods of the order that are shown
TIED = 5  # methods not told apart from the first that are named
KNOWN = (HABIT, "integrated-gradients", "center", "sobel", "random")  # shown, too
N_KINDS = len(set(KINDS.values()))
RELIABLE = 0.9
EXACT = 0.9995  # cosine with the exact attribution
DESIGNED = {"coloured-cells": "coloured-cells-colour-counter", "logic-slots": "logic-slots-slot-logic"}
JUDGED = {"rank_correlation": ".2f", "pairs": ".2f", "passes": ".0f"}  # columns of judges and their formats


class Results:
    """The published results."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.spec = folder, world_spec()
        self.worlds = read_worlds(self.spec, folder / WORLDS)
        self.metric = self.spec.metrics[0]
        self.groups = list(groups(self.worlds, self.metric, None))
        self.standing = self.groups[0].standing  # of all worlds
        self.means = pd.DataFrame({world.name: method_means(world, self.metric) for world in self.worlds})

    def counted(self) -> str:
        """Which worlds there are, and what became of the recipes that were tried."""
        tried: Counter[str] = Counter()
        records = sorted((self.folder / WORLDS).glob(f"*/{RECORD}"))
        for path in records:
            for attempt in json.loads(path.read_text())["attempts"]:
                if "accuracy" in attempt:  # else its data could not be made
                    wrong = attempt["accuracy"] < self.spec.accuracy
                    uncertified = attempt["certified"] < self.spec.certified
                    tried["wrong" if wrong else "uncertified" if uncertified else "taken"] += 1
        return (
            f"{len(records)} of {len(self.spec.worlds)} worlds were tried. Of {tried.total()} networks that were "
            f"trained for them {tried['wrong']} were right on fewer than 80 % of the images. {tried['uncertified']} "
            f"used the cause on fewer than half of them. These do not count. In {len(records) - len(self.worlds)} "
            f"worlds no network of five was taken, so {len(self.worlds)} are left."
        )

    def expected(self) -> str:
        """The methods with the least regret in a new world, and those that are known best."""
        table, rows = self.standing.table, []
        names = [name for name in table.index if table["role"][name] == METHOD][:FIRST]
        for name, row in table[table.index.isin([CHOICE, *names, *KNOWN])].iterrows():
            interval = f"{row.regret_low:.2f} to {row.regret_high:.2f}"
            verdict = row.verdict if row.role == METHOD else ""
            called = name if name == CHOICE else f"`{name}`"
            rows.append([called, f"{row.regret:.2f}", interval, f"{row.ahead:.0%}", verdict, str(row.worlds)])
        heads = ["method", "regret", "95 % interval", "ahead of Grad-CAM", "against the first", "worlds"]
        return markdown_table(heads, rows)

    def questions(self) -> str:
        """The pairs of methods that each question tells apart, and those that lead."""
        rows = []
        for question, answer in self.standing.answers.items():
            first, *tied = (f"`{method}`" for method in answer.leading)
            share = f"{answer.differ / answer.pairs:.0%}"
            named = [*tied[:TIED], f"{len(tied) - TIED} more"] if len(tied) > TIED else tied
            rows.append([question, str(answer.differ), str(answer.pairs), share, first, ", ".join(named)])
        return markdown_table(["question", "pairs that differ", "of", "share", "first", "not told apart from it"], rows)

    def quality(self) -> str:
        """The reliability of the order, how many families would make it enough, and the pairs that are confirmed."""
        found = self.standing
        families = found.families * RELIABLE * (1 - found.reliability) / (1 - RELIABLE) / found.reliability
        confirmed = "" if np.isnan(found.confirmed) else (
            f" Of pairs that all families but one tell apart, the other one confirms {found.confirmed:.0%}."
        )  # fmt: skip
        return (
            f"The reliability of the order in other families is {found.reliability:.2f}, by {found.families} families. "
            f"It takes {np.ceil(families):.0f} for {RELIABLE} (Spearman-Brown).{confirmed}"
        )

    def families(self) -> str:
        """Spearman's correlation of the methods' means between families of data."""
        means = self._by(lambda world: world.family)
        return _matrix(means.corr("spearman"))

    def kinds(self) -> str:
        """The correlation of orders within and between kinds of cause, and the kinds that they themselves make."""
        found = self._by(lambda world: world.family).corr("spearman")
        clusters = fcluster(linkage(squareform(1 - found.to_numpy(), checks=False), "average"), N_KINDS, "maxclust")
        made = "; ".join(", ".join(found.index[clusters == cluster]) for cluster in np.unique(clusters))
        within = [found.at[pair] for pair in combinations(found, 2) if KINDS[pair[0]] == KINDS[pair[1]]]
        between = [found.at[pair] for pair in combinations(found, 2) if KINDS[pair[0]] != KINDS[pair[1]]]
        return (
            f"Asked for {N_KINDS} groups, average linkage makes these: {made}. The mean correlation is "
            f"{np.mean(within):.2f} within a kind of cause ({len(within)} pairs of families) and "
            f"{np.mean(between):.2f} between kinds ({len(between)} pairs)."
        )

    def causes(self) -> str:
        """The methods with the least mean regret by kind of cause."""
        return self._orders("kind of cause")

    def architectures(self) -> str:
        """The methods with the least mean regret by architecture."""
        return self._orders("architecture")

    def trainings(self) -> str:
        """The correlation of orders between two trainings of a world, and between worlds."""
        trained = [world.table(self.metric).groupby(level=0).mean().T for world in self.worlds]
        found = [
            ("two trainings of one world", means[~means.index.map(is_floor)].corr("spearman").iloc[0, 1])
            for means in trained
            if len(means.columns) == 2
        ]
        orders = self.means.corr("spearman")
        for first, second in combinations(self.worlds, 2):
            data = "one family of data" if first.family == second.family else "two families"
            network = "one architecture" if first.recipe.model == second.recipe.model else "two architectures"
            found.append((f"worlds of {data}, {network}", orders.loc[first.name, second.name]))
        table = pd.DataFrame(found, columns=["orders", "rho"]).groupby("orders")["rho"].describe()
        rows = [
            [name, f"{row['count']:.0f}", *(f"{row[of]:.2f}" for of in ("mean", "min", "max"))]
            for name, row in table.sort_values("mean", ascending=False).iterrows()
        ]
        return markdown_table(["orders of", "pairs", "mean correlation", "from", "to"], rows)

    def floors(self) -> str:
        """In how many worlds methods are better and worse than the strongest map that ignores the network."""
        found = pd.concat([against_floors(world, self.metric) for world in self.worlds])
        counts = pd.crosstab(found["method"], found["outcome"]).reindex(columns=["better", "not told apart", "worse"])
        shares = counts.div(counts.sum(axis=1), axis=0)[counts.sum(axis=1) >= len(self.worlds) / 2]
        order = shares.sort_values(["better", "worse"], ascending=[False, True]).index
        rows = [[f"`{name}`", *(str(count) for count in counts.fillna(0).astype(int).loc[name])]
                for name in [*order[:5], *order[-5:]]]  # fmt: skip
        return markdown_table(["method", "better", "not told apart", "worse"], rows)

    def agreement(self) -> str:
        """Kendall's tau of methods' orders by two metrics, the mean over families with its interval."""
        metrics = list(self.spec.metrics)
        taus: dict[str, list[np.ndarray]] = {}
        for world in self.worlds:
            of_metrics = pd.DataFrame({metric: method_means(world, metric) for metric in metrics}).round(5)
            taus.setdefault(world.family, []).append(of_metrics.corr("kendall").to_numpy())
        mean, low, high = student_interval(np.array([np.mean(of, axis=0) for of in taus.values()]))
        rows = [
            [_short(first), *(f"{mean[i, j]:.2f} ({low[i, j]:.2f} to {min(1.0, high[i, j]):.2f})" if j > i else ""
                              for j in range(1, len(metrics)))]
            for i, first in enumerate(metrics[:-1])
        ]  # fmt: skip
        return markdown_table(["", *map(_short, metrics[1:])], rows)

    def exact(self) -> str:
        """The methods whose maps are the exact attribution up to a factor on both designed networks."""
        by_metric = {}
        for metric in ("attribution-cosine", "completeness-error", "false-attribution"):
            rows = {name: pd.read_csv(self.folder / folder / "summary.csv") for name, folder in DESIGNED.items()}
            by_metric[metric] = pd.DataFrame({
                name: of[(of["samples"] == "all") & (of["metric"] == metric)].set_index("method")["mean"]
                for name, of in rows.items()
            })  # fmt: skip
        cosine = by_metric["attribution-cosine"]
        found = [name for name in sorted(cosine.index[(cosine > EXACT).all(axis=1)]) if not name.startswith("oracle")]
        cells = [[f"`{method}`", *(f"{mean:.3f}" for means in by_metric.values() for mean in means.loc[method])]
                 for method in found]  # fmt: skip
        return markdown_table(["method", *(f"{metric}, {name}" for metric in by_metric for name in DESIGNED)], cells)

    def judges(self) -> str:
        """What choosing the method by each judge costs, the least first."""
        rows = []
        for judge, row in judges(self.folder).iterrows():
            order, pairs, passes = (
                "" if np.isnan(row[name]) else f"{row[name]:{form}}" for name, form in JUDGED.items()
            )
            regret = f"{row['regret']:.2f} ({row['regret_low']:.2f} to {row['regret_high']:.2f})"
            worst = [f"{row[name]}, {row[f'{name}_regret']:.2f}" for name in ("worst", "worst_kind")]
            photographs = "" if np.isnan(row["photographs"]) else f"{row['photographs']:.2f}"
            rows.append([str(judge), regret, order, pairs, passes, *worst, photographs])
        heads = ["choice by", "mean regret", "order", "pairs", "passes", "worst data", "worst network", "photographs"]
        return markdown_table(heads, rows)

    def _orders(self, kind: str) -> str:
        """The methods with the least mean regret by group, the regret of Grad-CAM, and how reliable the order is."""
        rows = []
        for group in self.groups:
            if group.kind == kind:
                found, table = group.standing, group.standing.table
                best = table[table["role"] == METHOD].iloc[:3]
                named = ", ".join(f"`{name}` {regret:.2f}" for name, regret in best["regret"].items())
                rows.append([group.title, str(found.worlds), str(found.families), named,
                             f"{table.at[HABIT, 'regret']:.2f}", f"{table.at[CHOICE, 'regret']:.2f}",
                             f"{found.reliability:.2f}"])  # fmt: skip
        return markdown_table([kind, "worlds", "families", "least regret", "Grad-CAM", CHOICE, "reliability"], rows)

    def _by(self, key: Callable[[ScoredWorld], str]) -> pd.DataFrame:
        """The mean over worlds of methods' means, less that of the world, by a property of the worlds."""
        centred = self.means - self.means.mean()
        return centred.T.groupby([key(world) for world in self.worlds]).mean().T


def _short(metric: str) -> str:
    """A metric's call without its parameters."""
    return metric.partition(":")[0]


def _matrix(table: pd.DataFrame) -> str:
    """The upper half of a symmetric table."""
    rows = [
        [str(name), *(f"{table.iat[i, j]:.2f}" if j > i else "" for j in range(1, len(table)))]
        for i, name in enumerate(table.index[:-1])
    ]
    return markdown_table(["", *map(str, table.columns[1:])], rows)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), Results(RESULTS)), encoding="utf-8")
