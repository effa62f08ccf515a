"""Curves: the mean against a parameter, where a run has one metric with several of its values."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from salgen.evaluation.report.chart import WIDTH, marker, round_ticks
from salgen.evaluation.report.runs import CEILING, METHOD, Run
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

    metric: str
    parameter: str
    values: list[float]
    curves: list[Curve]
    figure: str

    @property
    def keys(self) -> list[tuple[str, str, str]]:
        """Label, class and drawing of each coloured curve."""
        drawn = [(curve, curve.colour) for curve in self.curves if curve.colour is not None]
        return [(curve.label, curve.style, _stroke(0, 8, 24, 8) + marker(n, 12, 8)) for curve, n in drawn]

    @property
    def grey(self) -> list[str]:
        """The methods without a colour."""
        return [curve.label for curve in self.curves if curve.colour is None]


def all_curves(run: Run, model: str, order: MeansTable) -> list[CurvePlots]:
    """The curves of a run, methods in the order of a table: the first of those under test have colours."""
    return [_curves(run, model, order, *group) for group in parameter_groups(run.metrics)]


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


def _without(metric: object, parameter: str) -> str:
    """A metric's call with the parameters that differ from their defaults, except one."""
    defaults = to_json(create_metric(metric.name))  # type: ignore[attr-defined]
    changed = {k: v for k, v in to_json(metric).items() if v != defaults[k] and k != parameter}
    pairs = ", ".join(
        f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in changed.items()
    )
    return f"{metric.name}: {pairs}" if pairs else str(metric.name)  # type: ignore[attr-defined]


def _curves(
    run: Run, model: str, order: MeansTable, metric: str, parameter: str, calls: dict[float, str]
) -> CurvePlots:
    tested = [line.label for line in order.lines if line.role == METHOD]
    curves = []
    shown = [line for line in order.lines if line.role != CEILING or all(map(has_ceiling, calls.values()))]
    for line in shown:
        rows = [run.row(model, line.key, call, run.variant_of(call)) for call in calls.values()]
        means = [row.mean if row is not None else math.nan for row in rows]
        number = tested.index(line.label) if line.role == METHOD else COLOURS
        if not all(map(math.isnan, means)):
            curves.append(Curve(line.label, line.role, means, number if number < COLOURS else None))
    title = f"{metric} against {parameter} on {run.label}"
    return CurvePlots(metric, parameter, list(calls), curves, curve_figure(title, parameter, list(calls), curves))


def curve_figure(title: str, parameter: str, values: Sequence[float], curves: Sequence[Curve]) -> str:
    """Means as points joined by lines; empty where nothing is defined."""
    defined = [mean for curve in curves for mean in curve.means if math.isfinite(mean)]
    if not defined:
        return ""
    low, high = min(defined), max(defined)
    low, high = (0.0, 1.0) if low >= 0 and 0.5 < high <= 1 else (min(low, 0.0), high if high > low else low + 1.0)
    xs = [LEFT + (WIDTH - LEFT - RIGHT) * (v - values[0]) / (values[-1] - values[0]) for v in values]
    place = {mean: HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (mean - low) / (high - low) for mean in defined}
    ticks = [(t, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (t - low) / (high - low)) for t in round_ticks(low, high)]
    grid = "".join(
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="left" x="{LEFT - 7}" y="{y + 4:.1f}">{t:g}</text>'
        for t, y in ticks
    )
    names = "".join(
        f'<text class="tick" x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}">{v:g}</text>'
        for v, x in zip(values, xs, strict=True)
    )
    axis = f'<text class="tick" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}">{escape(parameter)}</text>'
    lines = "".join(_drawn(curve, xs, place) for curve in sorted(curves, key=lambda c: c.colour is not None))
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{grid}{names}{axis}{lines}</svg>"
    )


def _drawn(curve: Curve, xs: Sequence[float], place: dict[float, float]) -> str:
    points = [(x, place[mean]) for x, mean in zip(xs, curve.means, strict=True) if math.isfinite(mean)]
    path = "".join(_stroke(*start, *end) for start, end in pairwise(points))
    marks = "" if curve.colour is None else "".join(marker(curve.colour, x, y) for x, y in points)
    words = ", ".join("undefined" if math.isnan(mean) else f"{mean:.3f}" for mean in curve.means)
    return f'<g class="{curve.style}"><title>{escape(curve.label)}: {words}</title>{path}{marks}</g>'


def _stroke(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
