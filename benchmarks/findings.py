"""The tables of docs/findings.md, from the published results of salgen-bench: ``python -m benchmarks.findings``.

A test compares the page with what this prints.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from salgen.evaluation.bench.bench_results import (
    main_entries,
    method_scores,
    metric_agreement,
    open_results,
    standing_by,
)
from salgen.evaluation.bench.bench_spec import BenchSpec, Entry, bench_spec
from salgen.evaluation.bench.transfer import transfer
from salgen.evaluation.statistics.comparison_groups import is_ceiling
from salgen.evaluation.statistics.summary import SUMMARY

RESULTS = Path(__file__).parents[1] / "results"
RANKING = "average-precision"
AGREEING = (RANKING, "roc-auc", "m-gt", "relevance-mass", "energy-pointing-game")  # and insertion
MOST = 0.9  # share of certified images
EXACT = 0.9995  # cosine with the exact attribution
FIRST = 12  # methods of the order that are shown


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """The lines of a Markdown table."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in (heads, *rows)]
    return [lines[0], "|" + " --- |" * len(heads), *lines[1:]]


class Results:
    """The published results of the networks by which methods are ranked, and of the plain ones beside them."""

    def __init__(self, spec: BenchSpec, folder: Path) -> None:
        self.spec, self.folder = spec, folder
        self.main = [entry for entry in main_entries(spec) if (folder / entry.name).is_dir()]
        plain = [Entry(entry.data, entry.network) for entry in self.main if entry.reliance]
        self.plain = [entry for entry in plain if (folder / entry.name).is_dir()]

    def means(self, entry: Entry, samples: str = "all", metric: str = RANKING) -> pd.DataFrame:
        """The summary of methods, and of the floors, with the column `floor`."""
        rows = pd.read_csv(self.folder / entry.name / SUMMARY)
        rows = rows[(rows["samples"] == samples) & (rows["metric"] == metric)]
        controls = {one.call for one in open_results(self.spec, self.folder / entry.name).methods if one.control}
        rows = rows[~rows["method"].map(is_ceiling)]
        return rows.assign(floor=rows["method"].isin(controls)).dropna(subset=["mean"])

    def order(self) -> list[str]:
        """The methods that stand first, and how many pairs of methods the test tells apart."""
        found = standing_by(self.spec, method_scores(self.spec, self.folder, self.main))
        rows = [
            [
                f"`{found.methods[m]}`",
                f"{found.places[m]:.2f}",
                f"{found.low[m]:.2f} to {found.high[m]:.2f}",
                f"{found.low_rank[m]:.0f} to {found.high_rank[m]:.0f}",
                "-" if np.isnan(found.p_values[0, m]) else f"{found.p_values[0, m]:.3f}",
            ]
            for m in range(FIRST)
        ]
        heads = ["method", "place", "95 % interval", "rank in 95 % of draws", "p beside the first"]
        return [*table(heads, rows), "", found.told_apart]

    def models(self) -> list[str]:
        """What each network knows, and uses, training by training."""
        rows = []
        for entry in sorted([*self.main, *self.plain], key=lambda entry: entry.name):
            record = open_results(self.spec, self.folder / entry.name)
            if record.certificates is None or entry.data.designed:
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
            "tolerance for 90 %",
            "holds elsewhere, %",
        ]
        return table(heads, rows)

    def transfers(self) -> list[str]:
        """Spearman's correlation of the methods' means: lesions on noise and on brains, plain and for reliance."""
        lesions = [entry for entry in self.main if entry.data.name in ("perlin-lesions", "mri-lesions")]
        pairs = [*combinations(lesions, 2)]
        pairs += [(entry, Entry(entry.data, entry.network, reliance=True)) for entry in self.plain]
        rows = []
        for pair in pairs:
            found = transfer(*(self.folder / entry.name for entry in pair))
            names = [entry.name for entry in pair]
            rows += [
                [*names, _short(one.metric), _span(one.between), _span(one.within)]
                for one in found
                if one.metric in self.spec.headlines.values()
            ]
        return table(["results", "and", "metric", "between the two", "between trainings of one"], rows)

    def floors(self) -> list[str]:
        """How many methods are above the best map that knows nothing of the network."""
        rows = []
        for entry in self.main:
            for samples in ("all", "certified"):
                means = self.means(entry, samples)
                if entry.data.designed or means.empty:
                    continue
                floor = means[means["floor"]].sort_values("mean").iloc[-1]
                methods = means[~means["floor"]]
                above, below = (methods["ci_low"] > floor["mean"]).sum(), (methods["mean"] < floor["mean"]).sum()
                best = f"`{floor['method']}`, {floor['mean']:.3f}"
                shown = [entry.data.name, samples, best, methods["mean"].median()]
                rows.append([*shown[:3], f"{shown[3]:.3f}", above, len(methods) - above - below, below])
        heads = ["data", "images", "best floor", "median method", "interval above it", "undecided", "mean below it"]
        return table(heads, rows)

    def agreement(self) -> list[str]:
        """Kendall's tau between the orders of methods by two metrics."""
        scores = method_scores(self.spec, self.folder, self.main, metrics=self.spec.all_metrics)
        tau = metric_agreement(scores, self.spec.all_metrics)
        columns = [*AGREEING[1:], self.spec.headlines["faithfulness"]]
        rows = [
            [_short(first), *("" if first == second else f"{tau.loc[first, second]:.2f}" for second in columns)]
            for first in AGREEING
        ]
        return table(["", *map(_short, columns)], rows)

    def exact(self) -> list[str]:
        """The methods whose maps are the exact attribution up to a factor on both designed networks."""
        designed = [entry for entry in self.main if entry.data.designed]
        by_metric = {
            metric: pd.concat(
                [self.means(entry, metric=metric).set_index("method")["mean"] for entry in designed], axis=1
            )
            for metric in ("attribution-cosine", "completeness-error", "false-attribution")
        }
        cosine = by_metric["attribution-cosine"]
        found = sorted(cosine.index[(cosine > EXACT).all(axis=1)])
        rows = [
            [f"`{method}`", *(f"{mean:.3f}" for means in by_metric.values() for mean in means.loc[method])]
            for method in found
        ]
        names = [entry.data.name for entry in designed]
        return table(["method", *(f"{metric}, {name}" for metric in by_metric for name in names)], rows)


def _short(metric: str) -> str:
    return metric.partition(":")[0]


def _percent(shares: Sequence[float | None]) -> str:
    return ", ".join("-" if share is None else f"{100 * share:.3g}" for share in shares)


def _span(values: Sequence[float]) -> str:
    return f"{sum(values) / len(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def lines(folder: Path = RESULTS) -> Iterator[str]:
    """The tables, an empty line between them."""
    results = Results(bench_spec(), folder)
    for part in (results.models, results.order, results.transfers, results.floors, results.agreement, results.exact):
        yield from [*part(), ""]


if __name__ == "__main__":
    print("\n".join(lines(*map(Path, sys.argv[1:]))))
