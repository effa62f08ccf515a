"""The importer of Object-XAI, on tiny trees of VOC 2012; tests of voc-2012 break these in all other ways."""

import numpy as np
import pytest
from marked_trees import SIDE, name_of, nearest, opened, samples
from scipy.io import savemat
from voc_tree import VOID, H, W, tree, write_mask, write_xml
from salgen.datasets.layouts.detection_datasets.voc_annotations import CLASSES
from salgen.testing import check_importer

TRAIN = {f"2008_{number:06}": [("dog", (3, 4, 20 + number, 25), 0)] for number in range(8)} | {
    "2008_000008": [("cat", (2, 2, 12, 14), 0), ("cat", (20, 8, 40, 28), 1)],
    "2008_000009": [("cat", (2, 2, 12, 14), 0), ("dog", (20, 8, 40, 28), 0)],
}
VAL = {"2009_000001": [("dog", (5, 5, 30, 25), 0)], "2009_000003": [("bus", (5, 5, 30, 25), 0)]}
SEVERAL = "2008_000009"


@pytest.fixture
def copy(tmp_path):
    return tree(tmp_path / "VOCdevkit" / "VOC2012", TRAIN, VAL)


def levels(objects):
    """The mask picture that the tree has: each box with a rim of void."""
    ids = np.zeros((H, W), dtype=np.uint8)
    for kind, (left, top, right, bottom), _ in objects:
        ids[top - 1 : bottom, left - 1 : right] = VOID
        ids[top : bottom - 1, left : right - 1] = CLASSES.index(kind) + 1
    return ids


def test_images_of_one_class_have_its_mask_and_boxes(copy):
    made = opened("object-xai", copy)
    classes = ("bus", "cat", "dog")
    assert made.plugin.tasks == {"object": classes}
    assert made.available == {"train": 7, "val": 2, "test": 2}  # not VOC's splits
    found = samples(made)
    assert {name_of(item) for item in found} == {*TRAIN, *VAL} - {SEVERAL}
    assert "image of several classes (1)" in made.source.notes
    for item, sample in found.items():
        objects = {**TRAIN, **VAL}[name_of(item)]
        assert sample.labels == {"object": classes.index(objects[0][0])}
        ids = nearest(levels(objects))
        np.testing.assert_array_equal(sample.regions["object"], ids == CLASSES.index(objects[0][0]) + 1)
        np.testing.assert_array_equal(sample.regions["annotated"], ids != VOID)
        boxes = np.zeros((H, W), dtype=bool)
        for _, (left, top, right, bottom), _ in objects:
            boxes[top - 1 : bottom, left - 1 : right] = True
        np.testing.assert_array_equal(sample.regions["boxes"], nearest(boxes))
        assert sample.target == {"object": "object"}


def test_what_is_broken_is_skipped_and_counted(copy):
    (copy / "JPEGImages/2008_000001.jpg").write_bytes(b"no picture")
    (copy / "Annotations/2008_000002.xml").write_text("<annotation>")
    (copy / "SegmentationClass/2008_000003.png").unlink()
    write_xml(copy, "2008_000004", [("unicorn", (2, 2, 9, 9), 0)])
    made = opened("object-xai", copy)
    assert len(samples(made)) == 7
    for why in (
        *("unreadable image (1)", "annotation that is no XML (1)", "missing mask picture (1)"),
        *("object of an unknown class (1)", "image without an object (1)", "image of several classes (1)"),
    ):
        assert why in made.source.notes


def write_sbd(folder, name, ids):
    folder.mkdir(parents=True, exist_ok=True)
    savemat(folder / f"{name}.mat", {"GTcls": {"Segmentation": ids, "Boundaries": 0}})


@pytest.mark.parametrize("place", ["benchmark_RELEASE/dataset/cls", "SBD/cls"])
def test_images_that_sbd_marks_are_taken_too(tmp_path, place):
    """Those of Main that Segmentation does not list: the last eight of training, and one of validation."""
    train = {f"2008_{number:06}": [("dog", (3, 4, 20, 25), 0)] for number in range(20)}
    root = tree(tmp_path / "VOCdevkit/VOC2012", train, {**VAL, "2009_000002": [("cat", (2, 2, 12, 14), 0)]})
    ids = np.zeros((H, W), dtype=np.uint8)
    ids[5:25, 6:30], ids[10:15, 10:15] = CLASSES.index("dog") + 1, 1
    for name in ("2008_000001", "2008_000013", "2008_000015", "2008_000016", "2009_000002"):
        write_sbd(tmp_path / place, name, ids)
    (tmp_path / place / "2008_000015.mat").write_bytes(b"no matrix")
    write_sbd(tmp_path / place, "2008_000017", ids)
    (root / "JPEGImages/2008_000017.jpg").write_bytes(b"no picture")
    write_sbd(tmp_path / place, "2008_000018", ids)
    write_xml(root, "2008_000018", [("dog", (3, 4, 20, 25), 0), ("cat", (3, 4, 20, 25), 0)])
    savemat(tmp_path / place / "2008_000016.mat", {"GTinst": 1})
    without = samples(opened("object-xai", root))
    made = opened("object-xai", tmp_path)
    found = samples(made)
    assert {name_of(item) for item in found.keys() - without.keys()} == {"2008_000013", "2009_000002"}
    assert (
        "Skipped: image of several classes (1), image that voc-2012 cannot use either (1), unreadable mask of SBD (2)."
    ) in made.source.notes
    sample = found["JPEGImages/2008_000013.jpg"]
    np.testing.assert_array_equal(sample.regions["object"], nearest(ids == CLASSES.index("dog") + 1))
    assert sample.regions["annotated"].all()
    assert sample.regions["boxes"].any()
    assert not found["JPEGImages/2009_000002.jpg"].regions["object"].any()  # the mask shows no cat
    listed = found["JPEGImages/2008_000001.jpg"]
    np.testing.assert_array_equal(listed.regions["object"], nearest(levels(train["2008_000001"])) == 12)
    digest = made.source.digest
    write_sbd(tmp_path / place, "2008_000013", ids[::-1])
    assert opened("object-xai", tmp_path).source.digest != digest


def test_it_keeps_the_laws_of_importers_and_the_digest_sees_mask_pictures_and_annotations(copy):
    check_importer("object-xai", str(copy), image_size=(SIDE, SIDE))
    digests = [opened("object-xai", copy).source.digest]
    write_mask(copy, "2008_000001", [("cat", (3, 4, 20, 25), 0)])
    made = opened("object-xai", copy)
    assert "no ground truth at this size: 1 empty" in made.source.notes  # the mask picture does not show the class
    assert not samples(made)["JPEGImages/2008_000001.jpg"].regions["object"].any()
    write_xml(copy, "2008_000001", [("dog", (5, 5, 20, 25), 0)])
    assert len({*digests, made.source.digest, opened("object-xai", copy).source.digest}) == 3
