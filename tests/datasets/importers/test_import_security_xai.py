import shutil
import numpy as np
import pytest
from marked_trees import SIDE, name_of, nearest, noise, opened, refusal, resized, samples
from voc_tree import entry
from salgen.testing import check_importer

H, W = 30, 44
BOXES = {
    f"P{number:05}": [("Gun", (3 + number, 4, 14 + number, 20), 0), ("Knife", (22, 12, 41, 29), 0)]
    for number in range(10)
}


def write(copy, name, objects):
    inside = "".join(entry(*each) for each in objects)
    (copy / "Annotation" / f"{name}.xml").write_text(f"<annotation>{inside}</annotation>")


@pytest.fixture
def copy(tmp_path):
    root = tmp_path / "SIXray"
    for folder in ("JPEGImages", "Annotation"):
        (root / folder).mkdir(parents=True)
    for name, objects in BOXES.items():
        noise(name, (H, W)).save(root / "JPEGImages" / f"{name}.jpg", quality=95)
        write(root, name, objects)
    for number in range(30):
        noise(f"N{number}", (H, W)).save(root / "JPEGImages" / f"N{number:05}.jpg", quality=95)
    return root


@pytest.mark.parametrize("size", [(16, 16), (30, 44), (41, 29)])
def test_boxes_are_masks_and_as_many_images_have_no_item(copy, size):
    made = opened("security-xai", copy, image_size=size)
    assert made.plugin.tasks == {"label": ("clear", "prohibited")}
    found = samples(made)
    names = {name_of(item) for item in found}
    assert {name for name in names if name[0] == "P"} == set(BOXES)
    assert len(names) == 2 * len(BOXES)
    for item, sample in found.items():
        expected = np.zeros((H, W), dtype=bool)
        for _, (left, top, right, bottom), _ in BOXES.get(name_of(item), []):
            expected[top - 1 : bottom, left - 1 : right] = True
        assert sample.labels == {"label": int(name_of(item)[0] == "P")}
        np.testing.assert_array_equal(sample.regions["boxes"], nearest(expected, size))
        assert sample.target == {"label": "boxes"}
        np.testing.assert_array_equal(sample.image, resized(copy / item, size))
    assert made.available == {"train": 14, "val": 3, "test": 3}
    assert "10 of them have no mask" in made.source.notes


def test_another_seed_chooses_other_images_without_an_item(copy):
    chosen = [{item for item in samples(opened("security-xai", copy, split_seed=s)) if "/N" in item} for s in (0, 0, 1)]
    assert chosen[0] == chosen[1] != chosen[2]


def test_an_image_without_a_box_stays_without_a_mask(copy):
    (copy / "Annotation/P00001.xml").unlink()
    write(copy, "P00002", [])
    made = opened("security-xai", copy)
    found = samples(made)
    for name in ("P00001", "P00002"):
        assert found[f"JPEGImages/{name}.jpg"].labels == {"label": 1}
        assert not found[f"JPEGImages/{name}.jpg"].regions["boxes"].any()
    assert "12 of them have no mask" in made.source.notes


def test_a_file_that_is_broken_is_skipped_and_counted(copy):
    expected = samples(opened("security-xai", copy))["JPEGImages/P00005.jpg"].regions["boxes"]
    (copy / "Annotation/P00003.xml").write_bytes(b"<annotation>")
    (copy / "JPEGImages/P00004.jpg").write_bytes(b"no picture")
    write(copy, "P00005", [*BOXES["P00005"], ("Unicorn", (2, 2, 9, 9), 0), ("Gun", (W + 1, 2, W + 9, 9), 0)])
    made = opened("security-xai", copy)
    for why in ("annotation that is no XML", "box outside of the image", "object of an unknown class"):
        assert f"{why} (1), " in made.source.notes
    np.testing.assert_array_equal(samples(made)["JPEGImages/P00005.jpg"].regions["boxes"], expected)
    assert not {"JPEGImages/P00003.jpg", "JPEGImages/P00004.jpg"} & samples(made).keys()


def test_parts_of_the_layout_that_are_missing_are_named(copy, tmp_path):
    assert refusal("security-xai", tmp_path / "nowhere").startswith(f"{tmp_path / 'nowhere/JPEGImages'} is missing")
    for path in (copy / "JPEGImages").glob("N*"):
        path.unlink()
    expected = f"{copy / 'JPEGImages/N*.jpg'} is missing: SIXray's images without an item"
    assert refusal("security-xai", copy).startswith(expected)
    shutil.rmtree(copy / "Annotation")
    assert refusal("security-xai", copy).startswith(f"{copy / 'Annotation'} is missing")


def test_it_keeps_the_laws_of_importers_and_another_spelling_of_a_folder_will_do(copy):
    check_importer("security-xai", str(copy), image_size=(SIDE, SIDE))
    digest = opened("security-xai", copy).source.digest
    write(copy, "P00001", BOXES["P00002"])
    assert opened("security-xai", copy).source.digest != digest
    (copy / "Annotation").rename(copy / "Annotations")
    assert samples(opened("security-xai", copy))["JPEGImages/P00001.jpg"].regions["boxes"].any()
