import json
import datasets
import mlcroissant
import numpy as np
import pyarrow.parquet as pq
import pytest
from datasets.info import DatasetInfosDict
from forged_rows import forge
from made_datasets import published
from voc_tree import TRAIN, VAL, tree
from salgen.datasets.format import schema
from salgen.datasets.format.manifest import read_manifest
from salgen.datasets.format.shards import shards_of
from salgen.datasets.layouts.detection_datasets.voc_annotations import CLASSES
from salgen.datasets.making import make
from salgen.datasets.preview.contact_sheet import contact_sheet
from salgen.datasets.preview.dataset_summary import describe
from salgen.datasets.reading.reader import open_dataset
from salgen.evaluation.verification.verifying import verify
from salgen.generators.composites.bam import OBJECTS
from salgen.generators.factory import generator

DRAWN = {"image_size": (32, 32), "pictures": 10}
COUNTS = {"train": 10, "val": 4, "test": 12}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Images of several drawn objects."""
    out = tmp_path_factory.mktemp("drawn") / "multi-objects"
    return make("multi-objects", out, splits=COUNTS, parameters=DRAWN, workers=1)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return tree(tmp_path_factory.mktemp("copy") / "VOC2012")


@pytest.fixture(scope="module")
def imported(copy, tmp_path_factory):
    """Photographs whose pixels are not passed on."""
    out = tmp_path_factory.mktemp("imported") / "voc-2012"
    return make("voc-2012", out, source=str(copy), parameters={"image_size": (16, 16)}, workers=1)


def samples(split, count):
    made = generator("multi-objects", **DRAWN)
    return [made.sample(0, split, index) for index in range(count)]


def test_what_is_drawn_is_read(drawn):
    for split, count in COUNTS.items():
        stored, expected = open_dataset(drawn, split), samples(split, count)
        present = stored.classes_present("object")
        assert (present.dtype, present.shape) == (np.dtype(bool), (count, len(OBJECTS)))
        (batch,) = stored.batches(100)
        np.testing.assert_array_equal(batch.present("object"), present)
        for index, sample in enumerate(expected):
            assert tuple(np.flatnonzero(present[index])) == sample.present["object"]
            one = stored[index]
            np.testing.assert_array_equal(one["object_present"], present[index])
            np.testing.assert_array_equal(stored.to_torch()[index][1], present[index])
            assert one["object"] == sample.labels["object"]
            np.testing.assert_array_equal(one["mask"], sample.regions["object"])


def test_hugging_face_loads_it_alone(drawn, tmp_path):
    loaded = datasets.load_dataset(str(drawn), cache_dir=str(tmp_path / "cache"))
    for split, rows in loaded.items():
        several = rows.features["object_present"]
        assert several.feature.names == rows.features["object"].names == list(OBJECTS)
        for row, sample in zip(rows, samples(split, COUNTS[split]), strict=True):
            assert tuple(row["object_present"]) == sample.present["object"]
            np.testing.assert_array_equal(np.asarray(row["mask_boxes"]), sample.regions["boxes"])


def test_card_and_parquet_declare_the_same_features(drawn, imported, folder):
    for there in (drawn, imported, folder):
        described = read_manifest(there)
        stored = pq.read_schema(there / shards_of(described)[0].path).metadata[b"huggingface"]
        from_parquet = datasets.Features.from_dict(json.loads(stored)["info"]["features"])
        assert from_parquet == DatasetInfosDict.from_directory(there)["default"].features
        assert list(from_parquet) == [column.name for column in schema.columns(described)]


def test_it_is_published_without_pixels_and_read(imported, copy, tmp_path):
    out = published(imported, tmp_path / "out")
    assert verify(out) == []
    assert not read_manifest(out).pixels
    stored = open_dataset(out, "test")
    names = [recipe.parameters["item"][-15:-4] for recipe in next(iter(stored.batches(100))).recipes]
    for name, present in zip(names, stored.classes_present("object"), strict=True):
        assert {CLASSES[number] for number in np.flatnonzero(present)} == {kind for kind, _, _ in VAL[name]}
    records = list(mlcroissant.Dataset(out / "croissant.json").records("train"))
    both = CLASSES.index("cat"), CLASSES.index("dog")
    assert {tuple(record["train/object_present"]) for record in records} == {both}
    assert len(records) == len(TRAIN) - 2


def test_it_is_verified_and_shown(drawn, imported, copy):
    assert verify(drawn) == []
    assert verify(imported, source=str(copy)) == []
    for folder in (drawn, imported):
        assert contact_sheet(folder).size[1] > 300
        assert "object" in describe(folder)


def test_a_column_that_says_otherwise_is_found(tmp_path):
    other = make("multi-objects", tmp_path / "other", splits=COUNTS, parameters=DRAWN, workers=1)

    def change(rows):
        rows[1]["object_present"] = [(rows[1]["object"] + 1) % 10]

    forge(other, change, "data/test-00000-of-00003.parquet")
    assert any("rendered again, it differs in object_present" in problem for problem in verify(other, samples=1000))
