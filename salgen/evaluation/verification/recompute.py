"""Some samples of a run scored, asked and explained again, from the maps, images and models that it kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from salgen.datasets.reading.reader import Batch
from salgen.evaluation.metrics.inputs.metric import Metric
from salgen.evaluation.metrics.inputs.metric_inputs import OF_THE_MASK, MapKind
from salgen.evaluation.runs.artifacts.conventions import CHUNK
from salgen.evaluation.runs.chunk_inputs import ChunkInputs
from salgen.evaluation.runs.evaluated_models import EvaluatedModel
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.scoring.metric_computation import PartialScores, compute_metrics, worst_case
from salgen.evaluation.statistics.score_cube import SCORES
from salgen.evaluation.verification.run_predictions import CheckedRun, drawn, spread
from salgen.progress import progress
from salgen.types import Float32, Float64, Mask

TOLERANCE = 1e-9  # by which a score of a map and a mask may differ
ASKED = 1e-4  # by which one that asks the model may
PROBABILITY = 1e-3  # by which the model's own answer may
SIZE = 1e-3  # of a map's largest value, by which its values may
MOST = 0.99  # of a map's pixels that must be that near
FEW = 8  # maps that are scored by asking the model
EXPLAINED = 2  # samples that are explained again
ELSEWHERE = 10.0  # times these, where the run was made on another kind of device


def again_problems(run: CheckedRun, samples: int) -> Iterator[str]:
    """What comes out otherwise for some samples, evenly spread over the scored ones."""
    if run.given is None or not samples:
        return
    pixels = run.dataset is not None and run.dataset.manifest.pixels
    offered = {
        *OF_THE_MASK,
        "target",
        "correct",
        *(run.given.kinds - {MapKind.SAMPLES}),
        *(("image",) if pixels else ()),
    }
    found = _score_problems(run, _of(run, offered), samples)
    if found or not pixels or not run.given.has_models:
        yield from found
        return
    yield from _answer_problems(run, samples)
    yield from _explaining_problems(run)
    yield from _asked_problems(run, {*offered, "model"})


def _of(run: CheckedRun, offered: set[str]) -> dict[str, Metric]:
    """The metrics that can be scored map by map from what is offered."""
    return {
        call: metric
        for call, metric in run.metrics.items()
        if metric.needs <= offered and not hasattr(metric, "aggregate")
    }


def _batch(plan: Plan, places: Sequence[int]) -> Batch:
    (batch,) = plan.dataset.batches(CHUNK, places)
    return batch


def _inputs(run: CheckedRun, runner: ModelRunner, batch: Batch, places: list[int], number: int) -> ChunkInputs:
    predicted = run.said[runner.model.name, runner.model.seed].predicted[places]
    return ChunkInputs(runner.plan, runner.model, number, batch, predicted)


# Scores ---------------------------------------------------------------------------------------------


def _score_problems(run: CheckedRun, metrics: Mapping[str, Metric], samples: int) -> list[str]:
    """Scores that do not come out again from maps and masks."""
    assert run.given is not None
    plan, wrong = run.plan(metrics, run.given.models), list[str]()
    runners = [ModelRunner(plan, model, run.folder) for model in plan.models] if metrics else []
    chosen = list(drawn(plan, samples))
    with progress("score again", sum(len(places) for _, places in chosen) * len(runners), "samples") as advance:
        for (number, places), runner in product(chosen, runners):
            inputs = _inputs(run, runner, _batch(plan, places), places, number)
            for call in plan.methods:
                wrong += _differing(run, runner, inputs, call, TOLERANCE)
            advance(len(places))
    return _told(run, wrong, "those of the maps")


def _asked_problems(run: CheckedRun, offered: set[str]) -> list[str]:
    """Scores of a few maps that do not come out again where the model is asked."""
    assert run.given is not None
    metrics = {call: metric for call, metric in _of(run, offered).items() if "model" in metric.needs}
    plan, wrong = run.plan(metrics, run.given.models), list[str]()
    shape = (len(plan.scored), len(plan.models), len(plan.methods))
    for one in spread(int(np.prod(shape)), FEW) if metrics else ():
        sample, model, method = np.unravel_index(one, shape)
        place, call = plan.scored[sample], list(plan.methods)[method]
        runner, number = ModelRunner(plan, plan.models[model], run.folder), int(sample) // CHUNK
        inputs = _inputs(run, runner, _batch(plan, [place]), [place], number)
        wrong += _differing(run, runner, inputs, call, ASKED * _looser(run, runner.model))
    return _told(run, wrong, "what the model gives")


def _told(run: CheckedRun, wrong: Sequence[str], what: str) -> list[str]:
    if not wrong:
        return []
    return [f"{run.folder / SCORES}: {len(wrong)} scores are not {what}, the first that of {wrong[0]}"]


def _differing(run: CheckedRun, runner: ModelRunner, inputs: ChunkInputs, call: str, tolerance: float) -> Iterator[str]:
    """The scores of one method's maps of some samples that are others than the table's, in words."""
    plan, model = runner.plan, runner.model
    maps = {kind: runner.maps(kind, [call], inputs)[call] for kind in plan.kinds}
    for variant, region in plan.variants.items():
        metrics = plan.metrics_in(variant)
        scores = compute_metrics(runner.metric_inputs(call, inputs, maps, region), metrics)
        for name, metric in metrics.items():
            right = _right(run, inputs, (call, name, variant), metric, scores, tolerance)
            for sample in np.flatnonzero(~right):
                yield f"{call} under {name} on {inputs.batch.ids[sample]} ({model.name}, seed {model.seed})"


def _right(
    run: CheckedRun,
    of: ChunkInputs,
    what: tuple[str, str, str],
    metric: Metric,
    scores: PartialScores,
    tolerance: float,
) -> Mask:
    """Whether value, worst case, and reason of each sample are those of the table: bool (n,)."""
    cube, subject, (call, name, variant) = run.cube, of.model, what
    series = next(i for i, (model, method, _) in enumerate(cube.series) if (model, method) == (subject.name, call))
    samples = [run.places[name] for name in of.batch.ids]
    place = (series, cube.metrics.index(name), cube.variants.index(variant), cube.seeds.index(subject.seed), samples)
    value, reasons = scores.values[name], scores.reasons[name]
    worst = worst_case(metric, value, reasons)
    known = np.array([cube.reason_names[code] for code in cube.reason[place]])
    same_worst = _close(worst, cube.worst[place], tolerance) | np.isinf(worst)
    return np.asarray(_close(value, cube.value[place], tolerance) & same_worst & (known == np.array(reasons)))


def _close(found: Float64, there: Float64, tolerance: float) -> Mask:
    right: Mask = np.isclose(found, there, rtol=tolerance, atol=tolerance, equal_nan=True)
    return right


# Answers and maps -----------------------------------------------------------------------------------


def _answer_problems(run: CheckedRun, samples: int) -> Iterator[str]:
    """Models that say otherwise of the images than the predictions do."""
    assert run.given is not None
    plan = run.plan({}, run.given.models)
    for subject in plan.models:
        said = run.said[subject.name, subject.seed]
        for _, places in drawn(plan, samples):
            batch = _batch(plan, places)
            away = np.abs(subject.probabilities(batch.images) - said.probabilities[places]).max(axis=1)
            if not (away <= PROBABILITY * _looser(run, subject)).all():
                yield (
                    f"{run.folder}: {subject.name}, seed {subject.seed}, says otherwise of {batch.ids[away.argmax()]} "
                    "than its predictions"
                )
                break


def _explaining_problems(run: CheckedRun) -> Iterator[str]:
    """Maps that the cheap methods do not give again for a few samples."""
    assert run.given is not None
    plan = run.plan(run.metrics, run.given.models)
    calls = [c for c, m in plan.methods.items() if m.shares == "passes" and m.needs <= {"model", "mask"}]
    for subject, (number, places) in product(plan.models if calls else (), drawn(plan, EXPLAINED)):
        runner, batch = ModelRunner(plan, subject, run.folder), _batch(plan, places)
        inputs, masks = _inputs(run, runner, batch, places, number), plan.masks(batch)[:, 0]
        kept = runner.maps(MapKind.SAMPLES, calls, inputs)
        explained = runner.explain(calls, batch.images, inputs.targets, masks, batch.ids)
        for call in calls:
            again = np.asarray(explained[call].values.cpu().numpy())
            if not _same_maps(kept[call].values, again, SIZE * _looser(run, subject)):
                yield (
                    f"{run.folder}: maps by {call} that were kept are not those that it gives ({subject.name}, seed "
                    f"{subject.seed}, {batch.ids[0]})"
                )


def _same_maps(kept: Float32, again: Float32, tolerance: float) -> bool:
    """Whether maps (n, H, W) are alike, but for a share of the largest value of each.

    Where a unit of the network is at the edge of firing, rounding moves some pixels by more: a few may be ten times
    as far away.
    """
    sizes = np.where(np.isfinite(again), np.abs(again), 0).max(axis=(1, 2), keepdims=True)
    with np.errstate(invalid="ignore"):
        away = np.abs(kept - again)
    same = (kept == again) | (np.isnan(kept) & np.isnan(again))
    near, bounded = (same | (away <= times * tolerance * sizes) for times in (1, 10))
    return bool(bounded.all() and (near.mean(axis=(1, 2)) >= MOST).all())


def _looser(run: CheckedRun, subject: EvaluatedModel) -> float:
    """By how much more numbers may differ: other devices round otherwise."""
    return 1.0 if str(run.record["device"]).partition(":")[0] == subject.device.type else ELSEWHERE
