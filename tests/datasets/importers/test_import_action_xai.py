import json
import numpy as np
import pytest
from marked_trees import SIDE, attention_map, name_of, nearest, noise, opened, refusal, samples
from PIL import Image
from salgen.testing import check_importer

ACTIVITIES = {"bowling": 6, "chess game, sitting": 5, "darts": 2}
RECORDS = [(activity, f"{activity[0]}{number}") for activity, count in ACTIVITIES.items() for number in range(count)]
PARTS = {"train": RECORDS[::2], "val": RECORDS[1::4], "test": RECORDS[3::4]}


def rows(part):
    return {f"{part}/{image}": {"iid": image, "ans": activity, "exp": ["..."]} for activity, image in PARTS[part]}


def write(copy, part, records):
    (copy / f"textual/exp_{part}_split.json").write_text(json.dumps(records))


def written_map(image):
    """Of half of the images with another minimum than 0."""
    return attention_map(int(image[1:]), (20, 30)) + int(image[1:]) % 2


@pytest.fixture
def copy(tmp_path):
    root = tmp_path / "ACT-X"
    for folder in ("textual", "visual/val", "visual/test", "images"):
        (root / folder).mkdir(parents=True)
    for part, records in PARTS.items():
        write(root, part, rows(part))
        for _, image in records:
            noise(image).save(root / f"images/{image}.jpg", quality=95)
            if part == "val":
                np.save(root / f"visual/val/{image}.npy", written_map(image))
            elif part == "test":
                Image.fromarray((100 * written_map(image)).astype(np.uint8)).save(root / f"visual/test/{image}.png")
    return root


def test_frequent_activities_are_classes_and_maps_are_masks(copy, tmp_path):
    check_importer("action-xai", str(copy), image_size=(SIDE, SIDE), least=5)
    for path in (copy, tmp_path):
        made = opened("action-xai", path, least=5)
        classes = ("bowling", "chess game, sitting")
        assert made.plugin.tasks == {"activity": classes}
        found = samples(made)
        assert {name_of(item) for item in found} == {image for activity, image in RECORDS if activity in classes}
        marked = {image for part in ("val", "test") for _, image in PARTS[part]}
        for item, sample in found.items():
            image = name_of(item)
            values = written_map(image)
            expected = nearest(values > values.min()) if image in marked else np.zeros((SIDE, SIDE), dtype=bool)
            assert sample.labels == {"activity": "bc".index(image[0])}
            np.testing.assert_array_equal(sample.regions["evidence"], expected)
    assert "that at least 5 of them show" in made.source.notes
    assert "6 of them have no mask" in made.source.notes
    assert "Skipped" not in made.source.notes
    assert len(opened("action-xai", copy, least=6).plugin.classes) == 1


def test_a_map_may_be_named_as_its_record(copy):
    image = PARTS["val"][0][1]
    named = {"v7": {"iid": f"{image}.jpg", "ans": PARTS["val"][0][0], "exp": []}}
    write(copy, "val", named | dict(list(rows("val").items())[1:]))
    (copy / f"visual/val/{image}.npy").rename(copy / "visual/val/v7.npy")
    sample = samples(opened("action-xai", copy, least=5))[f"images/{image}.jpg"]
    assert sample.regions["evidence"].any()
    digest = opened("action-xai", copy, least=5).source.digest
    np.save(copy / "visual/val/v7.npy", np.ones((4, 4)))
    made = opened("action-xai", copy, least=5)
    assert made.source.digest != digest
    assert "7 of them have no mask" in made.source.notes  # a constant map marks nothing


def test_what_is_broken_is_skipped_and_counted(copy):
    (copy / "images/b0.jpg").write_bytes(b"no picture")
    (copy / "images/c0.jpg").unlink()
    write(copy, "train", rows("train") | {"x": {"iid": "b2", "ans": "darts"}})
    np.save(copy / "visual/val/b1.npy", np.array([[None]]), allow_pickle=True)
    np.save(copy / "visual/val/b5.npy", np.zeros((3, 4, 5)))
    made = opened("action-xai", copy, least=4)
    found = samples(made)
    assert not {"b0", "c0", "b2"} & {name_of(item) for item in found}
    assert not any(found[f"images/{name}.jpg"].regions["evidence"].any() for name in ("b1", "b5"))
    for why in ("unreadable image", "missing image", "image of several activities", "unreadable map"):
        assert f"{why} (1)" in made.source.notes
    assert "map that is no picture or array of rows (1)" in made.source.notes


def test_what_is_missing_or_no_json_is_named(copy, tmp_path):
    expected = tmp_path / "nowhere/textual/exp_train_split.json"
    assert refusal("action-xai", tmp_path / "nowhere").startswith(f"{expected} is missing")
    assert "no activity has 20 images" in refusal("action-xai", copy)
    for content in ("no JSON", "[1]"):
        (copy / "textual/exp_val_split.json").write_text(content)
        assert "exp_val_split.json is not a file of ACT-X's explanations" in refusal("action-xai", copy)
    (copy / "images").rename(copy / "pictures")
    assert refusal("action-xai", copy).startswith(f"{copy / 'images'} is missing")
