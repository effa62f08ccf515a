"""The page's short answer: conclusions about one model under the headline metric, in the parts of a sentence."""

from dataclasses import dataclass

from salgen.evaluation.report.panels import sample_count
from salgen.evaluation.report.reliance_lines import mostly_uncertified
from salgen.evaluation.report.runs import Model, Run
from salgen.evaluation.report.tables import has_ceiling
from salgen.evaluation.report.verdicts import Verdict, verdict
from salgen.evaluation.scoring.metric_selection import canonical, ranking_metrics
from salgen.evaluation.statistics.comparison_groups import Key
from salgen.evaluation.statistics.mean_intervals import LEAST_TRAININGS
from salgen.evaluation.statistics.score_cube import ALL


@dataclass(frozen=True)
class Headline:
    """Conclusions about one run and model under the headline metric."""

    run: Run
    model: str
    verdict: Verdict | None  # on all samples; None if no metric of the run ranks methods
    # on the correctly classified and the certified samples, where these are fewer than all
    subset_verdicts: list[Verdict]
    methods: int  # number of methods under test
    # the methods that share the best mean to the other metrics by which they do; empty where there is only one method
    elsewhere: dict[tuple[str, ...], list[str]]
    ceiling: bool  # true if the headline metric has one, so that normalised scores mean something
    # trainings, crossed: number of training seeds, and True if the intervals cover them
    trainings: int
    crossed: bool
    # true if the model relies on the feature for fewer than half of the samples, so that no method can be called the
    # best
    withheld: bool
    # failed_trainings, undecided_trainings: those near chance, and those with too few images to tell whether they
    # learnt the task
    failed_trainings: list[Model]
    undecided_trainings: list[Model]

    def labels(self, keys: list[Key]) -> list[str]:
        """Methods as the tables name them."""
        return [self.run.method_label(self.model, key) for key in keys]

    @property
    def untested(self) -> list[str]:
        """Methods under test without a value that could be compared."""
        if self.verdict is None or not self.verdict.tests:
            return []
        return self.labels([key for key in self.run.under_test(self.model) if key not in self.verdict.compared])


def headline_of(run: Run, model: str) -> Headline:
    """The headline of one model of a run."""
    trainings, metric = len(run.cube.seeds_of(model)), run.headline
    total = sample_count(run, model, ALL)
    fewer = [name for name in run.cube.subsets if 0 < sample_count(run, model, name) < total]
    return Headline(
        run=run,
        model=model,
        verdict=verdict(run, model, metric) if metric is not None else None,
        subset_verdicts=[verdict(run, model, metric, samples) for samples in fewer] if metric is not None else [],
        methods=len(run.under_test(model)),
        elsewhere=_elsewhere(run, model),
        ceiling=metric is not None and has_ceiling(metric),
        trainings=trainings,
        crossed=trainings >= LEAST_TRAININGS,
        withheld=mostly_uncertified(run, model),
        failed_trainings=[trained for trained in run.trained(model) if trained.unlearnt],
        undecided_trainings=[trained for trained in run.trained(model) if trained.too_few],
    )


def _elsewhere(run: Run, model: str) -> dict[tuple[str, ...], list[str]]:
    metrics_of: dict[tuple[str, ...], list[str]] = {}
    if len(run.under_test(model)) < 2:
        return metrics_of
    for metric in ranking_metrics(canonical(run.metrics)):
        winners = verdict(run, model, metric).winners
        if metric != run.headline and winners:
            metrics_of.setdefault(tuple(run.method_label(model, key) for key in winners), []).append(metric)
    return dict(sorted(metrics_of.items(), key=lambda item: -len(item[1])))
