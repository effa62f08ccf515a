"""Passes and seconds of one image for each method and metric, measured before the first map, and their sum."""

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any
import numpy as np
from salgen.errors import SalgenWarning
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.probe import Probe, probing
from salgen.evaluation.runs.artifacts.costs import PIECE_S, Cost
from salgen.evaluation.runs.artifacts.saved_maps import SavedMaps
from salgen.evaluation.runs.chunk_inputs import ChunkInputs
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.scoring.metric_computation import compute_metrics
from salgen.progress import progress

TOGETHER = 8  # images, which share the overhead that most of a short time is
SAID_S = 10.0
SHORT_S = 0.01
SHOWN = 6


def measure_costs(runner: ModelRunner, calls: Collection[str]) -> None:
    """Measure the costs of some methods and of all metrics, unless that was done before, and keep them."""
    costs, plan = runner.costs, runner.plan
    if plan.source_run is not None and "method" not in plan.needs:  # nothing is explained
        costs.methods.update(dict.fromkeys(calls, Cost(0, 0)))
    groups = [[call for call in group if call in calls and call not in costs.methods] for group in plan.groups]
    metrics = [name for name in plan.of_maps if name not in costs.metrics]
    if metrics:
        costs.pieces.clear()  # they were measured for other scores
    if any(groups) or metrics:
        _ = runner.patterns  # they are fitted once, which is no cost of an image
        view = ModelView.of(runner.model.classifier)  # its own view: nothing that stand-ins teach is kept for the run
        count = sum(map(len, groups)) + len(metrics)
        with progress(f"measure what one image takes, {runner.model.name}", count, "methods and metrics") as advance:
            for group in filter(None, groups):
                costs.methods.update(dict.fromkeys(group, _of_methods(runner, view, group)))
                advance(len(group))
            for name in metrics:
                costs.metrics[name] = _of_metric(runner, name)
                advance()
    kinds, most = plan.kinds, plan.chunk_size
    sizes = [costs.images_of_a_piece(group, len(kinds), most) for group in plan.groups]
    for group, size in zip(plan.groups, sizes, strict=True):
        least = min(sizes) if any(kind.patched for kind in kinds) else size  # patches are searched once for all methods
        held = [costs.pieces[call] for call in group if call in costs.pieces]
        costs.pieces.update(dict.fromkeys(group, min([least, *held])))
    costs.write(runner.costs_path)


def estimate(runner: ModelRunner, images: Mapping[str, int]) -> str:
    """The time of so many images by each method, and what takes the most of it; empty where it is short."""
    costs, kinds, parts = runner.costs, len(runner.plan.kinds), []
    for call, count in images.items():
        cost = costs.methods[call]
        parts.append((count * kinds * cost.seconds, call, f"{kinds * cost.passes:,.0f} passes an image"))
    for name, cost in costs.metrics.items():
        passes = cost.passes + cost.explained * np.mean([costs.methods[call].passes for call in images] or [0])
        seconds = sum(count * costs.of_metric(name, call) for call, count in images.items())
        parts.append((seconds, name, f"{passes:,.0f} passes a map"))
    total = sum(seconds for seconds, *_ in parts)
    if total < SAID_S:
        return ""
    dearest = [part for part in sorted(parts, reverse=True)[:SHOWN] if part[0] > total / 100]
    shown = [f"{name} {_time(seconds)} ({passes})" for seconds, name, passes in dearest]
    rest = total - sum(seconds for seconds, *_ in dearest)
    return f"about {_time(total)}: {', '.join(shown)}, the rest {_time(rest)}"


def _time(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{seconds:.0f} s" if seconds < 90 else f"{minutes} min" if minutes < 90 else f"{seconds / 3600:.1f} h"


@contextmanager
def _probed() -> Iterator[Probe]:
    """Probe work, which may fail on stand-ins; what fails in earnest fails again in the run."""
    with warnings.catch_warnings(), probing() as probe:
        warnings.simplefilter("ignore", SalgenWarning)
        with suppress(Exception):
            yield probe


def _of_methods(runner: ModelRunner, view: ModelView, calls: Sequence[str]) -> Cost:
    """The mean cost of methods that are explained together."""
    for count, long in ((1, 20.0), (1, 0.5), (TOGETHER, 0.0)):  # at first a library may be imported, a network traced
        inputs = _inputs(runner, count)
        with _probed() as probe:
            masks = runner.plan.masks(inputs.batch)[:, 0]
            runner.explain(calls, inputs.batch.images, inputs.targets, masks, inputs.batch.ids, view)
        seconds = probe.seconds / len(inputs.batch)
        if seconds > long or seconds * len(runner.plan.scored) < PIECE_S:
            break
    share = len(inputs.batch) * len(calls)
    return Cost(probe.images / share, probe.seconds / share)


def _of_metric(runner: ModelRunner, name: str) -> Cost:
    """The cost of a metric of one map, in all variants."""
    plan, inputs = runner.plan, _inputs(runner, 1)
    random, explained = np.random.default_rng(0), 0

    def explain(pixels: Any, _targets: Any, **_given: Any) -> Any:
        nonlocal explained
        explained += len(pixels)
        return random.random((len(pixels), *pixels.shape[2:]), dtype=np.float32)

    values, ones = random.random(plan.masks(inputs.batch)[:, 0].shape, dtype=np.float32), np.ones(1, dtype=bool)
    maps = SavedMaps(inputs.batch.ids, inputs.targets, ones, ones, values, "", (1, 1), 0.0)
    for _ in range(2):
        explained = 0
        with _probed() as probe:
            data = inputs.metric_inputs(dict.fromkeys(plan.kinds, maps), None, explain, False)
            compute_metrics(data, {name: plan.of_maps[name]})
        if probe.images or probe.seconds < SHORT_S:  # else a library may have been imported
            break
    times = sum(name in plan.metrics_in(variant) for variant in plan.variants)
    return Cost(times * probe.images, times * probe.seconds, times * explained)


def _inputs(runner: ModelRunner, count: int) -> ChunkInputs:
    indices = list(runner.plan.scored[:count])
    (batch,) = runner.plan.dataset.batches(count, indices)
    return ChunkInputs(runner.plan, runner.model, batch, runner.predictions.predicted[indices])
