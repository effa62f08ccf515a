"""What is read is what was rendered; faults of files are named."""

import gc
import pickle
import weakref
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_datasets import made
from salgen.datasets.format import png
from salgen.datasets.format.shards import read_group
from salgen.datasets.reading import reader
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError
from salgen.generators.factory import generator

SHARD = "data/train-00001-of-00003.parquet"


def unit(image):
    return image.transpose(2, 0, 1).astype(np.float32) / np.float32(np.iinfo(image.dtype).max)


@pytest.mark.parametrize("parameters", [{}, {"channels": 3}, {"bit_depth": 16}], ids=["grey", "colour", "deep"])
def test_every_sample_is_the_one_that_was_rendered(tmp_path, parameters):
    dataset = open_dataset(made(tmp_path / "squares", parameters=parameters), "train")
    squares = generator("squares", **parameters)
    assert len(dataset) == 12
    for index in range(12):
        sample, row = squares.sample(0, "train", index), dataset[index]
        twin = squares.twin(sample.recipe)
        assert (row["id"], row["recipe"]) == (sample.id, sample.recipe)
        assert {task: row[task] for task in dataset.tasks} == sample.labels
        assert row["image"].dtype == np.float32
        np.testing.assert_array_equal(row["image"], unit(sample.image))
        np.testing.assert_array_equal(row["mask"], sample.regions["square"])
        assert row["mask"].dtype == np.bool_
        assert set(row["regions"]) == set(dataset.region_names) == {"square", "frame"}
        for region, mask in sample.regions.items():
            np.testing.assert_array_equal(row["regions"][region], mask)
        assert (row["twin"] is None) == (twin is None)
        if twin is not None:
            np.testing.assert_array_equal(row["twin"], unit(twin.image))
    np.testing.assert_array_equal(
        dataset.images(), np.stack([squares.sample(0, "train", k).image.transpose(2, 0, 1) for k in range(12)])
    )
    assert dataset.images().dtype == (np.uint16 if "bit_depth" in parameters else np.uint8)


def test_what_it_says_of_itself(folder):
    dataset = open_dataset(folder)
    assert (dataset.split, dataset.name, dataset.path) == ("test", "squares", folder)
    assert dataset.tasks == {"label": ("empty", "square"), "corner": ("left", "right")}
    assert (dataset.valid_region, dataset.spec.generator) == ("frame", "squares")
    assert dataset.fingerprint == dataset.spec.fingerprint
    assert repr(dataset) == "Dataset('squares', split='test', 6 images, 12x16, 2 classes)"


def test_without_a_test_split_the_first_one_is_opened(tmp_path):
    folder = made(tmp_path / "squares", splits={"train": 12, "val": 4})
    assert open_dataset(folder).split == "train"
    with pytest.raises(SalgenError, match="unknown split"):
        open_dataset(folder, "test")


@pytest.mark.parametrize("size", [1, 3, 5, 12, 50])
@pytest.mark.parametrize("indices", [None, [11, 0, 3, 2, 7, 7, 1], [4], []])
def test_batches_hold_the_samples_asked_for_in_order(folder, size, indices):
    dataset = open_dataset(folder, "train")
    order = list(range(12)) if indices is None else indices
    batches = list(dataset.batches(size, indices))
    assert [len(batch) for batch in batches] == [len(order[k : k + size]) for k in range(0, len(order), size)]
    assert [name for batch in batches for name in batch.ids] == [f"train-{index:06d}" for index in order]
    for batch, start in zip(batches, range(0, len(order), size), strict=True):
        for place, index in enumerate(order[start : start + size]):
            row = dataset[index]
            np.testing.assert_array_equal(batch.images[place], row["image"])
            np.testing.assert_array_equal(batch.masks[place], row["mask"])
            np.testing.assert_array_equal(batch.regions["frame"][place], row["regions"]["frame"])
            assert batch.labels[place] == row["label"]
            assert (batch.twins[place] is None) == (row["twin"] is None)


def test_a_batch_is_freed_as_soon_as_it_is_dropped(folder):
    (batch,) = open_dataset(folder, "train").batches(12)
    assert batch.masks.any()
    assert batch.regions["frame"].any()
    dropped = weakref.ref(batch)
    gc.disable()
    try:
        del batch
        assert dropped() is None  # it does not wait for the garbage collector, which may be long in coming
    finally:
        gc.enable()


def test_columns_come_without_images(folder, monkeypatch):
    dataset = open_dataset(folder, "train")
    np.testing.assert_array_equal(dataset.present("square"), np.array(dataset.column("label")) == 1)
    monkeypatch.setattr(png, "decode", None)
    recipes = [generator("squares").recipe(0, "train", index) for index in range(12)]
    assert dataset.column("id") == [recipe.id for recipe in recipes]
    np.testing.assert_array_equal(dataset.column("label"), [recipe.parameters["label"] for recipe in recipes])
    assert dataset.column("corner").dtype == np.int64
    rows = [recipe.parameters["row"] if recipe.parameters["label"] else np.nan for recipe in recipes]
    np.testing.assert_array_equal(dataset.column("row"), rows)
    with pytest.raises(SalgenError, match="did you mean 'label'"):
        dataset.column("labels")


def test_indices_count_from_both_ends_and_no_further(folder):
    dataset = open_dataset(folder, "test")
    assert dataset[-1]["id"] == dataset[5]["id"] == "test-000005"
    for index in (6, -7):
        with pytest.raises(IndexError):
            dataset[index]
    assert [row["id"] for row in dataset][-1] == "test-000005"
    assert [row["id"] for row in dataset[-2:]] == ["test-000004", "test-000005"]
    np.testing.assert_array_equal(dataset["test-000003"]["image"], dataset[3]["image"])
    with pytest.raises(SalgenError, match=r"no sample 'test-00005' in split 'test': it has test-000000 to test-000005"):
        dataset["test-00005"]
    with pytest.raises(SalgenError, match="batch size 0"):
        next(dataset.batches(0))


@pytest.mark.parametrize("room", [0, 2, 100])
def test_row_groups_that_were_read_last_are_kept(folder, monkeypatch, room):
    dataset = open_dataset(folder, "train")
    reads = []

    def counted(*arguments):
        reads.append(arguments[2])
        return read_group(*arguments)

    monkeypatch.setattr(reader, "read_group", counted)
    largest = max(table.nbytes for table in (dataset._group(0, group) for group in range(2)))
    monkeypatch.setattr(reader, "CACHED_BYTES", room * largest)
    dataset._groups.clear()
    reads.clear()
    for index in (0, len(dataset) - 1, 1, len(dataset) - 2):
        assert dataset[index]["id"] == f"train-{index:06d}"
    assert len(dataset._groups) == min(2, max(1, room))
    assert len(reads) == (2 if room else 4)


def test_a_missing_shard_is_named(folder):
    (folder / SHARD).unlink()
    with pytest.raises(SalgenError, match=f"{SHARD} is missing"):
        open_dataset(folder, "train")
    assert len(open_dataset(folder, "test").images()) == 6


@pytest.mark.parametrize("kept", [0, 3, 1000, -1])
def test_a_truncated_shard_is_named(folder, kept):
    data = (folder / SHARD).read_bytes()
    (folder / SHARD).write_bytes(data[:kept])
    dataset = open_dataset(folder, "train")
    with pytest.raises(SalgenError, match=f"{SHARD} is truncated or altered"):
        dataset.images()
    with pytest.raises(SalgenError, match=f"{SHARD} is truncated or altered"):
        dataset[7]
    assert dataset[0]["id"] == "train-000000"


@pytest.mark.parametrize(
    ("change", "rows"),
    [
        (lambda table: table.drop_columns("label"), 2),
        (lambda table: table.set_column(2, "label", table["label"].cast(pa.int8())), 2),
        (lambda table: table.slice(0, 4), 2),
        (lambda table: table, 5),
    ],
)
def test_a_shard_written_by_another_hand_is_named(folder, change, rows):
    pq.write_table(change(pq.read_table(folder / SHARD)), folder / SHARD, row_group_size=rows)
    with pytest.raises(SalgenError, match=f"{SHARD} was altered"):
        open_dataset(folder, "train").images()


def test_it_can_be_sent_to_another_process(folder):
    dataset = open_dataset(folder)
    first = dataset[0]
    again = pickle.loads(pickle.dumps(dataset))
    assert not again._groups
    np.testing.assert_array_equal(again[0]["image"], first["image"])
