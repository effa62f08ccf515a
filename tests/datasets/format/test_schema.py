import hashlib
import datasets
import numpy as np
import pytest
from made_datasets import made
from salgen.datasets.format import schema
from salgen.datasets.making import make
from salgen.generators.factory import generator


def test_the_digest_is_over_type_shape_and_pixels():
    image = np.arange(6, dtype=np.uint16).reshape(2, 3, 1) * 1000
    expected = hashlib.sha256(b"uint16 2x3x1\n" + b"".join(int(v).to_bytes(2, "little") for v in image.ravel()))
    assert schema.pixels_digest(image) == expected.hexdigest()
    assert schema.pixels_digest(np.asfortranarray(image)) == expected.hexdigest()
    assert schema.pixels_digest(image.astype(">u2")) == expected.hexdigest()
    assert schema.pixels_digest(image.reshape(3, 2, 1)) != expected.hexdigest()


@pytest.mark.parametrize("parameters", [{}, {"channels": 3}, {"bit_depth": 16}], ids=["grey", "colour", "deep"])
def test_hugging_face_loads_the_folder_alone(tmp_path, parameters):
    folder = made(tmp_path / "squares", parameters=parameters)
    loaded = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    assert {split: len(rows) for split, rows in loaded.items()} == {"train": 12, "val": 4, "test": 6}
    squares = generator("squares", **parameters)
    for split, rows in loaded.items():
        assert rows.features["label"].names == ["empty", "square"]
        assert rows.features["corner"].names == ["left", "right"]
        for index, row in enumerate(rows):
            check_row(row, squares, split, index)


def test_hugging_face_loads_exact_attributions(tmp_path):
    parameters = {"image_size": (18, 18), "classes": 2, "cell": 3, "spot": 1}
    folder = make("coloured-cells", tmp_path / "cells", splits={"test": 3}, parameters=parameters, workers=1)
    rows = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))["test"]
    plugin = generator("coloured-cells", **parameters).plugin
    assert len(rows) == 3
    for row in rows:
        expected = plugin.attribution(schema.recipe_from_text(row["recipe"]).parameters)
        np.testing.assert_array_equal(np.asarray(row["attribution"], np.float32), expected)


def check_row(row, squares, split, index):
    sample = squares.sample(0, split, index)
    twin = squares.twin(sample.recipe)
    assert (row["id"], row["label"], row["corner"]) == (sample.id, sample.labels["label"], sample.labels["corner"])
    np.testing.assert_array_equal(np.asarray(row["image"]).reshape(sample.image.shape), sample.image)
    np.testing.assert_array_equal(np.asarray(row["mask"]), sample.regions["square"])
    np.testing.assert_array_equal(np.asarray(row["mask_frame"]), sample.regions["frame"])
    assert (row["twin"] is None) == (twin is None)
    if twin is not None:
        np.testing.assert_array_equal(np.asarray(row["twin"]).reshape(twin.image.shape), twin.image)
    assert row["factors"] == squares.plugin.factors(sample.recipe.parameters)
    assert row["alternative_masks"] == []
    assert schema.recipe_from_text(row["recipe"]) == sample.recipe
    assert row["pixels_sha256"] == schema.pixels_digest(sample.image)
