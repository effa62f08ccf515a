"""The difference that training for reliance makes to the answer: one network on one data set, trained in both ways."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from scipy.stats import kendalltau

from salgen.evaluation.report.headline import Headline
from salgen.evaluation.report.reliance_lines import (
    LOW_COVERAGE,
    RelianceOfModel,
    by_model,
    certified_share,
    reliance_lines,
)
from salgen.evaluation.report.verdicts import Verdict
from salgen.evaluation.statistics.comparison_groups import Key


@dataclass(frozen=True)
class RelianceEffect:
    """One network on one data set under the headline metric, trained plainly and for reliance."""

    plain: Headline
    reliant: Headline
    tau: float  # kendall's tau-b between the methods' means; NaN with fewer than two methods
    # same, reversed, undecided: pairs of methods by their order, where it is significant with both trainings: the same,
    # or the opposite
    same: int
    reversed: int
    undecided: int

    @property
    def sides(self) -> tuple[Headline, Headline]:
        """Both headlines."""
        return self.plain, self.reliant

    @property
    def answers(self) -> bool:
        """Whether the network trained for reliance has an answer: it has learnt, and most images are certified."""
        run, model = self.reliant.run, self.reliant.model
        learnt = not (run.undecided(model) or run.unlearnt(model))
        certain = certified_share(run, model) >= LOW_COVERAGE
        return learnt and certain and self.reliant.verdict is not None and self.reliant.verdict.best is not None

    @property
    def pairs(self) -> int:
        """The number of pairs of methods."""
        return self.same + self.reversed + self.undecided

    @property
    def tau_bounds(self) -> tuple[float, float]:
        """The least and the most that Kendall's tau can be, whatever the order of the undecided pairs."""
        decided = self.same - self.reversed
        return (decided - self.undecided) / self.pairs, (decided + self.undecided) / self.pairs


def reliance_effects(headlines: Sequence[Headline]) -> list[RelianceEffect]:
    """A comparison for each network and data set that the page shows trained in both ways."""
    found = []
    for plain in headlines:
        for reliant in headlines:
            alike = _what(plain) == _what(reliant) and not plain.run.reliant and reliant.run.reliant
            if alike and plain.verdict is not None and reliant.verdict is not None:
                found.append(_effect(plain, reliant, plain.verdict, reliant.verdict))
    return found


def certified(headline: Headline) -> RelianceOfModel | None:
    """The shares of certified images of a headline's model; None without certificates."""
    return next((one for one in by_model(reliance_lines(headline.run)) if one.model == headline.model), None)


def _what(headline: Headline) -> tuple[str, str, str, str | None]:
    run = headline.run
    return run.record.dataset.fingerprint, run.split, headline.model, run.headline


def _effect(plain: Headline, reliant: Headline, *verdicts: Verdict) -> RelianceEffect:
    shared = [key for key in plain.run.under_test(plain.model) if key in reliant.run.under_test(reliant.model)]
    means = [[_mean(verdict, key) for key in shared] for verdict in verdicts]
    orders = [tuple(_better(verdict, *pair) for verdict in verdicts) for pair in combinations(shared, 2)]
    decided = [order for order in orders if None not in order]
    same = sum(first == second for first, second in decided)
    tau = float(kendalltau(*means, nan_policy="omit").statistic)
    return RelianceEffect(plain, reliant, tau, same, len(decided) - same, len(orders) - len(decided))


def _mean(verdict: Verdict, key: Key) -> float:
    row = verdict.row(key)
    return float("nan") if row is None else row.mean_worst_case


def _better(verdict: Verdict, a: Key, b: Key) -> Key | None:
    """The significantly better one of two methods, if any."""
    test = verdict.test(a, b)
    return test.better if test is not None and test.significant() else None
