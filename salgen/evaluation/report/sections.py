"""The sections of the page, one for each run and model."""

from collections.abc import Sequence
from dataclasses import dataclass

from salgen.errors import SalgenError
from salgen.evaluation.report.chart import marker
from salgen.evaluation.report.curves import CurvePlots, all_curves
from salgen.evaluation.report.details import Effect, SideBySide, class_means, effects, side_by_side
from salgen.evaluation.report.figures import comparison_figure, distribution_figure
from salgen.evaluation.report.gallery import Gallery, gallery
from salgen.evaluation.report.headline import Headline, headline_of
from salgen.evaluation.report.panels import Block, Panel, panels
from salgen.evaluation.report.rank_figure import rank_figure
from salgen.evaluation.report.runs import Run
from salgen.evaluation.report.suspect_counts import SuspectCount, suspect_counts
from salgen.evaluation.report.tables import MeansTable, means_table
from salgen.evaluation.statistics.ranks import MeanRanks, rank_methods


@dataclass(frozen=True)
class Section:
    """The scores of one run and model."""

    title: str
    anchor: str
    run: Run
    model: str
    headline: Headline
    headline_table: MeansTable  # the table of the headline metric alone, or of all metrics if none ranks methods
    panels: list[Panel]  # the tables for all samples first
    side: SideBySide | None
    effects: list[Effect]
    seeds: list[str]  # training seeds, where there are several
    # ranks, rank_figure: mean ranks by the headline metric, and their critical-difference plot; None and "" if there is
    # nothing to rank
    ranks: MeanRanks | None
    rank_figure: str
    curves: list[CurvePlots]
    distributions: list[tuple[Block, dict[str, str]]]  # each block of metrics, and metric to its distributions, an SVG
    # tables and those of their metrics whose mean over classes differs from the mean over samples
    class_means: list[tuple[MeansTable, list[str]]]
    suspects: list[SuspectCount]

    @property
    def blocks(self) -> list[Block]:
        """All tables of the headline variant, for all samples."""
        return self.panels[0].views[0].blocks


def make_section(run: Run, model: str, runs: int) -> Section:
    """The section of a model on a page of `runs` runs."""
    headline, subset_panels = headline_of(run, model), panels(run, model)
    verdict = headline.verdict
    blocks = subset_panels[0].views[0].blocks
    variant = run.variants[0] if verdict is None else verdict.variant
    headline_table = means_table(run, model, variant, None if run.headline is None else [run.headline])
    seeds = [str(run.cube.seeds[i]) for i in run.cube.seeds_of(model)]
    ranks = rank_methods(run.cube, model, verdict.metric, verdict.variant) if verdict is not None else None
    title = run.label if len(run.model_names) == 1 else model if runs == 1 else f"{run.label}, {model}"
    differing = [(block.table, class_means(block.table)) for block in blocks]
    return Section(
        title=title,
        anchor="-".join("".join(c if c.isalnum() else " " for c in f"{run.label} {model}".lower()).split()),
        run=run,
        model=model,
        headline=headline,
        headline_table=headline_table,
        panels=subset_panels,
        side=side_by_side(run, model, subset_panels),
        effects=effects(verdict, headline_table) if verdict is not None else [],
        seeds=seeds if len(seeds) > 1 else [],
        ranks=ranks,
        rank_figure=rank_figure(run, ranks) if ranks is not None else "",
        curves=all_curves(run, model, headline_table),
        distributions=[
            (block, {metric: distribution_figure(block.table, metric) for metric in block.table.metrics})
            for block in blocks
        ],
        class_means=[(table, metrics) for table, metrics in differing if metrics],
        suspects=suspect_counts(run, model),
    )


@dataclass(frozen=True)
class HeadlineComparison:
    """The headline metric on several data sets or models, side by side."""

    metric: str
    names: list[str]
    figure: str
    markers: list[str]


def comparison(sections: Sequence[Section]) -> HeadlineComparison | None:
    """The sections side by side, where there are several and they share a headline metric."""
    metrics = {section.run.headline for section in sections}
    metric = sections[0].run.headline
    if len(sections) < 2 or len(metrics) > 1 or metric is None:
        return None
    names = [section.title for section in sections]
    figure = comparison_figure([section.headline_table for section in sections], names, metric)
    return HeadlineComparison(metric, names, figure, [marker(place, 8, 8) for place in range(len(names))])


def galleries(runs: Sequence[Run], sections: Sequence[Section]) -> tuple[list[Gallery], dict[str, str]]:
    """A gallery for each run that has one, methods in the order of the first run's table; and faults by run label."""
    order = list(dict.fromkeys(line.key[0] for section in sections for line in section.blocks[0].table.lines))
    made: list[Gallery] = []
    faults: dict[str, str] = {}
    for run in runs:
        try:
            made += [pictures] if (pictures := gallery(run, order)) is not None else []
        except SalgenError as fault:
            faults[run.label] = str(fault)
    return made, faults
