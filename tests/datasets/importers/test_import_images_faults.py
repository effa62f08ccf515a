"""What does not belong together among one's own images: a line that names the file, or skipped, counted and named."""

import json
import numpy as np
import pytest
from own_image_files import BOXES, H, W, coco, opened, write_boxes, write_coco, write_labels, write_masks, write_yolo
from PIL import Image, ImageFilter, ImageOps
import salgen
from salgen.datasets.layouts.broken import fault_of
from salgen.errors import SalgenError, SalgenWarning
from salgen.generators.factory import generator


@pytest.fixture
def masks(tmp_path):
    return write_masks(tmp_path / "masks")


@pytest.fixture
def labels(tmp_path):
    return write_labels(tmp_path / "labels.csv")


def fault(tmp_path, images, masks=(), labels=None, **parameters):
    """The one line of an import that fails; nothing is left behind."""
    out = tmp_path / "out"
    with pytest.raises(SalgenError) as error:
        salgen.import_images(images, out, masks=masks, labels=labels, workers=1, parameters=parameters)
    assert not out.exists()
    return str(error.value)


def notes(images, masks, labels=None):
    made = opened(images, masks, labels=labels)
    assert str(images.parent) not in made.source.notes  # they are published
    return made.source.notes, sum(made.available.values())


def test_folders_that_are_missing_or_empty(tmp_path, images, masks, labels):
    nowhere, empty = tmp_path / "nowhere", tmp_path / "empty"
    empty.mkdir()
    assert fault(tmp_path, nowhere, masks) == f"{nowhere}: expected a folder of images here"
    assert fault(tmp_path, nowhere) == f"{nowhere}: expected a folder of images here"
    assert fault(tmp_path, empty, masks).startswith(f"{empty}: holds no images; expected files such as")
    assert fault(tmp_path, images, nowhere, labels).startswith(f"{nowhere}: expected the masks or annotations here")
    assert fault(tmp_path, images, empty, labels).startswith(f"{empty}: holds no annotations; expected mask pictures")
    assert fault(tmp_path, images).startswith(f"{images}: has no masks beside it; say where")
    assert fault(tmp_path, images, labels.with_suffix(".xml")).startswith(f"{labels.with_suffix('.xml')}: expected")
    (tmp_path / "them.xml").write_text("<a/>")
    said = "not a known form of annotations; give COCO instances (.json), a table of boxes, masks or"
    assert said in fault(tmp_path, images, tmp_path / "them.xml")
    (tmp_path / "them.jsonl").write_text("[1, 2]\n")
    assert "cannot be read as a table" in fault(tmp_path, images, tmp_path / "them.jsonl")


def test_a_mask_without_an_image_or_a_class_or_of_another_size(tmp_path, images, masks, labels):
    assert "nothing says of which class an image is; give --labels a table" in fault(tmp_path, images, masks)
    Image.open(masks / "a1.png").convert("RGB").point([*range(256)] + [0] * 512).save(masks / "a1.png")
    assert "a1.png: has colours, so mask_values cannot name" in fault(tmp_path, images, masks, labels, mask_values=255)
    Image.fromarray(np.zeros((H, W - 1), dtype=np.uint8)).save(masks / "a1.png")
    said = f"{masks / 'a1.png'}: mask and image a1.png have 27 x 20 and 28 x 20 pixels"
    assert said in fault(tmp_path, images, masks, labels)
    (masks / "b1.png").rename(masks / "c1.png")
    assert fault(tmp_path, images, masks, labels).startswith(f"{masks / 'c1.png'}: {images} has no image of that name")


def test_masks_that_are_not_clear_are_counted_and_named(tmp_path, images, masks, labels):
    """Soft edges, an inverted mask and an image with opacity; and a folder in which 255 may be void."""
    soft = Image.open(masks / "a1.png").resize((4 * W, 4 * H)).filter(ImageFilter.BoxBlur(3)).resize((W, H))
    soft.save(masks / "a1.png")
    ImageOps.invert(Image.open(masks / "b1.png")).save(masks / "b1.png")
    Image.open(images / "b0.png").convert("RGBA").save(images / "b0.png")
    with pytest.warns(SalgenWarning, match="^Noted: ") as said:
        text = notes(images, masks, labels)[0]
    assert "image whose opacity is left out (1; the first: b0.png)" in text
    assert "cut at half of its greatest level (1; the first: a1.png)" in text
    assert "if the object is black, set mask_values=0 (1; the first: b1.png)" in text
    assert str(said[0].message) in text
    Image.open(masks / "a0.png").convert("1").save(masks / "a0.png")
    assert notes(images, masks, labels)[0] == text  # white in one bit is no number
    Image.open(masks / "a0.png").convert("L").point(lambda level: level // 255).save(masks / "a0.png")
    assert "b1.png: its object has level 255, which may be void beside" in fault(tmp_path, images, masks, labels)
    source = f"{images}:masks={masks}:labels={labels}"
    assert "Noted: image whose opacity" in generator("images", source=source, mask_values="1,255").source.notes


def test_two_files_of_one_name(tmp_path, images, masks, labels):
    Image.open(masks / "a1.png").save(masks / "a1.bmp")
    assert "are both of the image a1.png: give it one of them" in fault(tmp_path, images, masks, labels)
    Image.open(images / "a1.png").save(images / "a1.bmp")
    assert "a1.bmp and a1.png both have the name 'a1'" in fault(tmp_path, images, masks, labels)


@pytest.mark.parametrize("part", ["photos", "masks"])
@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: b"no picture"])
def test_a_broken_file_is_skipped_with_its_image_and_named(tmp_path, images, masks, labels, part, damage):
    path = tmp_path / part / "a1.png"
    path.write_bytes(damage(path.read_bytes()))
    said, count = notes(images, masks, labels)
    what = "image" if part == "photos" else "mask"
    assert f"Skipped: unreadable {what} (1; the first: a1.png)." in said
    assert count == 3


def test_a_jpeg_with_a_side_below_eight_pixels_is_whole_or_broken_like_another(tmp_path):
    for size in ((40, 5), (3, 40)):
        path = tmp_path / "narrow.jpg"
        Image.new("RGB", size).save(path)
        assert fault_of([path]) == ""
        path.write_bytes(path.read_bytes()[:-9])
        assert fault_of([path]) == "unreadable image"


def test_all_images_broken(tmp_path, images, masks):
    for path in images.iterdir():
        path.write_bytes(b"no picture")
    assert "none of its 4 images can be read" in fault(tmp_path, images, masks)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no rows"),
        ("file,label\n", "has no rows"),
        ("name,label\na0,cat\n", "row 2: has no column 'file' (or file_name"),
        ("file\na0\n", "row 2: has no column 'label' (or class"),
        ("file,label\na0,cat\na1,\n", "row 3: column 'label' is empty"),
        ("file,label\na9,cat\n", "row 2: {images} has no image 'a9': correct or remove the row"),
        ("file,label\na0,cat\na0.png,cat\n", "row 3: a0.png is named twice"),
        ("file,label,split\na0,cat,trian\n", "row 2: split 'trian' is unknown: write train, val or test"),
        ("file,label,split,cluster\na0,cat,train,p\na1,cat,test,p\n", "cluster 'p' has images in test and train"),
        (b"\xff\xfe\x00", "cannot be read as a table"),
    ],
)
def test_a_table_of_labels_at_fault(tmp_path, images, masks, text, message):
    table = tmp_path / "them.csv"
    table.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert message.format(images=images) in fault(tmp_path, images, masks, table)


def test_an_image_without_a_row_is_skipped_and_named(images, masks, tmp_path):
    labels = write_labels(tmp_path / "them.csv", {"a0": "cat", "a1": "dog", "b0": "dog"})
    assert "image without a row in the table of labels (1; the first: b1.png)" in notes(images, masks, labels)[0]


@pytest.mark.parametrize(
    ("why", "change"),
    [
        ("object of an unknown class (1; the first: a0.png)", {"category_id": 99}),
        ("annotation of an image that is not listed (1; the first: image_id 99)", {"image_id": 99}),
        ("box outside of the image (1; the first: a0.png)", {"segmentation": None, "bbox": [W + 1, 2, 5, 5]}),
        ("polygon of fewer than three points (1; the first: a0.png)", {"segmentation": [[1, 1, 5, 5]]}),
        ("RLE of the wrong size (1; the first: a0.png)", {"segmentation": {"size": [H, W], "counts": [5, 9]}}),
        ("annotation not in COCO's form (1; the first: them.json)", {"segmentation": [], "bbox": [1, 2]}),
        ("annotation not in COCO's form (1; the first: them.json)", {"category_id": None}),
        ("crowd region (1; the first: a0.png)", {"iscrowd": 1}),
    ],
)
def test_an_annotation_of_coco_that_cannot_be_used(images, tmp_path, why, change):
    path = write_coco(tmp_path / "them.json")
    whole = json.loads(path.read_text())
    whole["annotations"].append({**whole["annotations"][0], **change})
    path.write_text(json.dumps(whole))
    said, count = notes(images, path)
    assert f"Skipped: {why}." in said
    assert count == 4


def test_an_image_of_coco_that_is_missing_or_of_another_size(images, tmp_path):
    path = write_coco(tmp_path / "them.json")
    (images / "a1.png").unlink()
    Image.new("RGB", (H, W)).save(images / "b0.png")
    said, count = notes(images, path)
    assert "annotation of an image of another size than stated (1; the first: b0.png)" in said
    assert "annotation of an image that is not in the folder (1; the first: a1.png)" in said
    assert "image without an object (1; the first: b0.png)" in said
    assert count == 2


def test_a_file_of_coco_without_an_object(tmp_path, images):
    empty = write_coco(tmp_path / "empty.json", **{**coco("boxes"), "annotations": []})
    said = "no image can be used. Skipped: image without an object (4; the first: a0.png)"
    assert said in fault(tmp_path, images, empty)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("2 .5 .5 .2 .2", "object of an unknown class"),
        ("-1 .5 .5 .2 .2", "object of an unknown class"),
        ("0 1.01 .5 .01 .2", "box outside of the image"),
        ("0 3 .5 .2 .2", "numbers that are no shares of the image, from 0 to 1"),
        ("0 .5 .5 .2 .2 .9", "box with a sixth number, which may be a confidence, a track or an angle"),
        ("0 .5 .5 .2 .2 .9 1", "line that is a triangle, or a box with its confidence and track"),
        ("0 .5 .5 .2 .2 .9 .1 .3", "line that is neither a box nor a polygon of YOLO"),
        ("cat .5 .5 .2 .2", "annotation that is no row of numbers"),
        ("0 .5 .5 nan .2", "annotation that is no row of numbers"),
    ],
)
def test_a_line_of_yolo_that_cannot_be_used(images, tmp_path, line, why):
    folder = write_yolo(tmp_path / "texts", "boxes")
    with open(folder / "a0.txt", "a") as handle:
        handle.write(f"\n{line}\n")
    said, count = notes(images, folder)
    assert f"Skipped: {why} (1; the first: a0.txt line 3)." in said
    assert count == 4


def test_yolo_without_texts_names_or_images(tmp_path, images):
    folder = write_yolo(tmp_path / "texts", "boxes")
    (folder / "classes.txt").unlink()
    made = generator("images", source=f"{images}:masks={folder}")
    assert made.plugin.tasks == {"label": ("0", "1")}
    (folder / "data.yaml").write_text("nc: 2\n")
    assert "data.yaml: cannot be read as YOLO's classes (it names none)" in fault(tmp_path, images, folder)
    (folder / "data.yaml").write_text("names: [cat, dog]\n")
    said = "data.yaml: no image has a text of YOLO; expected files such as"
    assert said in fault(tmp_path, images, folder / "data.yaml")
    (folder / "a9.txt").write_text("0 .5 .5 .2 .2")
    assert fault(tmp_path, images, folder).startswith(f"{folder / 'a9.txt'}: {images} has no image of that name")


def test_a_row_of_boxes_that_cannot_be_used(tmp_path, images):
    path = write_boxes(tmp_path / "boxes.csv")
    with open(path, "a") as handle:
        handle.write("\nz.png,cat,1,1,5,5\na0.png,cat,30,1,35,5\na0.png,cat,1,1,,5\na0.png,cat,1.6,1,2.4,5\n")
    said, count = notes(images, path)
    for why, row in (
        ("annotation of an image that is not in the folder", 6),
        ("box outside of the image", 7),
        ("annotation that is no row of numbers", 8),
        ("box without pixels", 9),
    ):
        assert f"{why} (1; the first: boxes.csv row {row})" in said
    assert count == 4
    path.write_text("image,label,x,y,w,h\na0.png,cat,1,1,5,5\n")
    assert "a box needs x0,y0,x1,y1, or x1,y1,x2,y2" in fault(tmp_path, images, path)


def test_parameters_that_do_not_fit(tmp_path, images, masks, labels):
    assert "unknown class 'bird'" in fault(tmp_path, images, masks, labels, classes="cat,bird")
    assert "give at least one of train, val and test a part" in fault(tmp_path, images, masks, labels, shares="0,0,0")
    with pytest.raises(SalgenError, match="give --set source=IMAGES:masks=PATH:labels=PATH"):
        generator("images")
    (images / "notes.txt").write_text("not a picture")
    assert len(BOXES) == notes(images, masks, labels)[1]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"mask": "no.png"}, "row 1: {}/no.png is no file: name the image's mask, as seen from the table's folder"),
        ({"objects": {"bbox": [[1, 2, 3, 4]], "categories": []}}, "row 1: column 'objects' must hold {{'bbox': [[x, y"),
        ({"objects": 5}, "row 1: column 'objects' must hold"),
        ({"objects": [{"category": 1}]}, "row 1: column 'objects' must hold"),
        ({"objects": []}, "nothing says of which class an image is"),
        ({"box": []}, "has the columns file_name, box; a box needs x0,y0,x1,y1, or"),
    ],
)
def test_a_table_of_hugging_face_that_marks_nothing(tmp_path, images, row, says):
    table = tmp_path / "them.jsonl"
    table.write_text(json.dumps({"file_name": "a0.png", **row}))
    assert says.format(tmp_path) in fault(tmp_path, images, table)
