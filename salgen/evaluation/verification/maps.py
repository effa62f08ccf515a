"""Are the models and the maps of a run those that its record speaks of?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.metric_inputs import MapKind
from salgen.evaluation.runs.artifacts.run_record import RECORD
from salgen.evaluation.runs.artifacts.saved_maps import (
    SavedMaps,
    check_maps,
    folder_name,
    maps_name,
    read_maps,
)
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.runs.run_snapshot import CHECKPOINTS, checkpoint_of
from salgen.evaluation.training.checkpoints import CARD, WEIGHTS, load_checkpoint
from salgen.evaluation.verification.run_predictions import CheckedRun
from salgen.progress import progress


def model_problems(run: CheckedRun) -> Iterator[str]:
    """Checkpoints that are not those of the record's models."""
    if len(set(run.models)) != len(run.models):
        yield f"{run.folder / RECORD} speaks of a model twice"
    for model in run.record["models"]:
        if "weights_sha256" in model:
            yield from _checkpoint_problems(run, model, str(model["name"]), int(model["seed"]))


def _checkpoint_problems(run: CheckedRun, model: Mapping[str, Any], name: str, seed: int) -> Iterator[str]:
    """What is wrong with a model's checkpoint, if the run has one."""
    named = f"{folder_name(name)}-seed{seed}"
    folders = (run.folder / named, run.folder / CHECKPOINTS / named)
    there = [folder for folder in folders if any((folder / file).is_file() for file in (CARD, WEIGHTS))]
    found = checkpoint_of(run.folder, name, seed, str(model["weights_sha256"]))
    if found is None:
        yield from (f"{folder}: its weights are not those that {RECORD} speaks of" for folder in there[:1])
        return
    card = load_checkpoint(found, "cpu").card
    told = {
        "model": (card.model, name),
        "training seed": (card.seed, seed),
        "settings": (card.settings, model.get("settings", card.settings)),
    }
    if "trained_on" in model:
        told["data set"] = (card.dataset_fingerprint, (model["trained_on"] or {}).get("fingerprint"))
    for what, (said, known) in told.items():
        if said != known:
            yield f"{found / CARD}: its {what} is not what {RECORD} speaks of"


def map_problems(run: CheckedRun) -> Iterator[str]:
    """Maps that are missing, damaged, of other samples, targets or methods, or not of the size of the images."""
    if run.given is None:
        return
    maps, plan = run.record["maps"], run.plan(run.metrics, [])
    expected = _expected(run, plan)
    for name in sorted(set(maps) ^ set(expected)):
        fault = "which is none of this run's files of maps" if name in maps else "without which maps are missing"
        yield f"{run.folder / RECORD}: its list of maps {'has' if name in maps else 'lacks'} {name}, {fault}"
    with progress("verifying maps", len(maps), "files") as advance:
        for name in maps:
            try:
                check_maps(run.folder, name, maps)
                kept = read_maps(run.folder / name)
            except SalgenError as error:
                yield str(error)
            else:
                if name in expected:
                    yield from (f"{run.folder / name}: {fault}" for fault in _faults(run, plan, kept, *expected[name]))
            advance()


def _expected(run: CheckedRun, plan: Plan) -> dict[str, tuple[Any, ...]]:
    """Every file of maps that the run must have: its model, method, kind and chunk."""
    left_out = set(run.record.get("maps_left_out") or ())
    return {
        maps_name(*model, method["call"], kind, number): (model, method, kind, number)
        for model in run.models
        for method in run.record["methods"]
        if method["call"] not in left_out
        for kind in plan.kinds
        for number in range(len(plan.chunks))
    }


def _faults(
    run: CheckedRun, plan: Plan, kept: SavedMaps, model: Any, method: Mapping[str, Any], kind: MapKind, number: int
) -> Iterator[str]:
    """What of a file's maps is not what the record says of them."""
    chunk, said = list(plan.chunks[number]), run.said[model]
    size = tuple(run.record["dataset"]["image_size"])
    if kept.values.shape[1:] != size:
        yield f"holds maps {kept.values.shape[1:]} of images {size}"
    if kept.ids != [run.ids[place] for place in chunk]:
        yield "holds maps of other samples"
        return
    resolution = "x".join(map(str, kept.native_resolution))
    if (kept.reduction, resolution) != (method["reduction"], method["native_resolution"]):
        yield f"was reduced by {kept.reduction} from {resolution}, and {RECORD} says otherwise"
    if kind is not MapKind.SAMPLES:
        return
    right = said.labels[chunk] == said.predicted[chunk]
    if not np.array_equal(kept.targets, run.explained(said)[chunk]) or not np.array_equal(kept.correct, right):
        yield "its maps do not explain what the run says they explain"
