"""The page's short answer: conclusions about one model under the headline metric, in the parts of a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from typing import NamedTuple
from scipy.stats import kendalltau
from salgen.evaluation.report.reliance import LOW_COVERAGE, certified_share, mostly_uncertified
from salgen.evaluation.report.runs import LoadedRun
from salgen.evaluation.report.tables import sample_count
from salgen.evaluation.report.verdicts import Verdict, verdict
from salgen.evaluation.scoring.metric_selection import canonical, ranking_metrics
from salgen.evaluation.statistics.comparison_groups import Key
from salgen.evaluation.statistics.mean_intervals import LEAST_TRAININGS
from salgen.evaluation.statistics.score_cube import ALL


@dataclass(frozen=True)
class Headline:
    """Conclusions about one run and model under the headline metric."""

    run: LoadedRun
    model: str

    @cached_property
    def verdict(self) -> Verdict | None:
        """On all samples; None if no metric of the run ranks methods."""
        return verdict(self.run, self.model, self.run.headline) if self.run.headline is not None else None

    @cached_property
    def subset_verdicts(self) -> list[Verdict]:
        """On the correctly classified and the certified samples, where these are fewer than all."""
        run, model, metric = self.run, self.model, self.run.headline
        if metric is None:
            return []
        counts = {name: sample_count(run, model, name) for name in run.cube.subsets}
        return [verdict(run, model, metric, name) for name, count in counts.items() if 0 < count < counts[ALL]]

    @cached_property
    def elsewhere(self) -> dict[tuple[str, ...], list[str]]:
        """Methods that share the best mean to the other metrics by which they do; empty for a single method."""
        metrics_of: dict[tuple[str, ...], list[str]] = {}
        for metric in ranking_metrics(canonical(self.run.metrics)) if self.methods > 1 else ():
            outcome = verdict(self.run, self.model, metric)
            if metric != self.run.headline and outcome.winners:
                metrics_of.setdefault(tuple(outcome.labels(outcome.winners)), []).append(metric)
        return dict(sorted(metrics_of.items(), key=lambda item: -len(item[1])))

    @property
    def methods(self) -> int:
        """The number of methods under test."""
        return len(self.run.under_test(self.model))

    @property
    def trainings(self) -> int:
        """The number of training seeds."""
        return len(self.run.cube.seeds_of(self.model))

    @property
    def crossed(self) -> bool:
        """True if intervals are about other trainings too."""
        return self.trainings >= LEAST_TRAININGS

    @property
    def withheld(self) -> bool:
        """True if no method can be called the best, as most samples are not certified."""
        return mostly_uncertified(self.run, self.model)

    @property
    def untested(self) -> list[str]:
        """Methods under test without a value that could be compared."""
        if self.verdict is None or not self.verdict.tests:
            return []
        compared = self.verdict.compared
        return self.verdict.labels([key for key in self.run.under_test(self.model) if key not in compared])


class RelianceEffect(NamedTuple):
    """The difference that training for reliance makes: one network on one data set, trained in both ways."""

    plain: Headline
    reliant: Headline
    tau: float  # kendall's tau-b between the methods' means; NaN with fewer than two methods
    # same, reversed, undecided: pairs of methods whose order is significant with both trainings: the same, or the
    # opposite; and all other pairs
    same: int
    reversed: int
    undecided: int

    @property
    def answers(self) -> bool:
        """Whether the network trained for reliance has learnt, and most images are certified."""
        run, model, outcome = self.reliant.run, self.reliant.model, self.reliant.verdict
        certain = certified_share(run, model) >= LOW_COVERAGE
        return not run.unlearnt(model) and certain and outcome is not None and outcome.best is not None

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

    def subject(headline: Headline) -> tuple[str, str, str, str | None]:
        run = headline.run
        return run.record.dataset.fingerprint, run.split, headline.model, run.headline

    return [
        _effect(plain, reliant, plain.verdict, reliant.verdict)
        for plain, reliant in permutations(headlines, 2)
        if subject(plain) == subject(reliant) and not plain.run.reliant and reliant.run.reliant
        if plain.verdict is not None and reliant.verdict is not None
    ]


def _effect(plain: Headline, reliant: Headline, *verdicts: Verdict) -> RelianceEffect:
    def better(outcome: Verdict, a: Key, b: Key) -> Key | None:
        test = outcome.test(a, b)
        return test.better if test is not None and test.significant() else None

    shared = [key for key in plain.run.under_test(plain.model) if key in reliant.run.under_test(reliant.model)]
    rows = [[outcome.row(key) for key in shared] for outcome in verdicts]
    means = [[float("nan") if row is None else row.mean_worst_case for row in of_verdict] for of_verdict in rows]
    orders = [tuple(better(outcome, *pair) for outcome in verdicts) for pair in combinations(shared, 2)]
    decided = [order for order in orders if None not in order]
    same = sum(first == second for first, second in decided)
    tau = float(kendalltau(*means, nan_policy="omit").statistic)
    return RelianceEffect(plain, reliant, tau, same, len(decided) - same, len(orders) - len(decided))
