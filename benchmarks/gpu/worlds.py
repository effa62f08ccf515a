"""Worlds of salgen-bench scored again from their frozen weights, beside the published scores of a processor."""

import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from benchmarks.gpu.campaign import LEFT, NOTE, Bench, Row, Step
from benchmarks.gpu.reproduction import UNFINISHED, on_device
from benchmarks.processes import within
from salgen.evaluation.bench.published import SCORED, published_rows
from salgen.evaluation.bench.standing import is_floor
from salgen.evaluation.bench.worlds import kept_worlds, make_world_data, score_methods, world_spec

PUBLISHED = Path(__file__).parents[2] / "results"
EQUAL = 1e-3


def worlds(bench: Bench) -> dict[str, Step]:
    """One world of each family."""
    families = {world.family: world.name for world in kept_worlds(world_spec(), PUBLISHED)}
    names = list(families.values())[: 2 if bench.small else None]
    return {name: partial(_world, name, bench) for name in names}


def _world(name: str, bench: Bench) -> list[Row]:
    found = within(bench.seconds_left, scored_again, name, bench.small, bench.device.type)
    return [found or {LEFT: UNFINISHED}]


def scored_again(name: str, small: bool, device: str) -> Row:
    """How far the scores of a world on this device are from the published ones, and the seconds they take."""
    on_device(device)
    spec = world_spec()
    world = next(world for world in kept_worlds(spec, PUBLISHED) if world.name == name)
    methods, options = (["gradient", "grad-cam"], {"limit": 2}) if small else (spec.methods, {})
    with TemporaryDirectory() as folder:
        data = make_world_data(world.recipe, Path(folder) / "data")
        started = time.perf_counter()
        run = score_methods(spec, world.recipe, data, world.network, methods, Path(folder) / "run", **options)
        seconds, scores = time.perf_counter() - started, published_rows(run)
    both = scores[~scores["method"].map(is_floor)].merge(world.rows, on=SCORED, suffixes=("", "_published"))
    apart = (both["value"] - both["value_published"]).abs()
    furthest = both.loc[apart.idxmax()]
    return {
        "network": world.recipe.model,
        "scores": len(both),
        "seconds": seconds,
        "largest difference": float(apart.max()),
        f"above {EQUAL}": int((apart > EQUAL).sum()),
        NOTE: f"the largest is of {furthest['metric']}, {furthest['method']}",
    }
