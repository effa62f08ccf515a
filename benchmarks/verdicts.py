"""Error rates, power and coverage of what a report states, simulated: ``python -m benchmarks.verdicts``.

Prints the tables of docs/statistics.md. Every simulated table of scores goes through the functions that make
``comparisons.csv`` and ``summary.csv``. ``python -m benchmarks.verdicts RUN`` takes the scores of a run instead and
gives its methods at random to one another, anew for each cluster, so that none is better than another.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
import numpy as np
from numpy.typing import NDArray
from salgen.evaluation.statistics.clusters import numbered
from salgen.evaluation.statistics.comparison_groups import Family, families
from salgen.evaluation.statistics.comparisons import compare_families, indistinguishable, not_better
from salgen.evaluation.statistics.mean_intervals import mean_intervals
from salgen.evaluation.statistics.score_cube import read_scores
from salgen.types import Float64

REPEATS = 1000
METHODS = 8  # the last one is the floor
TOLERATED = 0.07
Draw = Callable[[np.random.Generator, tuple[int, ...]], Float64]  # scores of mean 0 and standard deviation 1


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Float64:
    """Symmetric scores."""
    return rng.normal(size=shape)


def skewed(rng: np.random.Generator, shape: tuple[int, ...]) -> Float64:
    """Exponential scores: a long tail on one side."""
    return 1.0 - rng.exponential(size=shape)


def failing(rng: np.random.Generator, shape: tuple[int, ...]) -> Float64:
    """Scores of which 2 % are failures, seven standard deviations below the others."""
    failures = (rng.random(shape) < 0.02).astype(np.float64)
    return (0.02 - failures) / np.sqrt(0.02 * 0.98)


@dataclass(frozen=True)
class Design:
    """What is sampled.

    Attributes
    ----------
    clusters, size
        Number of clusters, and of samples in each.
    shared
        Share of the variance of a score that is common to the samples of a cluster.
    trainings, between
        Number of trainings, and the standard deviation of a method's mean between them.
    uneven
        Whether that is so of the methods' mean only: 1.8 times as much for the first of them, 0.2 for the last.
    varying
        Number of methods, the first ones, that vary between trainings.
    mirrored
        Whether every other method has its tail on the other side, so that differences are not symmetric.
    """

    name: str
    clusters: int = 100
    size: int = 1
    shared: float = 0.0
    trainings: int = 1
    between: float = 0.0
    uneven: bool = False
    varying: int = METHODS
    draw: Draw = normal
    mirrored: bool = False

    def scores(self, rng: np.random.Generator, methods: int) -> Float64:
        """Scores of methods that are alike, float64 (S, N, K)."""
        samples = self.clusters * self.size
        of_clusters = np.repeat(self.draw(rng, (self.clusters, methods)), self.size, axis=0)
        own = self.draw(rng, (samples, methods))
        if self.mirrored:
            own[:, ::2] *= -1
            of_clusters[:, ::2] *= -1
        again = rng.normal(size=(self.trainings, samples, methods)) * (0.3 if self.trainings > 1 else 0.0)
        spread = np.linspace(1.8, 0.2, methods) if self.uneven else np.arange(methods) < self.varying
        moved = rng.normal(size=(self.trainings, 1, methods)) * self.between * spread
        moved[..., -1] = 0.0  # a floor knows nothing of the model
        again[..., -1] = 0.0
        return np.sqrt(self.shared) * of_clusters + np.sqrt(1 - self.shared) * own + again + moved

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Each sample's cluster."""
        return np.repeat(np.arange(self.clusters), self.size)


DESIGNS = [
    Design("100 independent samples"),
    Design("20 independent samples", clusters=20),
    Design("40 clusters of 10, 70 % shared", clusters=40, size=10, shared=0.7),
    Design("three trainings, 100 samples, 0.3 between trainings", trainings=3, between=0.3),
    Design(
        "three trainings, 40 clusters of 10, 0.3 between", clusters=40, size=10, shared=0.7, trainings=3, between=0.3
    ),
    Design("three trainings, 0.54 to 0.06 between", trainings=3, between=0.3, uneven=True),
    Design("three trainings that do not differ", trainings=3),
    Design("five trainings, 100 samples, 0.3 between trainings", trainings=5, between=0.3),
    Design("100 samples, exponential", draw=skewed),
    Design("100 samples, 2 % failures", draw=failing),
    Design("40 clusters of 10, exponential", clusters=40, size=10, shared=0.7, draw=skewed),
    Design("100 samples, exponential, every other method mirrored", draw=skewed, mirrored=True),
    Design("100 samples, 2 % failures, every other method mirrored", draw=failing, mirrored=True),
]

FEW_TRAININGS = [
    Design("two trainings, 0.3 between trainings", trainings=2, between=0.3),
    *(
        Design(
            f"{count} trainings, {between} between those of one method", trainings=trainings, between=between, varying=1
        )
        for count, trainings in (("two", 2), ("three", 3), ("five", 5))
        for between in (0.3, 1.0, 5.0)
    ),
    Design("three trainings, 1.0 between those of two methods", trainings=3, between=1.0, varying=2),
]


def family_of(scores: Float64, numbers: NDArray[np.int64]) -> Family:
    """The scores (S, N, K) as a report's family."""
    keys = [(f"method {number}", "") for number in range(scores.shape[2])]
    return Family("all", "model", "metric", "image", True, keys, scores.mean(axis=0), scores, numbers)


@dataclass(frozen=True)
class Statements:
    """What a report would say of one table.

    Attributes
    ----------
    best
        The method that it calls best while every other one is significantly worse; None if some are not.
    above_floor
        The methods that it does not list as "not better than the floor".
    any_difference
        Whether any two differ significantly.
    """

    best: int | None
    above_floor: list[int]
    any_difference: bool


def statements(family: Family) -> Statements:
    """What a report would say."""
    rows = compare_families([family])
    *methods, floor = family.keys
    best = max(methods, key=lambda key: family.values[:, family.keys.index(key)].mean())
    tied = [key for key in indistinguishable(rows, best) if key in methods]
    listed = not_better(rows, floor)
    return Statements(
        best=None if tied else family.keys.index(best),
        above_floor=[number for number, key in enumerate(methods) if key not in listed],
        any_difference=any(row.significant() for row in rows),
    )


def errors(design: Design, repeats: int) -> tuple[float, float, float]:
    """Shares of false statements: "best; every other method is worse", "better than the floor", any difference.

    The first is the larger of two: all methods alike, and two alike that are far better than the others.
    """
    rng = np.random.default_rng(0)
    alike, two, floors, any_pair = 0, 0, 0, 0
    for _ in range(repeats):
        scores = design.scores(rng, METHODS)
        found = statements(family_of(scores, design.numbers))
        alike += found.best is not None
        floors += bool(found.above_floor)
        any_pair += found.any_difference
        scores[..., :2] += 20.0
        two += statements(family_of(scores, design.numbers)).best is not None
    return max(alike, two) / repeats, floors / repeats, any_pair / repeats


def power(design: Design, effect: float, repeats: int) -> tuple[float, float]:
    """Shares of right statements where one method is better than all others by `effect` standard deviations.

    "Best; every other method is worse" of it, and its being better than the floor.
    """
    rng = np.random.default_rng(1)
    best = above = 0
    for _ in range(repeats):
        scores = design.scores(rng, METHODS)
        scores[..., 0] += effect
        found = statements(family_of(scores, design.numbers))
        best += found.best == 0
        above += 0 in found.above_floor
    return best / repeats, above / repeats


SHAPES: dict[str, tuple[Draw, float, float, float]] = {  # scores, their mean, the smallest and the largest
    "normal": (normal, 0.0, -np.inf, np.inf),
    "lognormal": (lambda rng, shape: rng.lognormal(size=shape), float(np.exp(0.5)), -np.inf, np.inf),
    "beta(8, 2) in [0, 1]": (lambda rng, shape: rng.beta(8, 2, shape), 0.8, 0.0, 1.0),
    "beta(1, 5) in [0, 1]": (lambda rng, shape: rng.beta(1, 5, shape), 1 / 6, 0.0, 1.0),
    "normal, 0.885 and 0.035, in [0, 1]": (
        lambda rng, shape: rng.normal(0.885, 0.035, shape).clip(0, 1),
        0.885, 0.0, 1.0,
    ),
    "60 % at 1, others uniform": (
        lambda rng, shape: np.where(rng.random(shape) < 0.6, 1.0, rng.random(shape)),
        0.8, 0.0, 1.0,
    ),
    "hits, 50 % misses": (lambda rng, shape: (rng.random(shape) > 0.5) * 1.0, 0.5, 0.0, 1.0),
    "hits, 5 % misses": (lambda rng, shape: (rng.random(shape) > 0.05) * 1.0, 0.95, 0.0, 1.0),
    "hits, 2 % misses": (lambda rng, shape: (rng.random(shape) > 0.02) * 1.0, 0.98, 0.0, 1.0),
    "about 0.9, 2 % at 0": (
        lambda rng, shape: np.where(rng.random(shape) < 0.02, 0.0, rng.normal(0.9, 0.02, shape).clip(0, 1)),
        0.882, 0.0, 1.0,
    ),
}  # fmt: skip


def covered(
    values: Float64, numbers: NDArray[np.int64], truth: float, low: float, high: float, *, guaranteed: bool = False
) -> tuple[float, float]:
    """Coverage of the intervals of the columns (S, N, K), and their mean width."""
    limits = (np.full(values.shape[2], bound) for bound in (low, high))
    ends = mean_intervals(values, numbers, *limits, guaranteed=guaranteed)
    return float(((ends[0] <= truth) & (truth <= ends[1])).mean()), float((ends[1] - ends[0]).mean())


def tables(repeats: int) -> Iterator[str]:
    """The page's tables, line by line."""
    yield "| scores | best; every other is worse | better than the floor | any difference |\n|---|--:|--:|--:|"
    for design in (*DESIGNS, *FEW_TRAININGS):
        yield f"| {design.name} | {' | '.join(f'{share:.3f}' for share in errors(design, repeats))} |"
    yield "\n| scores | effect | best; every other is worse | better than the floor |\n|---|--:|--:|--:|"
    for design in DESIGNS[:8]:
        for effect in (0.5, 1.0, 2.0):
            shares = power(design, effect, repeats // 4)
            yield f"| {design.name} | {effect} | {' | '.join(f'{share:.2f}' for share in shares)} |"
    yield "\n| scores | interval | 6 clusters | 20 | 50 | 100 | 400 |\n|---|---|--:|--:|--:|--:|--:|"
    for name, (draw, mean, low, high) in SHAPES.items():
        for label, guaranteed in (("of the mean", False), ("guaranteed", True)):
            cells = []
            for count in (6, 20, 50, 100, 400):
                values = draw(np.random.default_rng(2), (1, count, repeats))
                found = covered(values, np.arange(count), mean, low, high, guaranteed=guaranteed)
                cells.append("{:.3f} ({:.3f})".format(*found))
            if np.isfinite(low) or not guaranteed:
                yield f"| {name} | {label} | {' | '.join(cells)} |"
    yield "\n| scores | coverage (width) |\n|---|--:|"
    for design in DESIGNS[:8]:
        values = design.scores(np.random.default_rng(3), repeats + 1)[..., :-1]
        yield "| {} | {:.3f} ({:.3f}) |".format(design.name, *covered(values, design.numbers, 0.0, -np.inf, np.inf))
    for count in (3, 4, 5, 10):  # 0.9, or 0.2 in a training that fails
        rng = np.random.default_rng(4)
        values = np.where(rng.random((count, 1, repeats)) < 0.25, 0.2, 0.9) + 0.02 * rng.normal(size=(1, 100, repeats))
        found = covered(values, np.arange(100), 0.725, 0.0, 1.0)
        yield "| {} trainings, of which one in four fails | {:.3f} ({:.3f}) |".format(count, *found)


def intraclass_correlation(values: Float64, numbers: NDArray[np.int64]) -> float:
    """Of scores (N,): the share of their variance between clusters of equal size, by a one-way analysis of variance."""
    groups = np.stack([values[numbers == number] for number in np.unique(numbers)])
    size = groups.shape[1]
    between, within = size * groups.mean(axis=1).var(ddof=1), groups.var(axis=1, ddof=1).mean()
    return float((between - within) / (between + (size - 1) * within))


def of_a_run(run: Path, repeats: int) -> Iterator[str]:
    """What the tests find among a run's methods where there is nothing to find: with clusters, and without."""
    cube = read_scores(run)
    for group in families(cube):
        if group.variant != cube.variants[0]:
            continue
        used = group.used
        values, numbers = group.values[used], numbered(group.clusters[used])
        pairs = [values[:, a] - values[:, b] for a, b in combinations(range(values.shape[1]), 2)]
        shared = np.median([intraclass_correlation(away, numbers) for away in pairs if np.ptp(away) > 0])
        rng, found = np.random.default_rng(0), [0, 0]
        for _ in range(repeats):
            orders = rng.permuted(np.tile(np.arange(values.shape[1]), (numbers.max() + 1, 1)), axis=1)
            mixed = np.take_along_axis(values, orders[numbers], axis=1)[np.newaxis]
            for way, clusters in enumerate((numbers, np.arange(len(numbers)))):
                found[way] += any(row.significant() for row in compare_families([family_of(mixed, clusters)]))
        rates = " | ".join(f"{count / repeats:.3f}" for count in found)
        yield f"| {group.metric} | {len(numbers)} in {numbers.max() + 1} | {shared:.2f} | {rates} |"


def main(arguments: Sequence[str]) -> None:
    """Print the tables; an argument gives the number of repeats, or a run."""
    if arguments and not arguments[0].isdecimal():
        print("| metric | samples in clusters | shared | error | error, as if independent |\n|---|---|--:|--:|--:|")
        lines = of_a_run(Path(arguments[0]), REPEATS // 5)
    else:
        lines = tables(int(arguments[0]) if arguments else REPEATS)
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
