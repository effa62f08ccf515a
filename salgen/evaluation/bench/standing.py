"""The standing of methods: what to expect of each in a new world, and how far the worlds tell methods apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from salgen.errors import SalgenError
from salgen.evaluation.bench import questions
from salgen.evaluation.bench.questions import Differences, WorldScores, defined_mean, family_means, student_interval
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
NETWORKS, TRAINING, WORLD = "these networks", "another training", "a new world"  # the three questions
NAMED = 10  # methods that are named as not told apart from the first
CONFIRMED = "Of pairs that all families but one tell apart the other one confirms"
COSTS = "costs.csv"  # what maps cost, among the results: written by python -m benchmarks.costs


class Answer(NamedTuple):
    """How far one question tells methods apart."""

    differ: int  # pairs of methods
    pairs: int  # that were tested
    verdicts: pd.Series  # each method against the first, by their places

    @classmethod
    def of(cls, methods: Sequence[str], places: NDArray[Any], found: Differences, *, false_discoveries: bool) -> Answer:
        """By the places of methods, the first the least, and their differences."""
        differ = questions.decided(found.p_values, false_discoveries=false_discoveries)
        tested, first = ~np.isnan(found.p_values), places.argmin()
        verdicts = np.select([differ[first], tested[first]], [WORSE, TIED], UNTESTED)
        verdicts[first] = FIRST
        return cls(int(differ.sum()) // 2, int(tested.sum()) // 2, pd.Series(verdicts, methods).iloc[places.argsort()])

    @property
    def leading(self) -> list[str]:
        """The first method, and those that are not told apart from it."""
        return list(self.verdicts.index[self.verdicts.isin([FIRST, TIED])])

    def __str__(self) -> str:
        """Such as ``"3 of 10 pairs of methods differ. First: rise; not told apart from it: grad-cam, lime"``."""
        if not self.pairs:
            return "no pair of methods can be tested"
        first, *tied = self.leading
        named = [*tied[:NAMED], f"{len(tied) - NAMED} more"] if len(tied) > NAMED else tied or ["none"]
        apart = f"{self.differ} of {self.pairs} pairs of methods differ"
        return f"{apart}. First: {first}; not told apart from it: {', '.join(named)}"


@dataclass(frozen=True, eq=False)
class Standing:
    """Methods and floors, the least regret in a new world first; print it for the table."""

    # a row for each method: `role`, `family`; `regret` below the best method of a world and the share of worlds in
    # which it is `ahead` of Grad-CAM, each with `_low` and `_high`; `worlds`; `verdict` against the first in a new
    # world; `passes` and `seconds` of a map
    table: pd.DataFrame
    reliability: float  # how reliable the order of methods is in other families
    confirmed: float  # the share of pairs, told apart by all families but one, that the other one orders alike
    answers: Mapping[str, Answer]  # by question
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
        table = headline(every, methods.methods, [*tables.values()])
        below = np.nanmax(methods.means, axis=1, keepdims=True) - methods.means
        few = (~np.isnan(below)).sum(axis=0) < len(below) / 2
        here = np.where(few, np.inf, defined_mean(below, axis=0))
        again = questions.these_networks(methods, trained_again=True)
        places = table.index.get_indexer(methods.methods)
        answers = {
            NETWORKS: Answer.of(methods.methods, here, questions.these_networks(methods), false_discoveries=False),
            TRAINING: Answer.of(methods.methods, here, again, false_discoveries=False),
            WORLD: Answer.of(methods.methods, places, questions.new_world(methods), false_discoveries=True),
        }
        table["verdict"] = answers[WORLD].verdicts
        return cls(
            table.join(pd.DataFrame(columns=["passes", "seconds"]) if costs is None else costs),
            questions.reliability(methods),
            questions.confirmed(methods),
            answers,
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
                "seconds": self.table["seconds"].map(lambda seconds: "" if pd.isna(seconds) else f"{seconds:.2f}"),
                "worlds": self.table["worlds"],
            }
        )
        return "\n".join(
            [
                f"What to expect in a new world, by {self.worlds} worlds of {self.families} families.",
                "Regret: average precision below the best method of a world.",
                shown.rename_axis(None).to_string(),
                f"Reliability of this order in other families: {self.reliability:.2f}",
                "Which methods differ, by three questions:",
                f"- With other images of these networks (Holm, 5 %): {self.answers[NETWORKS]}",
                f"- If the same worlds were trained again (Holm, 5 %): {self.answers[TRAINING]}",
                f"- In a new world (false discoveries, 5 %): {self.answers[WORLD]}",
            ]
            + ([] if np.isnan(self.confirmed) else [f"{CONFIRMED} {self.confirmed:.0%}"])
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
    return pd.read_csv(path, index_col="method")[["passes", "seconds"]] if path.is_file() else None
