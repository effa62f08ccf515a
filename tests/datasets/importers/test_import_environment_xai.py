import json
import shutil
import numpy as np
import pytest
from marked_trees import SIDE, attention_map, nearest, noise, opened, refusal, samples, write_table
from salgen.testing import check_importer

NATURE = ("mountain", "pond", "waterfall", "field-wild", "forest-broadleaf", "rainforest")
URBAN = ("house", "bridge", "campus", "tower", "street", "driveway")


def write(folder, *names):
    folder.mkdir(parents=True)
    for name in names:
        noise(f"{folder.name}{name}").save(folder / f"{name}.jpg", quality=95)


@pytest.fixture
def copy(tmp_path):
    """In each kind of place a training and a validation image, and kinds that are neither nature nor urban."""
    root = tmp_path / "places365_standard"
    for place in (*NATURE, *URBAN, "kitchen", "field-cultivated"):
        write(root / "train" / place, f"{place}_1")
        write(root / "val" / place, f"{place}_2")
    return root


def test_six_kinds_of_places_are_nature_and_six_are_urban(copy, tmp_path):
    check_importer("environment-xai", str(copy), image_size=(SIDE, SIDE))
    for path in (copy, tmp_path):
        made = opened("environment-xai", path)
        assert made.plugin.tasks == {"environment": ("nature", "urban")}
        labels = {item.split("/")[-2:][0]: sample.labels["environment"] for item, sample in samples(made).items()}
        assert labels == {**dict.fromkeys(NATURE, 0), **dict.fromkeys(URBAN, 1)}
        assert len(samples(made)) == 24
        assert "24 images of 12 of 12 kinds of places" in made.source.notes
        assert "no folder attention_label is beside it. Images" in made.source.notes
        assert "24 of them have no mask" in made.source.notes


@pytest.mark.parametrize("spelling", ["field/wild", "field_wild", "f/field/wild", "f/field-wild"])
def test_each_spelling_of_a_kind_of_place_will_do(copy, spelling):
    (copy / "train" / spelling).parent.mkdir(parents=True, exist_ok=True)
    (copy / "train/field-wild").rename(copy / "train" / spelling)
    found = samples(opened("environment-xai", copy))
    assert found[f"train/{spelling}/field-wild_1.jpg"].labels == {"environment": 0}
    assert len(found) == 24


def test_maps_beside_the_images_are_masks_and_come_first(copy):
    (copy / "attention_label").mkdir()
    marked = {f"{place}_1.jpg": number for number, place in enumerate((*NATURE[:2], *URBAN[:3]))}
    rows = [(name, json.dumps(attention_map(number).tolist())) for name, number in marked.items()]
    write_table(copy / "attention_label/maps.csv", rows)
    for most, count in ((4, 8), (1, 2), (100, 24)):
        made = opened("environment-xai", copy, images=most)
        found = samples(made)
        assert len(found) == count
        masked = {item.split("/")[-1] for item, sample in found.items() if sample.regions["evidence"].any()}
        assert len(masked) == {4: 5, 1: 2, 100: 5}[most]
        assert masked <= marked.keys()
        for item, sample in found.items():
            name = item.split("/")[-1]
            expected = nearest(attention_map(marked[name]) > 0) if name in marked else np.zeros((SIDE, SIDE), bool)
            np.testing.assert_array_equal(sample.regions["evidence"], expected)
    assert "attention map that people drew" in made.source.notes
    (copy / "train/pond/pond_1.jpg").write_bytes(b"no picture")
    (copy / "train/pond/._pond_1.jpg").write_bytes(b"what macOS leaves")
    made = opened("environment-xai", copy)
    assert "Skipped: unreadable image (1)." in made.source.notes
    assert len(samples(made)) == 23


def test_a_class_of_which_there_is_nothing_is_named(copy, tmp_path):
    expected = f"{tmp_path / 'nowhere/train/mountain'} is missing"
    assert refusal("environment-xai", tmp_path / "nowhere").startswith(expected)
    for part in ("train", "val"):
        shutil.rmtree(copy / part / "house")
    assert len(samples(opened("environment-xai", copy))) == 22
    for part in ("train", "val"):
        for place in URBAN[1:]:
            shutil.rmtree(copy / part / place)
    assert "train/house is missing: the images of urban" in refusal("environment-xai", copy)
