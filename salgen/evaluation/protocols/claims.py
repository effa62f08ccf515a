"""A paper's claims: each a sentence, the means that it compares, the comparison, and the methods that it names.

Each claim is an order of means. Whether it holds here is a finding, not a test: images may be stand-ins, and networks
are trained anew. Means are compared as the page prints them, so that a claim never contradicts the table beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from statistics import fmean, median
from typing import NamedTuple

from salgen.evaluation.report.formatting import and_list, number
from salgen.evaluation.report.grid import DIGITS, MARKED, grid_means
from salgen.evaluation.report.study import HELD, NOT_HELD, NOT_TESTABLE, Cell, Finding, Outcome, Study
from salgen.parameters import parse_call

IN_WORDS = {HELD: "holds", NOT_HELD: "does not hold", NOT_TESTABLE: "cannot be told"}
PLAIN = "{place}: {numbers}"
GRAVEST_FIRST: tuple[Outcome, ...] = (NOT_HELD, NOT_TESTABLE, HELD)

Means = Mapping[str, float]
Verdict = tuple[Outcome, str]  # and the numbers behind it
Comparison = Callable[[Means, Sequence[str]], Verdict]  # of means, and the methods that a claim names


class Ranking(NamedTuple):
    """Means of methods in one place, such as a network; None if it was not run. `wording` formats a verdict on it."""

    place: str
    means: Means | None
    wording: str = "{verdict} on {place} ({numbers})"


Rankings = Mapping[str, Mapping[str, Ranking]]  # data set, variant or label of a table's row; then network
Choice = Callable[[Rankings], Sequence[Ranking]]


@dataclass(frozen=True)
class Claim:
    """A paper's claim on some methods.

    Attributes
    ----------
    sentence
        The sentence on the page, with ``{}`` for the named methods.
    choice
        Selects the rankings in which it must hold: all of them.
    absent
        The finding where there is no such ranking.
    all_named
        Whether a named method without a score leaves the claim open.
    """

    sentence: str
    choice: Choice
    comparison: Comparison
    named: Sequence[str]
    absent: str = "no network has a score on this data set"
    all_named: bool = True

    def judged(self, rankings: Rankings) -> Finding:
        """Finding on the claim: not held if false in a ranking, else not testable if open in one."""
        judged = [self._judged_in(ranking) for ranking in self.choice(rankings)]
        verdicts = [verdict for verdict, _ in judged]
        verdict: Outcome = next((outcome for outcome in GRAVEST_FIRST if outcome in verdicts), NOT_TESTABLE)
        numbers = "; ".join(numbers for _, numbers in judged) or self.absent
        return Finding(self.sentence.format(and_list(self.named)), verdict, numbers)

    def _judged_in(self, ranking: Ranking) -> Verdict:
        place, means, wording = ranking
        if means is None:
            return NOT_TESTABLE, f"{place} was not run"
        missing = [name for name in self.named if name not in means]
        if self.all_named and missing:
            return NOT_TESTABLE, f"{and_list(missing)} {'has' if len(missing) == 1 else 'have'} no score on {place}"
        if self.all_named and len(means) == len(self.named):
            return NOT_TESTABLE, f"no other method has a score on {place}"
        verdict, numbers = self.comparison(means, self.named)
        return verdict, wording.format(verdict=IN_WORDS[verdict], place=place, numbers=numbers)


def judge(claims: Sequence[Claim], study: Study) -> tuple[Finding, ...]:
    """The findings on each claim from the grid, the variants and the tables of a study."""
    variants = [Cell(name, of.model, (run,)) for of in study.variants for name, run in of.runs.items()]
    rankings: dict[str, dict[str, Ranking]] = {}
    for (name, network), means in grid_means([*study.cells, *variants], study.methods, study.metric).items():
        rankings.setdefault(name, {})[network] = Ranking(network, _defined(means))
    for row in (row for table in study.tables for row in table.rows):
        rankings.setdefault(row.label, {})[row.network] = Ranking(row.title, _defined(row.means), PLAIN)
    return tuple(claim.judged(rankings) for claim in claims)


# The rankings that a claim is about ----------------------------------------------------------------------


def on(name: str, *networks: str) -> Choice:
    """A data set or a table's row on each of the networks, by default on every network with scores."""

    def choice(rankings: Rankings) -> list[Ranking]:
        by_network = rankings.get(name, {})
        scored = [ranking for ranking in by_network.values() if ranking.means]
        return [by_network.get(network, Ranking(network, None)) for network in networks] if networks else scored

    return choice


def on_each(*names: str) -> Choice:
    """Several data sets or rows, each on every network with scores."""

    def choice(rankings: Rankings) -> list[Ranking]:
        return [ranking for name in names for ranking in on(name)(rankings)]

    return choice


def averaged(dataset: str) -> Choice:
    """A data set, averaged over the networks that have scores, with the methods that all of them have."""

    def choice(rankings: Rankings) -> list[Ranking]:
        scored = _scored(rankings, dataset)
        means = {method: fmean(of[method] for of in scored.values()) for method in _shared(scored)}
        return [Ranking(and_list([*scored]) + " together" * (len(scored) > 1), means)] if scored else []

    return choice


def networks_on(datasets: Sequence[str], named: str) -> Choice:
    """On each data set with the named network, the networks by their mean over the methods that all have."""

    def choice(rankings: Rankings) -> list[Ranking]:
        chosen = []
        for dataset in datasets:
            scored = _scored(rankings, dataset)
            if named in scored and len(scored) > 1:
                methods = _shared(scored)
                means = {network: fmean(of[method] for method in methods) for network, of in scored.items() if methods}
                chosen.append(Ranking(f"{dataset} (methods that all have: {len(methods)})", means, PLAIN))
        return chosen

    return choice


def share_left(after: str, before: str) -> Choice:
    """On each network, the means of one variant as shares of those of another; zero means have no share."""

    def choice(rankings: Rankings) -> list[Ranking]:
        chosen = []
        for network in (network for network in rankings.get(before, {}) if network in rankings.get(after, {})):
            means_before, means_after = (rankings[variant][network].means or {} for variant in (before, after))
            kept = [name for name, mean in _rounded(means_before).items() if mean > 0 and name in means_after]
            chosen.append(Ranking(network, {name: means_after[name] / means_before[name] for name in kept}, PLAIN))
        return chosen

    return choice


def rows_by(value: Callable[[Means], float], places: Mapping[str, Mapping[str, str]]) -> Choice:
    """For each place, things by a value of their rows' means, where it is finite: place to thing to row."""

    def choice(rankings: Rankings) -> list[Ranking]:
        chosen = []
        for place, rows in places.items():
            scored = {thing: ranking.means for thing, row in rows.items() for ranking in on(row)(rankings)}
            values = {thing: value(means) for thing, means in scored.items() if means}
            chosen.append(Ranking(place, {thing: found for thing, found in values.items() if isfinite(found)}, PLAIN))
        return chosen

    return choice


def mean_of(method: str) -> Callable[[Means], float]:
    """One method's mean, NaN where it has none."""
    return lambda means: means.get(method, nan)


def spread(means: Means) -> float:
    """How far the methods' means lie apart: the largest less the least."""
    return max(means.values()) - min(means.values())


# Comparisons of the named methods with the others --------------------------------------------------------


def highest(means: Means, named: Sequence[str]) -> Verdict:
    """All named methods above all others; a tie at the border leaves it open."""
    return _apart(_rounded(means), named, 1)


def lowest(means: Means, named: Sequence[str]) -> Verdict:
    """All named methods below all others; a tie at the border leaves it open."""
    return _apart(_rounded(means), named, -1)


def _apart(means: Means, named: Sequence[str], sign: int) -> Verdict:
    last = min(named, key=lambda name: sign * means[name])
    first = max((name for name in means if name not in named), key=lambda name: sign * means[name])
    if len(named) > 1:
        of_named, of_others = ("lowest", "highest") if sign > 0 else ("highest", "lowest")
        numbers = f"{of_named} of them {last} {number(means[last])}, {of_others} other {first} {number(means[first])}"
    else:
        best = max(means.values(), key=lambda mean: sign * mean)
        winners = [name for name, mean in means.items() if mean == best]
        last_mean = "" if winners == [last] else f", {last} {number(means[last])}"
        numbers = f"{and_list(winners)} at {number(best)}{last_mean}"
    return _greater(sign * means[last], sign * means[first], numbers)


def among_the_best(count: int) -> Comparison:
    """All named methods at one of the first places, as the grid marks them: ties share a place."""

    def compare(means: Means, named: Sequence[str]) -> Verdict:
        means = _rounded(means)
        order = sorted(means, key=lambda name: -means[name])
        places = {name: 1 + sum(mean > means[name] for mean in means.values()) for name in order}
        listed = {name: place for name, place in places.items() if place <= MARKED or name in named}
        numbers = ", ".join(f"{name} {number(means[name])} at place {place}" for name, place in listed.items())
        return HELD if all(places[name] <= count for name in named) else NOT_HELD, numbers

    return compare


def higher_median(means: Means, named: Sequence[str]) -> Verdict:
    """The median of the named methods above that of the others."""
    inside = [mean for name, mean in means.items() if name in named]
    outside = [mean for name, mean in means.items() if name not in named]
    if not (inside and outside):
        return NOT_TESTABLE, f"methods with a share: {len(inside)} named, {len(outside)} others"
    ours, theirs = round(median(inside), DIGITS), round(median(outside), DIGITS)
    numbers = f"{number(ours)} ({len(inside)} named methods) against {number(theirs)} ({len(outside)} others)"
    return _greater(ours, theirs, numbers)


def between(*bounds: tuple[float, float]) -> Comparison:
    """Each named method between its two bounds."""

    def compare(means: Means, named: Sequence[str]) -> Verdict:
        means = _rounded(means)
        held = all(low < means[name] < high for name, (low, high) in zip(named, bounds, strict=True))
        return HELD if held else NOT_HELD, ", ".join(f"{name} {number(means[name])}" for name in named)

    return compare


def _greater(larger: float, smaller: float, numbers: str) -> Verdict:
    if larger == smaller:
        return NOT_TESTABLE, f"{numbers}: tied"
    return HELD if larger > smaller else NOT_HELD, numbers


def _defined(means: Means) -> Means:
    """The finite means, by the methods' names without parameters."""
    return {parse_call(call)[0]: mean for call, mean in means.items() if isfinite(mean)}


def _rounded(means: Means) -> Means:
    return {name: round(mean, DIGITS) for name, mean in means.items()}


def _scored(rankings: Rankings, dataset: str) -> Mapping[str, Means]:
    return {network: ranking.means for network, ranking in rankings.get(dataset, {}).items() if ranking.means}


def _shared(scored: Mapping[str, Means]) -> list[str]:
    """The methods that have a score on every network."""
    return [method for method in next(iter(scored.values()), {}) if all(method in means for means in scored.values())]
