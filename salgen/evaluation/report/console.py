"""The terminal's summary of runs: accuracy and reliance, results of the tests, and means in the headline variant."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap

import numpy as np

from salgen.evaluation.report.images import clusters_counted, images_counted
from salgen.evaluation.report.reliance_lines import RelianceLine, mostly_uncertified, reliance_lines
from salgen.evaluation.report.runs import Model, Run, read_runs
from salgen.evaluation.report.tables import NO_CEILING, Cell, MeansTable, TableLine, means_table
from salgen.evaluation.report.verdicts import Verdict, verdict
from salgen.evaluation.runs.artifacts.run_record import content_faults, in_groups
from salgen.evaluation.scoring.metric_selection import canonical
from salgen.evaluation.statistics.comparison_groups import Key

COLUMNS = 8
MARKS = ("* best", "~ indistinguishable from it", "< not better than the strongest floor")


def console_summary(runs: Sequence[Path | str], page: Path | None = None) -> str:
    """The text printed at the end of `evaluate`: one block for each run and model.

    Parameters
    ----------
    runs
        Run folders.
    page
        The report that was written for them, named on the last line.
    """
    with content_faults(runs):
        blocks = [_block(run, model) for run in read_runs(runs) for model in run.model_names]
    return "\n\n".join([*blocks, *([f"report: {page}"] if page is not None else [])])


def _block(run: Run, model: str) -> str:
    lines = [accuracy_line(run, model)]
    lines += [_warning(run, trained) for trained in run.trained(model) if trained.unlearnt or trained.too_few]
    lines += [_reliance(line) for line in reliance_lines(run) if line.model == model]
    lines += [_warning(run, second) for second in run.second_models if second.unlearnt or second.too_few]
    left_out = run.record.left_out
    lines += wrap(f"left out: {in_groups(left_out)}", 116) if left_out else []
    learnt = not run.unlearnt(model)
    if reason := no_verdict(run, model):
        lines += wrap(f"no verdict: {reason}", 116)
    elif run.headline is not None:
        lines += _verdict_lines(verdict(run, model, run.headline))
    metrics = (canonical(run.metrics) or run.metrics)[:COLUMNS]  # as many as a terminal has room for
    more = len(run.metrics) - len(metrics)
    table = means_table(run, model, run.variants[0], metrics)
    marks = MARKS if len(run.under_test(model)) > 1 else MARKS[-1:]
    legend = [", ".join(marks)] if learnt else []
    lines += ["", _images_line(table), *legend, *_aligned(table, learnt)]
    return "\n".join([*lines, *([f"and {more} more metrics in the report"] if more else [])])


def no_verdict(run: Run, model: str) -> str:
    """Why no method can be called the best on this model; empty if one can."""
    if run.unlearnt(model):
        return f"{_doubt(run, model)}, so no method can be judged by it"
    if mostly_uncertified(run, model):
        training = "" if run.reliant else "train for reliance (--reliance), or "
        return (
            "the model relies on the feature for fewer than half of the samples: "
            f"{training}read the certified samples in the report"
        )
    return ""


def _warning(run: Run, trained: Model) -> str:
    """A warning about a training that is not known to have learnt the task."""
    model, chance = f"WARNING: {run.label}, {trained.name} seed {trained.seed}", f"{trained.chance:.1%}"
    if trained.unlearnt:
        return f"{model} is {trained.fault} ({trained.accuracy:.1%} against {chance}): its maps mean {trained.worth}"
    accuracy = f"{trained.accuracy:.1%} of {trained.count}, chance {chance}"
    return f"{model} ({accuracy}): too few {run.split} images to tell whether it has learnt the task"


def _doubt(run: Run, model: str) -> str:
    if run.undecided(model):
        return f"too few {run.split} images to tell whether the model has learnt the task"
    return "the model has not learnt the task well enough"


def _reliance(line: RelianceLine) -> str:
    sentence = f"{line.model} seed {line.seed} relies on the feature for {line.coverage:.0%} of {line.samples} samples"
    return f"WARNING: {sentence}: on the others a map that misses the mask may be right" if line.low else sentence


def _verdict_lines(outcome: Verdict) -> list[str]:
    """The results of the tests under the headline metric."""
    if outcome.best is not None and len(outcome.run.under_test(outcome.model)) == 1:
        return [_score_line(outcome, outcome.best)]
    if outcome.best is None or not outcome.tests:
        return []
    best = f"best by {outcome.metric} {outcome.subject}: {_names(outcome, outcome.winners)}"
    if outcome.powerless:
        return [f"{best}; {outcome.powerless} are too few to tell methods apart"]
    worse = "every other method is worse" if outcome.rivals else "no other has a score"
    one = "it" if len(outcome.winners) == 1 else "one of these or more"
    tied = f"indistinguishable from {one}: {_names(outcome, outcome.tied)}" if outcome.tied else worse
    lines = [f"{best}; {tied}"]
    if outcome.edges is not None:
        below = _names(outcome, outcome.below_edges) or "none"
        lines.append(f"not better than {_names(outcome, [outcome.edges])}, an edge filter: {below}")
    return lines


def _score_line(outcome: Verdict, method: Key) -> str:
    """The score of the only method, compared with the strongest floor."""
    scores = f"{_names(outcome, [method])}: {outcome.metric} {_mean(outcome, method)} {outcome.subject}"
    if outcome.floor is None or not outcome.tests:
        return f"{scores}; there is no floor to compare it with"
    if outcome.powerless:
        result = f"{outcome.powerless} are too few to tell them apart"
    else:
        result = "it is not better than that" if method in outcome.below_floor else "it is better than that"
    floor = f"{_names(outcome, [outcome.floor])}, has {_mean(outcome, outcome.floor)}"
    return f"{scores}; the strongest floor, {floor}; {result}"


def _mean(outcome: Verdict, key: Key) -> str:
    row = outcome.row(key)
    return "-" if row is None or np.isnan(row.mean) else f"{row.mean:.3f}"


def _names(outcome: Verdict, keys: Sequence[Key]) -> str:
    return ", ".join(outcome.run.method_label(outcome.model, key) for key in keys)


def _images_line(table: MeansTable) -> str:
    """The images that the means are over, and the variant."""
    images, exceptions = images_counted(table.run, table.metrics)
    whole_image = [head.metric for head in table.heads if head.variant]
    aside = f" (the whole image: {', '.join(whole_image)})" if whole_image else ""
    trainings = len(table.run.cube.seeds_of(table.model))
    plural = "s" if trainings > 1 else ""
    sampled = f"{images} in {clusters_counted(table.run, table.model)} clusters, {trainings} training{plural}"
    return f"means over {sampled}, {table.variant}{aside}{f'; {exceptions}' if exceptions else ''}"


def accuracy_line(run: Run, model: str) -> str:
    """Accuracy of every training of a model on the run's split."""
    trained = run.trained(model)
    if not trained:
        return f"{run.label}, {model}: {run.split} accuracy unknown"
    accuracies = ", ".join(f"{m.accuracy:.1%} (seed {m.seed})" for m in trained)
    first = trained[0]
    return f"{run.label}, {model}: {run.split} accuracy {accuracies} of {first.count} images; chance {first.chance:.1%}"


def _aligned(table: MeansTable, marked: bool) -> list[str]:
    heads = [_two_lines(metric) for metric in table.metrics]
    widths = [max(8, *map(len, head)) for head in heads]
    name = max(len(line.label) for line in table.lines)
    rows = [[" " * name, *(f"{head[i]:>{w}}" for head, w in zip(heads, widths, strict=True))] for i in (0, 1)]
    for lines in table.groups.values():
        rows.append(["-" * name, *("-" * w for w in widths)])
        rows += [[f"{line.label:<{name}}", *_numbers(line, table.metrics, widths, marked)] for line in lines]
    return ["  ".join(row).rstrip() for row in rows]


def _numbers(line: TableLine, metrics: Sequence[str], widths: Sequence[int], marked: bool) -> list[str]:
    cells = [line.cells[metric] for metric in metrics]
    texts = ["-" if cell.row is None or np.isnan(cell.row.mean) else f"{cell.row.mean:.3f}" for cell in cells]
    texts = ["" if cell.absent == NO_CEILING else text for cell, text in zip(cells, texts, strict=True)]
    return [
        f"{text + (_mark(cell) if marked else ''):>{w}}" for text, cell, w in zip(texts, cells, widths, strict=True)
    ]


def _mark(cell: Cell) -> str:
    """The marks of a cell as two characters, so that numbers are aligned."""
    return f"{('*' if cell.best else '~' if cell.tied else '') + ('<' if cell.below_floor else ''):<2}"


def _two_lines(metric: str) -> tuple[str, str]:
    """A metric's name broken at the hyphen nearest its middle, for a narrow column."""
    breaks = [i for i, character in enumerate(metric) if character == "-"] if len(metric) > 8 else []
    if not breaks:
        return "", metric
    at = min(breaks, key=lambda i: abs(i - len(metric) / 2))
    return metric[: at + 1], metric[at + 1 :]
