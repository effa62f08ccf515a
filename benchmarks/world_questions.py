"""What the three questions to many worlds get wrong and find: ``python -m benchmarks.world_questions [TABLES]``.

Prints the table of docs/statistics.md. Scores are sums of a method's own level and of normal deviations: by kind of
cause, by family, by world, by training, and by image.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
import numpy as np
from salgen.evaluation.bench import questions
from salgen.evaluation.bench.questions import WorldScores
from salgen.evaluation.bench.standing import headline
from salgen.types import Float64

METHODS = 36
IMAGE, TRAINING = 0.2, 0.05  # standard deviations; half of an image's variance is common to all methods
FUTURE = 20_000  # new worlds, for the true regret
NAMES = ["grad-cam", *(f"method {number}" for number in range(1, METHODS))]


@dataclass(frozen=True)
class Design:
    """Where methods differ, and how much families and worlds move them."""

    title: str
    families: int
    groups: int  # of methods that are alike
    distance: float  # between groups
    family: float  # standard deviation of a method's deviation in a family
    world: float  # and in a world
    kind: float = 0.0  # and in families of one kind of cause; in those of the other kind it is the opposite
    sizes: Sequence[int] = (6,)  # worlds of families, in turn
    clusters: Sequence[int] = (30,)  # clusters of images in worlds, in turn

    @property
    def levels(self) -> Float64:
        """What a method scores on average."""
        return np.arange(METHODS) * self.groups // METHODS * self.distance

    def by_kind(self, rng: np.random.Generator, families: int) -> Float64:
        """How much methods deviate in families of a kind drawn at random, (families, methods)."""
        deviations = np.random.default_rng(1).normal(0, self.kind, METHODS)
        return rng.choice([-1, 1], (families, 1)) * deviations


DESIGNS = [
    Design("all alike", 10, 1, 0.0, 0.10, 0.15),
    Design("all alike, families move more", 10, 1, 0.0, 0.20, 0.10),
    Design("all alike, six families", 6, 1, 0.0, 0.10, 0.15),
    Design("all alike, two kinds of families", 11, 1, 0.0, 0.10, 0.15, kind=0.15),
    Design("all alike, one to eight worlds a family", 10, 1, 0.0, 0.10, 0.15, sizes=(8, 4, 1)),
    Design(
        "all alike, eleven worlds, some with three clusters", 11, 1, 0.0, 0.10, 0.15, sizes=(1,), clusters=(3, 30, 15)
    ),
    Design("two groups, .1 apart", 10, 2, 0.1, 0.10, 0.15),
    Design("six groups, .1 apart", 10, 6, 0.1, 0.10, 0.15),
]


class Outcome(NamedTuple):
    """Of one table: whether a pair that is alike was told apart, or how many, and other shares."""

    images_wrong: float  # other images
    training_wrong: float  # another training
    new_wrong: float  # a new world: the share of the pairs that were told apart
    new_found: float  # share of pairs that differ and were told apart
    difference_covered: float  # share of 95 % intervals of differences in a new world that hold
    regret_covered: float  # the same of regret
    confirmed: float
    reliability: float


def simulated(design: Design, rng: np.random.Generator, regrets: Float64) -> Outcome:
    """The answers to one table of worlds; `regrets` are the true ones in a new world."""
    families = np.repeat(np.arange(design.families), np.resize(design.sizes, design.families))
    worlds = len(families)
    of_families = rng.normal(0, design.family, (design.families, METHODS)) + design.by_kind(rng, design.families)
    moved = of_families[families]
    moved += rng.normal(0, design.world, (worlds, METHODS))
    alike = np.equal.outer(design.levels, design.levels) & ~np.eye(METHODS, dtype=bool)

    def scored(*trained: Float64) -> WorldScores:
        """From the true means of each training; one world in three is trained twice."""
        tables = []
        for world in range(worlds):
            count = design.clusters[world % len(design.clusters)]
            twice = range(2 if world % 3 == 0 else 1)
            common = rng.normal(0, IMAGE / np.sqrt(2), (count, 1))
            own = rng.normal(0, IMAGE / np.sqrt(2), (len(twice), count, METHODS))
            tables.append([trained[number % len(trained)][world] + own[number] + common for number in twice])
        return WorldScores.of_arrays(NAMES, families, tables)

    def wrong(found: questions.Differences) -> float:
        return float((questions.decided(found.p_values, false_discoveries=False) & alike).any())

    these = design.levels + moved - moved.mean(axis=0)  # the mean over these very worlds is the level
    trained = these + rng.normal(0, TRAINING, (2, *these.shape))
    scores = scored(design.levels + moved)
    new = questions.new_world(scores)
    told = questions.decided(new.p_values, false_discoveries=True)
    differ = ~alike & ~np.eye(METHODS, dtype=bool)
    true = np.subtract.outer(design.levels, design.levels)
    low, high = new.interval()
    table = headline(scores, NAMES).loc[NAMES]
    return Outcome(
        images_wrong=wrong(questions.these_networks(scored(these))),
        training_wrong=wrong(questions.these_networks(scored(*trained), trained_again=True)),
        new_wrong=float((told & alike).sum() / max(1, told.sum())),
        new_found=float(told[differ].mean()) if differ.any() else np.nan,
        difference_covered=float(((low <= true) & (true <= high))[alike | differ].mean()),
        regret_covered=float(((table["regret_low"] <= regrets) & (regrets <= table["regret_high"])).mean()),
        confirmed=questions.confirmed(scores),
        reliability=questions.reliability(scores),
    )


def true_regrets(design: Design, rng: np.random.Generator) -> Float64:
    """The mean regret of each method in a new world, if its scores were known exactly."""
    spread = np.hypot(design.family, design.world)
    true = design.levels + rng.normal(0, spread, (FUTURE, METHODS)) + design.by_kind(rng, FUTURE)
    return np.asarray((true.max(axis=1, keepdims=True) - true).mean(axis=0))


def main(tables: int = 400) -> None:
    """Print a row for each design."""
    heads = ["methods", *(name.replace("_", " ") for name in Outcome._fields)]
    print("|", " | ".join(heads), "|\n|", " | ".join(["---"] * len(heads)), "|")
    for design in DESIGNS:
        rng = np.random.default_rng(0)
        regrets = true_regrets(design, rng)
        means = np.nanmean([simulated(design, rng, regrets) for _ in range(tables)], axis=0)
        shown = ["" if np.isnan(mean) else f"{mean:.3f}" for mean in means]
        print("|", design.title, "|", " | ".join(shown), "|", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
