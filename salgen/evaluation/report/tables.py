"""Tables of means: methods between their floors and ceilings, with the results of the tests."""

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
import numpy as np
from salgen.evaluation.metrics.inputs.metric import FAMILIES
from salgen.evaluation.report.runs import CEILING, FLOOR, METHOD, LoadedRun
from salgen.evaluation.report.verdicts import Verdict, verdict
from salgen.evaluation.scoring.metric_selection import by_reading, create_metric
from salgen.evaluation.statistics.comparison_groups import Key
from salgen.evaluation.statistics.ranks import mean_ranks
from salgen.evaluation.statistics.score_cube import ALL, CERTIFIED, CORRECT

TITLES = {
    CEILING: "Ceilings: maps made from the ground-truth mask",
    METHOD: "Methods",
    FLOOR: "Floors: maps that know nothing of the task",
}
ONE_TABLE = 8  # at most so many metrics share one table, whatever their families
FAMILY_TITLES = {
    "ranking": "Ranking: do the mask's pixels have the largest values?",
    "localization": "Localisation: does the map mark the object?",
    "faithfulness": "Faithfulness: does the prediction depend on the pixels that the map marks?",
    "contrast": "Contrast: does the map change when the cause does?",
    "sensitivity": "Sensitivity: is the map stable, and does it tell classes apart?",
    "sanity": "Sanity checks: does the map depend on the model's weights and labels?",
    "diagnostic": "Diagnostics: no ranking",
}
SUBSET_NAMES = {ALL: "all", CORRECT: "correctly classified", CERTIFIED: "certified"}
BOUNDED_BY_THE_MASK = ("ranking", "localization")  # families of metrics that ask for agreement with the mask
NO_CEILING = "no ceiling"
VISIBLE = 5e-4  # a smaller difference of means is not seen in their digits


Table = SimpleNamespace  # the methods of one run and model under some metrics, as :func:`means_table` makes it


def means_table(
    run: LoadedRun, model: str, variant: str, metrics: Sequence[str] | None = None, samples: str = ALL
) -> Table:
    """The means of one model of a run, over all training seeds; by default of the metrics scored in the variant.

    A metric without scores in the variant is shown in one that has some. `groups` are the roles with their lines by
    mean rank: ceilings, methods, floors; `heads` are the heads of the columns.
    """
    chosen = [name for name in run.metrics if run.has(name, variant)] if metrics is None else list(metrics)
    verdicts = {
        name: verdict(run, model, name, samples, variant if run.has(name, variant) else None) for name in chosen
    }
    heads = [_head(outcome, variant) for outcome in verdicts.values()]
    ranking = [name for name in chosen if run.higher_is_better[name] is not None]
    groups = {}
    for role in (CEILING, METHOD, FLOOR):
        keys = [key for key in run.keys(model) if run.role(key[0]) == role]
        if not keys or (role == CEILING and not any(map(has_ceiling, chosen))):
            continue
        cells = [{head.metric: _cell(verdicts[head.metric], key, head.undefined) for head in heads} for key in keys]
        means = [[getattr(of_key[name].row, "mean_worst_case", np.nan) for name in ranking] for of_key in cells]
        better = np.array([bool(run.higher_is_better[name]) for name in ranking])
        ranks = mean_ranks(np.array(means), better).tolist() if ranking else [np.nan] * len(keys)
        lines = [
            SimpleNamespace(key=key, label=key[0], role=role, rank=rank, cells=of_key)
            for key, rank, of_key in zip(keys, ranks, cells, strict=True)
        ]
        groups[role] = sorted(lines, key=lambda line: line.rank)
    return Table(
        run=run,
        model=model,
        variant=variant,
        metrics=chosen,
        heads=heads,
        groups=groups,
        lines=[line for lines in groups.values() for line in lines],
        ranks_methods=bool(ranking),
    )


def _head(outcome: Verdict, variant: str) -> SimpleNamespace:
    rows = [row for key in outcome.run.keys(outcome.model) if (row := outcome.row(key)) is not None]
    directions = {None: "diagnostic", False: "less is better", True: ""}
    return SimpleNamespace(
        metric=outcome.metric,
        variant=outcome.variant if outcome.variant != variant else "",
        direction=directions[outcome.run.higher_is_better[outcome.metric]],
        undefined=min(row.n_undefined for row in rows) if len(rows) > 1 else 0,  # scores of every method
        normalised=has_ceiling(outcome.metric) and any(np.isfinite(row.normalised) for row in rows),
    )


def has_ceiling(metric: str) -> bool:
    """True if a metric asks for the mask itself; one that asks the model has no ceiling, as the mask ignores it."""
    return create_metric(metric).family in BOUNDED_BY_THE_MASK


def _cell(outcome: Verdict, key: Key, shared: int) -> SimpleNamespace:
    """One method under one metric; its `undefined` scores are those beyond the `shared` ones of every method."""
    unbounded = outcome.run.role(key[0]) == CEILING and not has_ceiling(outcome.metric)
    row = None if unbounded else outcome.row(key)
    return SimpleNamespace(
        row=row,
        absent=NO_CEILING if unbounded else "not scored",  # why there is no row
        best=row is not None and key in outcome.winners and len(outcome.run.under_test(outcome.model)) > 1,
        tied=key in outcome.tied and not outcome.powerless,
        below_floor=key in outcome.below_floor and not outcome.powerless,
        undefined=row.n_undefined - shared if row is not None else 0,
        # whether failed maps, as worst, change the mean, which is NaN where all failed
        failures_matter=row is not None
        and not np.isnan(row.mean_worst_case)
        and not abs(row.mean - row.mean_worst_case) <= VISIBLE,
    )


def differing_class_means(table: Table) -> list[str]:
    """The metrics whose mean over classes differs from the mean over samples."""
    rows = {metric: [row for line in table.lines if (row := line.cells[metric].row)] for metric in table.metrics}
    return [m for m, of in rows.items() if any(abs(row.mean - row.mean_per_class) > VISIBLE for row in of)]


def panels(run: LoadedRun, model: str) -> list[SimpleNamespace]:
    """The tables of each subset of samples, without those that would be empty or repeat those of all samples.

    Samples are counted once for each training seed. `verdict` and `headline` are the headline metric's, None where
    there is no such metric or sample. `views` are the variants with their tables, the headline variant first.
    """
    counted, number, found = run.samples_counted(model), run.cube.models.index(model), []
    kept = {CORRECT: run.cube.correct[number], CERTIFIED: run.cube.certified[number]}
    total = int(counted.sum())
    for samples in run.cube.subsets:
        count = int((counted & kept.get(samples, True)).sum())
        own, metric = count > 0 and (samples == ALL or count < total), run.headline
        views = {variant: _blocks(run, model, variant, samples) for variant in run.variants} if own else {}
        panel = SimpleNamespace(
            samples=samples,
            name=SUBSET_NAMES[samples],
            count=count,
            total=total,
            verdict=verdict(run, model, metric, samples) if own and metric is not None else None,
            headline=means_table(run, model, run.variant_of(metric), [metric], samples) if count and metric else None,
            views={variant: blocks for variant, blocks in views.items() if blocks},
        )
        found.append(panel)
    return found


def _blocks(run: LoadedRun, model: str, variant: str, samples: str) -> list[SimpleNamespace]:
    """The tables of a variant: all metrics in the headline variant, elsewhere those scored in both."""
    headline = run.variants[0]
    metrics = [m for m in run.metrics if variant == headline or (run.has(m, variant) and run.has(m, headline))]
    return [
        SimpleNamespace(title=title, reading=reading, table=means_table(run, model, variant, group, samples))
        for title, reading, group in metric_blocks(metrics)
    ]


def metric_blocks(metrics: Sequence[str]) -> Iterator[tuple[str, str | None, list[str]]]:
    """Title, reading and metrics of each table: canonical metrics by family, or all together where they are few."""
    for reading, group in by_reading(metrics).items():
        if reading is not None:
            yield f"As in the code or text of {reading}", reading, group
        elif len(group) <= ONE_TABLE:
            yield from [("", None, group)] if group else []
        else:
            for family in FAMILIES:
                if members := [metric for metric in group if create_metric(metric).family == family]:
                    yield FAMILY_TITLES[family], None, members
