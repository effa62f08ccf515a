"""How often ``salgen bench check`` is wrong about an honest method, and finds one that looks masks up.

``python -m benchmarks.claim_check [REPEATS]`` prints the table of docs/bench.md. Scores are drawn from the published
ones, clusters of images with replacement, on both sides. A method that looks masks up has the scores of the `oracle` on
some of the benchmark's clusters, and its own elsewhere.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from salgen.evaluation.bench.bench_spec import bench_spec
from salgen.evaluation.bench.claim_check import LEVEL, better_on_known
from salgen.evaluation.bench.published import read_rows
from salgen.evaluation.bench.rankings import main_entries, method_scores, standing_by
from salgen.evaluation.statistics.comparisons import holm

RESULTS = Path(__file__).parents[1] / "results"
ENTRIES = 3  # that are checked by default
REPEATS = 2000
SHARES = (0.0, 0.1, 0.2, 0.3, 0.5, 1.0)
ORACLE = "oracle"


def drawn(rng: np.random.Generator, clusters: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The scores of as many clusters, drawn with replacement."""
    chosen = rng.integers(len(clusters), size=len(clusters))
    return pd.concat([clusters[number].assign(cluster=place) for place, number in enumerate(chosen)])


def main(repeats: int = REPEATS) -> None:
    """Print a row for each share of the images whose masks are looked up."""
    spec, rng = bench_spec(), np.random.default_rng(0)
    entries = main_entries(spec)
    order = standing_by(spec, method_scores(spec, RESULTS, entries)).methods
    methods = {"first": order[0], "median": order[len(order) // 2], "last": order[-1]}
    samples: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for entry in entries:
        rows = read_rows(spec, RESULTS / entry.name).query("training_seed == 0")
        wide = rows[rows["metric"].isin(spec.headlines.values())].pivot(
            index=["metric", "sample_id", "cluster"], columns="method", values="value"
        )
        for role, method in methods.items():
            if method in wide and ORACLE in wide:
                own = wide[[method, ORACLE]].set_axis(["value", "best"], axis=1).reset_index()
                samples[entry.name, role] = [group for _, group in own.groupby("cluster")]
    print(f"| masks looked up | {' | '.join(f'{role}, `{method}`' for role, method in methods.items())} |")
    print(f"| --- |{' --- |' * len(methods)}")
    for share in SHARES:
        found = []
        for role in methods:
            able = [sample for (_, of), sample in samples.items() if of == role]
            refused = 0
            for _ in range(repeats):
                p_values = []
                for number in rng.choice(len(able), ENTRIES, replace=False):
                    known, unseen = drawn(rng, able[number]), drawn(rng, able[number])
                    looked_up = rng.random(known["cluster"].nunique()) < share
                    known["value"] = np.where(looked_up[known["cluster"]], known["best"], known["value"])
                    p_values += [p for _, p in better_on_known(spec, known, unseen)]
                refused += bool((holm(np.array(p_values)) < LEVEL).any())
            found.append(refused / repeats)
        print(f"| {share:.0%} | {' | '.join(f'{rate:.4g}' for rate in found)} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
