"""The rows of the board: standings by all worlds and by some, and where a method beats a floor."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
import numpy as np
import pandas as pd
from salgen.evaluation.bench.standing import Standing, is_floor
from salgen.evaluation.bench.worlds import KINDS, ScoredWorld
from salgen.evaluation.scoring.metric_selection import bounds
from salgen.evaluation.statistics.mean_intervals import mean_intervals

LEAST = 3  # families of worlds that a standing is of
COSTS = {3.0: "up to 3 passes", 100.0: "up to 100 passes", np.inf: "more than 100 passes"}
UNMEASURED = "not measured"
ABOVE, ALIKE, BELOW = "better", "not told apart", "worse"


class BoardGroup(NamedTuple):
    """Methods by some of the worlds."""

    kind: str  # what the worlds are chosen by, such as `"architecture"`
    title: str
    standing: Standing
    rows: pd.DataFrame  # its table, with the column `cost`


def groups(worlds: Sequence[ScoredWorld], metric: str, costs: pd.DataFrame | None) -> Iterator[BoardGroup]:
    """All worlds, those of each architecture, and those of each kind of cause, where there are families enough."""
    chosen: dict[str, Callable[[ScoredWorld], str]] = {
        "worlds": lambda _: "all worlds",
        "architecture": lambda world: world.recipe.model,
        "kind of cause": lambda world: KINDS[world.family],
    }
    for kind, name_of in chosen.items():
        for title in sorted({name_of(world) for world in worlds}):
            some = [world for world in worlds if name_of(world) == title]
            if kind == "worlds" or len({world.family for world in some}) >= LEAST:
                standing = Standing.of(some, metric, costs)
                passes = standing.table["passes"]
                cost = [next((COSTS[most] for most in COSTS if value <= most), UNMEASURED) for value in passes]
                yield BoardGroup(kind, title, standing, standing.table.assign(cost=cost).reset_index())


def against_floors(world: ScoredWorld, metric: str) -> pd.DataFrame:
    """For each method: its mean less that of the world's strongest floor, with its 95 % interval, the best first.

    Of the first training. `outcome` is ``"better"`` or ``"worse"`` where the interval lies on one side of 0. Nothing is
    corrected for many comparisons.
    """
    first = world.first_table(metric)
    floors = [call for call in first if is_floor(str(call))]
    strongest = first[floors].mean().idxmax()
    others = first.drop(columns=floors)
    differences = others.sub(first[strongest], axis=0).to_numpy()
    low, high = bounds(metric)
    width = np.full(len(others.columns), high - low)
    least, most = mean_intervals(differences[None], np.arange(len(first)), -width, width)
    found = pd.DataFrame(
        {
            "method": others.columns,
            "world": world.name,
            "family": world.family,
            "floor": strongest,
            "mean": others.mean().to_numpy(),
            "difference": differences.mean(axis=0),
            "low": least,
            "high": most,
            "outcome": np.select([least > 0, most < 0], [ABOVE, BELOW], ALIKE),
        }
    )
    return found.sort_values("difference", ascending=False)
