"""The methods of a run: salgen's, those from elsewhere, and maps from files; no run names anything that is imported."""

import pickle
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any
import torch
from salgen.errors import SalgenError, warn
from salgen.evaluation.attribution.attribution_context import Method
from salgen.evaluation.attribution.file_maps import FileMaps, Maps, paths_by_name, read_file_maps
from salgen.evaluation.attribution.foreign_methods import ForeignMethod
from salgen.evaluation.attribution.method_selection import (
    ALL,
    DEAR,
    DEMO,
    QUICK,
    Renamed,
    all_methods,
    check_methods_given,
    select_methods,
)
from salgen.evaluation.runs.artifacts.run_record import RunRecord, in_groups
from salgen.evaluation.runs.evaluated_models import ChosenModels


def resolve_methods(
    requested: Any,
    scale: str,
    held: RunRecord | None,
    outside: Mapping[str, FileMaps],
    models: ChosenModels,
    run: Path,
    *,
    for_workers: bool,
) -> tuple[dict[str, Method], dict[str, str]]:
    """The methods of a run by their calls, and those that its model does not allow with the reasons, which are said.

    `requested` and `scale` are those of :func:`salgen.evaluate`. The methods of the record `held` come first, and
    `outside` has maps from files. With `for_workers` other processes must be able to import all methods.
    """
    given = None if requested is None else check_methods_given(requested)
    selection = select_methods(given, scale, _earlier_methods(held, given or (), run) if held else (), outside)
    if for_workers:  # raises a SalgenError for a method that no other process can import
        pickle.dumps([method for method in selection.named.values() if isinstance(method, ForeignMethod)])
    dataset, unmet = models.dataset, {}
    if not dataset.spec.splits.get("train"):
        unmet["patterns"] = f"fits patterns to the split 'train', which {dataset.name} does not have"
        unmet["references"] = f"compares with images of the split 'train', which {dataset.name} does not have"
    defined, left_out = selection.defined_for(models.network, torch.from_numpy(dataset[0]["image"][None]), unmet)
    if lost := [method.call for method in held.methods if method.call in left_out] if held else []:
        raise SalgenError(f"{run} holds scores of {lost[0]}, which cannot be made again: {left_out[lost[0]]}")
    for call in selection.named.keys() & left_out.keys():
        warn(f"{call} is left out of {run}: {left_out[call].removeprefix(f'{call}: ')}")
    if requested is None and held is None and not outside and scale == DEMO:
        print(
            f"scale demo takes {len(defined)} of {len(all_methods())} methods by default, controls among them; "
            "-m all (from Python methods=['all']) takes all",
            file=sys.stderr,
        )
    if given and QUICK in given and ALL not in given and (dear := [name for name in DEAR if name not in defined]):
        print(
            f"quick leaves out {', '.join(dear)}, which take hundreds of passes an image: -m all (from Python "
            "methods=['all']) takes them too",
            file=sys.stderr,
        )
    if others := {call: why for call, why in left_out.items() if call not in selection.named}:
        print(f"{len(others)} of {len(selection.methods)} methods left out: {in_groups(others)}", file=sys.stderr)
    if held is not None:
        left_out = {call: why for call, why in {**held.left_out, **left_out}.items() if call not in defined}
    return defined, left_out


def _earlier_methods(held: RunRecord, given: Collection[Any], run: Path) -> list[Any]:
    """The methods of salgen in the run that a folder holds; those from elsewhere must be among the given ones."""
    again = {method.call for method in given if isinstance(method, (ForeignMethod, Renamed))}
    records = [method for method in held.methods if method.files is None and method.call not in again]
    if missing := [method for method in records if method.foreign is not None]:
        named = "; ".join(f"{method.call!r}, which is {method.reference}" for method in missing)
        raise SalgenError(f"{run} has {named}: give it again, as -m NAME=PACKAGE.MODULE:FUNCTION, or --replace the run")
    return [Renamed(method.call, method.created) for method in records]


def maps_of_files(given: Maps, held: RunRecord | None, models: ChosenModels) -> dict[str, FileMaps]:
    """The maps in the files that are given and in those of the run that is extended, as methods by their names."""
    dataset, stated = models.dataset, paths_by_name(given) if given else {}
    count = len(models.identities)
    fault = f"this run has {count}" if held or models.loaded else f"{models.name} would be trained only now"
    if stated and (count > 1 or not (held or models.loaded)):
        raise SalgenError(
            f"maps from files explain one model that is trained already, and {fault}: give theirs as --model (model=), "
            "a checkpoint's folder or PACKAGE.MODULE:FUNCTION; 'salgen score MAPS MASKS' takes none"
        )
    earlier = {method.call: method.files for method in held.methods if method.files} if held else {}
    paths = {**{name: Path(record["path"]) for name, record in earlier.items()}, **stated}
    ids, owner = dataset.ids if paths else [], f"split {dataset.split} of {dataset.path}"
    methods = {
        name: read_file_maps(name, path, ids, dataset.spec.image_size, owner, dataset.file_names)
        for name, path in paths.items()
    }
    for name, record in earlier.items():
        if methods[name].sha256 != record["sha256"]:
            raise SalgenError(f"{paths[name]} does not hold the maps that the run has as {name!r}: give another name")
    return methods
