"""A paper's claims: each a sentence, the means that it compares, the comparison, and the methods that it names.

Each claim is an order of means, so it has a margin: by how much the order holds, negative if it does not. It is held
or not held where the 95 % interval of the margin, about other clusters and trainings, is above or below 0.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import NamedTuple
import numpy as np
from salgen.evaluation.report.formatting import DIGITS, and_list, number
from salgen.evaluation.report.grid import MARKED, grid_estimates
from salgen.evaluation.report.study import HELD, NOT_HELD, NOT_TESTABLE, UNDECIDED, Finding, Outcome, Study, StudyCell
from salgen.evaluation.statistics import jackknife
from salgen.evaluation.statistics.jackknife import CLUSTERS, TRAINED, Estimate, combined
from salgen.parameters import parse_call
from salgen.types import Float64

IN_WORDS = {HELD: "holds", NOT_HELD: "does not hold", UNDECIDED: "undecided", NOT_TESTABLE: "cannot be told"}
PLAIN = "{place}: {numbers}"
GRAVEST_FIRST: tuple[Outcome, ...] = (NOT_HELD, NOT_TESTABLE, UNDECIDED, HELD)
SHARE = 0.025  # the chance that a margin is below its interval, and that it is above it
ROUNDING = 1e-12

Means = Mapping[str, Estimate]


class Order(NamedTuple):
    """One of the orders of a comparison: all but `rank` - 1 of some differences are above 0."""

    differences: Sequence[Estimate]
    rank: int = 1  # that of the margin from below, among the differences


class Margin(NamedTuple):
    """The orders of a comparison, all of which must hold, and the numbers behind them in words.

    A lower bound is wrong only if one of the `rank` least differences is, an upper one only if any other difference is.
    """

    orders: Sequence[Order]
    numbers: str

    @property
    def bounds_from_above(self) -> int:
        """The number of bounds on differences of which none may be wrong."""
        return sum(len(order.differences) - order.rank + 1 for order in self.orders)

    @property
    def size(self) -> str:
        """Numbers of clusters, samples and trained models, in words; empty for known means."""
        differences = [difference for order in self.orders for difference in order.differences]
        if not differences[0].without:
            return ""
        size = combined(lambda values: values[:, 0], differences).size
        models = size[TRAINED]
        return f"{size[CLUSTERS]} clusters, {size['samples']} samples, {models} trained model{'s' * (models != 1)}"

    def interval(self, bounds_from_above: int) -> tuple[float, float, float]:
        """The margin, and the ends of its interval where margins of `bounds_from_above` bounds in all are judged."""
        found = []
        for order in self.orders:
            shares = SHARE / order.rank, SHARE / bounds_from_above
            numbers = [(one.value, *jackknife.interval(one, shares)) for one in order.differences]
            found.append([sorted(values)[order.rank - 1] for values in zip(*numbers, strict=True)])
        margin, low, high = map(min, zip(*found, strict=True))
        return margin, low, high


# takes means and the named methods; or the reason why there is none
Comparison = Callable[[Means, Sequence[str]], Margin | str]


class MethodRanking(NamedTuple):
    """Means of methods in one place, such as a network; None if it was not run. `wording` formats a verdict on it."""

    place: str
    means: Means | None
    wording: str = "{verdict} on {place} ({numbers})"


Rankings = Mapping[str, Mapping[str, MethodRanking]]  # data set, variant or label of a table's row; then network
Choice = Callable[[Rankings], Sequence[MethodRanking]]


@dataclass(frozen=True)
class Claim:
    """A paper's claim on some methods."""

    sentence: str  # the sentence on the page, with ``{}`` for the named methods
    choice: Choice  # selects the rankings in which it must hold: all of them
    comparison: Comparison
    named: Sequence[str]
    absent: str = "no network has a score on this data set"  # the finding where there is no such ranking
    all_named: bool = True  # whether a named method without a score leaves the claim open

    def judged(self, rankings: Rankings) -> Finding:
        """Finding on the claim: not held if false in a ranking, else not testable or undecided if so in one."""
        places = self.choice(rankings)
        margins = [self._margin_in(place) for place in places]
        known = [margin for margin in margins if isinstance(margin, Margin)]
        bounds = sum(margin.bounds_from_above for margin in known)
        judged = [_judged(margin, bounds, place) for margin, place in zip(margins, places, strict=True)]
        verdicts = [verdict for verdict, _ in judged]
        verdict: Outcome = next((outcome for outcome in GRAVEST_FIRST if outcome in verdicts), NOT_TESTABLE)
        numbers = "; ".join(numbers for _, numbers in judged) or self.absent
        sizes = filter(None, dict.fromkeys(margin.size for margin in known))
        return Finding(self.sentence.format(and_list(self.named)), verdict, numbers, "; ".join(sizes))

    def _margin_in(self, ranking: MethodRanking) -> Margin | str:
        place, means, wording = ranking
        if means is None:
            return f"{place} was not run"
        missing = [name for name in self.named if name not in means]
        if self.all_named and missing:
            return f"{and_list(missing)} {'has' if len(missing) == 1 else 'have'} no score on {place}"
        if self.all_named and len(means) == len(self.named):
            return f"no other method has a score on {place}"
        found = self.comparison(means, self.named)
        if isinstance(found, Margin):
            return found
        return wording.format(verdict=IN_WORDS[NOT_TESTABLE], place=place, numbers=found)


def _judged(margin: Margin | str, bounds: int, ranking: MethodRanking) -> tuple[Outcome, str]:
    """The verdict in one place, and the numbers behind it in words."""
    if isinstance(margin, str):
        return NOT_TESTABLE, margin
    value, low, high = margin.interval(bounds)
    verdict: Outcome = HELD if low > ROUNDING else NOT_HELD if high < -ROUNDING else UNDECIDED
    ends = "fewer than six clusters" if low == -inf and high == inf else f"{number(low)} to {number(high)}"
    numbers = f"{margin.numbers}; margin {number(value)}, {ends}"
    return verdict, ranking.wording.format(verdict=IN_WORDS[verdict], place=ranking.place, numbers=numbers)


def judge(claims: Sequence[Claim], study: Study) -> tuple[Finding, ...]:
    """The findings on each claim from the grid, the variants and the tables of a study."""
    variants = [StudyCell(name, of.model, (run,)) for of in study.variants for name, run in of.runs.items()]
    rankings: dict[str, dict[str, MethodRanking]] = {}
    for (name, network), means in grid_estimates([*study.cells, *variants], study.methods, study.metric).items():
        rankings.setdefault(name, {})[network] = MethodRanking(network, _defined(means))
    for row in (row for table in study.tables for row in table.rows):
        rankings.setdefault(row.label, {})[row.network] = MethodRanking(row.title, _defined(row.estimates), PLAIN)
    return tuple(claim.judged(rankings) for claim in claims)


def on(name: str, *networks: str) -> Choice:
    """A data set or a table's row on each of the networks, by default on every network with scores."""

    def choice(rankings: Rankings) -> list[MethodRanking]:
        by_network = rankings.get(name, {})
        scored = [ranking for ranking in by_network.values() if ranking.means]
        return [by_network.get(network, MethodRanking(network, None)) for network in networks] if networks else scored

    return choice


def on_each(*names: str) -> Choice:
    """Several data sets or rows, each on every network with scores."""
    return lambda rankings: [ranking for name in names for ranking in on(name)(rankings)]


def averaged(dataset: str) -> Choice:
    """A data set, averaged over the networks that have scores, with the methods that all of them have."""

    def choice(rankings: Rankings) -> list[MethodRanking]:
        scored, methods = _scored(rankings, dataset)
        means = {method: jackknife.averaged([of[method] for of in scored.values()]) for method in methods}
        return [MethodRanking(and_list([*scored]) + " together" * (len(scored) > 1), means)] if scored else []

    return choice


def networks_on(datasets: Sequence[str], named: str) -> Choice:
    """On each data set with the named network, the networks by their mean over the methods that all have."""

    def choice(rankings: Rankings) -> list[MethodRanking]:
        chosen = []
        for dataset in datasets:
            scored, methods = _scored(rankings, dataset)
            if named in scored and len(scored) > 1:
                of_shared = {network: [of[method] for method in methods] for network, of in scored.items()}
                means = {network: jackknife.averaged(of) for network, of in of_shared.items() if of}
                chosen.append(MethodRanking(f"{dataset} (methods that all have: {len(methods)})", means, PLAIN))
        return chosen

    return choice


def share_left(after: str, before: str) -> Choice:
    """On each network, the means of one variant as shares of those of another; zero means have no share."""

    def choice(rankings: Rankings) -> list[MethodRanking]:
        chosen = []
        for network in (network for network in rankings.get(before, {}) if network in rankings.get(after, {})):
            means_before, means_after = (rankings[variant][network].means or {} for variant in (before, after))
            kept = [name for name, mean in _rounded(means_before).items() if mean > 0 and name in means_after]
            shares = {name: combined(share, [means_after[name], means_before[name]]) for name in kept}
            chosen.append(MethodRanking(network, shares, PLAIN))
        return chosen

    def share(values: Float64) -> Float64:
        of_after, of_before = values.T
        return np.asarray(np.divide(of_after, of_before, out=np.full(len(values), nan), where=of_before != 0))

    return choice


def rows_by(value: Callable[[Means], Estimate], places: Mapping[str, Mapping[str, str]]) -> Choice:
    """For each place, things by a value of their rows' means, where it is finite: place to thing to row."""

    def choice(rankings: Rankings) -> list[MethodRanking]:
        chosen = []
        for place, rows in places.items():
            scored = {thing: ranking.means for thing, row in rows.items() for ranking in on(row)(rankings)}
            values = {thing: value(means) for thing, means in scored.items() if means}
            finite = {thing: one for thing, one in values.items() if isfinite(one.value)}
            chosen.append(MethodRanking(place, finite, PLAIN))
        return chosen

    return choice


def mean_of(method: str) -> Callable[[Means], Estimate]:
    """One method's mean, NaN where it has none."""
    return lambda means: means.get(method, Estimate(nan))


def spread(means: Means) -> Estimate:
    """How far the methods' means lie apart: the largest less the least."""
    return combined(lambda values: np.asarray(np.ptp(values, axis=1)), list(means.values()))


def highest(means: Means, named: Sequence[str]) -> Margin:
    """All named methods above all others."""
    return _apart(means, named, 1)


def lowest(means: Means, named: Sequence[str]) -> Margin:
    """All named methods below all others."""
    return _apart(means, named, -1)


def _apart(means: Means, named: Sequence[str], sign: int) -> Margin:
    rounded = _rounded(means)
    last = min(named, key=lambda name: sign * means[name].value)
    others = [name for name in means if name not in named]
    first = max(others, key=lambda name: sign * means[name].value)
    if len(named) > 1:
        of_named, of_others = ("lowest", "highest") if sign > 0 else ("highest", "lowest")
        ours, theirs = f"{last} {number(rounded[last])}", f"{first} {number(rounded[first])}"
        numbers = f"{of_named} of them {ours}, {of_others} other {theirs}"
    else:
        best = max(rounded.values(), key=lambda mean: sign * mean)
        winners = [name for name, mean in rounded.items() if mean == best]
        last_mean = "" if winners == [last] else f", {last} {number(rounded[last])}"
        numbers = f"{and_list(winners)} at {number(best)}{last_mean}"
    pairs = [(name, other) if sign > 0 else (other, name) for name in named for other in others]
    return Margin([Order([means[upper] - means[lower]]) for upper, lower in pairs], numbers)


def among_the_best(count: int) -> Comparison:
    """All named methods at one of the first places, so that at most `count` - 1 are better than any of them."""

    def compare(means: Means, named: Sequence[str]) -> Margin | str:
        if len(means) <= count:
            return f"{len(means)} methods have scores"
        rounded = _rounded(means)
        order = sorted(rounded, key=lambda name: -rounded[name])
        places = {name: 1 + sum(mean > rounded[name] for mean in rounded.values()) for name in order}
        listed = {name: place for name, place in places.items() if place <= MARKED or name in named}
        numbers = ", ".join(f"{name} {number(rounded[name])} at place {place}" for name, place in listed.items())
        beside = {name: [means[name] - means[other] for other in means if other != name] for name in named}
        return Margin([Order(differences, count) for differences in beside.values()], numbers)

    return compare


def higher_median(means: Means, named: Sequence[str]) -> Margin | str:
    """The median of the named methods above that of the others."""
    inside = [mean for name, mean in means.items() if name in named]
    outside = [mean for name, mean in means.items() if name not in named]
    if not (inside and outside):
        return f"methods with a share: {len(inside)} named, {len(outside)} others"
    ours, theirs = (combined(lambda values: np.asarray(np.median(values, axis=1)), of) for of in (inside, outside))
    of_named = f"{number(ours.value)} ({len(inside)} named methods)"
    return Margin([Order([ours - theirs])], f"{of_named} against {number(theirs.value)} ({len(outside)} others)")


def between(*bounds: tuple[float, float]) -> Comparison:
    """Each named method between its two bounds."""

    def compare(means: Means, named: Sequence[str]) -> Margin:
        zero = Estimate(0.0)
        orders = [
            Order([difference])
            for name, (low, high) in zip(named, bounds, strict=True)
            for difference in (means[name] - low, zero - (means[name] - high))
            if isfinite(difference.value)
        ]
        return Margin(orders, ", ".join(f"{name} {number(means[name].value)}" for name in named))

    return compare


def _defined(means: Means) -> Means:
    """The finite means, by the methods' names without parameters."""
    return {parse_call(call)[0]: mean for call, mean in means.items() if isfinite(mean.value)}


def _rounded(means: Means) -> dict[str, float]:
    return {name: round(mean.value, DIGITS) for name, mean in means.items()}


def _scored(rankings: Rankings, dataset: str) -> tuple[Mapping[str, Means], list[str]]:
    """The means of each network that has any, and the methods that all of these networks have."""
    scored = {network: ranking.means for network, ranking in rankings.get(dataset, {}).items() if ranking.means}
    first = next(iter(scored.values()), {})
    return scored, [method for method in first if all(method in means for means in scored.values())]
