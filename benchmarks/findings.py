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

from salgen.evaluation.bench.bench_results import main_entries, method_scores, metric_agreement, open_results
from salgen.evaluation.bench.bench_results import standing_by as standing
from salgen.evaluation.bench.bench_spec import BenchSpec, Entry, bench_spec
from salgen.evaluation.bench.transfer import transfer
from salgen.evaluation.statistics.comparison_groups import is_ceiling
from salgen.evaluation.statistics.summary import SUMMARY

RESULTS = Path(__file__).parents[1] / "results"
RANKING = "average-precision"
AGREEING = (RANKING, "roc-auc", "m-gt", "relevance-mass", "energy-pointing-game")  # and insertion
LEVEL = 0.05
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
        """The methods that stand first."""
        found = standing(self.spec, method_scores(self.spec, self.folder, self.main))
        rows = [
            [f"`{method}`", f"{place:.2f}", f"{low:.2f} to {high:.2f}", f"{ranks[0]:.0f} to {ranks[1]:.0f}", f"{p:.3f}"]
            for method, place, low, high, ranks, p in zip(
                found.methods,
                found.places,
                found.low,
                found.high,
                zip(found.low_rank, found.high_rank, strict=True),
                found.p_values[0],
                strict=True,
            )
        ]
        return table(["method", "place", "95 % interval", "rank in 95 % of draws", "p beside the first"], rows[:FIRST])

    def told_apart(self) -> str:
        """How many pairs of methods a test tells apart."""
        found = standing(self.spec, method_scores(self.spec, self.folder, self.main))
        pairs = found.p_values[np.triu_indices(len(found.methods), 1)]
        tested = pairs[~np.isnan(pairs)]
        return f"{(tested < LEVEL).sum()} of {len(tested)} pairs of methods differ at 5 %, after Holm's correction"

    def models(self) -> list[str]:
        """What each network knows, and uses."""
        rows = []
        for entry in sorted([*self.main, *self.plain], key=lambda entry: entry.name):
            record = open_results(self.spec, self.folder / entry.name)
            if record.certificates is None or entry.data.designed:
                continue
            kind = "for reliance" if entry.reliance else "plainly"
            elsewhere = [model.holds_elsewhere for model in record.certificates.models]
            rows.append(
                [
                    entry.data.name,
                    record.models[0].name,
                    kind,
                    _percent([model.accuracy for model in record.models]),
                    _percent([model.coverage or 0.0 for model in record.certificates.models]),
                    _percent([share for share in elsewhere if share is not None]) or "-",
                ]
            )
        return table(["data", "network", "trained", "accuracy", "certified", "holds elsewhere"], rows)

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


def _short(metric: str) -> str:
    return metric.partition(":")[0]


def _percent(shares: Sequence[float]) -> str:
    return ", ".join(f"{100 * share:.0f}" for share in shares)


def _span(values: Sequence[float]) -> str:
    return f"{sum(values) / len(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def lines(folder: Path = RESULTS) -> Iterator[str]:
    """The tables, an empty line between them."""
    results = Results(bench_spec(), folder)
    yield from [*results.models(), "", *results.order(), "", results.told_apart(), "", *results.transfers(), ""]
    yield from [*results.floors(), "", *results.agreement()]


if __name__ == "__main__":
    print("\n".join(lines(*map(Path, sys.argv[1:]))))
