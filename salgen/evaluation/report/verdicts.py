"""Results of the permutation tests under one metric: methods as good as the best, and no better than a floor."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from salgen.evaluation.report.formatting import DIGITS, number
from salgen.evaluation.report.images import in_clusters
from salgen.evaluation.report.runs import FLOOR, Run
from salgen.evaluation.statistics.clusters import LEAST
from salgen.evaluation.statistics.comparison_groups import Key
from salgen.evaluation.statistics.comparisons import Comparison, indistinguishable, not_better
from salgen.evaluation.statistics.mean_intervals import LEAST_TRAININGS
from salgen.evaluation.statistics.permutation import ALPHA, permutations_for
from salgen.evaluation.statistics.score_cube import ALL
from salgen.evaluation.statistics.summary import SummaryRow
from salgen.parameters import parse_call

EDGES = "sobel"


@dataclass(frozen=True)
class Verdict:
    """The tests of one model, metric, variant and subset of samples."""

    run: Run
    model: str
    metric: str
    variant: str
    samples: str
    tests: Sequence[Comparison]  # all pairs of methods and floors; empty where there is nothing to compare
    # best, floor: the method under test and the floor with the best mean, a map that failed counted as the worst; None
    # if there is none with a value, or the metric is a diagnostic
    best: Key | None = None
    floor: Key | None = None
    edges: Key | None = None  # the edge filter, if the run has it
    winners: Sequence[Key] = ()  # the methods under test whose means equal the best one's as printed, the best first
    # tied, below_floor, below_edges: other methods under test that do not differ significantly from a winner; methods
    # that are not significantly better than the strongest floor; methods that are not significantly better than the
    # edge filter
    tied: Sequence[Key] = ()
    below_floor: Sequence[Key] = ()
    below_edges: Sequence[Key] = ()

    @property
    def n_clusters(self) -> int:
        """The number of independent clusters of samples that the tests compare."""
        return self.tests[0].n_clusters if self.tests else 0

    @property
    def sampled(self) -> str:
        """What the tests compare, such as ``"400 images in 40 clusters"``."""
        return in_clusters(self.tests[0].n_samples, self.n_clusters) if self.tests else "no images"

    @property
    def unit(self) -> str:
        """What was sampled: images, or clusters of them."""
        return "clusters of images" if self.tests and self.n_clusters < self.tests[0].n_samples else "images"

    @property
    def subject(self) -> str:
        """What the verdict is about: one model, or several trainings of it."""
        trainings = len(self.run.cube.seeds_of(self.model))
        return "for this one trained model" if trainings == 1 else f"over {trainings} trainings"

    @property
    def compared(self) -> set[Key]:
        """The methods and floors of the family."""
        return {key for test in self.tests for key in test.keys}

    @property
    def rivals(self) -> list[Key]:
        """The methods under test that the winners were compared with."""
        return [key for key in self.run.under_test(self.model) if key in self.compared and key not in self.winners]

    @property
    def permutations(self) -> int:
        """The number of sign patterns that were tried."""
        if not self.tests:
            return 0
        return 2**self.n_clusters if self.exact else permutations_for(len(self.compared))

    @property
    def smallest_p(self) -> float:
        """The smallest p value that so many random patterns can give; 0 where all were tried, so that p is exact."""
        return 0.0 if self.exact else 1.0 / (1.0 + self.permutations)

    def p_text(self, test: Comparison) -> str:
        """A corrected p value for a table cell; ``"≤ 0.019"`` where no random pattern was as extreme as the scores."""
        if test.p_holm < 0.001:
            return "< 0.001"
        return ("\N{LESS-THAN OR EQUAL TO} " if test.p_value <= self.smallest_p else "") + number(test.p_holm)

    @property
    def exact(self) -> bool:
        """True if all possible sign patterns were tried."""
        few = self.n_clusters <= math.log2(permutations_for(len(self.compared)))
        return bool(self.tests) and few and self.tests[0].n_trainings == 1

    @property
    def powerless(self) -> str:
        """What is too few for any difference to be significant, trainings or images; empty if nothing is."""
        if self.tests and 1 < self.tests[0].n_trainings < LEAST_TRAININGS:
            return "two trainings"
        smallest = 1.0 if self.n_clusters < LEAST else 2.0 ** (1 - self.n_clusters)
        return self.sampled if len(self.tests) * smallest > ALPHA else ""

    def row(self, key: Key) -> SummaryRow | None:
        """The means of one method."""
        return self.run.row(self.model, key, self.metric, self.variant, samples=self.samples)

    def test(self, a: Key, b: Key) -> Comparison | None:
        """The test of two methods, in either order."""
        return next((test for test in self.tests if set(test.keys) == {a, b}), None)


def verdict(run: Run, model: str, metric: str, samples: str = ALL, variant: str | None = None) -> Verdict:
    """The tests of a model's methods under one metric, by default in the headline variant."""
    variant = variant or run.variant_of(metric)
    tests = run.comparisons(model, metric, variant, samples)
    empty = Verdict(run, model, metric, variant, samples, tests)
    if run.higher_is_better[metric] is None:
        return empty
    methods = run.under_test(model)
    floors = [key for key in run.keys(model) if run.role(key[0]) == FLOOR]
    best, floor = _best(empty, methods), _best(empty, floors)
    edges = next((key for key in floors if parse_call(key[0])[0] == EDGES and key in empty.compared), None)
    winners = _sharing(empty, methods, best) if best else []
    like_a_winner = [key for winner in winners for key in indistinguishable(tests, winner) if key not in winners]
    return Verdict(
        *(run, model, metric, variant, samples, tests, best, floor, edges, winners),
        tied=_among(methods, like_a_winner),
        below_floor=_among(methods, not_better(tests, floor)) if floor else (),
        below_edges=_among(methods, not_better(tests, edges)) if edges else (),
    )


def _best(outcome: Verdict, keys: Sequence[Key]) -> Key | None:
    higher = outcome.run.higher_is_better[outcome.metric]
    means = {key: row.mean_worst_case for key in keys if (row := outcome.row(key)) is not None}
    ordered = {key: mean if higher else -mean for key, mean in means.items() if not math.isnan(mean)}
    return max(ordered, key=ordered.__getitem__, default=None)


def _sharing(outcome: Verdict, keys: Sequence[Key], best: Key) -> list[Key]:
    """The keys with the mean of the best one as printed, that one first."""
    means = {key: round(row.mean_worst_case, DIGITS) for key in keys if (row := outcome.row(key)) is not None}
    return [best, *(key for key, mean in means.items() if mean == means[best] and key != best)]


def _among(methods: Sequence[Key], keys: Sequence[Key]) -> list[Key]:
    return [key for key in methods if key in keys]
