"""Curves: the mean against a parameter, where a run has one metric with several of its values."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import pairwise
from salgen.evaluation.metrics.inputs.metric import Metric
from salgen.evaluation.report.chart import WIDTH, marker, round_ticks
from salgen.evaluation.report.runs import CEILING, METHOD, LoadedRun
from salgen.evaluation.report.tables import MeansTable, has_ceiling
from salgen.evaluation.scoring.metric_selection import create_metric
from salgen.parameters import to_json

COLOURS = 10  # more could not be told apart: other methods are grey
HEIGHT = 300
LEFT, RIGHT, TOP, BOTTOM = 52, 16, 10, 42


@dataclass(frozen=True)
class Curve:
    """One method: its means, NaN where undefined, and its colour, or None for grey."""

    label: str
    role: str
    means: list[float]
    colour: int | None

    @property
    def style(self) -> str:
        """Its classes in the drawing."""
        if self.colour is not None:
            return f"curve colour-{self.colour}"
        return "curve grey" if self.role == METHOD else "curve grey dashed"


@dataclass(frozen=True)
class CurvePlots:
    """All methods under one metric, by the values of one parameter."""

    title: str
    metric: str
    parameter: str
    values: list[float]
    curves: list[Curve]

    @cached_property
    def figure(self) -> str:
        """Means as points joined by lines, as SVG; empty where nothing is defined."""
        defined = [mean for curve in self.curves for mean in curve.means if math.isfinite(mean)]
        if not defined:
            return ""
        low, high = min(defined), max(defined)
        low, high = (0.0, 1.0) if low >= 0 and 0.5 < high <= 1 else (min(low, 0.0), high if high > low else low + 1.0)
        first, last = self.values[0], self.values[-1]
        xs = [LEFT + (WIDTH - LEFT - RIGHT) * (v - first) / (last - first) for v in self.values]

        def y_of(value: float) -> float:
            return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)

        grid = "".join(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text class="left" x="{LEFT - 7}" y="{y + 4:.1f}">{t:g}</text>'
            for t, y in ((tick, y_of(tick)) for tick in round_ticks(low, high))
        )
        names = "".join(
            f'<text class="tick" x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}">{v:g}</text>'
            for v, x in zip(self.values, xs, strict=True)
        )
        axis = f'<text class="tick" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}">{escape(self.parameter)}</text>'
        coloured_last = sorted(self.curves, key=lambda curve: curve.colour is not None)
        lines = "".join(_drawn(curve, xs, [y_of(mean) for mean in curve.means]) for curve in coloured_last)
        return (
            f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(self.title)}">'
            f"{grid}{names}{axis}{lines}</svg>"
        )

    @property
    def keys(self) -> list[tuple[str, str, str]]:
        """Label, class and drawing of each coloured curve."""
        drawn = [(curve, curve.colour) for curve in self.curves if curve.colour is not None]
        return [(curve.label, curve.style, _stroke(0, 8, 24, 8) + marker(n, 12, 8)) for curve, n in drawn]

    @property
    def grey(self) -> list[str]:
        """The methods without a colour."""
        return [curve.label for curve in self.curves if curve.colour is None]


def all_curves(run: LoadedRun, model: str, order: MeansTable) -> list[CurvePlots]:
    """The curves of a run, methods in the order of a table: the first of those under test have colours."""
    tested = [line.label for line in order.lines if line.role == METHOD]
    plots = []
    for metric, parameter, calls in parameter_groups(run.metrics):
        curves = []
        for line in order.lines:
            if line.role == CEILING and not all(map(has_ceiling, calls.values())):
                continue
            rows = [run.row(model, line.key, call, run.variant_of(call)) for call in calls.values()]
            means = [row.mean if row is not None else math.nan for row in rows]
            number = tested.index(line.label) if line.role == METHOD else COLOURS
            if not all(map(math.isnan, means)):
                curves.append(Curve(line.label, line.role, means, number if number < COLOURS else None))
        title = f"{metric} against {parameter} on {run.label}"
        plots.append(CurvePlots(title, metric, parameter, list(calls), curves))
    return plots


def parameter_groups(metrics: Sequence[str]) -> Iterator[tuple[str, str, dict[float, str]]]:
    """Metric with its other parameters, the parameter in which calls differ, and its values with their calls."""
    groups: dict[tuple[str, str], dict[float, str]] = {}
    for call in metrics:
        metric = create_metric(call)
        for name, value in to_json(metric).items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                groups.setdefault((_without(metric, name), name), {})[float(value)] = call
    for (metric_call, name), calls in groups.items():
        if len(calls) > 1:
            yield metric_call, name, dict(sorted(calls.items()))


def _without(metric: Metric, parameter: str) -> str:
    """A metric's call with the parameters that differ from their defaults, except one."""
    defaults = to_json(create_metric(metric.name))
    changed = {k: v for k, v in to_json(metric).items() if v != defaults[k] and k != parameter}
    pairs = ", ".join(f"{k}={v if isinstance(v, str) else json.dumps(v)}" for k, v in changed.items())
    return f"{metric.name}: {pairs}" if pairs else metric.name


def _drawn(curve: Curve, xs: Sequence[float], ys: Sequence[float]) -> str:
    points = [(x, y) for x, y in zip(xs, ys, strict=True) if math.isfinite(y)]
    path = "".join(_stroke(*start, *end) for start, end in pairwise(points))
    marks = "" if curve.colour is None else "".join(marker(curve.colour, x, y) for x, y in points)
    words = ", ".join("undefined" if math.isnan(mean) else f"{mean:.3f}" for mean in curve.means)
    return f'<g class="{curve.style}"><title>{escape(curve.label)}: {words}</title>{path}{marks}</g>'


def _stroke(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
