"""Charts of means, distributions, box plots and ranks as inline SVG.

The page styles them, so they follow its light and dark colours.
"""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple
import numpy as np
from salgen.evaluation.report.chart import ROW, TOP, WIDTH, Chart, bar, domain, marker, mean_dot, median_stroke
from salgen.evaluation.report.grid import CEILING_CALL, CONTROLS, CellEntry, GridRow, VariantGrid
from salgen.evaluation.report.runs import CEILING, FLOOR, METHOD, LoadedRun
from salgen.evaluation.report.tables import NO_CEILING, MeansTable, TableLine
from salgen.evaluation.statistics.ranks import MeanRanks
from salgen.evaluation.statistics.summary import SummaryRow
from salgen.types import Float64

REACH = 1.5  # longest whisker of a box, in interquartile ranges
CLIQUE_GAP = 9  # between the bars of two cliques


def distribution_figure(table: MeansTable, metric: str) -> str:
    """The distribution of each method's scores over the samples, all training seeds together, as SVG.

    A pale bar spans the 5th to the 95th percentile and a darker one the middle half. A stroke marks the median and a
    dot the mean; small dots below are the means of single training seeds. Dashed lines stand at the means of the random
    map and of the oracle.
    """
    run, model = table.run, table.model
    lines = [line for line in table.lines if line.cells[metric].absent != NO_CEILING]
    scores = [run.scores(run.cube.series.index((model, *line.key)), metric)[0] for line in lines]
    spreads = [values[np.isfinite(values)] for values in scores]
    pooled = np.concatenate(spreads)
    if not pooled.size:
        return ""
    title = f"{metric}: distribution of scores of each method on {run.label}"
    chart = Chart([(line.label, line.role) for line in lines], *domain(pooled), title)
    seeds = [str(run.cube.seeds[i]) for i in run.cube.seeds_of(model)]
    for number, (line, values) in enumerate(zip(lines, spreads, strict=True)):
        row = line.cells[metric].row
        if row is not None and line.label in ("random", "oracle"):
            _reference(chart, row.mean, line.label)
        _spread(chart, number, line, row, values)
        y = chart.y(number) + ROW / 2 - 2
        for seed in seeds if len(seeds) > 1 else ():
            of_seed = run.row(model, line.key, metric, run.variant_of(metric), seed)
            if of_seed is not None and np.isfinite(of_seed.mean):
                x = chart.x(of_seed.mean)
                chart.add(f'<circle class="seed {line.role}" cx="{x:.1f}" cy="{y:.1f}" r="1.5"/>')
    return chart.svg()


def _spread(chart: Chart, number: int, line: TableLine, row: SummaryRow | None, values: Float64) -> None:
    y = chart.y(number)
    if row is None or not values.size:
        words = "not scored" if row is None else "undefined for every sample"
        chart.add(f'<text class="none" x="{chart.left + 6:.1f}" y="{y + 4:.1f}">{words}</text>')
        return
    mean = float(values.mean())
    p5, p25, p50, p75, p95 = np.percentile(values, [5, 25, 50, 75, 95])
    if np.unique(values).size > 2:
        words = f"{line.label}: mean {mean:.3f}, median {p50:.3f}, middle half {p25:.3f} to {p75:.3f}"
        bars = bar("wide", chart.x(p5), chart.x(p95), y, 5) + bar("half", chart.x(p25), chart.x(p75), y, 11)
        bars += median_stroke(chart.x(p50), y)
    else:  # two values at most: quartiles would be meaningless
        low, high = (bound if np.isfinite(bound) else mean for bound in (row.ci_low, row.ci_high))
        words = f"{line.label}: mean {mean:.3f}, interval {low:.3f} to {high:.3f}"
        bars = bar("half", chart.x(low), chart.x(high), y, 7)
    dot = mean_dot(chart.x(mean), y)
    chart.add(f'<g class="{line.role}"><title>{escape(words)}</title>{bars}{dot}</g>')


def _reference(chart: Chart, value: float, name: str) -> None:
    if not np.isfinite(value):
        return
    x = chart.x(value)
    anchor = "end" if name == "oracle" and value > chart.low + 0.9 * (chart.high - chart.low) else "middle"
    chart.add(
        f'<line class="reference" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 4}" y2="{chart.bottom:.1f}"/>'
        f'<text class="reference" x="{x:.1f}" y="{TOP - 9}" text-anchor="{anchor}">{escape(name)}</text>'
    )


def comparison_figure(tables: Sequence[MeansTable], names: Sequence[str], metric: str) -> str:
    """Means and intervals of each method on several data sets or models, one mark for each."""
    lines: dict[str, str] = {}
    for role in (CEILING, METHOD, "floor"):
        lines |= {line.label: role for table in tables for line in table.groups.get(role, [])}
    by_table = [
        {line.label: row for line in table.lines if (row := line.cells[metric].row) is not None} for table in tables
    ]
    rows = [row for by_label in by_table for row in by_label.values()]
    values = np.array([v for row in rows for v in (row.mean, row.ci_low, row.ci_high) if np.isfinite(v)])
    if not values.size:
        return ""
    chart = Chart(list(lines.items()), *domain(values), f"{metric} of each method on {', '.join(names)}")
    for number, label in enumerate(lines):
        for place, (name, by_label) in enumerate(zip(names, by_table, strict=True)):
            if label in by_label and np.isfinite(by_label[label].mean):
                chart.add(_mark(chart, number, place, len(names), name, by_label[label]))
    return chart.svg()


def _mark(chart: Chart, number: int, place: int, places: int, name: str, row: SummaryRow) -> str:
    y = chart.y(number) + min(5.0, 12.0 / places) * (place - (places - 1) / 2)
    low, high = (chart.x(bound if np.isfinite(bound) else row.mean) for bound in (row.ci_low, row.ci_high))
    words = f"{row.method} on {name}: {row.mean:.3f}"
    return (
        f'<g class="series series-{place % 4}"><title>{escape(words)}</title>'
        f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>{marker(place, chart.x(row.mean), y)}</g>'
    )


def rank_figure(run: LoadedRun, ranks: MeanRanks) -> str:
    """The critical-difference plot: mean ranks as dots, the best at the top; a bar joins methods that do not differ.

    The bar at the top is as long as the critical difference.
    """
    labels = [(run.method_label(ranks.model, key), run.role(key[0])) for key in ranks.keys]
    title = f"Mean ranks of each method by {ranks.metric} on {run.label}"
    high = max(float(np.ceil(ranks.ranks.max())), 1.0 + ranks.critical_difference)
    margin = 16.0 + CLIQUE_GAP * (1 + len(ranks.cliques))
    chart = Chart(labels, 1.0, high, title, right=margin, apart=False, head=22)
    for number, ((label, role), rank) in enumerate(zip(labels, ranks.ranks.tolist(), strict=True)):
        x, y = chart.x(rank), chart.y(number)
        chart.add(
            f'<g class="{role}"><title>{escape(label)}: mean rank {rank:.2f}</title>'
            f'<line class="stem" x1="{chart.x(1.0):.1f}" x2="{x:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f"{mean_dot(x, y, 3.8)}</g>"
            f'<text class="value" x="{x + 7:.1f}" y="{y + 4:.1f}">{rank:.2f}</text>'
        )
    for place, (start, stop) in enumerate(ranks.cliques):
        x = WIDTH - margin + CLIQUE_GAP * (place + 1)
        top, bottom = chart.y(start) - ROW / 3, chart.y(stop - 1) + ROW / 3
        words = f"no difference among {', '.join(label for label, _ in labels[start:stop])}"
        chart.add(
            f'<g class="clique"><title>{escape(words)}</title>'
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}"/></g>'
        )
    difference, above = ranks.critical_difference, TOP - 4
    left, right = chart.x(1.0), chart.x(1.0 + difference)
    ends = "".join(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{above - 4}" y2="{above + 4}"/>' for x in (left, right))
    words = f"critical difference {difference:.2f}"
    chart.add(
        f'<g class="critical"><title>{words}</title>'
        f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{above}" y2="{above}"/>{ends}</g>'
        f'<text class="critical" x="{(left + right) / 2:.1f}" y="{above - 7}">{words}</text>'
    )
    return chart.svg()


def box_figures(grid: VariantGrid) -> dict[str, dict[str, str]]:
    """Box plots of a grid's scores: model to data set to SVG, which is empty where nothing is defined.

    All plots of a model share one axis.
    """
    figures: dict[str, dict[str, str]] = {}
    for model in dict.fromkeys(row.cell.model for row in grid.rows):
        rows = [row for row in grid.rows if row.cell.model == model]
        values = np.concatenate([entry.values for row in rows for entry in row.entries.values()])
        ends = domain(values) if values.size else (0.0, 1.0)
        figures[model] = {row.cell.dataset: _panel(row, ends, grid.metric) for row in rows}
    return figures


def _panel(row: GridRow, ends: tuple[float, float], metric: str) -> str:
    if not any(entry.values.size for entry in row.entries.values()):
        return ""
    title = f"{metric}: box plot of the scores of each method on {row.cell.dataset} under {row.cell.model}"
    roles = dict.fromkeys(row.entries, METHOD) | dict.fromkeys(CONTROLS, FLOOR) | {CEILING_CALL: CEILING}
    chart = Chart(list(roles.items()), *ends, title)
    for number, (call, role) in enumerate(roles.items()):
        _box(chart, number, call, role, row.entries[call])
    return chart.svg()


class BoxPlot(NamedTuple):
    """The numbers of a box plot: quartiles, the ends of the whiskers, and outliers."""

    low: float
    q1: float
    median: float
    q3: float
    high: float
    outliers: Float64


def box_of(values: Float64) -> BoxPlot:
    """The box of some values; whiskers end at the last within `REACH` interquartile ranges of the quartiles."""
    q1, median, q3 = np.percentile(values, [25, 50, 75]).tolist()
    reach = REACH * (q3 - q1)
    inside = (values >= q1 - reach) & (values <= q3 + reach)
    low, high = min(float(values[inside].min()), q1), max(float(values[inside].max()), q3)
    return BoxPlot(low, q1, median, q3, high, values[~inside])


def _box(chart: Chart, number: int, call: str, role: str, entry: CellEntry) -> None:
    y = chart.y(number)
    if not entry.values.size:
        chart.add(f'<text class="none" x="{chart.left + 6:.1f}" y="{y + 4:.1f}">not scored, or undefined</text>')
        return
    box = box_of(entry.values)
    low, q1, median, q3, high = map(chart.x, box[:5])
    words = f"{call}: mean {entry.mean:.3f}, median {box.median:.3f}, middle half {box.q1:.3f} to {box.q3:.3f}"
    whiskers = (
        f'<path class="whisker" d="M{low:.1f} {y:.1f}H{q1:.1f}M{q3:.1f} {y:.1f}H{high:.1f}'
        f'M{low:.1f} {y - 3.5:.1f}v7M{high:.1f} {y - 3.5:.1f}v7"/>'
    )
    places = sorted({round(chart.x(value)) for value in box.outliers.tolist()})  # at most one dot for each pixel
    dots = f'<path class="outliers" d="{"".join(f"M{x} {y:.1f}h0" for x in places)}"/>' if places else ""
    chart.add(
        f'<g class="{role}"><title>{escape(words)}</title>{dots}{whiskers}'
        f"{bar('half', q1, q3, y, 11)}{median_stroke(median, y)}{mean_dot(chart.x(entry.mean), y)}</g>"
    )
