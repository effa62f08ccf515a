"""Charts of means, distributions, ranks and curves as inline SVG.

The page styles them, so they follow its light and dark colours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING
import numpy as np
from salgen.errors import SalgenError
from salgen.evaluation.report.grid import CEILING_CALL, CONTROLS
from salgen.evaluation.report.runs import CEILING, FLOOR, METHOD, LoadedRun
from salgen.evaluation.report.tables import NO_CEILING, Table, has_ceiling
from salgen.evaluation.scoring.metric_selection import create_metric
from salgen.evaluation.statistics.ranks import MeanRanks
from salgen.evaluation.statistics.summary import SummaryRow
from salgen.files import atomic_path
from salgen.parameters import call_text, to_json
from salgen.types import Float64

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, ROW, GAP, TOP, FOOT, RIGHT = 620, 19, 9, 24, 44, 16
PHONE = 328  # pixels beside the margins of a screen of 360
CHARACTER = 7.9  # mean width at 12.6 px, of names with many wide letters
CLIQUE_GAP = 9  # between the bars of two cliques
COLOURS = 10  # curves beyond these are grey: more could not be told apart
STABLE = {"pdf.fonttype": 42, "svg.hashsalt": "salgen", "svg.fonttype": "none", "savefig.dpi": 110}
HEIGHT, LEFT, BOTTOM = 300, 52, 42  # pixels of a chart of curves


@dataclass
class Chart:
    """A horizontal chart with a line for each method: its layout, and the marks so far.

    `labels` are names with roles, with gaps between roles if `apart`; `axis` is the title of the axis; `right` and
    `head` are margins in pixels. On a `phone` names stand above their lines.
    """

    labels: Sequence[tuple[str, str]]
    low: float
    high: float
    title: str
    axis: str
    right: float = RIGHT
    apart: bool = True
    head: float = 0.0
    phone: bool = False
    left: float = 0.0
    marks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.left = 14 + (0 if self.phone else CHARACTER * max(len(label) for label, _ in self.labels))
        if self.low == self.high:
            self.low, self.high = self.low - 0.5, self.high + 0.5

    def x(self, value: float) -> float:
        """The position of a value, in pixels from the left."""
        width = PHONE if self.phone else WIDTH
        return self.left + (width - self.left - self.right) * (value - self.low) / (self.high - self.low)

    def y(self, number: int) -> float:
        """The middle of a line, in pixels from the top, gaps between roles included."""
        roles = [role for _, role in self.labels[: number + 1]]
        gaps = sum(before != after for before, after in pairwise(roles)) if self.apart else 0
        return TOP + self.head + ROW * ((1 + self.phone) * (number + 1) - 0.5) + GAP * gaps

    @property
    def bottom(self) -> float:
        """The position of the axis, in pixels from the top."""
        return self.y(len(self.labels) - 1) + ROW / 2

    def add(self, markup: str) -> None:
        """Draw on top of the marks so far."""
        self.marks.append(markup)

    def svg(self) -> str:
        """The chart as markup."""
        grid = "".join(
            f'<line class="grid" x1="{self.x(t):.1f}" x2="{self.x(t):.1f}" y1="{TOP}" y2="{self.bottom:.1f}"/>'
            f'<text class="tick" x="{self.x(t):.1f}" y="{self.bottom + 15:.1f}">{t:g}</text>'
            for t in round_ticks(self.low, self.high)
        )
        names = "".join(
            f'<text class="name {role}" x="{self.left - 8:.1f}" y="{self.y(i) + 4 - ROW * self.phone:.1f}">'
            f"{escape(label)}</text>"
            for i, (label, role) in enumerate(self.labels)
        )
        style, width = ("chart phone", PHONE) if self.phone else ("chart", WIDTH)
        height = self.bottom + FOOT
        return (
            f'<svg class="{style}" viewBox="0 0 {width} {height:.0f}" role="img" aria-label="{escape(self.title)}">'
            f'{grid}<text class="tick" x="{(self.left + width - self.right) / 2:.1f}" y="{height - 7:.1f}">'
            f"{escape(self.axis)}</text>{names}{''.join(self.marks)}</svg>"
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


def round_ticks(low: float, high: float) -> list[float]:
    """Round numbers that divide a range into about five."""
    from matplotlib.ticker import MaxNLocator  # takes a fifth of a second

    ticks = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in ticks if low - 1e-9 <= tick <= high + 1e-9]


def domain(values: Float64) -> tuple[float, float]:
    """The range of an axis: 0 to 1 where all scores lie in it, as most metrics' do; otherwise that of the scores."""
    low, high = float(values.min()), float(values.max())
    return (0.0, 1.0) if low >= 0.0 and high <= 1.0 else (low, high)


def mean_dot(x: float, y: float, radius: float = 3.4) -> str:
    """A disc at a mean."""
    return f'<circle class="mean" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, SVG or PDF, by the ending: TrueType fonts embedded, the same bytes each time."""
    from matplotlib import rc_context

    form = path.suffix[1:].lower()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
    if form not in undated:
        raise SalgenError(f"{path.name} is no name of a figure: end it with .png, .svg or .pdf")
    with atomic_path(path) as temporary, rc_context(STABLE):
        figure.savefig(temporary, format=form, metadata=undated[form])


def bar(style: str, start: float, end: float, y: float, height: float) -> str:
    """A horizontal bar about the height `y`, at least a pixel long."""
    width = max(end - start, 1.0)
    return (
        f'<rect class="{style}" x="{start:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" '
        f'height="{height}" rx="1.5"/>'
    )


def distribution_figure(table: Table, metric: str) -> str:
    """The distribution of each method's scores over the samples, all training seeds together, as SVG.

    Small dots below are the means of single training seeds. Dashed lines stand at the means of the random map and of
    the oracle.
    """
    run, model = table.run, table.model
    lines = [line for line in table.lines if line.cells[metric].absent != NO_CEILING]
    scores = [run.scores(run.cube.series.index((model, *line.key)), metric)[0] for line in lines]
    spreads = [values[np.isfinite(values)] for values in scores]
    pooled = np.concatenate(spreads)
    if not pooled.size:
        return ""
    title = f"{metric}: distribution of scores of each method on {run.label}"
    chart = Chart([(line.label, line.role) for line in lines], *domain(pooled), title, metric)
    seeds = [str(run.cube.seeds[i]) for i in run.cube.seeds_of(model)]
    for number, (line, values) in enumerate(zip(lines, spreads, strict=True)):
        row = line.cells[metric].row
        if row is not None and line.label in CONTROLS and np.isfinite(row.mean):
            x, at_end = chart.x(row.mean), row.mean > chart.low + 0.9 * (chart.high - chart.low)
            chart.add(
                f'<line class="reference" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 4}" y2="{chart.bottom:.1f}"/>'
                f'<text class="reference" x="{x:.1f}" y="{TOP - 9}" '
                f'text-anchor="{"end" if at_end else "middle"}">{line.label}</text>'
            )
        _spread(chart, number, values, "not scored" if row is None else "undefined for every sample", row)
        y = chart.y(number) + ROW / 2 - 2
        for seed in seeds if len(seeds) > 1 else ():
            of_seed = run.row(model, line.key, metric, run.variant_of(metric), seed)
            if of_seed is not None and np.isfinite(of_seed.mean):
                x = chart.x(of_seed.mean)
                chart.add(f'<circle class="seed {line.role}" cx="{x:.1f}" cy="{y:.1f}" r="1.5"/>')
    return chart.svg()


def _spread(chart: Chart, number: int, values: Float64, absent: str, row: SummaryRow | None = None) -> None:
    """A pale bar from the 5th to the 95th percentile, a darker one over the middle half, a stroke at the median.

    Of two values at most the darker bar is the interval of the mean, as quartiles would be meaningless.
    """
    y, (label, role) = chart.y(number), chart.labels[number]
    if not values.size:
        chart.add(f'<text class="none" x="{chart.left + 6:.1f}" y="{y + 4:.1f}">{absent}</text>')
        return
    mean = float(values.mean())
    p5, p25, p50, p75, p95 = np.percentile(values, [5, 25, 50, 75, 95])
    if row is None or np.unique(values).size > 2:
        words = f"{label}: mean {mean:.3f}, median {p50:.3f}, middle half {p25:.3f} to {p75:.3f}"
        bars = bar("wide", chart.x(p5), chart.x(p95), y, 5) + bar("half", chart.x(p25), chart.x(p75), y, 11)
        x = chart.x(p50)
        bars += f'<line class="median" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 6.5:.1f}" y2="{y + 6.5:.1f}"/>'
    else:
        low, high = (bound if np.isfinite(bound) else mean for bound in (row.ci_low, row.ci_high))
        words = f"{label}: mean {mean:.3f}, interval {low:.3f} to {high:.3f}"
        bars = bar("half", chart.x(low), chart.x(high), y, 7)
    chart.add(f'<g class="{role}"><title>{escape(words)}</title>{bars}{mean_dot(chart.x(mean), y)}</g>')


def means_figure(tables: Sequence[Table], names: Sequence[str], metric: str) -> str:
    """Means and intervals of each method, the best first; on several data sets or models a mark for each.

    The markup holds a chart for wide windows and one for phones, of which the page shows one.
    """
    roles = {line.label: role for role in (METHOD, CEILING, FLOOR) for t in tables for line in t.groups.get(role, [])}
    found = [{line.label: line.cells[metric].row for line in table.lines} for table in tables]
    rows = [row for by_label in found for row in by_label.values() if row is not None]
    values = np.array([v for row in rows for v in (row.mean, row.ci_low, row.ci_high) if np.isfinite(v)])
    if not values.size:
        return ""
    title = f"{metric} of each method on {', '.join(names)}"
    charts = [Chart(list(roles.items()), *domain(values), title, metric, phone=phone) for phone in (False, True)]
    return "".join(_means(chart, names, found) for chart in charts)


def _means(chart: Chart, names: Sequence[str], found: Sequence[Mapping[str, SummaryRow | None]]) -> str:
    for number, (label, role) in enumerate(chart.labels):
        for place, (name, by_label) in enumerate(zip(names, found, strict=True)):
            row = by_label.get(label)
            if row is None or not np.isfinite(row.mean):
                continue
            y = chart.y(number) + min(5.0, 12.0 / len(names)) * (place - (len(names) - 1) / 2)
            low, high = (chart.x(bound if np.isfinite(bound) else row.mean) for bound in (row.ci_low, row.ci_high))
            chart.add(
                f'<g class="series {f"series-{place % 4}" if len(names) > 1 else role}">'
                f"<title>{escape(f'{label} on {name}: {row.mean:.3f}')}</title>"
                f"{_stroke(low, y, high, y)}{marker(place, chart.x(row.mean), y)}</g>"
            )
    return chart.svg()


def rank_figure(run: LoadedRun, ranks: MeanRanks) -> str:
    """The critical-difference plot: mean ranks as dots, the best at the top; a bar joins methods that do not differ.

    The bar at the top is as long as the critical difference.
    """
    labels = [(call, run.role(call)) for call, _ in ranks.keys]
    title = f"Mean ranks of each method by {ranks.metric} on {run.label}"
    high = max(float(np.ceil(ranks.ranks.max())), 1.0 + ranks.critical_difference)
    margin = 16.0 + CLIQUE_GAP * (1 + len(ranks.cliques))
    chart = Chart(labels, 1.0, high, title, f"mean rank by {ranks.metric}", right=margin, apart=False, head=22)
    for number, ((label, role), rank) in enumerate(zip(labels, ranks.ranks.tolist(), strict=True)):
        x, y = chart.x(rank), chart.y(number)
        chart.add(
            f'<g class="{role}"><title>{escape(label)}: mean rank {rank:.2f}</title>'
            f'<g class="stem">{_stroke(chart.x(1.0), y, x, y)}</g>{mean_dot(x, y, 3.8)}</g>'
            f'<text class="value" x="{x + 7:.1f}" y="{y + 4:.1f}">{rank:.2f}</text>'
        )
    for place, (start, stop) in enumerate(ranks.cliques):
        x = WIDTH - margin + CLIQUE_GAP * (place + 1)
        top, bottom = chart.y(start) - ROW / 3, chart.y(stop - 1) + ROW / 3
        words = f"no difference among {', '.join(label for label, _ in labels[start:stop])}"
        chart.add(f'<g class="clique"><title>{escape(words)}</title>{_stroke(x, top, x, bottom)}</g>')
    difference, above = ranks.critical_difference, TOP - 4
    left, right = chart.x(1.0), chart.x(1.0 + difference)
    ends = "".join(_stroke(x, above - 4, x, above + 4) for x in (left, right))
    words = f"critical difference {difference:.2f}"
    chart.add(
        f'<g class="critical"><title>{words}</title>{_stroke(left, above, right, above)}{ends}</g>'
        f'<text class="critical" x="{(left + right) / 2:.1f}" y="{above - 7}">{words}</text>'
    )
    return chart.svg()


def box_figures(rows: Sequence[SimpleNamespace], metric: str) -> dict[str, dict[str, str]]:
    """The distributions of a grid's scores: model to data set to SVG, which is empty where nothing is defined.

    All plots of a model share one axis.
    """
    figures: dict[str, dict[str, str]] = {}
    for model in dict.fromkeys(row.cell.model for row in rows):
        own = {row.cell.dataset: row.entries for row in rows if row.cell.model == model}
        values = np.concatenate([entry.values for entries in own.values() for entry in entries.values()])
        figures[model] = dict.fromkeys(own, "")
        for data, entries in own.items():
            if any(entry.values.size for entry in entries.values()):
                roles = dict.fromkeys(entries, METHOD) | dict.fromkeys(CONTROLS, FLOOR) | {CEILING_CALL: CEILING}
                title = f"{metric}: scores of each method on {data} under {model}"
                chart = Chart(list(roles.items()), *domain(values), title, metric)
                for number, call in enumerate(roles):
                    _spread(chart, number, entries[call].values, "not scored, or undefined")
                figures[model][data] = chart.svg()
    return figures


def all_curves(run: LoadedRun, model: str, order: Table) -> list[SimpleNamespace]:
    """The mean against a parameter, where a run has one metric with several of its values.

    Methods are in the order of a table: the first of those under test have colours.
    """
    tested = [line.label for line in order.groups.get(METHOD, [])][:COLOURS]
    plots = []
    for metric, parameter, calls in parameter_groups(run.metrics):
        curves = []
        for line in order.lines:
            if line.role == CEILING and not all(map(has_ceiling, calls.values())):
                continue
            rows = [run.row(model, line.key, call, run.variant_of(call)) for call in calls.values()]
            means = [row.mean if row is not None else math.nan for row in rows]
            colour = tested.index(line.label) if line.label in tested else None
            style = f"colour-{colour}" if colour is not None else "grey" if line.role == METHOD else "grey dashed"
            if not all(map(math.isnan, means)):
                curves.append(SimpleNamespace(label=line.label, means=means, colour=colour, style=f"curve {style}"))
        coloured = [curve for curve in curves if curve.colour is not None]
        plot = SimpleNamespace(
            metric=metric,
            parameter=parameter,
            values=list(calls),
            curves=curves,
            figure=_curve_figure(
                f"{metric} against {parameter} on {run.label}", metric, parameter, list(calls), curves
            ),
            keys=[(one.label, one.style, _stroke(0, 8, 24, 8) + marker(one.colour, 12, 8)) for one in coloured],
            grey=[curve.label for curve in curves if curve.colour is None],
        )
        plots.append(plot)
    return plots


def _curve_figure(
    metric: str, parameter: str, where: str, values: Sequence[float], curves: Sequence[SimpleNamespace]
) -> str:
    """Means as points joined by lines, as SVG; empty where nothing is defined."""
    defined = [mean for curve in curves for mean in curve.means if math.isfinite(mean)]
    if not defined:
        return ""
    low, high = min(defined), max(defined)
    low, high = (0.0, 1.0) if low >= 0 and 0.5 < high <= 1 else (min(low, 0.0), high if high > low else low + 1.0)
    right, bottom, title = WIDTH - 16, HEIGHT - BOTTOM, escape(f"{metric} against {parameter} on {where}")
    xs = np.interp(values, [values[0], values[-1]], [LEFT, right])

    def y_of(value: float) -> float:
        return bottom - (bottom - 10) * (value - low) / (high - low)

    grid = "".join(
        f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y_of(t):.1f}" y2="{y_of(t):.1f}"/>'
        f'<text class="left" x="{LEFT - 7}" y="{y_of(t) + 4:.1f}">{t:g}</text>'
        for t in round_ticks(low, high)
    )
    names = "".join(
        f'<text class="tick" x="{x:.1f}" y="{bottom + 16}">{v:g}</text>' for v, x in zip(values, xs, strict=True)
    )
    axis = f'<text class="tick" x="{(LEFT + right) / 2}" y="{HEIGHT - 6}">{escape(parameter)}</text>'
    axis += f'<text class="tick" transform="translate(11 {bottom / 2}) rotate(-90)">{escape(metric)}</text>'
    lines = ""
    for curve in sorted(curves, key=lambda curve: curve.colour is not None):
        points = [(x, y_of(mean)) for x, mean in zip(xs, curve.means, strict=True) if math.isfinite(mean)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        marks = "" if curve.colour is None else "".join(marker(curve.colour, *point) for point in points)
        words = ", ".join("undefined" if math.isnan(mean) else f"{mean:.3f}" for mean in curve.means)
        lines += f'<g class="{curve.style}"><title>{escape(curve.label)}: {words}</title>'
        lines += f'<polyline fill="none" points="{line}"/>{marks}</g>'
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">'
        f"{grid}{names}{axis}{lines}</svg>"
    )


def parameter_groups(metrics: Sequence[str]) -> Iterator[tuple[str, str, dict[float, str]]]:
    """Metric with its other parameters, the parameter in which calls differ, and its values with their calls."""
    groups: dict[tuple[str, str], dict[float, str]] = {}
    for call in metrics:
        metric = create_metric(call)
        for name, value in to_json(metric).items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                by_default = replace(metric, **{name: getattr(create_metric(metric.name), name)})
                groups.setdefault((call_text(by_default), name), {})[float(value)] = call
    for (metric_call, name), calls in groups.items():
        if len(calls) > 1:
            yield metric_call, name, dict(sorted(calls.items()))


def _stroke(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
