import sys
from functools import partial
import coco_tree
import marked_trees
import numpy as np
import pytest
from coco_tree import NUMBERS, annotation
from own_image_files import samples
from PIL import Image
from salgen.datasets.picture_libraries.coco import CLASSES
from salgen.testing import check_importer

pytest.importorskip("pycocotools")
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools

H, W = 30, 44


def two_of_val():
    """Images 5 and 9: two people and a toothbrush; a dog."""
    return [
        annotation(5, "toothbrush", (30.2, 2.1, 10.4, 25.9)),
        annotation(9, "dog", (1.0, 1.0, 20.0, 10.0)),
        annotation(5, "person", (2.0, 3.0, 8.0, 9.0)),
        annotation(5, "person", (6.0, 8.0, 10.0, 20.0)),
    ]


write_coco = partial(coco_tree.write_coco, size=(H, W))


def tree(root, val=None, **options):
    numbers = range(100, 120)
    train = [annotation(number, ("dog", "stop sign")[number % 2]) for number in numbers]
    return write_coco(root, {"train2017": (numbers, train), "val2017": ((5, 9), val or two_of_val())}, **options)


@pytest.fixture
def copy(tmp_path):
    return tree(tmp_path / "copy")


opened = partial(marked_trees.opened, "coco-2017")
refusal = partial(marked_trees.refusal, "coco-2017")


def painted(boxes, size):
    """Boxes painted at the image's own size, a pixel where its centre is inside, and then the nearest pixel taken."""
    mask = np.zeros((H, W), dtype=bool)
    for x, y, w, h in boxes:
        for row, column in np.ndindex(H, W):
            mask[row, column] |= y <= row + 0.5 < y + h and x <= column + 0.5 < x + w
    return marked_trees.nearest(mask, size)


@pytest.mark.parametrize("masks", ["boxes", "segmentation"])
@pytest.mark.parametrize("size", [(16, 16), (30, 44), (41, 29)])
def test_a_mask_is_the_union_of_the_class_s_objects(copy, size, masks):
    made = opened(copy, image_size=size, masks=masks)
    assert made.available == {"train": 18, "val": 2, "test": 3}
    for sample in samples(made, "test"):
        number, kind = int(sample.recipe.parameters["item"][-16:-4]), CLASSES[sample.labels["object"]]
        shown = [one for one in two_of_val() if one["image_id"] == number]
        own = [one["bbox"] for one in shown if one["category_id"] == NUMBERS[kind]]
        np.testing.assert_array_equal(sample.regions["boxes"], painted(own, size))
        numbers = {one["category_id"] for one in shown}
        present = [CLASSES.index(name) for name, given in NUMBERS.items() if given in numbers]
        assert sample.present == {"object": tuple(sorted(present))}
        stored = copy / "images" / sample.recipe.parameters["item"]
        np.testing.assert_array_equal(sample.image, marked_trees.resized(stored, size))
        if masks == "segmentation":
            assert sample.target == {"object": "object"}
            whole = [box for box in own if all(float(edge).is_integer() for edge in box)]
            if whole == own:  # what pycocotools makes of other edges is its own
                np.testing.assert_array_equal(sample.regions["object"], painted(own, size))
            assert sample.regions["object"].any()


def test_elsewhere_an_image_is_there_once_about_its_largest_box(copy):
    made = opened(copy)
    for split in ("train", "val"):
        for sample in samples(made, split):
            number = int(sample.recipe.parameters["item"][-16:-4])
            assert CLASSES[sample.labels["object"]] == ("dog", "stop sign")[number % 2]
    crowded = [annotation(100, "dog", (0, 0, 5, 5)), annotation(100, "person", (0, 0, 12, 12))]
    root = write_coco(copy / "more", {"train2017": ((100,), crowded), "val2017": ((5, 9), two_of_val())})
    only = opened(root).sample(0, "train", 0)
    assert CLASSES[only.labels["object"]] == "person"
    assert only.present == {"object": (CLASSES.index("person"), CLASSES.index("dog"))}


def test_without_train2017_there_is_test_alone(tmp_path):
    made = opened(write_coco(tmp_path / "c", {"val2017": ((5, 9), two_of_val())}, folder="."))
    assert {split: count for split, count in made.available.items() if count} == {"test": 3}
    assert "none to train on" in made.source.notes


def test_it_keeps_the_laws_of_importers_and_is_the_same_source_in_another_place(copy, tmp_path):
    for masks in ("boxes", "segmentation"):
        check_importer("coco-2017", str(copy), masks=masks)
    other = tree(tmp_path / "outer" / "coco", folder=".")
    assert opened(other).source.digest == opened(copy).source.digest == opened(tmp_path / "outer").source.digest
    assert opened(other).recipe(0, "test", 2) == opened(copy).recipe(0, "test", 2)


BROKEN = {
    "crowd region": annotation(9, "person", iscrowd=1, segmentation={"counts": [1, 2], "size": [H, W]}),
    "annotation not in COCO's form": {**annotation(9), "bbox": [1, 2, 3]},
    "annotation of an image that is not listed": annotation(77),
    "box outside of the image": annotation(9, "person", (W + 1.0, 2.0, 5.0, 5.0)),
    "box without pixels": annotation(9, "person", (2.6, 2.0, 0.3, 5.0)),
    "object of an unknown class": {**annotation(9), "category_id": 12},
}
BROKEN_OUTLINES = {
    "polygon of fewer than three points": annotation(9, "person", segmentation=[[1, 1, 5, 5]]),
    "RLE of the wrong size": annotation(9, "person", segmentation={"counts": [5, 10], "size": [5, 3]}),
    "no outline in COCO's form": annotation(9, "person", segmentation="none"),
}


@pytest.mark.parametrize(
    ("why", "broken", "masks"),
    [
        *((why, broken, "boxes") for why, broken in BROKEN.items()),
        *((why, broken, "segmentation") for why, broken in {**BROKEN, **BROKEN_OUTLINES}.items()),
        ("no outline in COCO's form", annotation(9, "person", segmentation=[]), "segmentation"),
    ],
)
def test_a_broken_annotation_is_skipped_and_counted(tmp_path, why, broken, masks):
    made = opened(tree(tmp_path / "c", [*two_of_val(), broken]), masks=masks)
    assert f"Skipped: {why} (1)." in made.source.notes
    assert made.available["test"] == 3
    shown = [sample.present["object"] for sample in samples(made, "test")]
    assert all(CLASSES.index("dog") in present or len(present) == 2 for present in shown)


@pytest.mark.parametrize(
    ("why", "broken"),
    [
        ("missing image", lambda path: path.unlink()),
        ("unreadable image", lambda path: path.write_bytes(path.read_bytes()[:-3])),
        ("image of another size than stated", lambda path: Image.new("RGB", (H, W)).save(path)),
    ],
)
def test_a_broken_image_is_skipped_and_counted(copy, why, broken):
    broken(copy / "images/val2017" / f"{9:012}.jpg")
    made = opened(copy)
    assert made.available["test"] == 2
    assert f"Skipped: {why} (1)." in made.source.notes


def test_images_without_an_object_are_counted_and_a_class_without_pixels_is_left_out_of_test(tmp_path):
    made = opened(tree(tmp_path / "c", [annotation(5), annotation(5, "person", (2.0, 2.0, 1.0, 1.0))]))
    assert "image without an object (1)" in made.source.notes
    assert "no ground truth at this size are left out: 1 empty." in made.source.notes
    (sample,) = samples(made, "test")
    assert len(sample.present["object"]) == 2


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    nowhere = tmp_path / "nowhere"
    assert refusal(nowhere).startswith(f"{nowhere / 'annotations/instances_train2017.json'} is missing")
    assert refusal(nowhere).endswith("; without one, salgen make multi-objects draws a stand-in")
    root = write_coco(tmp_path / "c", {"train2017": ((5, 9), two_of_val())})
    assert refusal(root).startswith(f"{root / 'annotations/instances_val2017.json'} is missing")
    (root / "annotations/instances_val2017.json").write_text("[]")
    assert refusal(root).startswith(f"{root / 'images/val2017'} is missing")
    (root / "images/val2017").mkdir()
    assert "is not a file of COCO's instances" in refusal(root)
    whole = tree(tmp_path / "whole")
    monkeypatch.setitem(sys.modules, "pycocotools", None)
    monkeypatch.delitem(sys.modules, "pycocotools.mask", raising=False)
    said = "reading outlines of COCO needs pycocotools: pip install '.[coco]' in a clone of salgen"
    assert refusal(whole, masks="segmentation").endswith(said)
    assert opened(whole).available["test"] == 3
