"""The terminal's summary of runs: accuracy and reliance, what the tests say, and means under the headline variant."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from salgen.evaluation.families import Key
from salgen.evaluation.metric_groups import canonical
from salgen.evaluation.report.reliance_lines import RelianceLine, reliance_lines
from salgen.evaluation.report.runs import Run, content_faults, read_runs
from salgen.evaluation.report.tables import Cell, Line, MeansTable, means_table
from salgen.evaluation.report.verdicts import Verdict, verdict

COLUMNS = 8
MARKS = "* best, ~ indistinguishable from it, < not better than the strongest floor"


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
    lines = [accuracy_line(run, model)]
    lines += [
        f"WARNING: {run.label}, {model} seed {m.seed} is near chance ({m.accuracy:.1%} against {m.chance:.1%}): "
        "its maps mean nothing"
        for m in run.trained(model)
        if m.near_chance
    ]
    lines += [_reliance(line) for line in reliance_lines(run) if line.model == model]
    left_out = run.record.get("left_out") or {}
    lines += [f"left out, not defined for {model}: {', '.join(left_out)}"] if left_out else []
    if run.headline is not None:
        lines += _verdict_lines(verdict(run, model, run.headline))
    shown, more = _shown(run)
    table = means_table(run, model, run.variants[0], shown)
    samples = run.record["samples"]["with_mask"]
    lines += ["", f"means over {samples} images with a mask, {run.variants[0]}{_elsewhere(table)}", MARKS]
    lines += _aligned(table)
    return "\n".join([*lines, *([f"and {more} more metrics in the report"] if more else [])])


def _reliance(line: RelianceLine) -> str:
    words = (
        f"{line.model} seed {line.seed} relies on the feature alone for {line.coverage:.0%} of {line.samples} samples"
    )
    return f"WARNING: {words}: on the others a map that misses the mask may be right" if line.low else words


def _verdict_lines(of: Verdict) -> list[str]:
    """What the tests say of the headline metric."""
    if of.best is None or not of.tests:
        return []
    if of.powerless:
        return [f"best by {of.metric}: {_names(of, [of.best])}; {of.n} images are too few to tell methods apart"]
    tied = f"indistinguishable from it: {_names(of, of.tied)}" if of.tied else "every other method is worse"
    lines = [f"best by {of.metric}: {_names(of, [of.best])}; {tied}"]
    if of.edges is not None:
        lines.append(
            f"not better than {_names(of, [of.edges])}, an edge filter: {_names(of, of.below_edges) or 'none'}"
        )
    return lines


def _names(of: Verdict, keys: Sequence[Key]) -> str:
    return ", ".join(of.run.method_label(of.model, key) for key in keys)


def _shown(run: Run) -> tuple[list[str], int]:
    """The metrics that a terminal has room for, and how many there are besides."""
    known = canonical(run.metrics) or run.metrics
    shown = known[:COLUMNS]
    return shown, len(run.metrics) - len(shown)


def _elsewhere(table: MeansTable) -> str:
    others = [head.metric for head in table.heads if head.variant]
    return f" (the whole image: {', '.join(others)})" if others else ""


def accuracy_line(run: Run, model: str) -> str:
    """Accuracy of every training of a model on the run's split."""
    trained = run.trained(model)
    if not trained:
        return f"{run.label}, {model}: {run.split} accuracy unknown"
    shown = ", ".join(f"{m.accuracy:.1%} (seed {m.seed})" for m in trained)
    first = trained[0]
    return f"{run.label}, {model}: {run.split} accuracy {shown} of {first.count} images; chance {first.chance:.1%}"


def _aligned(table: MeansTable) -> list[str]:
    heads = [_two_lines(metric) for metric in table.metrics]
    widths = [max(7, *map(len, head)) for head in heads]
    name = max(len(line.label) for line in table.lines)
    rows = [[" " * name, *(f"{head[i]:>{w}}" for head, w in zip(heads, widths, strict=True))] for i in (0, 1)]
    for lines in table.groups.values():
        rows.append(["-" * name, *("-" * w for w in widths)])
        rows += [[f"{line.label:<{name}}", *_numbers(line, table.metrics, widths)] for line in lines]
    return ["  ".join(row).rstrip() for row in rows]


def _numbers(line: Line, metrics: Sequence[str], widths: Sequence[int]) -> list[str]:
    cells = [line.cells[metric] for metric in metrics]
    texts = ["-" if cell.row is None or np.isnan(cell.row.mean) else f"{cell.row.mean:.3f}" for cell in cells]
    return [f"{text + _mark(cell):>{w}}" for text, cell, w in zip(texts, cells, widths, strict=True)]


def _mark(cell: Cell) -> str:
    return "*" if cell.best else "<" if cell.below_floor else "~" if cell.tied else " "


def _two_lines(metric: str) -> tuple[str, str]:
    """A metric's name broken at the hyphen nearest its middle, for a narrow column."""
    breaks = [i for i, character in enumerate(metric) if character == "-"] if len(metric) > 8 else []
    if not breaks:
        return "", metric
    at = min(breaks, key=lambda i: abs(i - len(metric) / 2))
    return metric[: at + 1], metric[at + 1 :]
