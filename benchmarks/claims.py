"""Error rates and power of the verdicts on papers' claims, simulated: ``python -m benchmarks.claims [REPEATS]``.

Prints the table of docs/statistics.md. The scores are those of `benchmarks.verdicts`, and go through the functions that
judge the claims of `salgen reproduce`.
"""

import sys
from collections.abc import Iterator, Sequence
import numpy as np
from benchmarks.verdicts import DESIGNS, METHODS, Design
from salgen.evaluation.protocols.claims import Claim, Comparison, MethodRanking, among_the_best, highest, on
from salgen.evaluation.statistics.jackknife import RunScores, mean_estimate
from salgen.types import Float64

REPEATS = 500
FAR = 20.0  # standard deviations


def verdict(comparison: Comparison, scores: Float64, design: Design) -> str:
    """The verdict on the first of the methods, from scores (S, N, K)."""
    clusters, seeds = design.numbers.astype(str), np.arange(len(scores))
    means = {
        f"method {number}": mean_estimate([RunScores(scores[..., number], clusters, seeds, "data", "test", "model")])
        for number in range(scores.shape[2])
    }
    rankings = {"data": {"model": MethodRanking("model", means)}}
    return Claim("{}", on("data"), comparison, ["method 0"]).judged(rankings).verdict


def rates(comparison: Comparison, level: int, effect: float, design: Design, repeats: int) -> tuple[float, float]:
    """Shares of held and not held where the first `level` methods are alike, far above the others.

    The first is better by `effect`, worse if it is less than 0.
    """
    rng = np.random.default_rng(0)
    found = []
    for _ in range(repeats):
        scores = design.scores(rng, METHODS)
        scores[..., :level] += FAR
        scores[..., 0] += effect
        found.append(verdict(comparison, scores, design))
    return found.count("held") / repeats, found.count("not held") / repeats


def tables(repeats: int) -> Iterator[str]:
    """The page's table, line by line."""
    yield "| scores | highest: held | not held | best three: held | not held | higher by 1: held | lower: not held |"
    yield f"|---|{'--:|' * 6}"
    for design in DESIGNS:
        highest_of_two = rates(highest, 2, 0.0, design, repeats)
        three_of_four = rates(among_the_best(3), 4, 0.0, design, repeats)
        power = rates(highest, 2, 1.0, design, repeats // 2)[0], rates(highest, 2, -1.0, design, repeats // 2)[1]
        cells = [f"{share:.3f}" for share in (*highest_of_two, *three_of_four)] + [f"{share:.2f}" for share in power]
        yield f"| {design.name} | {' | '.join(cells)} |"


def main(arguments: Sequence[str]) -> None:
    """Print the table; an argument gives the number of repeats."""
    for line in tables(int(arguments[0]) if arguments else REPEATS):
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
