"""Worlds of salgen-bench 2: the frozen list, and one world from its recipes to its scores."""

import dataclasses
import json
import re
import tomllib
import pandas as pd
import pytest
import salgen
from benchmarks import draw_worlds
from salgen.cli.main import main
from salgen.errors import SalgenError
from salgen.evaluation.bench.worlds import RECIPES, World, WorldRecipe, run_world, world_spec
from salgen.evaluation.training.checkpoints import WEIGHTS
from salgen.registry import GENERATORS, MODELS

SMALL = WorldRecipe("perlin-lesions", {"image_size": [32, 32]}, 32, 8, "scnn", {"widths": [4, 8], "epochs": 1}, 7)


def test_the_frozen_worlds_are_those_of_the_declared_distribution():
    """Methods that came later are in none of them."""
    drawn = json.loads(json.dumps(draw_worlds.draw(tomllib.loads(draw_worlds.DISTRIBUTION.read_text()))))
    frozen = json.loads(RECIPES.read_text())
    assert set(frozen.pop("methods")) <= set(drawn.pop("methods"))
    assert frozen == drawn


def test_every_family_has_as_many_worlds_and_every_part_has_each_world_once():
    spec = world_spec()
    counts = pd.Series([world.family for world in spec.worlds]).value_counts()
    assert counts.nunique() == 1
    parts = [world.name for number in (1, 2, 3) for world in spec.part(f"{number}/3")]
    assert sorted(parts) == sorted(world.name for world in spec.worlds)
    for wrong in ("4/3", "0/3", "2", "a/b"):
        with pytest.raises(SalgenError, match=f"part '{wrong}': write K/N, such as 2/8, with K from 1 to N"):
            spec.part(wrong)
    for world in spec.worlds:
        for recipe in world.recipes:
            assert {recipe.generator} <= set(GENERATORS.names())
            assert {recipe.model} <= set(MODELS.names())


@pytest.fixture
def spec():
    return dataclasses.replace(
        world_spec(), accuracy=0.0, certified=0.0, methods=["gradient", "grad-cam"],
        metrics=["average-precision"], kept=["kept"],
    )  # fmt: skip


def test_a_world_is_scored_by_the_first_recipe_that_passes(spec, tmp_path):
    untrained = dataclasses.replace(SMALL, model="lesion-cnn", settings={"widths": [4], "hidden": 4, "epochs": 1})
    world = World("kept", "lesions", [untrained, SMALL])
    strict = dataclasses.replace(spec, accuracy=1.1)
    rejected = run_world(strict, dataclasses.replace(world, name="rejected"), tmp_path)
    record = json.loads((rejected / "world.json").read_text())
    assert not record["passed"]
    assert len(record["attempts"]) == 2
    assert [path.name for path in rejected.iterdir()] == ["world.json"]

    results = run_world(spec, world, tmp_path)
    record = json.loads((results / "world.json").read_text())
    assert record["passed"]
    assert len(record["attempts"]) == 1
    rows = pd.read_parquet(results / "scores.parquet")
    assert {"gradient", "grad-cam", "center", "sobel"} <= set(rows["method"])
    assert set(rows["metric"]) == {"average-precision"}
    assert set(rows["training_seed"]) == {7, 8}
    assert (results / "network-seed0" / WEIGHTS).is_file()
    assert not (tmp_path / "work" / "kept").exists()
    written = (results / "scores.parquet").stat().st_mtime_ns
    assert run_world(spec, world, tmp_path) == results
    assert (results / "scores.parquet").stat().st_mtime_ns == written


def test_the_command_runs_a_part_and_says_what_came_of_it(spec, tmp_path, monkeypatch, capsys):
    few = dataclasses.replace(spec, worlds=[World("first", "lesions", [SMALL]), World("second", "lesions", [SMALL])])
    monkeypatch.setattr("salgen.evaluation.bench.worlds.world_spec", lambda: few)
    assert main(["bench", "run", "--part", "2/2", "--out", str(tmp_path)]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"second: \d+% right, \d+% certified: scored", line)


def scored(folder, world, values):
    """Results of a world: each method has a value on certified images, and 1 on an image that is not."""
    rows = [
        (method, f"s{cluster}", cluster, cluster > 0, value + 0.01 * cluster if cluster else 1.0)
        for method, value in values.items()
        for cluster in range(4)
    ]
    table = pd.DataFrame(rows, columns=["method", "sample_id", "cluster", "certified", "value"])
    table = table.assign(training_seed=7, metric="average-precision")
    (folder / world).mkdir(parents=True)
    pd.concat([table, table.assign(metric="roc-auc", value=0.0)]).to_parquet(folder / world / "scores.parquet")


def test_certified_images_answer_what_to_expect_in_a_new_world(tmp_path, capsys):
    worlds = tmp_path / "worlds"
    scored(worlds, "signs-1", {"grad-cam": 0.2, "gradient": 0.5, "sobel": 0.1, "oracle": 0.9})
    with pytest.raises(SalgenError, match="fewer than two families: salgen bench run computes them"):
        salgen.bench.worlds(tmp_path)
    scored(worlds, "mri-lesions-2", {"grad-cam": 0.6, "gradient": 0.5, "sobel": 0.1, "oracle": 0.9})
    scored(worlds, "mri-lesions-3", {"grad-cam": 0.6, "gradient": 0.8, "sobel": 0.1, "oracle": 0.9})
    found = salgen.bench.worlds(tmp_path)
    assert (found.worlds, found.families) == (3, 2)
    assert found.table["regret"].to_dict() == pytest.approx(
        {"gradient": 0.025, "grad-cam": 0.2, "sobel": 0.5}, abs=1e-6
    )
    assert found.table["ahead"].to_dict() == pytest.approx({"gradient": 0.75, "grad-cam": 0.5, "sobel": 0})
    assert main(["bench", "worlds", "--results", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("A new world, by 3 worlds of 2 families")
    assert out.splitlines()[3].split()[:2] == ["gradient", "0.025"]
