"""Box plots of a grid's scores: for each model one figure with a panel for each data set, as inline SVG."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

from salgen.evaluation.report.cell_scores import CellEntry
from salgen.evaluation.report.chart import Chart, bar, domain
from salgen.evaluation.report.grid import CEILING_CALL, CONTROLS, GridRow, VariantGrid
from salgen.evaluation.report.runs import CEILING, FLOOR, METHOD
from salgen.types import Float64

REACH = 1.5  # longest whisker, in interquartile ranges


@dataclass(frozen=True)
class BoxFigure:
    """The box plots of one model."""

    model: str
    panels: dict[str, str]  # data set to its box plots, an SVG; empty where nothing is defined


def box_figures(grid: VariantGrid) -> list[BoxFigure]:
    """The figures of all models, in the order of their first cell."""
    models = dict.fromkeys(row.cell.model for row in grid.rows)
    return [_figure(grid, model) for model in models]


def _figure(grid: VariantGrid, model: str) -> BoxFigure:
    rows = [row for row in grid.rows if row.cell.model == model]
    values = np.concatenate([entry.values for row in rows for entry in row.entries.values()])
    ends = domain(values) if values.size else (0.0, 1.0)
    return BoxFigure(model, {row.cell.dataset: _panel(row, ends, grid.metric) for row in rows})


def role_of(call: str) -> str:
    """The role of a column of a grid: method, floor or ceiling."""
    if call not in CONTROLS:
        return METHOD
    return CEILING if call == CEILING_CALL else FLOOR


def _panel(row: GridRow, ends: tuple[float, float], metric: str) -> str:
    if not any(entry.values.size for entry in row.entries.values()):
        return ""
    title = f"{metric}: box plot of the scores of each method on {row.cell.dataset} under {row.cell.model}"
    chart = Chart([(call, role_of(call)) for call in row.entries], *ends, title)
    for number, (call, entry) in enumerate(row.entries.items()):
        _box(chart, number, call, entry)
    return chart.svg()


@dataclass(frozen=True)
class FigureBox:
    """The numbers of a box plot: quartiles, the ends of the whiskers, and outliers."""

    low: float
    q1: float
    median: float
    q3: float
    high: float
    outliers: Float64

    @classmethod
    def of(cls, values: Float64) -> FigureBox:
        """The box of some values; whiskers end at the last within `REACH` interquartile ranges of the quartiles."""
        q1, median, q3 = np.percentile(values, [25, 50, 75])
        reach = REACH * (q3 - q1)
        inside = (values >= q1 - reach) & (values <= q3 + reach)
        low, high = min(values[inside].min(), q1), max(values[inside].max(), q3)
        return cls(float(low), float(q1), float(median), float(q3), float(high), values[~inside])


def _box(chart: Chart, number: int, call: str, entry: CellEntry) -> None:
    y = chart.y(number)
    if not entry.values.size:
        chart.add(f'<text class="none" x="{chart.left + 6:.1f}" y="{y + 4:.1f}">not scored, or undefined</text>')
        return
    box = FigureBox.of(entry.values)
    low, q1, x, q3, high = map(chart.x, (box.low, box.q1, box.median, box.q3, box.high))
    words = f"{call}: mean {entry.mean:.3f}, median {box.median:.3f}, middle half {box.q1:.3f} to {box.q3:.3f}"
    whiskers = (
        f'<path class="whisker" d="M{low:.1f} {y:.1f}H{q1:.1f}M{q3:.1f} {y:.1f}H{high:.1f}'
        f'M{low:.1f} {y - 3.5:.1f}v7M{high:.1f} {y - 3.5:.1f}v7"/>'
    )
    median = f'<line class="median" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 6.5:.1f}" y2="{y + 6.5:.1f}"/>'
    dot = f'<circle class="mean" cx="{chart.x(entry.mean):.1f}" cy="{y:.1f}" r="3.4"/>'
    chart.add(
        f'<g class="{role_of(call)}"><title>{escape(words)}</title>{_dots(chart, box.outliers, y)}{whiskers}'
        f"{bar('half', q1, q3, y, 11)}{median}{dot}</g>"
    )


def _dots(chart: Chart, outliers: Float64, y: float) -> str:
    """Outliers as dots, at most one for each pixel."""
    places = sorted({round(chart.x(value)) for value in outliers.tolist()})
    return f'<path class="outliers" d="{"".join(f"M{x} {y:.1f}h0" for x in places)}"/>' if places else ""
