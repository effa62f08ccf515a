"""Small worlds: computed once, or with scores that are given."""

import dataclasses
import json
import pandas as pd
import pytest
from salgen.evaluation.bench.worlds import RECORD, WORLDS, World, WorldRecipe, run_world, world_spec

METHODS = ["gradient", "grad-cam", "input-x-gradient"]
SMALL = WorldRecipe("perlin-lesions", {"image_size": [32, 32]}, 32, 14, "scnn", {"widths": [4, 8], "epochs": 1}, 7)
NAMES = ("lesions-on-noise-1", "lesions-on-noise-2", "mri-lesions-1")


@pytest.fixture(scope="session")
def spec():
    """Three worlds of two families, of which two keep their weights; any network passes."""
    return dataclasses.replace(
        world_spec(), accuracy=0.0, certified=0.0, methods=METHODS,
        metrics=["average-precision", "insertion-auc:step=256,baseline=twin"],
        kept=["lesions-on-noise-1", "mri-lesions-1"],
        worlds=[World(name, name[:-2], [SMALL]) for name in NAMES],
    )  # fmt: skip


@pytest.fixture(scope="session")
def results(spec, tmp_path_factory):
    """Their results."""
    folder = tmp_path_factory.mktemp("bench") / "results"
    for world in spec.worlds:
        run_world(spec, world, folder / WORLDS)
    return folder


@pytest.fixture
def believed(monkeypatch):
    """All images count: the small networks are certified on none."""
    monkeypatch.setattr("salgen.evaluation.bench.worlds.is_certified", lambda rows: pd.Series(True, rows.index))


@pytest.fixture(scope="session")
def scored():
    """Writes results of a world: each method has a value on certified images, and 1 on an image that is not."""

    def write(folder, world, values, clusters=8):
        rows = [
            (method, f"s{cluster}", cluster, cluster > 0, value + 0.01 * cluster if cluster else 1.0)
            for method, value in values.items()
            for cluster in range(clusters)
        ]
        table = pd.DataFrame(rows, columns=["method", "sample_id", "cluster", "certified", "value"])
        table = table.assign(training_seed=7, metric="average-precision", correct=True)
        (folder / WORLDS / world).mkdir(parents=True)
        other = [table.assign(metric=metric, value=0.0) for metric in world_spec().metrics[1:]]
        pd.concat([table, *other], ignore_index=True).to_parquet(folder / WORLDS / world / "scores.parquet")
        record = {"passed": True, "attempts": [{"accuracy": 0.9, "certified": 0.8, "seconds": 1.0}]}
        (folder / WORLDS / world / RECORD).write_text(json.dumps(record))

    return write
