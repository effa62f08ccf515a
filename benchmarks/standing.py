"""How often a table of methods tells two apart that are alike, and that are not: ``python -m benchmarks.standing``.

Prints the table of docs/statistics.md: the sign-flip test of all pairs of 37 methods by their ranks on a few data sets,
under Holm's correction and under the step-down of the largest difference.
"""

import sys
from itertools import product
import numpy as np
from scipy.stats import rankdata
from salgen.evaluation.statistics.comparisons import holm
from salgen.evaluation.statistics.permutation import sign_flip_p_values, stepdown_p_values
from salgen.types import Float64

METHODS, RELATED = 37, 4  # methods, of which so many share half of their variance, as variants of one do
WORLDS = {  # number of groups of alike methods, and their distance in standard deviations of a data set
    "all alike": (1, 0.0),
    "two groups, 1.5 apart": (2, 1.5),
    "three groups, 3 apart": (3, 3.0),
    "six groups, 1 apart": (6, 1.0),
}
LEVEL = 0.05


def places(rng: np.random.Generator, datasets: int, level: Float64, skewed: bool) -> Float64:
    """The ranks of methods on each data set, from 0 to 1."""
    draw = rng.exponential if skewed else rng.normal
    kin = rng.permutation(np.arange(METHODS) // RELATED)
    shared = draw(size=(datasets, kin.max() + 1))[:, kin]
    scores = level + np.sqrt(0.5) * (draw(size=(datasets, METHODS)) + shared)
    return np.asarray((rankdata(scores, axis=1) - 1) / (METHODS - 1))


def rates(datasets: int, groups: int, distance: float, skewed: bool, tables: int) -> tuple[Float64, Float64]:
    """The share of tables with a wrong difference, and the share of true ones found: by Holm, by step-down."""
    rng = np.random.default_rng(0)
    level = np.arange(METHODS) * groups // METHODS * distance
    first, second = np.triu_indices(METHODS, 1)
    alike = level[first] == level[second]
    wrong, found = np.zeros(2), np.zeros(2)
    for _ in range(tables):
        table = places(rng, datasets, level, skewed)
        for number, p_values in enumerate((holm(sign_flip_p_values([table])[0]), stepdown_p_values(table))):
            different = p_values <= LEVEL
            wrong[number] += different[alike].any()
            found[number] += different[~alike].mean() if groups > 1 else np.nan
    return wrong / tables, found / tables


def main(tables: int = 400) -> None:
    """Print a row for each world and number of data sets."""
    print("| methods | scores | data sets | wrong, Holm | wrong, step-down | found, Holm | found, step-down |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for (world, (groups, distance)), skewed, datasets in product(WORLDS.items(), (False, True), (6, 8, 10)):
        wrong, found = rates(datasets, groups, distance, skewed, tables)
        shown = ["-" if np.isnan(share) else f"{share:.3f}" for share in (*wrong, *found)]
        print(f"| {world} | {'exponential' if skewed else 'normal'} | {datasets} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
