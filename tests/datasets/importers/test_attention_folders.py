import shutil
import marked_trees
import numpy as np
import pytest
from marked_trees import SIDE, attention_map, name_of, nearest, opened, refusal, resized, samples, write_table
from salgen.errors import SalgenError
from salgen.testing import check_importer

CLASSES = ("bus", "bushes")  # one name is the beginning of the other
COUNT = 10


@pytest.fixture
def copy(tmp_path):
    return marked_trees.write_benchmark(tmp_path / "Some-XAI", CLASSES, COUNT)


def add_rows(copy, *rows, name="more.csv"):
    write_table(copy / "attention_label" / name, rows)


def test_classes_are_folders_and_masks_are_where_maps_are_above_zero(copy):
    made = opened("pet-xai", copy)
    assert made.plugin.tasks == {"breed": CLASSES}
    found = samples(made)
    assert len(found) == 2 * COUNT
    for item, sample in found.items():
        number = int(name_of(item).rpartition("_")[2])
        assert sample.labels == {"breed": CLASSES.index(item.split("/")[1])}
        expected = nearest(attention_map(number) > 0) if number else np.zeros((SIDE, SIDE), dtype=bool)
        np.testing.assert_array_equal(sample.regions["pet"], expected)
        np.testing.assert_array_equal(sample.image, resized(copy / item))
    assert "2 of them have no mask: they are trained on, and not scored." in made.source.notes
    assert "Skipped" not in made.source.notes


def test_a_full_map_and_a_tiny_one_are_no_ground_truth(copy):
    tiny = np.zeros((24, 24))
    tiny[3, 3:7] = 1
    add_rows(copy, ("bus_1.jpg", np.ones((8, 8)).tolist()), ("bus_2.jpg", tiny.tolist()))
    made = opened("pet-xai", copy)
    found = samples(made)
    assert "are no ground truth at this size: 1 full, as they cover all that is scored, 1 of few" in made.source.notes
    assert not found["image/bus/bus_1.jpg"].regions["pet"].any()
    assert not found["image/bus/bus_2.jpg"].regions["pet"].any()


def test_seventy_of_a_hundred_are_for_training_of_each_class_whatever_the_seed(tmp_path):
    copy = marked_trees.write_benchmark(tmp_path / "copy", CLASSES, 20)
    made = opened("pet-xai", copy)
    assert made.available == {"train": 28, "val": 6, "test": 6}
    for split, count in made.available.items():
        labels = [sample.labels["breed"] for sample in samples(made, split).values()]
        assert labels.count(0) == labels.count(1) == count / 2
    assert samples(made, "test").keys() == samples(made, "test", seed=1).keys()
    assert samples(made, "test").keys() != samples(opened("pet-xai", copy, split_seed=1), "test").keys()
    assert opened("pet-xai", copy, shares=(1, 0, 1)).available == {"train": 20, "val": 0, "test": 20}


def test_classes_may_be_chosen_and_ordered(copy):
    made = opened("pet-xai", copy, classes=("bushes", "bus"))
    found = samples(made)
    assert found["image/bus/bus_3.jpg"].labels == {"breed": 1}
    assert set(samples(opened("pet-xai", copy, classes=("bus",)))) == {i for i in found if i.startswith("image/bus/")}
    with pytest.raises(SalgenError, match=r"unknown class 'car'.*\(known: bus, bushes\)"):
        opened("pet-xai", copy, classes=("car",))


@pytest.mark.parametrize(
    "text", ["no list", "[1, 2]", "[[1, 2], [3]]", "[[1, NaN]]", "[]", "[['a']]", "", "null", "{}"]
)
def test_a_map_that_is_none_is_skipped_and_counted_and_its_image_kept(copy, text):
    (copy / "attention_label/all.csv").unlink()
    add_rows(copy, ("bus_1.jpg", text), ("bus_2.jpg", attention_map(2).tolist()))
    made = opened("pet-xai", copy)
    assert "Skipped: attention map that is no list of rows of numbers (1)." in made.source.notes
    assert "19 of them have no mask" in made.source.notes
    assert len(samples(made)) == 2 * COUNT


def test_a_map_of_no_image_or_of_several_is_skipped_and_counted(copy):
    shutil.copy(copy / "image/bus/bus_1.jpg", copy / "image/bushes/bus_1.jpg")
    add_rows(copy, ("nobody.jpg", attention_map(1).tolist()))
    made = opened("pet-xai", copy)
    assert "attention map of no image, or of a name that several images have (2)." in made.source.notes
    assert not samples(made)["image/bushes/bus_1.jpg"].regions["pet"].any()
    add_rows(copy, ("bus_1.jpg", attention_map(5).tolist()), name="bushes.csv")
    sample = samples(opened("pet-xai", copy))["image/bushes/bus_1.jpg"]
    np.testing.assert_array_equal(sample.regions["pet"], nearest(attention_map(5) > 0))


def test_a_broken_image_is_skipped_and_counted(copy):
    path = copy / "image/bus/bus_3.jpg"
    path.write_bytes(path.read_bytes()[:-30])
    (copy / "image/bushes/bushes_4.jpg").write_bytes(b"no picture")
    (copy / "image/bus/._bus_1.jpg").write_bytes(b"what macOS leaves")
    made = opened("pet-xai", copy)
    assert "Skipped: unreadable image (2)." in made.source.notes
    assert len(samples(made)) == 2 * COUNT - 2
    for path in (copy / "image").glob("*/*.jpg"):
        path.write_bytes(b"no picture")
    assert "no image of the copy can be used. Skipped: unreadable image (20)" in refusal("pet-xai", copy)


def test_what_is_missing_or_no_table_is_named_in_one_line(copy):
    table = copy / "attention_label/all.csv"
    for content, why in (
        (b"img_idx,mask\na.jpg,[]\n", f"{table}: cannot be read as a table with the columns img_idx and attention"),
        (b"", f"{table}: cannot be read as a table"),
        (b"\xff\xfe\x00", f"{table}: cannot be read as a table"),
        (None, f"{copy / 'attention_label/NAME.csv'} is missing"),
    ):
        table.unlink() if content is None else table.write_bytes(content)
        assert refusal("pet-xai", copy).startswith(why)
    shutil.rmtree(copy / "image")
    (copy / "image").mkdir()
    assert "image/CLASS is missing" in refusal("pet-xai", copy)


def test_it_keeps_the_laws_of_importers_and_the_digest_sees_images_and_maps(copy):
    check_importer("pet-xai", str(copy))
    digests = [opened("pet-xai", copy).source.digest]
    add_rows(copy, ("bus_0.jpg", attention_map(3).tolist()))
    digests.append(opened("pet-xai", copy).source.digest)
    shutil.copy(copy / "image/bus/bus_2.jpg", copy / "image/bus/bus_1.jpg")
    digests.append(opened("pet-xai", copy).source.digest)
    assert len(set(digests)) == 3
