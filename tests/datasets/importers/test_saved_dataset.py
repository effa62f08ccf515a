import numpy as np
import pytest
import torch
from own_image_files import BOXES, NAMES, H, W, coco, painted, picture, write_coco, write_images
from PIL import Image
from torch.utils.data import Dataset
from torchvision import datasets
from torchvision.tv_tensors import BoundingBoxes
import salgen
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.verification.verifying import verify

ITEMS = [(np.asarray(picture(seed)), label, painted(box)) for seed, (label, box) in enumerate(BOXES.values())]
XYWH = BoundingBoxes([[1, 2, 8, 9]], format="XYWH", canvas_size=(H, W))
EXACT = {"image_size": (H, W), "shares": (0, 0, 1)}


class Items(Dataset):
    def __init__(self, items, classes=()):
        self.items, self.classes = items, classes

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def read_back(given, out, split="test", **parameters):
    """Label, image and acceptable masks of each item, in the order of the dataset."""
    folder = salgen.import_images(given, out, parameters={**EXACT, **parameters}, workers=1)
    data = salgen.load(folder, split)
    samples = sorted(data, key=lambda sample: sample["recipe"].parameters["item"])
    return [
        (data.tasks["label"][s["label"]], np.rint(s["image"] * 255), [s["mask"], *s["alternative_masks"]])
        for s in samples
    ]


def assert_equal(found):
    assert [label for label, _, _ in found] == [label for _, label, _ in ITEMS]
    for (_, image, masks), (pixels, _, mask) in zip(found, ITEMS, strict=True):
        np.testing.assert_array_equal(image.transpose(1, 2, 0), pixels)
        assert len(masks) == 1
        np.testing.assert_array_equal(masks[0], mask)


FORMS = {
    "arrays": lambda image, label, mask: (image, label, mask),
    "numbers": lambda image, label, mask: (image, NAMES.index(label), mask.astype(np.uint8)),
    "tensors": lambda image, label, mask: (
        torch.from_numpy(image.copy()).permute(2, 0, 1) / 255,
        torch.tensor(NAMES.index(label)),
        torch.from_numpy(mask).long(),
    ),
    "uint8 tensors": lambda image, label, mask: (torch.from_numpy(image.copy()).permute(2, 0, 1), label, mask[None]),
    "pairs": lambda image, label, mask: (image, (label, mask)),
    "detection masks": lambda image, label, mask: (
        image,
        {"labels": torch.tensor([NAMES.index(label)]), "masks": torch.from_numpy(mask)[None]},
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_a_dataset_gives_is_read_back(tmp_path, form):
    items = Items([FORMS[form](*item) for item in ITEMS], NAMES)
    assert_equal(read_back(items, tmp_path / "out"))
    assert verify(tmp_path / "out", source=str(tmp_path / "out-source")) == []


def test_boxes_of_torchvision_and_names_of_classes(tmp_path):
    boxes = [box for _, box in BOXES.values()]
    items = [
        (image, {"labels": [NAMES.index(label)], "boxes": torch.tensor([box])})
        for (image, label, _), box in zip(ITEMS, boxes, strict=True)
    ]
    assert_equal(read_back(items, tmp_path / "out", classes=NAMES))
    numbers = read_back(items, tmp_path / "numbers")
    assert [label for label, _, _ in numbers] == ["0", "1", "1", "0"]


def test_a_detection_dataset_of_torchvision(tmp_path):
    pytest.importorskip("pycocotools")
    objects = [(name, label, box) for name, (label, box) in BOXES.items()]
    write_coco(tmp_path / "them.json", "polygons", objects)
    root = write_images(tmp_path / "images")
    plain = datasets.CocoDetection(root, tmp_path / "them.json")
    wrapped = datasets.wrap_dataset_for_transforms_v2(plain, target_keys=("labels", "masks"))
    found = read_back(wrapped, tmp_path / "out")
    assert [label for label, _, _ in found] == [str(each["category_id"]) for each in coco("boxes")["annotations"]]
    for (_, _, masks), (_, _, mask) in zip(found, ITEMS, strict=True):
        np.testing.assert_array_equal(masks[0], mask)


def test_voc_detection_of_torchvision(tmp_path):
    root = tmp_path / "VOCdevkit" / "VOC2012"
    for folder in ("JPEGImages", "Annotations", "ImageSets/Main"):
        (root / folder).mkdir(parents=True)
    (root / "ImageSets" / "Main" / "train.txt").write_text("\n".join(BOXES))
    for seed, (name, (label, (left, top, right, bottom))) in enumerate(BOXES.items()):
        picture(seed).save(root / "JPEGImages" / f"{name}.jpg", format="PNG")
        corners = {"xmin": left + 1, "ymin": top + 1, "xmax": right, "ymax": bottom}  # from 1, the last ones included
        box = "".join(f"<{key}>{value}</{key}>" for key, value in corners.items())
        text = f"<annotation><object><name>{label}</name><bndbox>{box}</bndbox></object></annotation>"
        (root / "Annotations" / f"{name}.xml").write_text(text)
    assert_equal(read_back(datasets.VOCDetection(tmp_path, year="2012", image_set="train"), tmp_path / "out"))


def test_splits_several_masks_none_and_levels(tmp_path):
    (image, label, mask), second = ITEMS[0], painted((0, 0, 5, 5))
    train = Items([(image, label, np.stack([mask, second])), (image, "dog", None), (image, "dog", np.zeros((H, W)))])
    folder = salgen.import_images({"train": train, "test": Items([(image, label, mask * 3)])}, tmp_path / "out",
                                  parameters={"image_size": (H, W), "mask_values": 3}, workers=1)  # fmt: skip
    assert not salgen.load(folder, "train")[0]["mask"].any()
    np.testing.assert_array_equal(salgen.load(folder, "test")[0]["mask"], mask)
    folder = salgen.import_images({"train": train}, tmp_path / "other", parameters={"image_size": (H, W)}, workers=1)
    sample = next(s for s in salgen.load(folder, "train") if len(s["alternative_masks"]))
    np.testing.assert_array_equal(sample["mask"], mask)
    np.testing.assert_array_equal(sample["alternative_masks"], [second])
    assert salgen.load(folder, "train").manifest.notes.count("2 of the samples have no mask") == 1


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ((ITEMS[0][0],), "item 0 of the dataset cannot be read ("),
        ((ITEMS[0][0], 1), "an item is (image, label, mask), or (image, target)"),
        ((ITEMS[0][0], "cat", np.zeros((3, 3))), "the mask has shape (3, 3), but the image has 20 x 28 pixels"),
        ((np.full((H, W, 3), -1.5), "cat", None), "values outside of 0 to 1: leave its normalisation out"),
        ((np.zeros((2, 3, 4, 5)), "cat", None), "the image has shape (2, 3, 4, 5)"),
        (
            (ITEMS[0][0], {"annotation": {"object": [{"name": "cat"}]}}),
            "item 0 of the dataset cannot be read (KeyError: 'bndbox'); an item is",
        ),
        ((ITEMS[0][0], 5, None), "label 5 is none of the 2 classes"),
        ((ITEMS[0][0], {"labels": [0], "boxes": XYWH}), "the boxes are XYWH: convert them to XYXY"),
    ],
)
def test_an_item_of_another_form_is_named_and_nothing_is_left(tmp_path, item, message):
    with pytest.raises(SalgenError) as error:
        salgen.import_images(Items([item], NAMES), tmp_path / "out")
    assert message in str(error.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("given", "changes", "message"),
    [
        (3, {}, "give a folder, or a dataset with a length and indices"),
        (Items(ITEMS), {"out": None}, "give `out`, and neither `masks` nor `labels`"),
        (Items(ITEMS, ("crane", "crane")), {}, "two classes of the dataset have one name"),
        (Items(ITEMS), {"parameters": {"classes": "cat,cat"}}, "classes = cat,cat: two have one name"),
        ([], {}, "a dataset without items: give one with at least one image"),
        ({"train": Items([]), "test": Items([])}, {}, "a dataset without items: give one with at least one image"),
    ],
)
def test_what_is_no_dataset_is_refused(tmp_path, given, changes, message):
    with pytest.raises(SalgenError, match=message):
        salgen.import_images(given, **{"out": tmp_path / "out", **changes})
    assert not list(tmp_path.iterdir())


def test_a_source_that_is_there_is_not_written_over(tmp_path):
    (tmp_path / "out-source").mkdir()
    with pytest.raises(SalgenError, match=r"out-source exists: remove it, or use it:"):
        salgen.import_images(Items(ITEMS), tmp_path / "out")


def test_masks_of_more_than_two_levels_are_read_as_pictures_are(tmp_path):
    """A PIL picture with void, and an array with soft edges."""
    void = np.where(ITEMS[1][2], 3, 0).astype(np.uint8)
    void[-1] = 255
    soft = ITEMS[0][2] * 0.9 + 0.05 * (np.arange(W) % 3)
    given = [(ITEMS[0][0], "cat", soft), (ITEMS[1][0], "dog", Image.fromarray(void))]
    with pytest.warns(SalgenWarning, match="^Noted: mask with a void label .*, mask with soft"):
        found = read_back(Items(given), tmp_path / "out")
    np.testing.assert_array_equal(found[0][2][0], ITEMS[0][2])
    np.testing.assert_array_equal(found[1][2][0], ITEMS[1][2] & (np.arange(H) < H - 1)[:, None])
    given[0] = (ITEMS[0][0], "cat", np.where(ITEMS[0][2], 1, -1))
    with pytest.raises(SalgenError, match=r"mask of 000000\.png: a mask has levels from -1 to 1"):
        read_back(Items(given), tmp_path / "other")


def test_soft_masks_and_deep_greys_of_a_detection_dataset(tmp_path):
    levels = np.zeros((1, 20, 28), dtype=np.float32)
    levels[0, 4:12, 6:16], levels[0, 3, 6:16] = 1, 0.2
    item = Image.fromarray(np.full((20, 28), 128 * 257, dtype=np.uint16)), {"labels": [1], "masks": levels}
    how = {"image_size": (20, 28), "shares": (0, 0, 1)}
    with pytest.warns(SalgenWarning, match="soft or lossy edges"):
        out = salgen.import_images([item], tmp_path / "out", parameters=how, workers=1)
    sample = salgen.load(out, "test")[0]
    np.testing.assert_array_equal(np.asarray(sample["mask"]).astype(bool), levels[0] > 0.5)
    np.testing.assert_allclose(np.asarray(sample["image"]), 128 / 255, atol=1e-6)
