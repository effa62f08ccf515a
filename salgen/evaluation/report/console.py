"""The terminal's summary of runs: accuracy first, then the means under the headline variant."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from salgen.evaluation.report.runs import Run, content_faults, read_runs
from salgen.evaluation.report.tables import Line, MeansTable, means_table


def console_summary(runs: Sequence[Path | str], page: Path | None = None) -> str:
    """What to print at the end of `evaluate`: plain text, one block for each run.

    Parameters
    ----------
    runs
        Run folders.
    page
        The report that was written for them, to be named at the end.
    """
    with content_faults(runs):
        blocks = [_block(run, model) for run in read_runs(runs) for model in run.model_names]
    return "\n\n".join([*blocks, *([f"report: {page}"] if page is not None else [])])


def _block(run: Run, model: str) -> str:
    table = means_table(run, model, run.variants[0])
    lines = [accuracy_line(run, model)]
    lines += [
        f"WARNING: {run.label}, {model} seed {m.seed} is near chance ({m.accuracy:.1%} against {m.chance:.1%}): "
        "its maps mean nothing"
        for m in run.trained(model)
        if m.near_chance
    ]
    left_out = run.record.get("left_out") or {}
    lines += [f"left out, not defined for {model}: {', '.join(left_out)}"] if left_out else []
    samples = run.record["samples"]["with_mask"]
    lines += ["", f"means over {samples} images with a mask, {run.variants[0]}; * best, < no better than a floor"]
    return "\n".join([*lines, *_aligned(table)])


def accuracy_line(run: Run, model: str) -> str:
    """Accuracy of every training of a model on the run's split."""
    trained = run.trained(model)
    if not trained:
        return f"{run.label}, {model}: {run.split} accuracy unknown"
    shown = ", ".join(f"{m.accuracy:.1%} (seed {m.seed})" for m in trained)
    first = trained[0]
    return f"{run.label}, {model}: {run.split} accuracy {shown} of {first.count} images; chance {first.chance:.1%}"


def _aligned(table: MeansTable) -> list[str]:
    metrics = table.run.metrics
    heads = [_two_lines(metric) for metric in metrics]
    widths = [max(7, *map(len, head)) for head in heads]
    name = max(len(line.label) for line in table.lines)
    rows = [[" " * name, *(f"{head[i]:>{w}}" for head, w in zip(heads, widths, strict=True))] for i in (0, 1)]
    for lines in table.groups.values():
        rows.append(["-" * name, *("-" * w for w in widths)])
        rows += [[f"{line.label:<{name}}", *_numbers(line, metrics, widths)] for line in lines]
    return ["  ".join(row).rstrip() for row in rows]


def _numbers(line: Line, metrics: Sequence[str], widths: Sequence[int]) -> list[str]:
    cells = [line.cells[metric] for metric in metrics]
    marks = ["*" if cell.best else "<" if cell.below_floor else " " for cell in cells]
    texts = ["-" if np.isnan(cell.row.mean) else f"{cell.row.mean:.3f}" for cell in cells]
    return [f"{text + mark:>{w}}" for text, mark, w in zip(texts, marks, widths, strict=True)]


def _two_lines(metric: str) -> tuple[str, str]:
    """A metric's name broken at the hyphen nearest its middle, for a narrow column."""
    breaks = [i for i, character in enumerate(metric) if character == "-"] if len(metric) > 8 else []
    if not breaks:
        return "", metric
    at = min(breaks, key=lambda i: abs(i - len(metric) / 2))
    return metric[: at + 1], metric[at + 1 :]
