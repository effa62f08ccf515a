"""Worlds of salgen-bench 2: a data set and a network trained on it for reliance, from a frozen list of recipes."""

import hashlib
import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
import pandas as pd
import safetensors.torch
import torch
from torch import Tensor
from salgen.datasets.making import make
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError
from salgen.evaluation.bench.published import is_certified, published_rows, store_rows
from salgen.evaluation.bench.questions import WorldScores
from salgen.evaluation.results.run import Run
from salgen.evaluation.runs.running import evaluate
from salgen.evaluation.statistics.comparison_groups import is_ceiling
from salgen.evaluation.statistics.score_cube import SCORES
from salgen.evaluation.training.checkpoints import CARD, WEIGHTS, load_checkpoint, read_card, save_checkpoint
from salgen.evaluation.training.training import train
from salgen.evaluation.training.training_settings import RELIANCE
from salgen.files import copy_file, write_text

RECIPES = Path(__file__).with_name("salgen-bench-2.json")
WORLDS, WORK = "worlds", "work"  # the folder among results; in it, the folder for unfinished worlds
RECORD, NETWORK = "world.json", "network-seed{}"
VALIDATION = 150  # images
BATCH = 64
KINDS = {  # each family's kind of cause: an object, or marks of one colour
    "lesions-on-noise": "object",
    "mri-lesions": "object",
    "lights": "object",
    "luggage": "object",
    "people": "object",
    "places": "object",
    "object-on-scene": "object",
    "several-objects": "object",
    "signs": "mark",
    "figures": "mark",
    "cells": "mark",
    "slots": "mark",
    "patches": "mark",
}


@dataclass(frozen=True)
class WorldRecipe:
    """How a world is made: frozen in ``salgen-bench-2.json``, drawn by ``python -m benchmarks.draw_worlds``."""

    generator: str
    parameters: Mapping[str, Any]  # the generator's, where they are not its defaults
    # images, tests: numbers of training images, and of test images, all of which are scored
    images: int
    tests: int
    model: str
    settings: Mapping[str, Any]  # parameters of the model, and of its training
    seed: int  # for the data set, the training and the methods' randomness


@dataclass(frozen=True)
class World:
    """A place in the benchmark: its recipes are tried in turn until one gives a world that can be scored."""

    name: str  # family and number, such as "mri-lesions-3"
    family: str
    recipes: Sequence[WorldRecipe]


@dataclass(frozen=True)
class WorldSpec:
    """What ``salgen-bench-2.json`` holds."""

    accuracy: float  # the least accuracy on test images, and
    certified: float  # the least certified share of the samples with a mask: else the next recipe is tried
    # metrics, methods: calls, of all methods that there are
    metrics: Sequence[str]
    methods: Sequence[str]
    scale: str  # for methods that are estimates
    kept: Sequence[str]  # names of the worlds whose weights are kept, and which are trained twice
    worlds: Sequence[World]
    digest: str  # SHA-256 of the file

    def part(self, text: str) -> Sequence[World]:
        """The worlds of one of several parts, such as ``2/8``."""
        number, of = (int(word) if word.isdecimal() else 0 for word in (*text.split("/"), "")[:2])
        if not 1 <= number <= of:
            raise SalgenError(f"part {text!r}: write K/N, such as 2/8, with K from 1 to N")
        return self.worlds[number - 1 :: of]


@cache
def world_spec() -> WorldSpec:
    """The frozen worlds."""
    content = RECIPES.read_bytes()
    values = json.loads(content)
    worlds = [
        World(world["name"], world["family"], [WorldRecipe(**recipe) for recipe in world["recipes"]])
        for world in values.pop("worlds")
    ]
    return WorldSpec(worlds=worlds, digest=hashlib.sha256(content).hexdigest(), **values)


def run_world(spec: WorldSpec, world: World, out: Path, **options: Any) -> Path:
    """Make, train, explain and score a world, or go on where it was stopped; returns the folder of its results.

    ``<out>/<world>`` gets ``world.json`` and, if one of its recipes passes, ``scores.parquet``. Of some worlds it gets
    the weights too, and the scores of a second training. ``<out>/work`` holds what is not finished. `options` are
    further ones of :func:`~salgen.evaluation.runs.running.evaluate`.

    The record has for each recipe that was tried `accuracy`, `certified`, and `seconds` of processor time since the
    last start. If its data cannot be made, `impossible` says why.
    """
    results, work = out / world.name, out / WORK / world.name
    if (results / RECORD).is_file():
        return results
    kept = world.name in spec.kept
    attempts: list[dict[str, Any]] = []
    runs: list[Run] = []
    for number, recipe in enumerate(world.recipes):
        folder, started = work / str(number), time.process_time()
        try:
            make_world_data(recipe, folder / "data")
        except SalgenError as error:
            attempts.append({"impossible": str(error)})
            continue
        first = _run(spec, recipe, folder, 0, ["gradient"], options)
        accuracy, certified = first.record.models[0].accuracy, float(is_certified(published_rows(first)).mean())
        if accuracy >= spec.accuracy and certified >= spec.certified:
            runs = [_run(spec, recipe, folder, seed, spec.methods, options) for seed in range(2 if kept else 1)]
        seconds = time.process_time() - started
        attempts.append({"accuracy": accuracy, "certified": certified, "seconds": seconds})
        if runs:
            break
    results.mkdir(parents=True, exist_ok=True)
    if runs:
        store_rows([published_rows(run) for run in runs], results)
        if kept:
            for name in (CARD, WEIGHTS):  # patterns are larger, and can be fitted again
                copy_file(folder / NETWORK.format(0) / name, results / NETWORK.format(0) / name)
    write_text(results / RECORD, json.dumps({"passed": bool(runs), "attempts": attempts}, indent=1) + "\n")
    shutil.rmtree(work)
    return results


def _run(
    spec: WorldSpec, recipe: WorldRecipe, folder: Path, seed: int, methods: Sequence[str], options: Mapping[str, Any]
) -> Run:
    """The scores of some methods on the data in a folder under one training, and of those that were scored before."""
    data, network = folder / "data", folder / NETWORK.format(seed)
    settings = {**recipe.settings, "reliance": RELIANCE}
    train(data, network, model=recipe.model, settings=settings, seed=recipe.seed + seed)
    freeze(network, data)
    return score_methods(spec, recipe, data, network, methods, folder / f"run-seed{seed}", **options)


def score_methods(
    spec: WorldSpec, recipe: WorldRecipe, data: Path, network: Path, methods: Sequence[str], out: Path, **options: Any
) -> Run:
    """The run of some methods on a world's data set and network, as worlds are scored."""
    how: dict[str, Any] = {"metrics": spec.metrics, "scale": spec.scale, "seed": recipe.seed}
    return Run(evaluate(data, model=network, methods=methods, out=out, **how, **options))


@dataclass(frozen=True, eq=False)
class ScoredWorld:
    """A world that has results."""

    name: str
    family: str
    recipe: WorldRecipe  # the one that passed
    folder: Path  # with its results
    accuracy: float
    certified: float  # the share of samples with a mask
    rows: pd.DataFrame  # as :func:`~salgen.evaluation.bench.published.published_rows` has them

    @property
    def network(self) -> Path:
        """The folder of its weights, if they are kept."""
        return self.folder / NETWORK.format(0)

    @property
    def first_rows(self) -> pd.DataFrame:
        """The rows of the first training."""
        seeds = self.rows["training_seed"]
        first: pd.DataFrame = self.rows.loc[seeds == seeds.min()]
        return first

    def table(self, metric: str) -> pd.DataFrame:
        """A column for each method and floor, and a row for each training and cluster of certified images.

        Images count that are certified under each training of the world.
        """
        rows = self.rows[(self.rows["metric"] == metric) & ~self.rows["method"].map(is_ceiling)]
        certified = is_certified(rows).groupby(rows["sample_id"]).transform("all")
        by = [rows["training_seed"], rows["cluster"], rows["method"]]
        return rows["value"][certified].groupby(by, observed=True).mean().unstack()

    def first_table(self, metric: str) -> pd.DataFrame:
        """A row for each cluster, of the first training alone; methods that lack a value are left out."""
        return first_training(self.table(metric))


def first_training(table: pd.DataFrame) -> pd.DataFrame:
    """The clusters of the first training in a world's table, by the methods that have a value of each."""
    first: pd.DataFrame = table.loc[table.index[0][0]]
    return first.dropna(axis=1)


def read_worlds(spec: WorldSpec, folder: Path) -> list[ScoredWorld]:
    """The worlds whose results a folder has."""
    found = []
    for world in spec.worlds:
        results = folder / world.name
        if (results / SCORES).is_file():
            attempts = json.loads((results / RECORD).read_text())["attempts"]
            recipe, last = world.recipes[len(attempts) - 1], attempts[-1]
            rows = pd.read_parquet(results / SCORES)
            shares = last["accuracy"], last["certified"]
            found.append(ScoredWorld(world.name, world.family, recipe, results, *shares, rows))
    if not found:
        raise SalgenError(f"{folder} holds no worlds such as {spec.worlds[0].name}: salgen bench fetch copies them")
    return found


def kept_worlds(spec: WorldSpec, results: Path) -> list[ScoredWorld]:
    """The worlds of a folder of results whose weights are kept."""
    kept = [world for world in read_worlds(spec, results / WORLDS) if world.network.is_dir()]
    if not kept:
        raise SalgenError(f"{results} holds no weights: salgen bench fetch copies them")
    return kept


def world_scores(metric: str, worlds: Sequence[ScoredWorld]) -> WorldScores:
    """The scores of methods and floors by a metric on certified images."""
    tables = {world.name: world.table(metric) for world in worlds}
    return WorldScores.of(tables, {world.name: world.family for world in worlds})


def make_world_data(recipe: WorldRecipe, folder: Path) -> Path:
    """Make the data set of a world, as recipes that are drawn when they are read."""
    splits = {"train": recipe.images, "val": VALIDATION, "test": recipe.tests}
    how: dict[str, Any] = {"splits": splits, "parameters": recipe.parameters, "seed": recipe.seed}
    return make(recipe.generator, folder, recipes_only=True, **how)


def freeze(checkpoint: Path, dataset: Path) -> bool:
    """Store weights in half precision if no prediction of a test image changes; returns whether they are stored so."""
    weights = safetensors.torch.load_file(checkpoint / WEIGHTS)
    if not any(tensor.dtype == torch.float32 for tensor in weights.values()):
        return True
    halves = {name: tensor.half() if tensor.dtype == torch.float32 else tensor for name, tensor in weights.items()}
    if not torch.equal(*(_predicted(checkpoint, dataset, stored) for stored in (weights, halves))):
        return False
    save_checkpoint(checkpoint, halves, read_card(checkpoint))
    return True


def _predicted(checkpoint: Path, dataset: Path, weights: Mapping[str, Tensor]) -> Tensor:
    """The class that a network with some weights predicts for each test image, (N,); of several labels bool (N, K)."""
    trained = load_checkpoint(checkpoint, "cpu")
    trained.classifier.load_state_dict(weights)
    logits = []
    with torch.inference_mode():
        for batch in open_dataset(dataset, "test").batches(BATCH):
            logits.append(trained.classifier(torch.from_numpy(batch.images)))
    together = torch.cat(logits)
    return together > 0 if trained.card.multi_label else together.argmax(dim=1)
