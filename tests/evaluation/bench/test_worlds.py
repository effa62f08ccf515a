"""Worlds of salgen-bench 2: the frozen list, and one world from its recipes to its scores."""

import dataclasses
import json
import re
import tomllib
import pandas as pd
import pytest
from benchmarks import draw_worlds
from salgen.cli.main import main
from salgen.errors import SalgenError
from salgen.evaluation.bench.worlds import KINDS, RECIPES, WORLDS, World, read_worlds, run_world, world_spec
from salgen.evaluation.training.checkpoints import WEIGHTS
from salgen.registry import GENERATORS, MODELS


def test_the_frozen_worlds_are_those_of_the_declared_distribution_once_in_every_part():
    """Methods that came later are in none of them."""
    drawn = json.loads(json.dumps(draw_worlds.draw(tomllib.loads(draw_worlds.DISTRIBUTION.read_text()))))
    frozen = json.loads(RECIPES.read_text())
    assert set(frozen.pop("methods")) <= set(drawn.pop("methods"))
    assert frozen == drawn
    spec = world_spec()
    counts = pd.Series([world.family for world in spec.worlds]).value_counts()
    assert dict(counts) == dict.fromkeys(KINDS, 8) | {"people": 1, "places": 1, "cells": 4, "slots": 4, "patches": 4}
    parts = [world.name for number in (1, 2, 3) for world in spec.part(f"{number}/3")]
    assert sorted(parts) == sorted(world.name for world in spec.worlds)
    for wrong in ("4/3", "0/3", "2", "a/b"):
        with pytest.raises(SalgenError, match=f"part '{wrong}': write K/N, such as 2/8, with K from 1 to N"):
            spec.part(wrong)
    assert {world.family for world in spec.worlds} == KINDS.keys()
    for world in spec.worlds:
        for recipe in world.recipes:
            assert {recipe.generator} <= set(GENERATORS.names())
            assert {recipe.model} <= set(MODELS.names())


def test_a_world_is_scored_by_the_first_recipe_that_passes(spec, results, tmp_path):
    (small,) = spec.worlds[0].recipes
    untrained = dataclasses.replace(small, model="lesion-cnn", settings={"widths": [4], "hidden": 4, "epochs": 1})
    strict = dataclasses.replace(spec, accuracy=1.1)
    crowded = dataclasses.replace(small, parameters={"image_size": [32, 32], "diameter": 15, "lesions": 9})
    rejected = run_world(strict, World("rejected", "lesions", [crowded, untrained, small]), tmp_path)
    record = json.loads((rejected / "world.json").read_text())
    assert not record["passed"]
    impossible, *tried = record["attempts"]
    assert impossible["impossible"].startswith("no place for the lesions")
    assert [set(attempt) for attempt in tried] == [{"accuracy", "certified", "seconds"}] * 2
    assert [path.name for path in rejected.iterdir()] == ["world.json"]

    kept = results / WORLDS / "lesions-on-noise-1"
    record = json.loads((kept / "world.json").read_text())
    assert record["passed"]
    assert len(record["attempts"]) == 1
    rows = pd.read_parquet(kept / "scores.parquet")
    assert {"gradient", "grad-cam", "center", "sobel"} <= set(rows["method"])
    assert set(rows["metric"]) == set(spec.metrics)
    assert set(rows["training_seed"]) == {7, 8}
    assert (kept / "network-seed0" / WEIGHTS).is_file()
    assert list((results / WORLDS / "work").iterdir()) == []
    written = (kept / "scores.parquet").stat().st_mtime_ns
    assert run_world(spec, spec.worlds[0], results / WORLDS) == kept
    assert (kept / "scores.parquet").stat().st_mtime_ns == written
    assert not (results / WORLDS / "lesions-on-noise-2" / "network-seed0").exists()


def test_the_command_runs_a_part_and_says_what_came_of_it(spec, tmp_path, monkeypatch, capsys):
    recipes = spec.worlds[0].recipes
    few = dataclasses.replace(spec, worlds=[World("first", "lesions", recipes), World("second", "lesions", recipes)])
    monkeypatch.setattr("salgen.evaluation.bench.worlds.world_spec", lambda: few)
    assert main(["bench", "run", "--part", "2/2", "--out", str(tmp_path)]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"second: \d+% right, \d+% certified: scored", line)


def test_tables_hold_clusters_of_images_that_every_training_certifies(tmp_path, scored):
    scored(tmp_path, "signs-1", {"grad-cam": 0.2, "gradient": 0.5, "sobel": 0.1, "oracle": 0.9})
    path = tmp_path / WORLDS / "signs-1" / "scores.parquet"
    first = pd.read_parquet(path)
    again = first.assign(training_seed=8, certified=first["certified"] & (first["cluster"] != 3))
    pd.concat([first, again], ignore_index=True).to_parquet(path)
    (world,) = read_worlds(world_spec(), tmp_path / WORLDS)
    table = world.table("average-precision")
    assert list(table) == ["grad-cam", "gradient", "sobel"], "the mask itself is no method"
    assert list(table.loc[7].index) == list(table.loc[8].index) == [1, 2, 4, 5, 6, 7]
    assert table.loc[(7, 4), "gradient"] == pytest.approx(0.54)
    assert (world.family, world.recipe, world.accuracy) == ("signs", world_spec().worlds[2].recipes[0], 0.9)
