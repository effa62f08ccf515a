"""How often ``salgen bench check`` is wrong about an honest method, and finds one that looks masks up.

``python -m benchmarks.claim_check [REPEATS]`` prints the table of docs/bench.md. Scores are drawn from the published
ones, clusters of images with replacement, on both sides. A method that looks masks up has the scores of the `oracle` on
some of the benchmark's clusters, and its own elsewhere.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from salgen.evaluation.bench.bench_spec import BenchSpec, bench_spec
from salgen.evaluation.bench.claim_check import REFUSAL_LEVEL, better_on_known
from salgen.evaluation.bench.published import read_rows
from salgen.evaluation.bench.rankings import main_entries, method_scores, standing_by
from salgen.evaluation.statistics.comparisons import holm

RESULTS = Path(__file__).parents[1] / "results"
REPEATS = 200
SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)
ORACLE = "oracle"


def scores_of(spec: BenchSpec, method: str) -> list[pd.DataFrame]:
    """For each entry that has the method its scores under the first training, and in `best` those of the oracle."""
    found = []
    for entry in main_entries(spec):
        rows = read_rows(spec, RESULTS / entry.name).query("training_seed == 0")
        rows = rows[rows["metric"].isin(spec.headlines.values())]
        wide = rows.pivot(index=["metric", "sample_id", "cluster"], columns="method", values="value")
        if method in wide:
            found.append(wide[[method, ORACLE]].set_axis(["value", "best"], axis=1).reset_index())
    return found


def drawn(rng: np.random.Generator, scores: pd.DataFrame) -> pd.DataFrame:
    """As many clusters, drawn with replacement; those that are drawn twice count as two."""
    members = list(scores.groupby("cluster").indices.values())
    chosen = [members[number] for number in rng.integers(len(members), size=len(members))]
    numbers = np.repeat(np.arange(len(chosen)), [len(rows) for rows in chosen])
    return scores.iloc[np.concatenate(chosen)].assign(cluster=numbers)


def refused(spec: BenchSpec, rng: np.random.Generator, entries: list[pd.DataFrame], share: float) -> bool:
    """Whether a method that looks up this share of the masks is refused."""
    p_values = []
    for scores in entries:
        known, unseen = drawn(rng, scores), drawn(rng, scores)
        looked_up = rng.random(known["cluster"].nunique()) < share
        known["value"] = np.where(looked_up[known["cluster"]], known["best"], known["value"])
        p_values += [p for _, p in better_on_known(spec, known, unseen)]
    return bool((holm(np.array(p_values)) < REFUSAL_LEVEL).any())


def main(repeats: int = REPEATS) -> None:
    """Print a row for each share of the images whose masks are looked up."""
    spec, rng = bench_spec(), np.random.default_rng(0)
    found = standing_by(spec, method_scores(spec, RESULTS, main_entries(spec)))
    order = [method for method, count in zip(found.methods, found.datasets, strict=True) if count == len(spec.data)]
    methods = {"first": order[0], "median": order[len(order) // 2], "last": order[-1]}
    print(f"| masks looked up | {' | '.join(f'{role}, `{method}`' for role, method in methods.items())} |")
    print(f"| --- |{' --- |' * len(methods)}")
    entries = [scores_of(spec, method) for method in methods.values()]
    for share in SHARES:
        rates = [np.mean([refused(spec, rng, own, share) for _ in range(repeats)]) for own in entries]
        print(f"| {share:.0%} | {' | '.join(f'{rate:.3f}' for rate in rates)} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
