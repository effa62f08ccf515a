"""The order of methods as a picture: mean places with their intervals, and the place on each data set."""

from collections.abc import Sequence
from html import escape

import numpy as np

from salgen.evaluation.bench.standing import ALPHA, Standing
from salgen.evaluation.report.chart import ROW, Chart, bar
from salgen.evaluation.report.formatting import call
from salgen.evaluation.report.runs import FLOOR, METHOD


def standing_figure(standing: Standing, datasets: Sequence[str], title: str) -> str:
    """Methods in SVG, the best at the top, from place 0 at the left to 1; pale where the test tells one from the first.

    A bar is the 95 % interval, a dot the mean, and small dots below are the places on each of `datasets`.
    """
    differs = standing.p_values[0] <= ALPHA
    labels = [(call(method), FLOOR if pale else METHOD) for method, pale in zip(standing.methods, differs, strict=True)]
    chart = Chart(labels, 0.0, 1.0, title, apart=False)
    for number, (label, role) in enumerate(labels):
        mean, low, high = (float(of[number]) for of in (standing.places, standing.low, standing.high))
        y = chart.y(number)
        interval = bar("half", chart.x(low), chart.x(high), y, 7) if np.isfinite(low) else ""
        chart.add(
            f'<g class="{role}"><title>{escape(label)}: {mean:.3f}, {low:.3f} to {high:.3f}</title>{interval}'
            f'<circle class="mean" cx="{chart.x(mean):.1f}" cy="{y:.1f}" r="3.4"/></g>'
        )
        for dataset, place in zip(datasets, standing.by_dataset[number].tolist(), strict=True):
            if np.isfinite(place):
                chart.add(
                    f'<circle class="seed {role}" cx="{chart.x(place):.1f}" cy="{y + ROW / 2 - 2:.1f}" r="1.5">'
                    f"<title>{escape(label)} on {escape(dataset)}: {place:.3f}</title></circle>"
                )
    return chart.svg()
