"""The rows of a leaderboard: one for each data set, model, method and metric of a run."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields

from salgen.evaluation.report.grid import accuracy_of
from salgen.evaluation.report.reliance_lines import certified_share, mostly_uncertified
from salgen.evaluation.report.runs import CEILING, METHOD, Run
from salgen.evaluation.report.tables import has_ceiling
from salgen.evaluation.statistics.comparison_groups import Key
from salgen.evaluation.statistics.summary import SummaryRow

TOO_FEW = "too few images to tell"
MOSTLY_ELSE = "certified on fewer than half of the images"
DIRECTIONS = {True: "more is better", False: "less is better", None: "diagnostic"}


@dataclass(frozen=True)
class BoardRow:
    """The result of one method under one metric, in the headline variant."""

    dataset: str
    # of the data set
    fingerprint: str
    split: str
    model: str
    trainings: int  # number of training seeds in the mean
    accuracy: float  # the share of the split's images that these models classify rightly
    # the share of scored images for which these models are certified to rely on the feature; NaN if unknown
    certified: float
    # the reason why scores may say nothing of the method; empty if the model has learnt the task and is certified for
    # at least half of the images, or it is not known
    warning: str
    method: str
    reduction: str
    label: str  # the method's call, with the reduction if the run has the call under several
    role: str  # whether the method is under test, a floor or a ceiling
    metric: str
    variant: str
    direction: str  # one of `DIRECTIONS`
    # n_clusters, n_samples: numbers of independent clusters of images, and of images, that have values
    n_clusters: int
    n_samples: int
    n_invalid_maps: int  # number of values that are undefined because the map failed
    # mean, ci_low, ci_high: of the defined values, with the 95 % interval
    mean: float
    ci_low: float
    ci_high: float
    mean_worst_case: float  # the mean when a map that failed has the worst value
    # the mean on a scale of 0 for the random map to 1 for the oracle; NaN if undefined, or if the metric has no ceiling
    normalised: float
    page: str  # the run's page, within the folder of pages

    @property
    def control(self) -> bool:
        """True if the method is a floor or a ceiling."""
        return self.role != METHOD

    @property
    def standing(self) -> float:
        """Sort key of rows: the mean with failed maps as the worst, so that no method gains by failing."""
        return self.mean if math.isnan(self.mean) or math.isnan(self.mean_worst_case) else self.mean_worst_case

    @property
    def failures_matter(self) -> bool:
        """True if failed maps change the mean."""
        return self.n_invalid_maps > 0 and not math.isclose(self.standing, self.mean, abs_tol=5e-4)


COLUMNS = tuple(field.name for field in fields(BoardRow) if field.name != "label")


def rows_of(run: Run, dataset: str, page: str) -> list[BoardRow]:
    """The rows of one run, by model and metric, the best method first; ceilings only of metrics that have them.

    Parameters
    ----------
    dataset
        The name of the run's data set in the table.
    page
        The run's page.
    """
    return [
        row
        for model in run.model_names
        for metric in run.metrics
        for row in _by_standing(list(_rows(run, model, metric, dataset, page)), run.higher_is_better[metric])
    ]


def _by_standing(rows: list[BoardRow], higher: bool | None) -> list[BoardRow]:
    sign = 1 if higher is False else -1

    def place(row: BoardRow) -> tuple[bool, float, str]:
        undefined = math.isnan(row.standing)
        return undefined, 0.0 if undefined else sign * row.standing, row.label

    return sorted(rows, key=place)


def _rows(run: Run, model: str, metric: str, dataset: str, page: str) -> Iterator[BoardRow]:
    variant = run.variant_of(metric)
    for key in run.keys(model):
        summary = run.row(model, key, metric, variant)
        if summary is not None and (run.role(key[0]) != CEILING or has_ceiling(metric)):
            yield _row(run, key, summary, dataset, page)


def _row(run: Run, key: Key, summary: SummaryRow, dataset: str, page: str) -> BoardRow:
    trained = run.trained(summary.model)
    return BoardRow(
        dataset=dataset,
        fingerprint=run.record.dataset.fingerprint,
        split=run.split,
        model=f"{summary.model}, for reliance" if run.reliant else summary.model,
        trainings=len(trained),
        accuracy=accuracy_of(trained),
        certified=certified_share(run, summary.model),
        warning=_warning(run, summary.model),
        method=summary.method,
        reduction=summary.reduction,
        label=run.method_label(summary.model, key),
        role=run.role(summary.method),
        metric=summary.metric,
        variant=summary.variant,
        direction=DIRECTIONS[run.higher_is_better[summary.metric]],
        n_clusters=summary.n_clusters,
        n_samples=summary.n_samples,
        n_invalid_maps=summary.n_invalid_maps,
        mean=summary.mean,
        ci_low=summary.ci_low,
        ci_high=summary.ci_high,
        mean_worst_case=summary.mean_worst_case,
        normalised=summary.normalised if has_ceiling(summary.metric) else math.nan,
        page=page,
    )


def _warning(run: Run, model: str) -> str:
    if not run.unlearnt(model):
        return MOSTLY_ELSE if mostly_uncertified(run, model) else ""
    return TOO_FEW if run.undecided(model) else run.trained(model)[0].fault
