"""A small benchmark, run once: one data set, one network, two trainings plainly and two for reliance."""

import dataclasses
import pytest
from salgen.datasets.making import make
from salgen.datasets.reading.reader import open_dataset
from salgen.evaluation.bench.run_entry import RESULTS, run_entry
from salgen.evaluation.bench.versions import BenchData, bench_spec

SPLITS = {"train": 32, "val": 8, "test": 32}
METHODS = ["gradient", "grad-cam", "input-x-gradient"]
NETWORK = "lesion-cnn:widths=4,8,hidden=8,epochs=2"


@pytest.fixture(scope="session")
def spec(tmp_path_factory):
    parameters = {"image_size": (32, 32)}
    folder = tmp_path_factory.mktemp("spec") / "data"
    made = make("perlin-lesions", folder, splits=SPLITS, parameters=parameters, recipes_only=True)
    data = BenchData("perlin-lesions", open_dataset(made).fingerprint, SPLITS, parameters, [NETWORK])
    metrics = ["average-precision", "insertion-auc:step=256,baseline=twin"]
    return dataclasses.replace(bench_spec(), data=[data], trainings=2, images=30, metrics=metrics)


@pytest.fixture(scope="session")
def out(spec, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    for entry in spec.entries:
        assert run_entry(spec, entry, folder, methods=METHODS) == [folder / RESULTS / entry.name]
    return folder
