"""Worlds of salgen-bench 2: a data set and a network trained on it for reliance, from a frozen list of recipes."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any
import pandas as pd
from salgen.datasets.making import make
from salgen.errors import SalgenError
from salgen.evaluation.bench.published import is_certified, published_rows
from salgen.evaluation.bench.questions import WorldScores
from salgen.evaluation.bench.run_entry import freeze
from salgen.evaluation.results.run import Run
from salgen.evaluation.runs.running import evaluate
from salgen.evaluation.runs.source_run import copy_checkpoint
from salgen.evaluation.statistics.comparison_groups import is_ceiling
from salgen.evaluation.statistics.score_cube import SCORES
from salgen.evaluation.training.training import train
from salgen.evaluation.training.training_settings import RELIANCE
from salgen.files import atomic_path, write_text

RECIPES = Path(__file__).with_name("salgen-bench-2.json")
RECORD, CHECKPOINT, DATA = "world.json", "network", "data"
VALIDATION = 150  # images


@dataclass(frozen=True)
class Recipe:
    """How a world is made: frozen in ``salgen-bench-2.json``, drawn by ``python -m benchmarks.draw_worlds``."""

    generator: str
    parameters: Mapping[str, Any]  # of the generator, where they are not its defaults
    # images, tests: numbers of training images, and of test images, all of which are scored
    images: int
    tests: int
    model: str
    settings: Mapping[str, Any]  # parameters of the model, and of its training
    seed: int  # of the data set and of the training


@dataclass(frozen=True)
class World:
    """A place in the benchmark: its recipes are tried in turn until one gives a world that can be scored."""

    name: str  # family and number, such as "mri-lesions-3"
    family: str
    recipes: Sequence[Recipe]


@dataclass(frozen=True)
class WorldSpec:
    """What ``salgen-bench-2.json`` holds."""

    accuracy: float  # the least accuracy on test images, and
    certified: float  # the least certified share of the samples with a mask: else the next recipe is tried
    # metrics, methods: calls, of all methods that there are
    metrics: Sequence[str]
    methods: Sequence[str]
    scale: str  # of methods that are estimates
    weights_of: Sequence[str]  # names of the worlds whose weights are kept
    worlds: Sequence[World]

    def part(self, text: str) -> Sequence[World]:
        """The worlds of one of several parts, such as ``2/8``."""
        number, of = (int(word) if word.isdecimal() else 0 for word in (*text.split("/"), "")[:2])
        if not 1 <= number <= of:
            raise SalgenError(f"part {text!r}: write K/N, such as 2/8, with K from 1 to N")
        return self.worlds[number - 1 :: of]


@cache
def world_spec() -> WorldSpec:
    """The frozen worlds."""
    values = json.loads(RECIPES.read_text())
    worlds = [
        World(world["name"], world["family"], [Recipe(**recipe) for recipe in world["recipes"]])
        for world in values.pop("worlds")
    ]
    return WorldSpec(worlds=worlds, **values)


@dataclass(frozen=True)
class Attempt:
    """What came of a recipe."""

    accuracy: float  # on the scored test images
    certified: float  # share of those with a mask on which the network is known to use the cause
    seconds: float  # of processor time, of a computation that was not stopped


def run_world(spec: WorldSpec, world: World, out: Path, **options: Any) -> Path:
    """Make, train, explain and score a world, or go on where it was stopped; returns the folder of its results.

    ``<out>/<world>`` gets ``world.json`` and, if one of its recipes passes, ``scores.parquet``, and weights if the
    benchmark keeps them. ``<out>/work`` holds what is not finished. `options` are further ones of
    :func:`~salgen.evaluation.runs.running.evaluate`.
    """
    results, work = out / world.name, out / "work" / world.name
    if (results / RECORD).is_file():
        return results
    results.mkdir(parents=True, exist_ok=True)
    attempts: list[Attempt] = []
    passed = False
    for number, recipe in enumerate(world.recipes):
        folder, started = work / str(number), time.process_time()
        trained = _trained(spec, recipe, folder, options)
        accuracy = trained.record.models[0].accuracy
        certified = float(is_certified(published_rows(trained)).mean())
        passed = accuracy >= spec.accuracy and certified >= spec.certified
        if passed:
            with atomic_path(results / SCORES) as path:
                rows = published_rows(_scored(spec, recipe, folder, spec.methods, options))
                rows.to_parquet(path, index=False, compression="zstd", compression_level=19)
            if world.name in spec.weights_of:
                copy_checkpoint(folder / CHECKPOINT, results / CHECKPOINT)
        attempts.append(Attempt(accuracy, certified, time.process_time() - started))
        if passed:
            break
    record = {"passed": passed, "attempts": [asdict(attempt) for attempt in attempts]}
    write_text(results / RECORD, json.dumps(record, indent=1) + "\n")
    shutil.rmtree(work)
    return results


def _trained(spec: WorldSpec, recipe: Recipe, folder: Path, options: Mapping[str, Any]) -> Run:
    """The data and the network of a recipe, and a run of one method, which says what the network uses."""
    if not (folder / DATA).exists():
        splits = {"train": recipe.images, "val": VALIDATION, "test": recipe.tests}
        make(recipe.generator, folder / DATA, splits=splits, parameters=recipe.parameters, seed=recipe.seed,
             recipes_only=True)  # fmt: skip
    settings = {**recipe.settings, "reliance": RELIANCE}
    train(folder / DATA, folder / CHECKPOINT, model=recipe.model, settings=settings, seed=recipe.seed)
    freeze(folder / CHECKPOINT, folder / DATA)
    return _scored(spec, recipe, folder, ["gradient"], options)


def _scored(spec: WorldSpec, recipe: Recipe, folder: Path, methods: Sequence[str], options: Mapping[str, Any]) -> Run:
    """The scores of some methods, and of those that were scored before."""
    how: dict[str, Any] = {"metrics": spec.metrics, "scale": spec.scale, "seed": recipe.seed, "out": folder / "run"}
    return Run(evaluate(folder / DATA, model=folder / CHECKPOINT, methods=methods, **how, **options))


def world_scores(spec: WorldSpec, folder: Path) -> WorldScores:
    """The scores of methods and floors in the worlds of a folder, by the first metric on certified images."""
    tables, families = {}, {}
    for world in spec.worlds:
        path = folder / world.name / SCORES
        if path.is_file():
            rows = pd.read_parquet(path)
            rows = rows[(rows["metric"] == spec.metrics[0]) & is_certified(rows) & ~rows["method"].map(is_ceiling)]
            tables[world.name] = rows.groupby(["cluster", "method"], observed=True)["value"].mean().unstack()
            families[world.name] = world.family
    if len(set(families.values())) < 2:
        raise SalgenError(f"{folder} holds worlds of fewer than two families: salgen bench run computes them")
    return WorldScores.of(tables, families)
