"""mlcroissant validates the description and reads every record through it, offline."""

import hashlib
import json
import socket
import mlcroissant
import numpy as np
import pytest
from made_datasets import made, published
from salgen.datasets.making import make
from salgen.datasets.reading.reader import open_dataset
from salgen.generators.factory import generator


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """Nothing is asked of a network."""

    def refused(*given):
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refused)


def validated(folder):
    """What mlcroissant makes of a published folder's description, in which it finds no fault."""
    described = mlcroissant.Dataset(folder / "croissant.json")
    issues = described.metadata.ctx.issues
    assert not issues.errors
    assert not issues.warnings
    return described


@pytest.mark.parametrize("parameters", [{}, {"channels": 3}], ids=["grey", "colour"])
def test_every_record_is_read(tmp_path, parameters):
    folder = made(tmp_path / "squares", parameters=parameters)
    local = mlcroissant.Dataset(folder / "croissant.json")
    issues = local.metadata.ctx.issues
    assert not issues.errors
    assert {warning.split('"')[1] for warning in issues.warnings} == {"https://schema.org/datePublished"}
    out = published(folder, tmp_path / "out", creators=["A. Author"], url="https://example.org/data")
    squares = generator("squares", **parameters)
    for described in (local, validated(out)):
        for split, count in {"train": 12, "val": 4, "test": 6}.items():
            records = list(described.records(split))
            assert len(records) == count
            for index, record in enumerate(records):
                named = {key.removeprefix(f"{split}/"): value for key, value in record.items()}
                check_record(named, squares, split, index)


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


def test_exact_attributions_are_read(tmp_path):
    parameters = {"image_size": (18, 18), "classes": 2, "cell": 3, "spot": 1}
    folder = make("coloured-cells", tmp_path / "cells", splits={"test": 3}, parameters=parameters, workers=1)
    plugin = generator("coloured-cells", **parameters).plugin
    records = list(mlcroissant.Dataset(folder / "croissant.json").records("test"))
    found = [np.asarray(record["test/attribution"]).reshape(2, 6, 6) for record in records]
    for sample, read in zip(open_dataset(folder, "test"), found, strict=True):
        np.testing.assert_array_equal(read, plugin.attribution(sample["recipe"].parameters))


def test_records_without_pixels_are_read_too(tiles, tmp_path):
    out = published(tiles, tmp_path / "out")
    described = validated(out)
    for split, count in {"train": 7, "test": 3}.items():
        (batch,) = open_dataset(out, split).batches(10)
        records = list(described.records(split))
        assert len(records) == count
        for number, record in enumerate(records):
            assert record[f"{split}/image"] is None
            assert record[f"{split}/twin"] is None
            assert record[f"{split}/id"] == batch.ids[number].encode()
            np.testing.assert_array_equal(np.asarray(record[f"{split}/mask"]) > 0, batch.masks[number])
            masks = [np.asarray(mask) > 0 for mask in record[f"{split}/alternative_masks"]]
            np.testing.assert_array_equal(np.array(masks).reshape(-1, 16, 16), batch.alternatives[number])


def test_it_conforms_to_both_vocabularies_and_names_every_file(folder, tiles, tmp_path):
    for number, there in enumerate((folder, tiles)):
        out = published(there, tmp_path / f"out{number}")
        values = json.loads((out / "croissant.json").read_text())
        assert values["conformsTo"] == ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
        assert values["datePublished"] == "2026-01-31"
        assert values["creator"] == [{"@type": "sc:Organization", "name": "salgen"}]
        assert "url" not in values
        files = {item["@id"]: item["sha256"] for item in values["distribution"] if item["@type"] == "cr:FileObject"}
        names = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
        assert set(files) == names - {"croissant.json", "SHA256SUMS"}
        assert all(hashlib.sha256((out / name).read_bytes()).hexdigest() == digest for name, digest in files.items())


def test_mlcroissant_reads_the_answers_about_responsible_use(folder, tiles, tmp_path):
    squares = validated(published(folder, tmp_path / "a")).metadata
    assert squares.data_collection.startswith("Nothing was collected")
    assert squares.personal_sensitive_information[0].startswith("None:")
    assert "Nobody annotated anything" in squares.data_annotation_protocol[0]
    assert "are equal, bit for bit" in (folder / "croissant.json").read_text()
    imported = validated(published(tiles, tmp_path / "b")).metadata
    assert "copy of data that others published" in imported.data_collection
    assert any("Pixels are not included" in text for text in imported.data_limitations)
    assert any("No image is included" in text for text in imported.personal_sensitive_information)
    for metadata in (squares, imported):
        assert metadata.data_use_cases
        assert metadata.data_biases
        assert metadata.data_social_impact
        assert metadata.data_release_maintenance_plan
    whole = validated(published(tiles, tmp_path / "c", may_redistribute=True)).metadata
    assert not any("Pixels are not included" in text for text in whole.data_limitations)
    assert any("may show persons" in text for text in whole.personal_sensitive_information)
