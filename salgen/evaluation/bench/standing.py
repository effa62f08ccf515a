"""The standing of methods: what to expect of each in a new world, and how far the worlds tell methods apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
import numpy as np
import pandas as pd
from salgen.errors import SalgenError
from salgen.evaluation.bench import questions
from salgen.evaluation.bench.questions import WorldScores, family_means, student_interval
from salgen.evaluation.bench.worlds import ScoredWorld, first_training
from salgen.evaluation.choosing.race import HABIT
from salgen.parameters import parse_call
from salgen.registry import METHODS
from salgen.seeding import Stream
from salgen.types import Float64

CHOICE = "choose with five masks"
MASKS, DRAWS = 5, 60
METHOD, FLOOR, ADVICE = "method", "floor", "advice"  # roles of rows
FIRST, TIED, WORSE, UNTESTED = "first", "not told apart", "worse", "not tested"
COSTS = "costs.csv"  # what maps cost, among the results: written by python -m benchmarks.costs


@dataclass(frozen=True, eq=False)
class Standing:
    """Methods and floors, the least regret in a new world first; print it for the table."""

    # a row for each method: `role`, `family`; `regret` below the best method of a world and the share of worlds in
    # which it is `ahead` of Grad-CAM, each with `_low` and `_high`; `worlds`; `verdict` against the first in a new
    # world; `passes` and `seconds` of a map
    table: pd.DataFrame
    reliability: float  # how reliable the order of methods is in other families
    confirmed: float  # the share of pairs, told apart by all families but one, that the other one orders alike
    told_apart: Mapping[str, tuple[int, int]]  # by question: pairs of methods that differ, of how many
    worlds: int
    families: int

    @classmethod
    def of(cls, worlds: Sequence[ScoredWorld], metric: str, costs: pd.DataFrame | None = None) -> Standing:
        """The standing by a metric; `costs` has `passes` and `seconds` by method."""
        if len({world.family for world in worlds}) < 2:
            raise SalgenError("these worlds are of one family: nothing can be said of a new world")
        tables = {world.name: world.table(metric) for world in worlds}
        every = WorldScores.of(tables, {world.name: world.family for world in worlds})
        methods = every.only([call for call in every.methods if not is_floor(call)])
        found = {
            "these networks": (questions.these_networks(methods), False),
            "another training": (questions.these_networks(methods, trained_again=True), False),
            "a new world": (questions.new_world(methods), True),
        }
        different = {name: questions.decided(of.p_values, false_discoveries=rate) for name, (of, rate) in found.items()}
        table = headline(every, methods.methods, [*tables.values()])
        first = methods.methods.index(table.index[table["role"] == METHOD][0])
        tested, worse = ~np.isnan(found["a new world"][0].p_values[first]), different["a new world"][first]
        verdicts = np.select([worse, tested], [WORSE, TIED], UNTESTED)
        verdicts[first] = FIRST
        table["verdict"] = pd.Series(verdicts, methods.methods)
        return cls(
            table.join(pd.DataFrame(columns=["passes", "seconds"]) if costs is None else costs),
            questions.reliability(methods),
            questions.confirmed(methods),
            {
                name: (int(pairs.sum()) // 2, int((~np.isnan(found[name][0].p_values)).sum()) // 2)
                for name, pairs in different.items()
            },
            len(worlds),
            len(np.unique(every.families)),
        )

    def __str__(self) -> str:
        return self.text()

    def text(self, marked: str = "") -> str:
        """The table, with one method marked, and below it how far the answer can be believed."""
        numbers = {name: self.table[name].map("{:.3f}".format) for name in ("regret", "regret_low", "regret_high")}
        ends = numbers["regret_low"] + " to " + numbers["regret_high"]
        shown = pd.DataFrame(
            {
                "": np.where(self.table.index == marked, ">", ""),
                "regret": numbers["regret"],
                "95 % interval": ends.where(self.table["regret_high"].notna(), "-"),
                f"ahead of {HABIT}": self.table["ahead"].map("{:.0%}".format),
                "against the first": self.table["verdict"].fillna(self.table["role"]),
                "passes": self.table["passes"].map(lambda passes: "" if pd.isna(passes) else f"{passes:,.0f}"),
                "worlds": self.table["worlds"],
            }
        )
        apart = {
            name: f"{count} of {pairs} pairs of methods differ" for name, (count, pairs) in self.told_apart.items()
        }
        return "\n".join(
            [
                f"What to expect in a new world, by {self.worlds} worlds of {self.families} families.",
                "Regret: average precision below the best method of a world.",
                shown.rename_axis(None).to_string(),
                f"Reliability of this order in other families: {self.reliability:.2f}",
                f"Other images of these networks: {apart['these networks']} (Holm, 5 %)",
                f"Another training of the same worlds: {apart['another training']} (Holm, 5 %)",
                f"A new world: {apart['a new world']} (false discoveries, 5 %)",
                f"Of pairs that all families but one tell apart the other one confirms {self.confirmed:.0%}",
            ]
        )


def is_floor(call: str) -> bool:
    """Whether the maps of a registered method know nothing of the network."""
    name = parse_call(call)[0]
    return name in METHODS.entries and METHODS.load(name).control


def method_means(world: ScoredWorld, metric: str) -> pd.Series:
    """The mean of each method, floors left out, over clusters of certified images under a world's first training."""
    means = world.first_table(metric).mean()
    return means[~means.index.map(is_floor)]


def family_of(call: str) -> str:
    """The family of a method; ``"yours"`` of one that is not registered."""
    name = parse_call(call)[0]
    return METHODS.load(name).family if name in METHODS.entries else "yours"


def headline(scores: WorldScores, methods: Sequence[str], tables: Sequence[pd.DataFrame] = ()) -> pd.DataFrame:
    """A row for each method and floor, the least regret first; those of one family, or few worlds, last.

    `regret` is how far it lies below the best of the `methods` in a world. `ahead` is how often it is better than
    Grad-CAM; a tie counts half. Intervals of 95 % are Student's over families. The `tables` of worlds give `CHOICE`.
    """
    best = np.nanmax(scores.only(methods).means, axis=1, keepdims=True)
    habit = scores.means[:, [scores.methods.index(HABIT)]]
    regret, ahead = best - scores.means, _ahead(scores.means - habit)
    roles = dict.fromkeys(scores.methods, FLOOR) | dict.fromkeys(methods, METHOD)
    if tables:
        chosen = np.array([choice_by_masks(table[[call for call in methods if call in table]]) for table in tables])
        regret, ahead = np.column_stack([regret, chosen[:, 0]]), np.column_stack([ahead, chosen[:, 1]])
        roles[CHOICE] = ADVICE
    columns: dict[str, Float64] = {}
    for name, values, top in (("regret", regret, np.inf), ("ahead", ahead, 1.0)):
        mean, low, high = student_interval(family_means(values, scores.families))
        columns |= {name: mean, f"{name}_low": np.maximum(low, 0.0), f"{name}_high": np.minimum(high, top)}
    table = pd.DataFrame(columns, index=pd.Index(list(roles), name="method"))
    families = {call: family_of(call) if role == METHOD else role for call, role in roles.items()}
    table = table.assign(
        role=pd.Series(roles), family=pd.Series(families), worlds=(~np.isnan(regret)).sum(axis=0)
    ).sort_values("regret")
    last = (table["worlds"] < len(regret) / 2) | table["regret_high"].isna()
    return table.loc[last.sort_values(kind="stable").index]


def _ahead(difference: Float64) -> Float64:
    """1 where it is positive, a half at zero."""
    return np.asarray((np.sign(difference) + 1) / 2)


def choice_by_masks(table: pd.DataFrame) -> tuple[float, float]:
    """Choosing the method with the highest mean on five clusters of a world's first training: regret, and `ahead`.

    Means over draws of the five, both counted on the other clusters; NaN where there are no others.
    """
    first = first_training(table)
    values, habit = first.to_numpy(), first.columns.get_loc(HABIT)
    if len(values) <= MASKS:
        return np.nan, np.nan
    stream, found = Stream("salgen-bench", "masks"), []
    for _ in range(DRAWS):
        order = stream.permutation(len(values))
        own, others = (values[part].mean(axis=0) for part in (order[:MASKS], order[MASKS:]))
        chosen = own.argmax()
        found.append((others.max() - others[chosen], _ahead(others[chosen] - others[habit])))
    regret, ahead = np.mean(found, axis=0)
    return float(regret), float(ahead)


def read_costs(results: Path) -> pd.DataFrame | None:
    """What a map costs, if the results hold it: `passes` and `seconds` by method."""
    path = results / COSTS
    return pd.read_csv(path, index_col="method") if path.is_file() else None
