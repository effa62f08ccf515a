"""The page of a sweep: all curves on one sheet, the thresholds in order, and what the doses look like."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
import numpy as np
from salgen.command_line import COMMAND
from salgen.datasets.reading.reader import open_dataset
from salgen.evaluation.report import page
from salgen.evaluation.report.figures import save_figure
from salgen.evaluation.report.formatting import STYLE, and_list, page_text
from salgen.evaluation.report.runs import LoadedRun
from salgen.evaluation.results.run import COLOURS
from salgen.evaluation.sweeps.dose import Dose
from salgen.evaluation.sweeps.psychometric import Axis, Curves
from salgen.evaluation.sweeps.thresholds import (
    EVERYWHERE,
    FOUND,
    NOT_MONOTONE,
    NOT_REACHED,
    OUTCOMES,
    UNDECIDED,
    Threshold,
    Trials,
)
from salgen.files import write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MODEL = "model"
SHEET, DOSES = "curves.png", "doses.png"
COLUMNS = 4  # panels side by side
UNFIT = "lack of fit"
WORDS = {  # in the order of tables
    EVERYWHERE: "find the cause at every dose",
    FOUND: "from a threshold on",
    UNFIT: "have no sure threshold, as their curve does not fit",
    UNDECIDED: "are undecided",
    NOT_MONOTONE: "lose it again at an easier dose",
    NOT_REACHED: "find it at no dose",
}
ENOUGH = 5  # trainings from which on intervals cover what they say, simulated in docs/thresholds.md


@dataclass(frozen=True)
class Subject:
    """A model or a method: what was measured of it, and its curve."""

    name: str
    measure: str
    role: str
    trials: Trials
    curve: Curves
    threshold: Threshold

    @property
    def answer(self) -> str:
        """The outcome, but that a threshold of a curve that does not fit is not counted as found."""
        row = self.threshold
        return UNFIT if row.outcome == FOUND and row.lack_of_fit else row.outcome


@dataclass(frozen=True)
class Sweep:
    """A finished sweep: its doses, data sets and runs, and its subjects, the model first."""

    generator: str
    dose: Dose
    axis: Axis
    shape: str
    chance: float
    data: list[Path]
    runs: list[LoadedRun]
    subjects: list[Subject]

    @property
    def in_order(self) -> list[Subject]:
        """The subjects by their thresholds, those that find the weakest cause first."""

        def place(subject: Subject) -> tuple[int, float, str]:
            row = subject.threshold
            dose = row.threshold * (-1 if self.axis.falling else 1) if row.outcome == FOUND else 0.0
            return OUTCOMES.index(row.outcome), dose, subject.name

        return sorted(self.subjects, key=place)

    @property
    def trainings(self) -> int:
        """The number of trainings of each dose."""
        return int(self.subjects[0].trials.sums.shape[1])

    @property
    def verdict(self) -> list[str]:
        """The answer in sentences: the model, the methods by outcome, and the floors that do as well."""
        (model,) = [subject for subject in self.subjects if subject.role == MODEL]
        row, dose = model.threshold, self.dose.parameter
        where = {
            FOUND: f"from {dose} {row.threshold:.3g} on ({self.interval(model)})",
            EVERYWHERE: "at every dose",
            NOT_REACHED: "at no dose",
        }.get(model.answer, f"nobody knows where ({model.answer})")
        said = [f"The model is halfway from chance to right {where}."]
        methods = [subject for subject in self.in_order if subject.role == "method"]
        counts = [(name, sum(subject.answer == name for subject in methods)) for name in WORDS]
        words = and_list([f"{count} {WORDS[name]}" for name, count in counts if count])
        said.append(f"Of {len(methods)} method{'s' * (len(methods) > 1)}, {words}.")
        found = [subject for subject in methods if subject.answer == FOUND][:3]
        if found:
            first = and_list([f"{subject.name} ({subject.threshold.threshold:.3g})" for subject in found])
            said.append(f"First of those with a threshold: {first}.")
        good = [s.name for s in self.in_order if s.role == "floor" and s.answer in (EVERYWHERE, FOUND)]
        if good:
            said.append(f"So do floors, which know nothing of the network: {and_list(good)}.")
        return said

    def interval(self, subject: Subject) -> str:
        """The interval of a threshold in words; its ends are within the doses, or open."""
        low, high, doses = subject.threshold.low, subject.threshold.high, self.dose.values
        if low == -np.inf and high == np.inf:
            return "open"
        if low == high and np.isinf(low):
            return f"{'above' if low > 0 else 'below'} {doses[-1] if low > 0 else doses[0]:g}"
        start = f"below {doses[0]:g}" if low == -np.inf else f"{low:.3g}"
        return f"{start} to {f'above {doses[-1]:g}' if high == np.inf else f'{high:.3g}'}"


def write_page(sweep: Sweep, folder: Path) -> None:
    """Write ``curves.png``, ``doses.png`` and ``report.html``."""
    write_folder_page(
        folder,
        "sweep.html.j2",
        {SHEET: curves_figure(sweep), DOSES: doses_figure(sweep.generator, sweep.dose, sweep.data, sweep.runs)},
        sweep=sweep,
        few=sweep.trainings < ENOUGH,
        found=FOUND,
        difference=_difference,
    )


def write_folder_page(folder: Path, template: str, figures: Mapping[str, Figure], **values: Any) -> None:
    """Write figures as PNG, SVG and PDF files, and ``report.html`` from a template of this folder that shows them."""
    for name, figure in figures.items():
        for form in (".png", ".svg", ".pdf"):
            save_figure(figure, (folder / name).with_suffix(form))
            figure.set_layout_engine("none")  # the places that the first form found
    known = {
        "style": STYLE.read_text(encoding="utf-8"),
        "command": shlex.join(COMMAND.get() or ()),
        "pictures": {name: base64.b64encode((folder / name).read_bytes()).decode() for name in figures},
    }
    write_text(folder / page.PAGE, page_text([Path(__file__).parent], template, **known, **values))


def _difference(row: Threshold) -> str:
    """A method's threshold less the model's, and the interval, in words; empty where nothing is known of it."""
    if np.isinf(row.minus_low) and np.isinf(row.minus_high):
        return "" if row.minus_low < row.minus_high else row.outcome
    ends = [f"{end:+.2g}" if np.isfinite(end) else "open" for end in (row.minus_low, row.minus_high)]
    interval = " to ".join(ends)
    text = interval if np.isnan(row.minus_model) else f"{row.minus_model:+.2g} ({interval})"
    return text.replace("-", "\N{MINUS SIGN}")


def curves_figure(sweep: Sweep) -> Figure:
    """A panel for each subject in the order of thresholds: means, curve, and the threshold with its interval."""
    figure, axes = panels(len(sweep.subjects), sharey=True)
    for ax, subject in zip(axes, sweep.in_order, strict=False):
        _draw(ax, sweep, subject)
    figure.supxlabel(f"{sweep.dose.parameter} of {sweep.generator}", fontsize="medium")
    return figure


def panels(count: int, sharey: bool) -> tuple[Figure, Any]:
    """A figure of so many panels with one axis of doses, and its axes, flat; those left over are off."""
    from matplotlib.figure import Figure

    rows = -(-count // COLUMNS)
    figure = Figure(figsize=(2.7 * COLUMNS, 0.6 + 2.0 * rows), layout="constrained")
    axes = figure.subplots(rows, COLUMNS, sharex=True, sharey=sharey, squeeze=False).ravel()
    for ax in axes[count:]:
        ax.set_axis_off()
    return figure, axes


def _draw(ax: Axes, sweep: Sweep, subject: Subject) -> None:
    colour = {MODEL: "tab:red", **COLOURS}[subject.role]
    doses, row = sweep.dose.array, subject.threshold
    fine = (np.geomspace if sweep.dose.log else np.linspace)(doses[0], doses[-1], 200)
    for level, style in ((subject.curve.chance, ":"), ((1 + subject.curve.chance) / 2, "--")):
        ax.axhline(level, color="0.75", linestyle=style, linewidth=0.8)
    if not (row.low == -np.inf and row.high == np.inf) and row.low != row.high:
        ax.axvspan(max(row.low, doses[0]), min(row.high, doses[-1]), color=colour, alpha=0.15, linewidth=0)
    if row.outcome == FOUND:
        ax.axvline(row.threshold, color=colour, linewidth=1.0)
    curve = subject.curve.at(np.sort(sweep.axis.places(fine)))[0]
    ax.plot(fine, curve[::-1] if sweep.axis.falling else curve, color=colour)
    ax.plot(doses, subject.trials.of_trainings, ".", color=colour, markersize=3, alpha=0.5)
    ax.plot(doses, subject.trials.means, "o", color=colour, markersize=4)
    if sweep.dose.log:
        ax.set_xscale("log")
    ticks = doses[[0, len(doses) // 2, -1]]
    ax.set_xticks(ticks, [f"{dose:.3g}" for dose in ticks])
    ax.set_xticks([], minor=True)
    ax.set_ylim(0.0, 1.02)
    ax.set_title(f"{subject.name} ({subject.measure})" if subject.role == MODEL else subject.name, fontsize="small")


def doses_figure(name: str, doses: Dose, data: Sequence[Path], runs: Sequence[LoadedRun]) -> Figure:
    """The same sample at each dose: its image, its twin if there is one, and its mask."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.3 * len(data), 4.2), layout="constrained")
    axes = figure.subplots(3, len(data), squeeze=False)
    for column, (path, run, dose) in enumerate(zip(data, runs, doses.values, strict=True)):
        item = open_dataset(path, run.split)[run.cube.samples[0]]
        for ax, title in zip(axes[:, column], ("image", "twin", "mask"), strict=True):
            ax.set_xticks([])
            ax.set_yticks([])
            if item[title] is not None:
                picture = item[title].squeeze()  # (H, W), or (C, H, W) in colour
                ax.imshow(picture if picture.ndim == 2 else picture.transpose(1, 2, 0), "gray", vmin=0, vmax=1)
            if column == 0:
                ax.set_ylabel(title, fontsize="small")
        axes[0, column].set_title(f"{dose:g}", fontsize="small")
    figure.suptitle(f"{doses.parameter} of {name}", fontsize="medium")
    return figure
