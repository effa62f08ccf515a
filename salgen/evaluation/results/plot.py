"""Means of methods with their intervals, on matplotlib axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from salgen.evaluation.report.runs import CEILING, FLOOR, METHOD
from salgen.evaluation.report.verdicts import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {METHOD: "tab:blue", FLOOR: "0.6", CEILING: "tab:green"}


def plot_means(outcome: Verdict, ax: Axes | None = None) -> Axes:
    """A dot at each mean and a line over its 95 % interval, the best method on top.

    Parameters
    ----------
    outcome
        The model, metric, variant and samples that are shown.
    ax
        The axes to draw on; new ones by default.
    """
    import matplotlib.pyplot as plt

    run = outcome.run
    rows = {key: row for key in run.keys(outcome.model) if (row := outcome.row(key)) and not np.isnan(row.mean)}
    sign = 1.0 if run.higher_is_better[outcome.metric] else -1.0
    ordered = sorted(rows, key=lambda key: sign * rows[key].mean)
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 0.8 + 0.26 * len(ordered)), layout="constrained")
    for place, key in enumerate(ordered):
        row, colour = rows[key], COLOURS[run.role(key[0])]
        ax.plot([row.ci_low, row.ci_high], [place, place], color=colour, linewidth=1.5)
        ax.plot(row.mean, place, "o", color=colour, markersize=5)
    ax.set_yticks(range(len(ordered)), [run.method_label(outcome.model, key) for key in ordered])
    ax.set_xlabel(f"{outcome.metric}, {outcome.variant}")
    ax.set_title(f"{run.label}, {outcome.model}: {outcome.sampled}, {outcome.subject}", fontsize="medium")
    ax.grid(axis="x", color="0.9")
    ax.set_axisbelow(True)
    return ax
