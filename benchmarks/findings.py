"""The tables of docs/findings.md, from the published results of salgen-bench: ``python -m benchmarks.findings``.

It puts each table where the page has a comment with its name. A test asks whether the page is up to date.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import combinations, product
from pathlib import Path
import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from benchmarks.filled_pages import filled
from salgen.evaluation.bench.benchmark import judges
from salgen.evaluation.bench.published import is_certified, open_results, read_rows, score_array
from salgen.evaluation.bench.rankings import (
    DECIMALS,
    OrderAgreement,
    main_entries,
    method_scores,
    metric_agreement,
    standing_by,
)
from salgen.evaluation.bench.standing import Standing
from salgen.evaluation.bench.versions import BenchEntry, BenchSpec, bench_spec
from salgen.evaluation.diagnostics.markdown import markdown_table
from salgen.evaluation.statistics.comparison_groups import is_ceiling
from salgen.evaluation.statistics.jackknife import RunScores, interval, mean_estimate
from salgen.evaluation.statistics.mean_intervals import LEVEL
from salgen.evaluation.statistics.summary import SUMMARY

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "results", ROOT / "docs" / "findings.md"
RANKING = "average-precision"
AGREEING = (RANKING, "roc-auc", "m-gt", "relevance-mass", "energy-pointing-game")  # and insertion
MOST = 0.9  # share of certified images
EXACT = 0.9995  # cosine with the exact attribution
JUDGED = {"rank_correlation": ".2f", "pairs": ".2f", "passes": ".0f"}  # columns of judges and their formats
FIRST = 12  # methods of the order that are shown


class Results:
    """The published results: of all networks, of those by which methods are ranked, and of these trained plainly."""

    def __init__(self, spec: BenchSpec, folder: Path) -> None:
        self.spec, self.folder = spec, folder
        self.all = [entry for entry in spec.entries if (folder / entry.name).is_dir()]
        self.main = [entry for entry in main_entries(spec) if (folder / entry.name).is_dir()]
        plain = [BenchEntry(entry.data, entry.network) for entry in self.main if entry.reliance]
        self.plain = [entry for entry in plain if (folder / entry.name).is_dir()]

    def means(self, entry: BenchEntry, samples: str = "all", metric: str = RANKING) -> pd.DataFrame:
        """The summary of methods, and of the floors, with the column `floor`."""
        rows = pd.read_csv(self.folder / entry.name / SUMMARY)
        rows = rows[(rows["samples"] == samples) & (rows["metric"] == metric)]
        controls = {one.call for one in open_results(self.spec, self.folder / entry.name).methods if one.control}
        rows = rows[~rows["method"].map(is_ceiling)]
        return rows.assign(floor=rows["method"].isin(controls)).dropna(subset=["mean"])

    @cached_property
    def standing(self) -> Standing:
        """The order of methods over all data sets."""
        return standing_by(self.spec, method_scores(self.spec, self.folder, self.main))

    def told_apart(self) -> str:
        """How many pairs of methods the test tells apart."""
        return self.standing.told_apart

    def order(self) -> str:
        """The methods that stand first."""
        found = self.standing
        rows = [
            [
                f"`{found.methods[m]}`",
                f"{found.places[m]:.2f}",
                f"{found.low[m]:.2f} to {found.high[m]:.2f}",
                f"{found.rank_low[m]:.0f} to {found.rank_high[m]:.0f}",
                "-" if np.isnan(found.p_values[0, m]) else f"{found.p_values[0, m]:.3f}",
            ]
            for m in range(FIRST)
        ]
        heads = ["method", "place", "95 % interval", "rank in 95 % of draws", "p against the first"]
        return markdown_table(heads, rows)

    def models(self) -> str:
        """What each network knows, and uses, training by training."""
        rows = []
        for entry in sorted(self.all, key=lambda entry: entry.name):
            record = open_results(self.spec, self.folder / entry.name)
            if entry.data.designed:
                continue
            certificates = record.certificates.models
            shares = {
                tolerance: np.mean([model.by_tolerance[tolerance] for model in certificates])
                for tolerance in certificates[0].by_tolerance
            }
            enough = [tolerance for tolerance, share in shares.items() if share >= MOST]
            rows.append(
                [
                    entry.data.name,
                    record.models[0].name,
                    "for reliance" if entry.reliance else "plainly",
                    _percent([model.accuracy for model in record.models]),
                    _percent([model.coverage for model in certificates]),
                    _percent([model.held_effect for model in certificates]),
                    min(enough, key=float, default="-"),
                    _percent([model.holds_elsewhere for model in certificates]),
                ]
            )
        heads = [
            "data",
            "network",
            "trained",
            "accuracy, %",
            "certified, %",
            "held effect, %",
            "tolerance for 90 %",
            "holds elsewhere, %",
        ]
        return markdown_table(heads, rows)

    def transfers(self) -> str:
        """Spearman's correlation of the methods' means: lesions on noise and on brains, plain and for reliance."""
        lesions = [entry for entry in self.main if entry.data.name in ("perlin-lesions", "mri-lesions")]
        both = [(entry, BenchEntry(entry.data, entry.network, reliance=True)) for entry in self.plain]
        return self._correlations([*combinations(lesions, 2), *both])

    def architectures(self) -> str:
        """Spearman's correlation of the methods' means between networks on the same data, both trained for reliance."""
        alike = [entry for entry in self.all if len(entry.data.networks) > 1 and entry.reliance]
        return self._correlations(combinations(alike, 2))

    def _correlations(self, pairs: Iterable[tuple[BenchEntry, BenchEntry]]) -> str:
        rows = []
        for pair in pairs:
            scores = method_scores(self.spec, self.folder, pair)
            for metric in self.spec.headlines.values():
                sides = [
                    side[side["metric"] == metric]
                    .pivot_table(index="method", columns="training_seed", values="better")
                    .round(DECIMALS)
                    for side in (scores[entry.name] for entry in pair)
                ]
                shared = sides[0].dropna().index.intersection(sides[1].dropna().index)
                if len(shared) < 3:
                    continue
                first, second = (side.loc[shared].to_numpy().T for side in sides)
                within = [two for side in (first, second) for two in combinations(side, 2)]
                spans = (_span(_correlations(pairs)) for pairs in (product(first, second), within))
                rows.append([*(entry.name for entry in pair), _short(metric), *spans])
        return markdown_table(["results", "and", "metric", "between the two", "between trainings of one"], rows)

    def floors(self) -> str:
        """How many methods are above all maps that know nothing of the network, and below one of them.

        Each method's scores less a floor's on the same images: above where the 95 % interval of the mean is above zero
        for every floor, which needs no correction; below where it is below zero for some floor (Bonferroni).
        """
        rows = []
        for entry in self.main:
            known = read_rows(self.spec, self.folder / entry.name).query("metric == @RANKING")
            for samples, chosen in (("all", known), ("certified", known[is_certified(known)])):
                means = self.means(entry, samples)
                if entry.data.designed or means.empty:
                    continue
                scores = score_array(chosen)
                of = {method: scores.values[..., k] for k, method in enumerate(scores.methods)}
                methods, floors = (means.loc[means["floor"] == is_floor] for is_floor in (False, True))
                tail = (1 - LEVEL) / 2
                above = below = 0
                for method in methods["method"]:
                    ends = []
                    for floor in floors["method"]:
                        less = RunScores(
                            of[method] - of[floor], scores.clusters, scores.seeds, entry.data.name, "test", ""
                        )
                        ends.append(interval(mean_estimate([less]), (tail, tail / len(floors))))
                    low, high = np.transpose(ends)
                    above, below = above + (low > 0).all(), below + (high < 0).any()
                best = floors.sort_values("mean").iloc[-1]
                numbers = [f"`{best['method']}`, {best['mean']:.3f}", f"{methods['mean'].median():.3f}"]
                counts = [str(count) for count in (above, len(methods) - above - below, below)]
                rows.append([entry.data.name, samples, *numbers, *counts])
        heads = ["data", "images", "best floor", "median method", "above all floors", "undecided", "below a floor"]
        return markdown_table(heads, rows)

    def agreement(self) -> str:
        """Kendall's tau between the orders of methods by two metrics."""
        scores = method_scores(self.spec, self.folder, self.main, metrics=self.spec.all_metrics)
        tau = metric_agreement(scores, self.spec.all_metrics)
        columns = [*AGREEING[1:], self.spec.headlines["faithfulness"]]
        rows = [
            [
                _short(first),
                *("" if second in AGREEING[: place + 1] else _with_interval(tau, first, second) for second in columns),
            ]
            for place, first in enumerate(AGREEING)
        ]
        return markdown_table(["", *map(_short, columns)], rows)

    def exact(self) -> str:
        """The methods whose maps are the exact attribution up to a factor on both designed networks."""
        designed = [entry for entry in self.main if entry.data.designed]
        by_metric = {
            metric: pd.concat(
                [self.means(entry, metric=metric).set_index("method")["mean"] for entry in designed], axis=1
            )
            for metric in ("attribution-cosine", "completeness-error", "false-attribution")
        }
        cosine = by_metric["attribution-cosine"]
        found = sorted(map(str, cosine.index[(cosine > EXACT).all(axis=1)]))
        rows = [
            [f"`{method}`", *(f"{mean:.3f}" for means in by_metric.values() for mean in means.loc[method])]
            for method in found
        ]
        names = [entry.data.name for entry in designed]
        return markdown_table(["method", *(f"{metric}, {name}" for metric in by_metric for name in names)], rows)

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


def _with_interval(tau: OrderAgreement, first: str, second: str) -> str:
    mean, low, high = (table.at[first, second] for table in tau)
    return f"{mean:.2f} ({low:.2f} to {high:.2f})"


def _short(metric: str) -> str:
    return metric.partition(":")[0]


def _percent(shares: Sequence[float | None]) -> str:
    return ", ".join("-" if share is None else f"{100 * share:.3g}" for share in shares)


def _correlations(pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> list[float]:
    return [float(spearmanr(*pair).statistic) for pair in pairs]


def _span(values: Sequence[float]) -> str:
    return f"{sum(values) / len(values):.2f} ({min(values):.2f} to {max(values):.2f})"


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), Results(bench_spec(), RESULTS)), encoding="utf-8")
