"""The terminal's summary of runs: accuracy and reliance, results of the tests, and means in the headline variant."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from types import SimpleNamespace
import numpy as np
from salgen.evaluation.report.reliance import mostly_uncertified, reliance_lines
from salgen.evaluation.report.runs import LoadedRun, read_runs
from salgen.evaluation.report.tables import NO_CEILING, Table, means_table
from salgen.evaluation.report.verdicts import Verdict, verdict
from salgen.evaluation.runs.artifacts.run_record import ModelRecord, in_groups
from salgen.evaluation.scoring.metric_selection import canonical

WIDTH = 116  # characters of a line of prose
COLUMNS = 8  # metrics that a terminal has room for
MARKS = ("* best", "~ indistinguishable from it", "< not better than the strongest floor")


def console_summary(runs: Sequence[Path | str]) -> str:
    """The text printed at the end of `evaluate`: one block for each run, from its folder, and model."""
    return "\n\n".join(_block(run, model) for run in read_runs(runs) for model in run.model_names)


def answer(run: LoadedRun, model: str) -> list[str]:
    """The lines that say whether a model's methods can be judged, which is the best, and which beat the floors."""
    lines = [accuracy_line(run, model)]
    lines += [_warning(run, trained) for trained in run.trained(model) if trained.unlearnt or trained.too_few]
    for line in (line for line in reliance_lines(run) if line["name"] == model):
        relies = f"{model} seed {line['seed']} relies on the feature for {line['coverage']:.0%}"
        said = f"{relies} of {line['samples']} samples"
        warned = f"WARNING: {said}: on the others a map that misses the mask may be right"
        lines.append(warned if line["low"] else said)
    for evidence in (one for one in run.record.composites if one["name"] == model):
        relies = f"{model} seed {evidence['seed']} relies on the object for {evidence['all_fillings']:.0%}"
        lines.append(
            f"{relies} of {evidence['samples']} images by composite evidence, which is not to be relied on; "
            f"fillings disagree on {evidence['disagreement']:.0%}"
        )
    lines += [_warning(run, second) for second in run.second_models if second.unlearnt or second.too_few]
    left_out = run.record.left_out
    lines += wrap(f"left out: {in_groups(left_out)}", WIDTH) if left_out else []
    if reason := no_verdict(run, model):
        lines += wrap(f"no verdict: {reason}", WIDTH)
    elif run.headline is not None:
        lines += _verdict_lines(verdict(run, model, run.headline))
    return lines


def _block(run: LoadedRun, model: str) -> str:
    learnt = not run.unlearnt(model)
    metrics = (canonical(run.metrics) or run.metrics)[:COLUMNS]
    more = len(run.metrics) - len(metrics)
    table = means_table(run, model, run.variants[0], metrics)
    marks = MARKS if len(run.under_test(model)) > 1 else MARKS[-1:]
    lines = [*answer(run, model), "", _images_line(table), *([", ".join(marks)] if learnt else [])]
    lines += _aligned(table, learnt)
    return "\n".join([*lines, *([f"and {more} more metrics in the report"] if more else [])])


def no_verdict(run: LoadedRun, model: str) -> str:
    """Why no method can be called the best on this model; empty if one can."""
    if run.unlearnt(model):
        doubt = "the model has not learnt the task well enough"
        if run.undecided(model):
            doubt = f"too few {run.split} images to tell whether the model has learnt the task"
        return f"{doubt}, so no method can be judged by it"
    if mostly_uncertified(run, model):
        training = "" if run.reliant else "train for reliance (--reliance), or "
        return (
            "the model relies on the feature for fewer than half of the samples: "
            f"{training}read the certified samples in the report"
        )
    return ""


def _warning(run: LoadedRun, trained: ModelRecord) -> str:
    """A warning about a training that is not known to have learnt the task."""
    model, chance = f"WARNING: {run.label}, {trained.name} seed {trained.seed}", f"{trained.chance:.1%}"
    if trained.unlearnt:
        return f"{model} is {trained.fault} ({trained.accuracy:.1%} against {chance}): its maps mean {trained.worth}"
    accuracy = f"{trained.accuracy:.1%} of {trained.n_images}, chance {chance}"
    return f"{model} ({accuracy}): too few {run.split} images to tell whether it has learnt the task"


def _verdict_lines(outcome: Verdict) -> list[str]:
    """The results of the tests under the headline metric."""
    if outcome.best is None:
        return []
    alone = len(outcome.run.under_test(outcome.model)) == 1
    winners, tied = (", ".join(outcome.labels(keys)) for keys in (outcome.winners, outcome.tied))
    said = f"best by {outcome.metric} {outcome.subject}: {winners}"
    if alone:
        said = f"{winners}: {outcome.metric} {_mean(outcome.mean(outcome.best, 'mean'))} {outcome.subject}"
    if outcome.powerless:
        few = f"{outcome.powerless} are too few to tell {'it from a floor' if alone else 'methods apart'}"
        return [f"{said}; {few}", *([f"the strongest floor: {outcome.say(outcome.floor)}"] if outcome.floor else [])]
    if not outcome.tests:
        return [f"{said}; there is no floor to compare it with"] if alone else []
    if not alone:
        one = "it" if len(outcome.winners) == 1 else "one of these or more"
        worse = "every other method is worse" if outcome.rivals else "no other has a score"
        said += f"; {f'indistinguishable from {one}: {tied}' if tied else worse}"
    return [said, *outcome.against_floors]


def _mean(mean: float) -> str:
    return "-" if np.isnan(mean) else f"{mean:.3f}"


def _images_line(table: Table) -> str:
    """The images that the means are over, and the variant."""
    images, exceptions = table.run.images_counted(table.metrics)
    whole_image = [head.metric for head in table.heads if head.variant]
    aside = f" (the whole image: {', '.join(whole_image)})" if whole_image else ""
    trainings = len(table.run.cube.seeds_of(table.model))
    sampled = f"{images} in {table.run.clusters_counted(table.model)} clusters, {trainings} training"
    sampled += "s" if trainings > 1 else ""
    return f"means over {sampled}, {table.variant}{aside}{f'; {exceptions}' if exceptions else ''}"


def accuracy_line(run: LoadedRun, model: str) -> str:
    """Accuracy of every training of a model on the run's split."""
    trained = run.trained(model)
    accuracies = ", ".join(f"{m.accuracy:.1%} (seed {m.seed})" for m in trained)
    first = trained[0]
    return (
        f"{run.label}, {model}: {run.split} accuracy {accuracies} of {first.n_images} images; chance {first.chance:.1%}"
    )


def _aligned(table: Table, marked: bool) -> list[str]:
    parts = [wrap(metric, 12, break_long_words=False) for metric in table.metrics]  # broken at hyphens
    heads = [[""] * (max(map(len, parts)) - len(head)) + head for head in parts]
    widths = [max(8, *map(len, head)) for head in heads]
    name = max(len(line.label) for line in table.lines)
    rows = [["", *line] for line in zip(*heads, strict=True)]
    for lines in table.groups.values():
        rows.append(["-" * name, *("-" * width for width in widths)])
        rows += [[line.label, *(_number(line.cells[metric], marked) for metric in table.metrics)] for line in lines]
    return ["  ".join([label.ljust(name), *map(str.rjust, cells, widths)]).rstrip() for label, *cells in rows]


def _number(cell: SimpleNamespace, marked: bool) -> str:
    """A mean with its marks as two characters, so that numbers are aligned."""
    text = "" if cell.absent == NO_CEILING else _mean(getattr(cell.row, "mean", np.nan))
    marks = ("*" if cell.best else "~" if cell.tied else "") + ("<" if cell.below_floor else "")
    return f"{text}{marks:<2}" if marked else text
