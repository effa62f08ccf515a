"""mlcroissant validates the description and reads every record through it, offline."""

from __future__ import annotations

import mlcroissant
import numpy as np
import pytest
from conftest import made

from salgen.generators.opening import generator


@pytest.mark.parametrize("parameters", [{}, {"channels": 3}], ids=["grey", "colour"])
def test_every_record_is_read(tmp_path, parameters):
    folder = made(tmp_path / "squares", parameters=parameters)
    described = mlcroissant.Dataset(folder / "croissant.json")
    issues = described.metadata.ctx.issues
    assert not issues.errors
    assert {warning.split('"')[1] for warning in issues.warnings} == {"https://schema.org/datePublished"}
    squares = generator("squares", **parameters)
    for split, count in {"train": 12, "val": 4, "test": 6}.items():
        records = list(described.records(split))
        assert len(records) == count
        for index, record in enumerate(records):
            check_record({key.removeprefix(f"{split}/"): value for key, value in record.items()}, squares, split, index)


def check_record(record, squares, split, index):
    sample = squares.sample(0, split, index)
    twin = squares.twin(sample.recipe)
    assert record["id"] == sample.id.encode()
    assert {task: record[task] for task in sample.labels} == sample.labels
    np.testing.assert_array_equal(np.asarray(record["image"]).reshape(sample.image.shape), sample.image)
    np.testing.assert_array_equal(np.asarray(record["mask"]), sample.regions["square"])
    np.testing.assert_array_equal(np.asarray(record["mask_frame"]), sample.regions["frame"])
    assert (record["twin"] is None) == (twin is None)
    place = sample.recipe.parameters["row"] if sample.labels["label"] else None
    assert record["factors"][f"{split}/factors/row"] == place
