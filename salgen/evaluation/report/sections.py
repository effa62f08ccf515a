"""What the page shows of each run and model, and of several side by side, as values for the templates."""

from collections.abc import Sequence
from typing import Any
import numpy as np
from salgen.errors import SalgenError
from salgen.evaluation.diagnostics.clever_hans import (
    FAITHFULNESS,
    LOCALIZATION,
    Thresholds,
    probabilities_in,
    right_maps,
)
from salgen.evaluation.diagnostics.metric_correlation import LEAST, correlations
from salgen.evaluation.report.chart import marker
from salgen.evaluation.report.curves import all_curves
from salgen.evaluation.report.figures import comparison_figure, distribution_figure, rank_figure
from salgen.evaluation.report.gallery import Gallery, gallery
from salgen.evaluation.report.headline import Headline
from salgen.evaluation.report.runs import METHOD, LoadedRun
from salgen.evaluation.report.tables import effects, means_table, panels
from salgen.evaluation.statistics.ranks import rank_methods

Section = dict[str, Any]


def make_section(run: LoadedRun, model: str, runs: int) -> Section:
    """The scores of a model, on a page of `runs` runs."""
    headline, subset_panels = Headline(run, model), panels(run, model)
    verdict = headline.verdict
    blocks = next(iter(subset_panels[0].views.values()))
    variant = run.variants[0] if verdict is None else verdict.variant
    table = means_table(run, model, variant, None if run.headline is None else [run.headline])
    seeds = [str(run.cube.seeds[i]) for i in run.cube.seeds_of(model)]
    ranks = rank_methods(run.cube, model, verdict.metric, verdict.variant) if verdict is not None else None
    return {
        "title": run.label if len(run.model_names) == 1 else model if runs == 1 else f"{run.label}, {model}",
        "anchor": "-".join("".join(c if c.isalnum() else " " for c in f"{run.label} {model}".lower()).split()),
        "run": run,
        "model": model,
        "headline": headline,
        "table": table,  # the headline metric's, or that of all metrics if none ranks methods
        "panels": subset_panels,  # the tables for all samples first
        "blocks": blocks,  # all tables of the headline variant, for all samples
        "effects": effects(verdict, table) if verdict is not None else [],
        "seeds": seeds if len(seeds) > 1 else [],
        "ranks": ranks,
        "rank_figure": rank_figure(run, ranks) if ranks is not None else "",
        "curves": all_curves(run, model, table),
        "distributions": [
            (block, {metric: distribution_figure(block.table, metric) for metric in block.table.metrics})
            for block in blocks
        ],
        "class_means": [(block.table, metrics) for block in blocks if (metrics := block.table.differing_class_means)],
        "suspects": suspect_counts(run, model),
    }


def suspect_counts(run: LoadedRun, model: str) -> list[dict[str, Any]]:
    """Numbers of Clever Hans candidates by each method under test, the largest first; none without both metrics."""
    if not {LOCALIZATION, FAITHFULNESS} <= set(run.metrics):
        return []
    probabilities, counts = probabilities_in(run.path), []
    for call in dict.fromkeys(call for call, _ in run.under_test(model)):
        groups = [maps for maps in right_maps(run.cube, call) if maps.model == model]
        found = sum(len(maps.suspects(probabilities, Thresholds())) for maps in groups)
        command = ["salgen", "find", "clever-hans", run.path.resolve().name, "-m", call, "--dataset", "DATASET"]
        examined = sum(len(maps.samples) for maps in groups)
        counts.append({"method": call, "found": found, "examined": examined, "command": command})
    return sorted(counts, key=lambda suspects: -suspects["found"])


def comparison(sections: Sequence[Section]) -> dict[str, Any] | None:
    """The sections side by side, where there are several and they share a headline metric."""
    metrics = {section["run"].headline for section in sections}
    metric = sections[0]["run"].headline
    if len(sections) < 2 or len(metrics) > 1 or metric is None:
        return None
    names = [section["title"] for section in sections]
    figure = comparison_figure([section["table"] for section in sections], names, metric)
    markers = [marker(place, 8, 8) for place in range(len(names))]
    return {"metric": metric, "names": names, "figure": figure, "markers": markers}


def galleries(runs: Sequence[LoadedRun], sections: Sequence[Section]) -> tuple[list[Gallery], dict[str, str]]:
    """A gallery for each run that has one, methods in the order of the first run's table; and faults by run label."""
    order = list(dict.fromkeys(line.key[0] for section in sections for line in section["blocks"][0].table.lines))
    made: list[Gallery] = []
    faults: dict[str, str] = {}
    for run in runs:
        try:
            made += [pictures] if (pictures := gallery(run, order)) is not None else []
        except SalgenError as fault:
            faults[run.label] = str(fault)
    return made, faults


def agreements(runs: Sequence[LoadedRun]) -> list[dict[str, Any]]:
    """Correlations of other metrics with the headline metric over three data sets or more, for each shared model."""
    first = runs[0]
    metrics = [metric for metric in first.metrics if all(metric in run.metrics for run in runs)]
    headline, others = first.headline, [metric for metric in metrics if metric != first.headline]
    if len({run.record.dataset.fingerprint for run in runs}) < LEAST or headline not in metrics or not others:
        return []
    tables = []
    for model in (model for model in first.model_names if all(model in run.model_names for run in runs)):
        shared = [key for key in first.keys(model) if all(key in run.keys(model) for run in runs)]
        lines = []
        for key in (key for key in shared if first.role(key[0]) == METHOD):
            rows = {m: [run.row(model, key, m, run.variant_of(m)) for run in runs] for m in metrics}
            means = {m: np.array([np.nan if row is None else row.mean for row in of]) for m, of in rows.items()}
            pearson = [correlations({m: means[m] for m in (headline, other)})[0].pearson for other in others]
            lines.append((first.method_label(model, key), pearson))
        if lines:
            tables.append(
                {"model": model, "metric": headline, "data_sets": len(runs), "metrics": others, "lines": lines}
            )
    return tables
