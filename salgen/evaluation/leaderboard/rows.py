"""The rows of a leaderboard: one for each data set, model, method and metric of a run."""

import math
from types import SimpleNamespace
from salgen.evaluation.report.reliance import certified_share, mostly_uncertified
from salgen.evaluation.report.runs import CEILING, METHOD, LoadedRun, accuracy_of
from salgen.evaluation.report.tables import has_ceiling
from salgen.evaluation.statistics.summary import SummaryRow

TOO_FEW = "too few images to tell"
MOSTLY_ELSE = "certified on fewer than half of the images"
DIRECTIONS = {True: "more is better", False: "less is better", None: "diagnostic"}


COLUMNS = (  # in ``leaderboard.csv``; the page says what they mean
    *("dataset", "fingerprint", "split", "model", "trainings", "accuracy", "certified", "warning"),
    *("method", "reduction", "role", "metric", "variant", "direction", "n_clusters", "n_samples", "n_invalid_maps"),
    *("mean", "ci_low", "ci_high", "mean_worst_case", "normalised", "page"),
)


def rows_of(run: LoadedRun, dataset: str, page: str) -> list[SimpleNamespace]:
    """The rows of one run, by model and metric, the best method first; ceilings only of metrics that have them."""

    def place(row: SimpleNamespace) -> tuple[bool, float, str]:
        undefined = math.isnan(row.standing)
        sign = 1 if row.direction == DIRECTIONS[False] else -1
        return undefined, 0.0 if undefined else sign * row.standing, row.method

    rows: list[SimpleNamespace] = []
    for model in run.model_names:
        for metric in run.metrics:
            summaries = [run.row(model, key, metric, run.variant_of(metric)) for key in run.keys(model)]
            shown = [one for one in summaries if one and (run.role(one.method) != CEILING or has_ceiling(metric))]
            rows += sorted((_row(run, summary, dataset, page) for summary in shown), key=place)
    return rows


def _row(run: LoadedRun, summary: SummaryRow, dataset: str, page: str) -> SimpleNamespace:
    """The result of one method under one metric: `COLUMNS`, and what the page and its order take."""
    trained, role = run.trained(summary.model), run.role(summary.method)
    warning = MOSTLY_ELSE if mostly_uncertified(run, summary.model) else ""
    if run.unlearnt(summary.model):
        warning = TOO_FEW if run.undecided(summary.model) else trained[0].fault
    mean, worst = summary.mean, summary.mean_worst_case
    standing = mean if math.isnan(mean) or math.isnan(worst) else worst  # so that no method gains by failing
    own = {
        "dataset": dataset,
        "fingerprint": run.record.dataset.fingerprint,
        "split": run.split,
        "model": f"{summary.model}, for reliance" if run.reliant else summary.model,
        "trainings": len(trained),
        "accuracy": accuracy_of(trained),
        "certified": certified_share(run, summary.model),
        "warning": warning,
        "role": role,
        "direction": DIRECTIONS[run.higher_is_better[summary.metric]],
        "normalised": summary.normalised if has_ceiling(summary.metric) else math.nan,
        "page": page,
        "control": role != METHOD,
        "standing": standing,
        "failures_matter": summary.n_invalid_maps > 0 and not math.isclose(standing, mean, abs_tol=5e-4),
    }
    return SimpleNamespace(**{**vars(summary), **own})
