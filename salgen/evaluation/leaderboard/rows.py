"""The rows of a leaderboard: one for each data set, model, method and metric of a run."""

import math
from dataclasses import dataclass, fields
from salgen.evaluation.report.reliance import certified_share, mostly_uncertified
from salgen.evaluation.report.runs import CEILING, METHOD, LoadedRun, accuracy_of
from salgen.evaluation.report.tables import has_ceiling
from salgen.evaluation.statistics.summary import SummaryRow

FROM_SUMMARY = (
    *("method", "reduction", "metric", "variant", "n_clusters", "n_samples", "n_invalid_maps"),
    *("mean", "ci_low", "ci_high", "mean_worst_case"),
)
TOO_FEW = "too few images to tell"
MOSTLY_ELSE = "certified on fewer than half of the images"
DIRECTIONS = {True: "more is better", False: "less is better", None: "diagnostic"}


@dataclass(frozen=True)
class BoardRow:
    """The result of one method under one metric, in the headline variant."""

    dataset: str
    fingerprint: str  # the data set's
    split: str
    model: str
    trainings: int  # number of training seeds in the mean
    accuracy: float  # the share of the split's images that these models classify rightly
    certified: float  # the share of scored images on which they are known to rely on the feature; NaN if unknown
    warning: str  # why scores may say nothing of the method: not learnt, or mostly not certified; empty if nothing does
    method: str
    reduction: str
    role: str  # whether the method is under test, a floor or a ceiling
    metric: str
    variant: str
    direction: str  # one of `DIRECTIONS`
    n_clusters: int  # independent clusters of images that have values
    n_samples: int  # images that have values
    n_invalid_maps: int  # values that are undefined because the map failed
    mean: float  # over the defined values
    ci_low: float
    ci_high: float
    mean_worst_case: float  # the mean when a map that failed has the worst value
    normalised: float  # 0 for the random map to 1 for the oracle; NaN if undefined, or if the metric has no ceiling
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


COLUMNS = tuple(field.name for field in fields(BoardRow))


def rows_of(run: LoadedRun, dataset: str, page: str) -> list[BoardRow]:
    """The rows of one run, by model and metric, the best method first; ceilings only of metrics that have them."""

    def place(row: BoardRow) -> tuple[bool, float, str]:
        undefined = math.isnan(row.standing)
        sign = 1 if row.direction == DIRECTIONS[False] else -1
        return undefined, 0.0 if undefined else sign * row.standing, row.method

    rows: list[BoardRow] = []
    for model in run.model_names:
        for metric in run.metrics:
            variant = run.variant_of(metric)
            summaries = {key: run.row(model, key, metric, variant) for key in run.keys(model)}
            of_metric = [
                _row(run, summary, dataset, page)
                for key, summary in summaries.items()
                if summary is not None and (run.role(key[0]) != CEILING or has_ceiling(metric))
            ]
            rows += sorted(of_metric, key=place)
    return rows


def _row(run: LoadedRun, summary: SummaryRow, dataset: str, page: str) -> BoardRow:
    trained = run.trained(summary.model)
    warning = MOSTLY_ELSE if mostly_uncertified(run, summary.model) else ""
    if run.unlearnt(summary.model):
        warning = TOO_FEW if run.undecided(summary.model) else trained[0].fault
    return BoardRow(
        dataset=dataset,
        fingerprint=run.record.dataset.fingerprint,
        split=run.split,
        model=f"{summary.model}, for reliance" if run.reliant else summary.model,
        trainings=len(trained),
        accuracy=accuracy_of(trained),
        certified=certified_share(run, summary.model),
        warning=warning,
        role=run.role(summary.method),
        direction=DIRECTIONS[run.higher_is_better[summary.metric]],
        **{name: getattr(summary, name) for name in FROM_SUMMARY},
        normalised=summary.normalised if has_ceiling(summary.metric) else math.nan,
        page=page,
    )
