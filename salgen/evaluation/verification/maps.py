"""Checks of the models and maps that a run keeps: undamaged, and those of its record."""

from collections.abc import Iterator
from itertools import product

from salgen.errors import SalgenError
from salgen.evaluation.runs.artifacts.run_record import RECORD
from salgen.evaluation.runs.artifacts.saved_maps import check_maps, folder_name, maps_name, read_maps
from salgen.evaluation.runs.source_run import CHECKPOINTS, checkpoint_of
from salgen.evaluation.training.checkpoints import CARD, WEIGHTS, load_checkpoint
from salgen.evaluation.verification.checked_run import CheckedRun
from salgen.progress import progress


def model_problems(run: CheckedRun) -> Iterator[str]:
    """Checkpoints that are damaged, or differ from the record's models."""
    for (name, seed), model in zip(run.models, run.record.models, strict=True):
        folder = checkpoint_of(run.folder, name, seed, model.weights_sha256)
        if folder is not None:
            load_checkpoint(folder, "cpu")
            continue
        for place in (run.folder, run.folder / CHECKPOINTS):
            checkpoint = place / f"{folder_name(name)}-seed{seed}"
            if any((checkpoint / file).is_file() for file in (CARD, WEIGHTS)):
                yield f"{checkpoint}: its weights are not those of {RECORD}"


def map_problems(run: CheckedRun) -> Iterator[str]:
    """Files of maps that are missing, damaged, of another evaluation, or without some of the scored samples."""
    if run.plan is None:
        return
    recorded, left_out = run.record.maps, run.record.maps_left_out or ()
    calls = [method.call for method in run.record.methods if method.call not in left_out]
    expected = {
        maps_name(name, seed, call, kind, number): [run.ids[place] for place in chunk]
        for (name, seed), call, kind in product(run.models, calls, run.plan.kinds)
        for number, chunk in enumerate(run.plan.chunks)
    }
    with progress("verifying maps", len(expected), "files") as advance:
        for name, ids in expected.items():
            try:
                check_maps(run.folder, name, recorded)
                read_maps(run.folder / name, ids)
            except SalgenError as error:
                yield str(error)
            advance()
    for name in sorted(set(recorded) - set(expected)):
        yield f"{run.folder / RECORD}: lists the maps {name}, which belong to no model, method or metric of the run"
