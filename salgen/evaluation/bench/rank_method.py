"""A new method in the worlds whose networks are kept, and its place among those that have results."""

import dataclasses
import shutil
from pathlib import Path
from typing import Any
import pandas as pd
from salgen.errors import SalgenError, UndefinedMethodError, warn
from salgen.evaluation.attribution.method_selection import check_methods_given, select_methods
from salgen.evaluation.bench.published import published_rows, store_rows
from salgen.evaluation.bench.standing import COSTS, Standing, read_costs
from salgen.evaluation.bench.worlds import (
    WORK,
    WORLDS,
    ScoredWorld,
    WorldSpec,
    kept_worlds,
    make_world_data,
    score_methods,
)
from salgen.evaluation.runs.artifacts.saved_maps import folder_name


def rank_method(
    spec: WorldSpec, method: str, results: Path, out: Path, *, quick: bool = False, **options: Any
) -> tuple[str, Standing]:
    """Score one method in the kept worlds, and rank it among those that were scored there; returns its call, too.

    `out` gets a folder with the method's name, which goes on where it was stopped. It holds results like the published
    ones, of these worlds and with the method, and in ``work`` data sets and runs. `quick` takes one world of each
    family and the first metric alone. `options` are further ones of
    :func:`~salgen.evaluation.runs.running.evaluate`.
    """
    call = ranked_call(method, spec.scale)
    kept = kept_worlds(spec, results)
    if quick:
        kept = list({world.family: world for world in reversed(kept)}.values())
        spec = dataclasses.replace(spec, metrics=spec.metrics[:1])
    folder, costs, ranked = out / folder_name(call), read_costs(results), []
    for world in kept:
        try:
            own = _scored(spec, method, world, folder / WORK / world.name, options)
        except UndefinedMethodError as error:
            warn(f"{world.name} is left out: {error}")
            continue
        stated = world.first_rows
        rows = pd.concat([stated[stated["method"] != call], own[own["method"] == call]], ignore_index=True)
        ranked.append(dataclasses.replace(world, rows=rows))
        own_results = folder / WORLDS / world.name
        shutil.copytree(world.folder, own_results, dirs_exist_ok=True)
        store_rows([rows], own_results)
    if not ranked:
        raise SalgenError(f"{method} could explain none of the networks: the warnings say why")
    if costs is not None:
        costs.to_csv(folder / COSTS)
    return call, Standing.of(ranked, spec.metrics[0], costs)


def _scored(spec: WorldSpec, method: str, world: ScoredWorld, work: Path, options: dict[str, Any]) -> pd.DataFrame:
    """The scores of a method in a world."""
    data = make_world_data(world.recipe, work / "data")
    return published_rows(score_methods(spec, world.recipe, data, world.network, [method], work / "run", **options))


def ranked_call(given: str, scale: str) -> str:
    """The call of a method as it was given."""
    calls = select_methods(check_methods_given([given]), scale).named
    if len(calls) != 1:
        raise SalgenError(f"{given} is a group of methods: rank one at a time")
    ((call, method),) = calls.items()
    if method.control:
        raise SalgenError(f"{given} is a control, which has no rank: name a method")
    return call
