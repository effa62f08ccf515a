"""Results of the permutation tests under one metric: methods as good as the best, and no better than a floor."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from salgen.evaluation.report.formatting import DIGITS, number
from salgen.evaluation.report.runs import FLOOR, LoadedRun
from salgen.evaluation.scoring.metric_selection import canonical, ranking_metrics
from salgen.evaluation.statistics.clusters import LEAST
from salgen.evaluation.statistics.comparison_groups import Key
from salgen.evaluation.statistics.comparisons import Comparison, indistinguishable, not_better
from salgen.evaluation.statistics.mean_intervals import LEAST_TRAININGS
from salgen.evaluation.statistics.permutation import ALPHA, permutations_for
from salgen.evaluation.statistics.score_cube import ALL
from salgen.evaluation.statistics.summary import SummaryRow
from salgen.parameters import parse_call

EDGES = "sobel"


def verdict(run: LoadedRun, model: str, metric: str, samples: str = ALL, variant: str | None = None) -> "Verdict":
    """The tests of a model's methods under one metric, by default in the headline variant."""
    return Verdict(run, model, metric, variant or run.variant_of(metric), samples)


@dataclass(frozen=True)
class Verdict:
    """The tests of one model, metric, variant and subset of samples."""

    run: LoadedRun
    model: str
    metric: str
    variant: str
    samples: str

    @cached_property
    def tests(self) -> Sequence[Comparison]:
        """All pairs of methods and floors; empty where there is nothing to compare."""
        return self.run.comparisons(self.model, self.metric, self.variant, self.samples)

    @cached_property
    def compared(self) -> set[Key]:
        """The methods and floors that are tested."""
        return {key for test in self.tests for key in test.keys}

    @cached_property
    def best(self) -> Key | None:
        """The method under test with the best mean, failed maps as worst; None under a diagnostic or without values."""
        return next(iter(self.ordered(self.run.under_test(self.model))), None)

    @cached_property
    def floor(self) -> Key | None:
        """The floor with the best mean."""
        return next(iter(self.ordered(self._floors)), None)

    @cached_property
    def edges(self) -> Key | None:
        """The edge filter, if it was tested."""
        return next((key for key in self._floors if parse_call(key[0])[0] == EDGES and key in self.compared), None)

    @cached_property
    def winners(self) -> list[Key]:
        """The methods under test whose means equal the best one's as printed, the best first."""
        if self.best is None:
            return []
        means = {key: round(self.mean(key), DIGITS) for key in self.run.under_test(self.model)}
        return [self.best, *(key for key, mean in means.items() if mean == means[self.best] and key != self.best)]

    @cached_property
    def rivals(self) -> list[Key]:
        """The methods under test that the winners were compared with."""
        return [key for key in self._among(self.compared) if key not in self.winners]

    @cached_property
    def tied(self) -> list[Key]:
        """Other methods under test that do not differ significantly from a winner."""
        alike = {key for winner in self.winners for key in indistinguishable(self.tests, winner)}
        return self._among(alike.difference(self.winners))

    @cached_property
    def below_floor(self) -> list[Key]:
        """Methods under test that are not significantly better than the strongest floor."""
        return self._among(not_better(self.tests, self.floor)) if self.floor else []

    @property
    def untested(self) -> list[Key]:
        """Methods under test without a value that could be compared."""
        return [key for key in self.run.under_test(self.model) if self.tests and key not in self.compared]

    @property
    def against_floors(self) -> list[str]:
        """How the methods under test do against the strongest floor and the edge filter, a sentence each."""
        if not self.tests or self.powerless or self.best is None:
            return []
        kinds: dict[Key, list[str]] = {}
        for key, kind in ((self.floor, "the strongest floor"), (self.edges, "an edge filter")):
            if key is not None:
                kinds.setdefault(key, []).append(kind)
        return [self._against(key, " and ".join(names)) for key, names in kinds.items()]

    def say(self, key: Key, kind: str = "") -> str:
        """A method or floor with its mean."""
        return f"{self.labels([key])[0]}{kind} ({number(self.mean(key, 'mean'))})"

    def _against(self, floor: Key, kind: str) -> str:
        tested, below = self._among(self.compared), self._among(not_better(self.tests, floor))
        better = [key for key in tested if key not in below]
        name = self.say(floor, f", {kind}")
        if len(tested) == 1:
            return f"{self.labels(tested)[0]} is {'not ' if below else ''}significantly better than {name}"
        if not better:
            return f"no method is significantly better than {name}"
        if len(better) <= len(below):
            return f"significantly better than {name}: {', '.join(self.labels(better))}"
        others = f" but {', '.join(self.labels(below))}" if below else ""
        return f"every method{others} is significantly better than {name}"

    @property
    def n_clusters(self) -> int:
        """The number of independent clusters of samples that the tests compare."""
        return self.tests[0].n_clusters if self.tests else 0

    @property
    def sampled(self) -> str:
        """What the tests compare, such as ``"400 images in 40 clusters"``."""
        clustered = f" in {self.n_clusters} clusters" if self.unit != "images" else ""
        return f"{self.tests[0].n_samples} images{clustered}" if self.tests else "no images"

    @property
    def unit(self) -> str:
        """What was sampled: images, or clusters of them."""
        return "clusters of images" if self.tests and self.n_clusters < self.tests[0].n_samples else "images"

    @property
    def subject(self) -> str:
        """What the verdict is about: one model, or several trainings of it."""
        return "for this one trained model" if self.trainings == 1 else f"over {self.trainings} trainings"

    @property
    def trainings(self) -> int:
        """The number of training seeds."""
        return len(self.run.cube.seeds_of(self.model))

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

    def test(self, a: Key, b: Key | None) -> Comparison | None:
        """The test of two methods, turned towards the first; None if there is none."""
        return next((test.with_first(a) for test in self.tests if set(test.keys) == {a, b}), None)

    def labels(self, keys: Sequence[Key]) -> list[str]:
        """Methods as the tables name them."""
        return [call for call, _ in keys]

    @property
    def _floors(self) -> list[Key]:
        return [key for key in self.run.keys(self.model) if self.run.role(key[0]) == FLOOR]

    def _among(self, keys: Sequence[Key] | set[Key]) -> list[Key]:
        return [key for key in self.run.under_test(self.model) if key in keys]

    def ordered(self, keys: Iterable[Key]) -> list[Key]:
        """The methods with values among these, the best mean first, failed maps as worst; empty under a diagnostic."""
        higher = self.run.higher_is_better[self.metric]
        known = [key for key in keys if higher is not None and not math.isnan(self.mean(key))]
        return sorted(known, key=self.mean, reverse=bool(higher))

    def mean(self, key: Key, name: str = "mean_worst_case") -> float:
        """One of the means of a method; NaN where it has none."""
        return float(getattr(self.row(key), name, math.nan))


def best_elsewhere(run: LoadedRun, model: str) -> dict[tuple[str, ...], list[str]]:
    """Methods that share the best mean to the other metrics by which they do; empty for a single method."""
    found: dict[tuple[str, ...], list[str]] = {}
    for metric in ranking_metrics(canonical(run.metrics)) if len(run.under_test(model)) > 1 else ():
        outcome = verdict(run, model, metric)
        if metric != run.headline and outcome.winners:
            found.setdefault(tuple(outcome.labels(outcome.winners)), []).append(metric)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))
