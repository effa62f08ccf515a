"""Charts of means and of distributions as inline SVG: styled by the page, so they follow its light and dark colours."""

from collections.abc import Sequence
from html import escape

import numpy as np

from salgen.evaluation.report.cell_scores import scores
from salgen.evaluation.report.chart import ROW, TOP, Chart, bar, domain, marker
from salgen.evaluation.report.runs import CEILING, METHOD
from salgen.evaluation.report.tables import NO_CEILING, MeansTable, TableLine
from salgen.evaluation.statistics.summary import SummaryRow
from salgen.types import Float64


def distribution_figure(table: MeansTable, metric: str) -> str:
    """The distribution of each method's scores over the samples, all training seeds together, as SVG.

    A pale bar spans the 5th to the 95th percentile, a darker one the middle half, a stroke marks the
    median and a dot the mean; small dots below are the means of single training seeds. Dashed lines stand
    at the means of the random map and of the oracle.
    """
    lines = [line for line in table.lines if line.cells[metric].absent != NO_CEILING]
    spreads = [_values(table, line, metric) for line in lines]
    pooled = np.concatenate(spreads)
    if not pooled.size:
        return ""
    low, high = domain(pooled)
    title = f"{metric}: distribution of scores of each method on {table.run.label}"
    chart = Chart([(line.label, line.role) for line in lines], low, high, title)
    for number, (line, values) in enumerate(zip(lines, spreads, strict=True)):
        row = line.cells[metric].row
        if row is not None and line.label in ("random", "oracle"):
            _reference(chart, row.mean, line.label)
        _spread(chart, number, line, row, values)
        _dots(chart, number, line, _seed_means(table, line, metric))
    return chart.svg()


def _values(table: MeansTable, line: TableLine, metric: str) -> Float64:
    values, _ = scores(table.run, table.run.cube.series.index((table.model, *line.key)), metric)
    return values[np.isfinite(values)]


def _seed_means(table: MeansTable, line: TableLine, metric: str) -> list[float]:
    """The mean of each training seed, where there are several."""
    seeds = [str(table.run.cube.seeds[i]) for i in table.run.cube.seeds_of(table.model)]
    variant = table.run.variant_of(metric)
    rows = [table.run.row(table.model, line.key, metric, variant, seed) for seed in seeds]
    means = [row.mean for row in rows if row is not None and np.isfinite(row.mean)]
    return means if len(seeds) > 1 else []


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
        x = chart.x(p50)
        median = f'<line class="median" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 6.5:.1f}" y2="{y + 6.5:.1f}"/>'
        bars = bar("wide", chart.x(p5), chart.x(p95), y, 5) + bar("half", chart.x(p25), chart.x(p75), y, 11) + median
    else:  # two values at most: quartiles would be meaningless
        low, high = (bound if np.isfinite(bound) else mean for bound in (row.ci_low, row.ci_high))
        words = f"{line.label}: mean {mean:.3f}, interval {low:.3f} to {high:.3f}"
        bars = bar("half", chart.x(low), chart.x(high), y, 7)
    dot = f'<circle class="mean" cx="{chart.x(mean):.1f}" cy="{y:.1f}" r="3.4"/>'
    chart.add(f'<g class="{line.role}"><title>{escape(words)}</title>{bars}{dot}</g>')


def _dots(chart: Chart, number: int, line: TableLine, means: Sequence[float]) -> None:
    y = chart.y(number) + ROW / 2 - 2
    for mean in means:
        chart.add(f'<circle class="seed {line.role}" cx="{chart.x(mean):.1f}" cy="{y:.1f}" r="1.5"/>')


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
