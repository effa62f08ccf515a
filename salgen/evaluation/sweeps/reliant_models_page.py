"""The page of a spurious correlation: each method's AUROC, false alarms, and the masses of all models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from salgen.evaluation.report.formatting import share
from salgen.evaluation.sweeps.reliant_models import PRECISE, RELIANT, Correlation
from salgen.evaluation.sweeps.sweep_page import COLUMNS, DOSES, doses_figure, write_folder_page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHEET = "masses.png"
KINDS = (("clean", False, "tab:blue"), ("reliant", True, "tab:red"))


def write_page(found: Correlation, folder: Path, command: Sequence[str] | None = None) -> None:
    """Write ``masses.png``, ``doses.png`` and ``report.html``."""
    write_folder_page(
        folder,
        "reliant_models.html.j2",
        {SHEET: masses_figure(found), DOSES: doses_figure(found.generator, found.dose, found.data, found.runs)},
        command,
        found=found,
        share=share,
        precise=PRECISE,
        half=RELIANT,
    )


def masses_figure(found: Correlation) -> Figure:
    """A panel for each method in the order of AUROC: a dot for each model, and what a map that knows nothing has."""
    from matplotlib.figure import Figure

    doses, reliant = found.dose.array, found.models.reliant
    count = len(found.detections)
    rows = -(-count // COLUMNS)
    figure = Figure(figsize=(2.7 * COLUMNS, 0.6 + 2.0 * rows), layout="constrained")
    axes = figure.subplots(rows, COLUMNS, sharex=True, squeeze=False).ravel()
    places = np.broadcast_to(np.arange(len(doses))[:, np.newaxis], reliant.shape)
    beside = np.linspace(-0.2, 0.2, found.trainings) if found.trainings > 1 else np.zeros(1)
    for ax, row in zip(axes, found.in_order, strict=False):
        mass = found.masses[row.method].mean
        for name, kind, colour in KINDS:
            chosen = reliant == kind
            ax.plot((places + beside)[chosen], mass[chosen], "o", color=colour, markersize=4, alpha=0.7, label=name)
        ax.axhline(found.chance, color="0.6", linestyle=":", linewidth=0.8)
        ax.set_xticks(range(len(doses)), [f"{dose:g}" for dose in doses])
        ax.set_ylim(0.0, 1.1 * max(found.chance, np.nanmax(mass, initial=0.0)))
        ax.set_title(row.method, fontsize="small")
    for ax in axes[count:]:
        ax.set_axis_off()
    axes[0].legend(fontsize="x-small")
    figure.supxlabel(f"{found.dose.parameter} of {found.generator}", fontsize="medium")
    figure.supylabel("mass on the artefact", fontsize="medium")
    return figure
