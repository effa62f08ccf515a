import pickle
import shutil
from functools import partial
import marked_trees
import numpy as np
import pytest
from ct_series import cut_short
from marked_trees import SIDE
from PIL import Image
from voc_tree import TRAIN, VAL, H, W, tree, write_xml
from salgen.datasets.layouts.detection_datasets.voc_annotations import CLASSES
from salgen.testing import check_importer


@pytest.fixture
def copy(tmp_path):
    return tree(tmp_path / "VOCdevkit" / "VOC2012")


opened = partial(marked_trees.opened, "voc-2012")
refusal = partial(marked_trees.refusal, "voc-2012")


def samples(made, split, seed=0):
    return [made.sample(seed, split, index) for index in range(made.available[split])]


def painted(objects, kind, size=(SIDE, SIDE), inset=0):
    """The boxes of a class painted at the image's own size, and then the nearest pixel taken."""
    mask = np.zeros((H, W), dtype=bool)
    for name, (left, top, right, bottom), _ in objects:
        if name == kind:
            mask[top - 1 + inset : bottom - inset, left - 1 + inset : right - inset] = True
    return marked_trees.nearest(mask, size)


def name_of(sample):
    return marked_trees.name_of(sample.recipe.parameters["item"])


@pytest.mark.parametrize("size", [(16, 16), (30, 44), (41, 29)])
def test_images_are_resized_as_a_whole_and_boxes_with_them(copy, size):
    made = opened(copy, image_size=size)
    for sample in [*samples(made, "train"), *samples(made, "test")]:
        objects = {**TRAIN, **VAL}[name_of(sample)]
        kind = CLASSES[sample.labels["object"]]
        stored = copy / sample.recipe.parameters["item"]
        np.testing.assert_array_equal(sample.image, marked_trees.resized(stored, size))
        assert list(sample.regions) == ["boxes"]
        np.testing.assert_array_equal(sample.regions["boxes"], painted(objects, kind, size))
        assert sample.target == {"object": "boxes"}
        assert sample.present == {"object": tuple(sorted({CLASSES.index(name) for name, _, _ in objects}))}


def test_in_test_every_pair_of_an_image_and_its_classes_is_a_sample(copy):
    made = opened(copy)
    assert made.available == {"train": 18, "val": 2, "test": 6}
    for seed in range(3):
        tested = samples(made, "test", seed)
        pairs = [(name_of(sample), CLASSES[sample.labels["object"]]) for sample in tested]
        assert sorted(pairs) == sorted({(name, kind) for name, objects in VAL.items() for kind, _, _ in objects})
        images = [sample.recipe.parameters["image"] for sample in tested]
        assert images == sorted(images)
        assert len({(number, name) for number, (name, _) in zip(images, pairs, strict=True)}) == len(VAL)
    counts = {sample.labels["object"]: made.plugin.factors(sample.recipe.parameters) for sample in tested}
    assert counts[CLASSES.index("dog")] | {"image": 0} == {"image": 0, "objects": 2, "other_objects": 1, "classes": 2}
    orders = {tuple(name_of(sample) for sample in samples(made, "test", seed)) for seed in range(8)}
    assert len(orders) > 1


def test_elsewhere_an_image_is_there_once_about_its_largest_box(copy):
    made = opened(copy)
    names = [name_of(sample) for split in ("train", "val") for sample in samples(made, split)]
    assert sorted(names) == sorted(TRAIN)
    assert {CLASSES[sample.labels["object"]] for sample in samples(made, "train")} == {"dog"}
    (copy / "ImageSets/Main/train.txt").write_text("".join(f"{name}\n" for name in [*VAL, *TRAIN]))
    labels = {
        name_of(s): CLASSES[s.labels["object"]] for split in ("train", "val") for s in samples(opened(copy), split)
    }
    assert {name: labels[name] for name in VAL} == dict(zip(VAL, ("person", "tvmonitor", "bus"), strict=True))


def test_mask_pictures_mark_classes_and_what_is_void_is_not_scored(copy):
    made = opened(copy, masks="segmentation", image_size=(H, W))
    assert made.available == {"train": 11, "val": 1, "test": 5}
    for sample in samples(made, "test"):
        objects, kind = VAL[name_of(sample)], CLASSES[sample.labels["object"]]
        np.testing.assert_array_equal(sample.regions["object"], painted(objects, kind, (H, W), inset=1))
        np.testing.assert_array_equal(sample.regions["boxes"], painted(objects, kind, (H, W)))
        void = np.any([painted([one], one[0], (H, W)) & ~painted([one], one[0], (H, W), inset=1) for one in objects], 0)
        np.testing.assert_array_equal(sample.regions["annotated"], ~void)
    assert made.plugin.valid_region == "annotated"
    assert sample.target == {"object": "object"}
    small = opened(copy, masks="segmentation").sample(0, "test", 0)
    assert small.regions["annotated"].shape == (SIDE, SIDE)


def test_difficult_objects_may_be_left_out(copy):
    made = opened(copy, difficult=False)
    assert made.available["test"] == 5
    assert "difficult are left out" in made.source.notes
    for sample in samples(made, "test"):
        objects = [one for one in VAL[name_of(sample)] if not one[2]]
        kind = CLASSES[sample.labels["object"]]
        np.testing.assert_array_equal(sample.regions["boxes"], painted(objects, kind))


def test_a_class_without_pixels_at_this_size_is_no_sample_of_test_but_still_shown(copy):
    write_xml(copy, "2009_000002", [("tvmonitor", (5, 5, 30, 25), 0), ("bird", (2, 2, 2, 2), 0)])
    made = opened(copy)
    assert made.available["test"] == 6
    assert "no ground truth at this size are left out: 1 empty." in made.source.notes
    shown = {name_of(sample): sample.present["object"] for sample in samples(made, "test")}
    assert shown["2009_000002"] == (CLASSES.index("bird"), CLASSES.index("tvmonitor"))
    assert opened(copy, image_size=(H, W), min_mask=1).available["test"] == 7
    assert "left out: 1 of fewer than min_mask pixels" in opened(copy, image_size=(H, W)).source.notes


BROKEN = {
    "missing image": lambda root, name: (root / "JPEGImages" / f"{name}.jpg").unlink(),
    "unreadable image": lambda root, name: cut_short(root / "JPEGImages" / f"{name}.jpg"),
    "missing annotation": lambda root, name: (root / "Annotations" / f"{name}.xml").unlink(),
    "annotation that is no XML": lambda root, name: (root / "Annotations" / f"{name}.xml").write_text("<annotation>"),
    "image without an object": lambda root, name: write_xml(root, name, []),
}


@pytest.mark.parametrize("why", BROKEN)
def test_an_image_that_is_broken_is_skipped_and_counted(copy, why):
    BROKEN[why](copy, "2008_000003")
    BROKEN[why](copy, "2008_000007")
    made = opened(copy)
    assert made.available["train"] + made.available["val"] == 18
    assert f"Skipped: {why.strip()} (2)." in made.source.notes
    left = {name_of(sample) for split in ("train", "val") for sample in samples(made, split)}
    assert left == set(TRAIN) - {"2008_000003", "2008_000007"}


@pytest.mark.parametrize(
    ("why", "broken"),
    [
        ("object of an unknown class", ("unicorn", (2, 2, 9, 9), 0)),
        ("object without a box", ("bird", ("", 2, 9, 9), 0)),
        ("object without a box", ("bird", ("nan", 2, 9, 9), 0)),
        ("box outside of the image", ("bird", (W + 1, 2, W + 9, 9), 0)),
        ("box without pixels", ("bird", (9, 9, 5, 12), 0)),
    ],
)
def test_an_object_that_is_broken_is_skipped_and_counted(copy, why, broken):
    write_xml(copy, "2009_000002", [*VAL["2009_000002"], broken])
    made = opened(copy)
    assert f"Skipped: {why} (1)." in made.source.notes
    assert made.available["test"] == 6


@pytest.mark.parametrize(
    ("why", "broken"),
    [
        ("missing mask picture", lambda path: path.unlink()),
        ("unreadable mask picture", lambda path: path.write_bytes(b"no picture")),
        ("mask picture of another size", lambda path: Image.new("L", (H, W)).save(path)),
        ("with colours for numbers", lambda path: Image.new("RGB", (W, H)).save(path)),
        ("numbers that are of no class", lambda path: Image.new("L", (W, H), 21).save(path)),
    ],
)
def test_a_broken_mask_picture_is_skipped_and_counted(copy, why, broken):
    broken(copy / "SegmentationClass/2009_000001.png")
    made = opened(copy, masks="segmentation")
    assert made.available["test"] == 3
    assert why in made.source.notes
    assert made.source.notes.endswith("(1).")


def test_parts_of_the_layout_that_are_missing_are_named(copy, tmp_path):
    expected = tmp_path / "nowhere/VOCdevkit/VOC2012/ImageSets"
    assert refusal(tmp_path / "nowhere").startswith(f"{expected} is missing")
    for missing, parameters in (
        ("ImageSets/Segmentation/val.txt", {"masks": "segmentation"}),
        ("SegmentationClass", {"masks": "segmentation"}),
        ("ImageSets/Main/train.txt", {}),
        ("Annotations", {}),
        ("JPEGImages", {}),
    ):
        path = copy / missing
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        assert refusal(copy, **parameters).startswith(f"{path} is missing")


def test_a_copy_without_a_usable_image_is_refused(copy):
    for name in (*TRAIN, *VAL):
        write_xml(copy, name, [("unicorn", (2, 2, 9, 9), 0)])
    said = refusal(copy)
    assert said.startswith("no image of the copy can be used")
    assert "unknown class (23)" in said


def test_it_keeps_the_laws_of_importers_at_each_folder_on_the_way_and_the_digest_sees_every_file(copy):
    for masks in ("boxes", "segmentation"):
        check_importer("voc-2012", str(copy), masks=masks)
    assert "may not be passed on" in opened(copy).source.license
    digests = {opened(path).source.digest for path in (copy, copy.parent, copy.parent.parent)}
    assert len(digests) == 1
    write_xml(copy, "2009_000001", VAL["2009_000002"])
    assert opened(copy).source.digest not in digests
    assert opened(copy).sample(0, "test", 0).recipe.parameters["item"].startswith("JPEGImages/")


def test_annotations_are_read_once_and_not_sent_to_workers(copy, monkeypatch):
    made = opened(copy)
    sample = made.sample(0, "test", 3)
    sent = pickle.dumps(made.source)
    assert b"2009_000001" not in sent
    monkeypatch.setattr("salgen.datasets.layouts.detection_datasets.voc_annotations.VocCopy.read", None)
    assert opened(copy).available == made.available
    assert pickle.loads(sent).images == made.source.images
    np.testing.assert_array_equal(opened(copy).sample(0, "test", 3).image, sample.image)
