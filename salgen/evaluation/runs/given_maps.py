"""Maps from files among the methods of a run: those that are given, and those of the run that it extends."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError
from salgen.evaluation.attribution.file_maps import read_file_maps
from salgen.evaluation.runs.artifacts.run_record import RunRecord


def maps_of_files(given: Mapping[str, Path], held: RunRecord | None, dataset: Dataset) -> dict[str, Any]:
    """The maps in the files that are given and in those of an earlier run, as methods by their names."""
    earlier = {method.call: method.files for method in held.methods if method.files} if held else {}
    paths = {**{name: Path(record.path) for name, record in earlier.items()}, **given}
    ids, owner = dataset.ids if paths else [], f"split {dataset.split} of {dataset.path}"
    methods = {name: read_file_maps(name, path, ids, dataset.spec.image_size, owner) for name, path in paths.items()}
    for name, record in earlier.items():
        if methods[name].sha256 != record.sha256:
            raise SalgenError(
                f"{paths[name]} does not hold the maps that the run has as {name!r}: give others another name, or "
                "replace the run (replace=True, --replace)"
            )
    return methods


def check_one_trained_model(models: int, name: str, *, trained: bool) -> None:
    """Raise a SalgenError unless a run with maps from files has one model, which is trained before they are given."""
    if trained and models == 1:
        return
    fault = f"this run has {models}" if trained else f"{name} would be trained only now"
    raise SalgenError(
        f"maps from files explain one model that is trained already, and {fault}: give theirs as --model (model=), a "
        "checkpoint's folder or PACKAGE.MODULE:FUNCTION; 'salgen score MAPS MASKS' takes none"
    )
