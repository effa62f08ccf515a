"""Charts as inline SVG: styled by the page, so they follow its light and dark colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

import numpy as np

from salgen.evaluation.report.runs import CEILING, METHOD
from salgen.evaluation.report.tables import Line, MeansTable
from salgen.evaluation.summary import SummaryRow
from salgen.types import Float64

WIDTH = 620
ROW = 19
GAP = 9
TOP = 24
BOTTOM = 30
RIGHT = 16
CHARACTER = 6.4  # mean width at 11.5 px; labels that come out too long are clipped by the browser, not the data


@dataclass
class Chart:
    """A horizontal chart with a line for each method: where things are, and the marks so far."""

    labels: Sequence[tuple[str, str]]
    low: float
    high: float
    title: str
    left: float = 0.0
    marks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.left = 14 + CHARACTER * max(len(label) for label, _ in self.labels)
        if self.low == self.high:
            self.low, self.high = self.low - 0.5, self.high + 0.5

    def x(self, value: float) -> float:
        """Where a value stands, in pixels from the left."""
        return self.left + (WIDTH - self.left - RIGHT) * (value - self.low) / (self.high - self.low)

    def y(self, number: int) -> float:
        """The middle of a line, in pixels from the top; roles stand apart."""
        roles = [role for _, role in self.labels[: number + 1]]
        gaps = sum(before != after for before, after in pairwise(roles))
        return TOP + ROW * (number + 0.5) + GAP * gaps

    @property
    def bottom(self) -> float:
        """Where the axis stands."""
        return self.y(len(self.labels) - 1) + ROW / 2

    def add(self, markup: str) -> None:
        """Draw on top of what is there."""
        self.marks.append(markup)

    def svg(self) -> str:
        """The chart as markup."""
        height = self.bottom + BOTTOM
        ticks = _ticks(self.low, self.high)
        grid = "".join(
            f'<line class="grid" x1="{self.x(t):.1f}" x2="{self.x(t):.1f}" y1="{TOP}" y2="{self.bottom:.1f}"/>'
            f'<text class="tick" x="{self.x(t):.1f}" y="{self.bottom + 15:.1f}">{t:g}</text>'
            for t in ticks
        )
        names = "".join(
            f'<text class="name {role}" x="{self.left - 8:.1f}" y="{self.y(i) + 4:.1f}">{escape(label)}</text>'
            for i, (label, role) in enumerate(self.labels)
        )
        return (
            f'<svg class="chart" viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(self.title)}">'
            f"{grid}{names}{''.join(self.marks)}</svg>"
        )


def distribution_figure(table: MeansTable, metric: str) -> str:
    """How the scores of each method spread over the samples, all training seeds together.

    A pale bar spans the 5th to the 95th percentile, a darker one the middle half, a stroke marks the
    median and a dot the mean; small dots below are the means of single training seeds. Dashed lines stand
    at the means of the random map and of the oracle.
    """
    values = [_values(table, line, metric) for line in table.lines]
    known = np.concatenate(values)
    if not known.size:
        return ""
    low, high = _domain(known)
    title = f"{metric}: distribution of scores of each method on {table.run.label}"
    chart = Chart([(line.label, line.role) for line in table.lines], low, high, title)
    for line in table.lines:
        if line.label in ("random", "oracle"):
            _reference(chart, line.cells[metric].row.mean, line.label)
    for number, (line, scores) in enumerate(zip(table.lines, values, strict=True)):
        _spread(chart, number, line, line.cells[metric].row, scores)
        _dots(chart, number, line, _seed_means(table, line, metric))
    return chart.svg()


def _values(table: MeansTable, line: Line, metric: str) -> Float64:
    cube = table.run.cube
    series = cube.series.index((table.model, *line.key))
    values = cube.value[series, cube.metrics.index(metric), cube.variants.index(table.variant)]
    return np.asarray(values[np.isfinite(values)], dtype=np.float64)


def _seed_means(table: MeansTable, line: Line, metric: str) -> list[float]:
    """The mean of each training seed, where there are several."""
    seeds = [str(table.run.cube.seeds[i]) for i in table.run.cube.seeds_of(table.model)]
    rows = [table.run.row(table.model, line.key, metric, table.variant, seed) for seed in seeds]
    return [row.mean for row in rows if np.isfinite(row.mean)] if len(seeds) > 1 else []


def _domain(values: Float64) -> tuple[float, float]:
    """0 to 1 where the scores lie there, as most metrics' do; else as far as the scores go."""
    low, high = float(values.min()), float(values.max())
    return (0.0, 1.0) if low >= 0.0 and high <= 1.0 else (low, high)


def _spread(chart: Chart, number: int, line: Line, row: SummaryRow, scores: Float64) -> None:
    y = chart.y(number)
    if not scores.size:
        chart.add(f'<text class="none" x="{chart.left + 6:.1f}" y="{y + 4:.1f}">undefined for every sample</text>')
        return
    mean = float(scores.mean())
    p5, p25, p50, p75, p95 = np.percentile(scores, [5, 25, 50, 75, 95])
    if np.unique(scores).size > 2:
        words = f"{line.label}: mean {mean:.3f}, median {p50:.3f}, middle half {p25:.3f} to {p75:.3f}"
        x = chart.x(p50)
        median = f'<line class="median" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 6.5:.1f}" y2="{y + 6.5:.1f}"/>'
        bars = _bar("wide", chart.x(p5), chart.x(p95), y, 5) + _bar("half", chart.x(p25), chart.x(p75), y, 11) + median
    else:  # all or nothing: quartiles would say nothing
        low, high = (bound if np.isfinite(bound) else mean for bound in (row.ci_low, row.ci_high))
        words = f"{line.label}: mean {mean:.3f}, interval {low:.3f} to {high:.3f}"
        bars = _bar("half", chart.x(low), chart.x(high), y, 7)
    dot = f'<circle class="mean" cx="{chart.x(mean):.1f}" cy="{y:.1f}" r="3.4"/>'
    chart.add(f'<g class="{line.role}"><title>{escape(words)}</title>{bars}{dot}</g>')


def _bar(style: str, start: float, end: float, y: float, height: float) -> str:
    width = max(end - start, 1.0)
    return (
        f'<rect class="{style}" x="{start:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" '
        f'height="{height}" rx="1.5"/>'
    )


def _dots(chart: Chart, number: int, line: Line, means: Sequence[float]) -> None:
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
    found = [{line.label: line.cells[metric].row for line in table.lines} for table in tables]
    rows = [row for by_label in found for row in by_label.values()]
    known = np.array([v for row in rows for v in (row.mean, row.ci_low, row.ci_high) if np.isfinite(v)])
    if not known.size:
        return ""
    chart = Chart(list(lines.items()), *_domain(known), f"{metric} of each method on {', '.join(names)}")
    for number, label in enumerate(lines):
        for place, (name, by_label) in enumerate(zip(names, found, strict=True)):
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


def marker(place: int, x: float, y: float) -> str:
    """The shape that stands for a data set: disc, diamond, square, triangle."""
    r, d = 3.6, 4.6
    shapes = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}"/>',
        f'<path d="M{x - d:.1f} {y:.1f}L{x:.1f} {y - d:.1f}L{x + d:.1f} {y:.1f}L{x:.1f} {y + d:.1f}Z"/>',
        f'<rect x="{x - r + 0.4:.1f}" y="{y - r + 0.4:.1f}" width="{2 * r - 0.8:.1f}" height="{2 * r - 0.8:.1f}"/>',
        f'<path d="M{x - r:.1f} {y + r:.1f}L{x:.1f} {y - r:.1f}L{x + r:.1f} {y + r:.1f}Z"/>',
    )
    return shapes[place % 4]


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers that divide a range into about five."""
    rough = (high - low) / 5
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    first = int(np.ceil(low / step - 1e-9))
    last = int(np.floor(high / step + 1e-9))
    return [round(i * step, 10) for i in range(first, last + 1)]
