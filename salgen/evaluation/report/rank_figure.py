"""The critical-difference plot: mean ranks over samples, and the groups that do not differ."""

from html import escape

import numpy as np

from salgen.evaluation.report.chart import ROW, TOP, WIDTH, Chart
from salgen.evaluation.report.runs import Run
from salgen.evaluation.statistics.ranks import MeanRanks

GAP = 9  # between the bars of two cliques


def rank_figure(run: Run, ranks: MeanRanks) -> str:
    """Mean ranks as dots in SVG, the best at the top; a bar at the right joins methods that do not differ.

    The bar at the top is as long as the critical difference.
    """
    labels = [(run.method_label(ranks.model, key), run.role(key[0])) for key in ranks.keys]
    title = f"Mean ranks of each method by {ranks.metric} on {run.label}"
    high = max(float(np.ceil(ranks.ranks.max())), 1.0 + ranks.critical_difference)
    chart = Chart(labels, 1.0, high, title, right=16.0 + GAP * (1 + len(ranks.cliques)), apart=False, head=22)
    for number, ((label, role), rank) in enumerate(zip(labels, ranks.ranks.tolist(), strict=True)):
        x, y = chart.x(rank), chart.y(number)
        chart.add(
            f'<g class="{role}"><title>{escape(label)}: mean rank {rank:.2f}</title>'
            f'<line class="stem" x1="{chart.x(1.0):.1f}" x2="{x:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<circle class="mean" cx="{x:.1f}" cy="{y:.1f}" r="3.8"/></g>'
            f'<text class="value" x="{x + 7:.1f}" y="{y + 4:.1f}">{rank:.2f}</text>'
        )
    for place, (start, stop) in enumerate(ranks.cliques):
        _clique(chart, place, start, stop, [label for label, _ in labels])
    _scale(chart, ranks.critical_difference)
    return chart.svg()


def _clique(chart: Chart, place: int, start: int, stop: int, labels: list[str]) -> None:
    x = WIDTH - chart.right + GAP * (place + 1)
    top, bottom = chart.y(start) - ROW / 3, chart.y(stop - 1) + ROW / 3
    words = f"no difference among {', '.join(labels[start:stop])}"
    chart.add(
        f'<g class="clique"><title>{escape(words)}</title>'
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}"/></g>'
    )


def _scale(chart: Chart, difference: float) -> None:
    """The critical difference, drawn to scale above the axis."""
    start, end, y = chart.x(1.0), chart.x(1.0 + difference), TOP - 4
    ends = "".join(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y - 4}" y2="{y + 4}"/>' for x in (start, end))
    chart.add(
        f'<g class="critical"><title>critical difference {difference:.2f}</title>'
        f'<line x1="{start:.1f}" x2="{end:.1f}" y1="{y}" y2="{y}"/>{ends}</g>'
        f'<text class="critical" x="{(start + end) / 2:.1f}" y="{y - 7}">critical difference {difference:.2f}</text>'
    )
