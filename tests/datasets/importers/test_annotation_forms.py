"""Annotations in unusual forms: read as their own keys say, or refused in a line that names both readings."""

import json
import sys
import numpy as np
import own_image_files as own
import pytest
from own_image_files import BOXES, NAMES, H, W, by_name, coco, opened, painted, polygon
from PIL import Image
import salgen
from salgen.datasets.layouts.own_images.annotations import check_no_photograph
from salgen.datasets.layouts.own_images.label_table import read_rows
from salgen.datasets.layouts.own_images.yolo import _yolo_names
from salgen.datasets.picture_libraries.picture_sampling import UnusableError
from salgen.errors import SalgenError, SalgenWarning
from salgen.generators.factory import generator

NAME, (LABEL, BOX) = next(iter(BOXES.items()))


def mask_of(made):
    return by_name(made)[NAME].regions["object"]


def refusal(images, masks):
    with pytest.raises(SalgenError) as error:
        opened(images, masks)
    return str(error.value)


def write(path, whole):
    path.write_text(whole if isinstance(whole, str) else json.dumps(whole), encoding="utf-8")
    return path


def changed(whole, **change):
    """COCO's annotations with other keys in the first."""
    whole["annotations"][0] |= change
    return whole


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("names: {1: dog, 0: cat}", {0: "cat", 1: "dog"}),
        ("names:\n  1: cat\n  2: dog\nnc: 2", {1: "cat", 2: "dog"}),
        ("names:\n  0: cat\n  2: dog\nnc: 3", {0: "cat", 2: "dog"}),
        ("\ufeffnames:\r\n  '0': cat\r\n  '1': dog\r\n", {0: "cat", 1: "dog"}),
        ("names: ['light, red', 'cat #1', \"cat [young]\"]", {0: "light, red", 1: "cat #1", 2: "cat [young]"}),
        ("names: [yes, no, 1.0, ~]", {0: "yes", 1: "no", 2: "1.0", 3: "~"}),
    ],
)
def test_names_of_yolo_are_those_of_their_numbers(tmp_path, text, names):
    assert _yolo_names(write(tmp_path / "data.yaml", text)) == (names, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("names: [cat, dog]\nnc: 3", "nc is 3, but there are 2 names"),
        ("names: [cat, cat]", "two have one name or number"),
        ("names: {0: cat, 1: }", "a class has no name"),
        ("names: [[cat], [dog]]", "cannot be read as YOLO's classes ("),
        ("a: &a [b, b]\nnames: [*a, *a]", "cannot be read as YOLO's classes ("),
        ("names: coco.names", "cannot be read as YOLO's classes ("),
        ("names:\n\t0: cat", "cannot be read as YOLO's classes (ScannerError: while scanning"),
    ],
)
def test_classes_of_yolo_that_fit_two_readings(tmp_path, text, message):
    with pytest.raises(SalgenError) as error:
        _yolo_names(write(tmp_path / "data.yaml", text))
    assert message in str(error.value)


def test_classes_of_yolo_without_yaml(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(SalgenError, match=r"classes needs yaml: pip install '\.\[yolo\]'"):
        _yolo_names(write(tmp_path / "data.yaml", "names: [cat]"))


def test_two_files_of_classes_that_differ(images, tmp_path):
    folder = own.write_yolo(tmp_path / "texts", "boxes")
    write(tmp_path / "data.yaml", f"names: [{', '.join(NAMES)}]")
    assert opened(images, folder).plugin.classes == NAMES
    write(tmp_path / "data.yaml", f"names: [{', '.join(NAMES[::-1])}]")
    assert "classes.txt and" in refusal(images, folder)
    assert "data.yaml name other classes" in refusal(images, folder)


def test_key_points_follow_the_box_where_data_yaml_says_so(images, tmp_path):
    folder = own.write_yolo(tmp_path / "texts", "boxes")
    for text in folder.glob("[ab]*.txt"):
        text.write_text(f"{text.read_text().strip()} 0.1 0.9 0.8 0.2\n")
    write(tmp_path / "data.yaml", f"names: [{', '.join(NAMES)}]\nkpt_shape: [2, 2]")
    np.testing.assert_array_equal(mask_of(opened(images, folder)), painted(BOX))


@pytest.mark.parametrize("points", ["0.1 0.9 2 0.8 0.2 0", "0.1 0.9 1 0.8 0.2 1", "0.1 0.9 1"])
def test_key_points_without_kpt_shape_are_no_polygon(images, tmp_path, points):
    folder = own.write_yolo(tmp_path / "texts", "boxes")
    text = folder / f"{NAME}.txt"
    text.write_text(f"{text.read_text().strip()} {points}\n")
    notes = opened(images, folder).source.notes
    assert f"line that may be a box with key points: data.yaml states no kpt_shape (1; the first: {NAME}" in notes


def test_lines_that_are_polygons_and_boxes_with_key_points_are_refused(images, tmp_path):
    folder, classes = (own.write_yolo(tmp_path / "texts", "boxes"), f"names: [{', '.join(NAMES)}]\n")
    for name, (_, (left, top, right, bottom)) in BOXES.items():
        text = folder / f"{name}.txt"
        text.write_text(f"{text.read_text().strip()} {left / W} {top / H} {right / W} {bottom / H} 0 0\n")
    said = refusal(images, folder)
    assert "each line has 10 numbers, which may be a polygon of 5 points or a box with 3 key points" in said
    write(tmp_path / "data.yaml", f"{classes}kpt_shape: [3, 2]")
    np.testing.assert_array_equal(mask_of(opened(images, folder)), painted(BOX))
    write(tmp_path / "data.yaml", f"{classes}kpt_shape: [0, 2]")
    assert not np.array_equal(mask_of(opened(images, folder)), painted(BOX))
    write(tmp_path / "data.yaml", classes)
    with open(folder / f"{NAME}.txt", "a") as text:  # key points are equally many in all lines, so these are polygons
        text.write("0 .1 .1 .4 .1 .4 .4\n")
    assert not np.array_equal(mask_of(opened(images, folder)), painted(BOX))


@pytest.mark.parametrize("corners", [3, 4, 9])
def test_polygons_of_equally_many_points_are_read_where_no_box_holds_them(images, tmp_path, corners):
    folder, angles = (own.write_yolo(tmp_path / "texts", "polygons"), 2 * np.pi * np.arange(corners) / corners)
    for name, centre in zip(BOXES, [(0.2, 0.2), (0.8, 0.8), (0.2, 0.8), (0.8, 0.2)], strict=True):
        points = np.array(centre) + 0.15 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        (folder / f"{name}.txt").write_text(" ".join(map(str, [0, *points.ravel()])))
    rows, columns = np.mgrid[:H, :W] + 0.5
    near = np.hypot(columns / W - 0.2, rows / H - 0.2) <= 0.15 * np.cos(np.pi / corners) - 0.01
    mask = mask_of(opened(images, folder))
    assert (mask[near]).all()
    assert not mask[np.hypot(columns / W - 0.2, rows / H - 0.2) > 0.15].any()


def test_texts_or_names_that_find_one_image(images, tmp_path):
    whole = coco("boxes")
    whole["images"] += [{**whole["images"][0], "id": 99, "file_name": f"old/{NAME}.png"}]
    assert f"{NAME}.png and old/{NAME}.png are both of the image" in refusal(images, write(tmp_path / "a.json", whole))
    folder = own.write_yolo(tmp_path / "texts", "boxes")
    (folder / "old").mkdir()
    write(folder / "old" / f"{NAME}.txt", "1 .5 .5 .2 .2")
    assert f"are both of the image {NAME}.png" in refusal(images, folder)


TRIANGLE = [3, 2, 13, 2, 3, 12]
PAIRS = [TRIANGLE[n : n + 2] for n in (0, 2, 4)]
FORMS = {
    "flat": TRIANGLE,
    "pairs": [PAIRS],
    "pairs alone": PAIRS,
    "dicts": [[dict(zip("xy", pair, strict=True)) for pair in PAIRS]],
    "texts": [list(map(str, TRIANGLE))],
    "with fragments": [TRIANGLE, [20, 4, 21, 5], [1, 1]],
}


@pytest.mark.parametrize("form", FORMS)
def test_polygons_of_coco_in_other_forms(images, tmp_path, form):
    expected = mask_of(opened(images, write(tmp_path / "a.json", changed(coco("polygons"), segmentation=[TRIANGLE]))))
    found = mask_of(opened(images, write(tmp_path / "b.json", changed(coco("polygons"), segmentation=FORMS[form]))))
    rows, columns = np.mgrid[:H, :W] + 0.5
    np.testing.assert_array_equal(found, expected)
    inside = (columns > 3) & (rows > 2) & (columns + rows < 15)
    assert not (inside & ~found).any()
    assert not (found & (columns + rows > 15)).any()


@pytest.mark.parametrize(
    "outline", ["3,2,13,2", [["a", "b"]], [[[1, 2, 3], [4, 5, 6], [7, 8, 9]]], {"size": [H, W], "counts": ["5"]}, 7]
)
def test_an_outline_in_no_form_of_coco_does_not_become_the_box(images, tmp_path, outline):
    made = opened(images, write(tmp_path / "a.json", changed(coco("boxes"), segmentation=outline)))
    assert "Skipped: image without an object (1; the first: a0.png), no outline in COCO's form (1;" in made.source.notes


def test_numbers_of_coco_may_be_texts(images, tmp_path):
    whole = coco("boxes")
    for entry in whole["annotations"]:
        entry |= {key: str(entry[key]) for key in ("image_id", "category_id")} | {"iscrowd": "0"}
        entry["bbox"] = list(map(str, entry["bbox"]))
    for entry in whole["images"]:
        entry |= {key: str(entry[key]) for key in ("id", "height", "width")}
    path = write(tmp_path / "a.json", "\ufeff" + json.dumps(whole))
    np.testing.assert_array_equal(mask_of(opened(images, path)), painted(BOX))


@pytest.mark.parametrize(
    ("key", "entries", "message"),
    [
        *(
            (key, None, "is not a file of COCO's instances (TypeError")
            for key in ("images", "categories", "annotations")
        ),
        ("images", [{"id": 0, "file_name": "a0.png"}], "(KeyError: 'height')"),
        ("images", [{"id": "img-1", "file_name": "a0.png", "height": H, "width": W}], "invalid literal for int"),
        ("images", [{"id": 0, "file_name": n, "height": H, "width": W} for n in "ab"], "a and b both have the id 0"),
        ("categories", [{"id": 7, "name": "cat"}, {"id": 8, "name": "cat"}], "id 8: has no name, or another"),
        ("categories", [{"id": 7, "name": "cat"}, {"id": 7, "name": "dog"}], "id 7: has no name, or another"),
        ("categories", [{"id": 7, "name": None}], "category None with the id 7: has no name"),
    ],
)
def test_keys_of_coco_that_fit_two_readings(images, tmp_path, key, entries, message):
    assert message in refusal(images, write(tmp_path / "a.json", coco("boxes", **{key: entries})))


@pytest.mark.parametrize("table", [False, True])
def test_boxes_of_coco_that_are_corners(images, tmp_path, table):
    whole = coco("boxes")
    for entry, (_, box) in zip(whole["annotations"], BOXES.values(), strict=True):
        entry["bbox"] = list(box)
    rows = [{"file_name": f"{n}.png", "objects": [{"bbox": b, "category": c}]} for n, (c, b) in BOXES.items()]
    path = write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows))) if table else write(tmp_path / "a.json", whole)
    assert "fit their images as [left, top, right, bottom]" in refusal(images, path)


def test_the_area_that_is_stated_tells_corners(images, tmp_path):
    left, top, right, bottom = BOX
    whole = coco("boxes", [(NAME, LABEL, BOX)])
    path = write(tmp_path / "a.json", changed(whole, bbox=list(BOX), area=(right - left) * (bottom - top)))
    assert "fit their images as [left, top, right, bottom]" in refusal(images, path)
    write(path, changed(whole, bbox=[left, top, right - left, bottom - top]))
    np.testing.assert_array_equal(mask_of(opened(images, path)), painted(BOX))
    write(path, coco("boxes", [(NAME, LABEL, (20, 2, W + 9, 9))]))  # beyond the image, and no corners
    np.testing.assert_array_equal(mask_of(opened(images, path)), painted((20, 2, W, 9)))


def test_a_name_in_a_folder_of_the_images_is_not_found_in_another_one(tmp_path):
    root = own.write_images(tmp_path / "photos", ["cat/a", "dog/b"])
    whole = coco("boxes", [("cat/a", "cat", BOX), ("cat/b", "cat", BOX)])
    made = opened(root, write(tmp_path / "a.json", whole))
    assert "annotation of an image that is not in the folder (1; the first: b.png)" in made.source.notes
    whole = coco("boxes", [("train2017/a", "cat", BOX)])
    assert opened(root, write(tmp_path / "b.json", whole)).available["test"] == 1


@pytest.mark.parametrize("mark", [";", "\t"])
def test_a_table_with_other_marks_between_columns(tmp_path, mark):
    path = write(tmp_path / "a.csv", f'image{mark}label\n"a.png"{mark}"light, red"\n')
    assert [row for _, row in read_rows(path)] == [{"image": "a.png", "label": "light, red"}]
    path = write(tmp_path / "a.JSONL", {"file": "a.png", "label": "cat"})  # a suffix in any case
    assert list(read_rows(path)) == [(f"{path} row 1", {"file": "a.png", "label": "cat"})]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("image,x0,y0,x1,y1,label\na0.png,3,2,12,9,light, red\n", "row 2 has more values than columns"),
        ("image,label,label\na0.png,a,b\n", "have one name"),
        ("a0.png,cat,3,2,12,9\n", "has no rows below its header a0.png,cat,3,2,12,9"),
        ("image,label,x0,y0,x1,y1\na0.png,cat,.1,.1,.4,.5\n", "the boxes are shares of the images"),
        ("image,label,x0,y0,x1,y1\na0.png,cat,12,9,3,2\n", "box whose right or bottom edge is before its left"),
        ("image,x1,y1,x2,y2,x3,y3,x4,y4\na0.png,3,2,12,2,12,9,3,9\n", "a box needs x0,y0,x1,y1"),
        ("image,label,x0,y0,x1,y1,x2,y2\na0.png,a,3,2,12,2,12,9\n", "one of these alone"),
        (f"image,width,height,label,x0,y0,x1,y1\na0.png,{2 * W},{2 * H},a,3,2,9,9\n", "of another size than stated"),
    ],
)
def test_a_table_that_fits_two_readings(images, tmp_path, text, message):
    assert message in refusal(images, write(tmp_path / "a.csv", text))


@pytest.mark.parametrize("sizes", [(W, H), (9, 7)])
def test_a_table_may_state_the_size_of_the_image_or_of_the_box(images, tmp_path, sizes):
    text = f"image,width,height,label,x0,y0,x1,y1\n{NAME}.png,{sizes[0]},{sizes[1]},cat,{','.join(map(str, BOX))}\n"
    np.testing.assert_array_equal(mask_of(opened(images, write(tmp_path / "a.csv", text))), painted(BOX))


def test_a_row_with_an_empty_box_is_an_image_without_an_object(images, tmp_path):
    text = f"image,label,x0,y0,x1,y1\n{NAME}.png,cat,{','.join(map(str, BOX))}\nb0.png,,,,,\nb1.png,cat,,,,\n"
    notes = opened(images, write(tmp_path / "a.csv", text)).source.notes
    assert notes.count("Skipped: image without an object (") == 1
    assert "no row of numbers" not in notes


@pytest.mark.parametrize("crowd", [1, True, "1"])
def test_crowd_regions_of_hugging_face_are_no_objects(images, tmp_path, crowd):
    held = {"bbox": [[0, 0, 9, 9], [3, 2, 9, 7]], "iscrowd": [crowd, "0"], "category": [LABEL] * 2}
    made = opened(images, write(tmp_path / "a.jsonl", {"file_name": f"{NAME}.png", "objects": held}))
    np.testing.assert_array_equal(mask_of(made), painted((3, 2, 12, 9)))
    assert "Skipped: crowd region (1; the first: a.jsonl row 1)" in made.source.notes


def test_outlines_in_a_table_and_masks_named_with_marks_of_windows_are_read(images, tmp_path):
    held = [{"bbox": [0, 0, 5, 5], "segmentation": [polygon(BOX)], "category": LABEL}]
    own.write_masks(tmp_path / "them")
    for path in (
        write(tmp_path / "a.jsonl", {"file_name": f"{NAME}.png", "objects": held}),
        write(tmp_path / "a.csv", f"file_name,label,mask\n{NAME}.png,cat,them\\{NAME}.png\n"),
    ):
        np.testing.assert_array_equal(mask_of(opened(images, path)), painted(BOX))


@pytest.mark.parametrize("name", ["../secret.png", "{}/secret.png", "them/../../secret.png"])
def test_a_mask_outside_of_the_folder_of_its_table(images, tmp_path, name):
    Image.fromarray(painted(BOX)).save(tmp_path / "secret.png")
    (tmp_path / "got" / "them").mkdir(parents=True)
    path = write(tmp_path / "got" / "a.csv", f"file_name,label,mask\n{NAME}.png,cat,{name.format(tmp_path)}\n")
    assert "is not in the table's folder" in refusal(images, path)


def test_annotations_beside_those_that_are_read_are_named(tmp_path):
    own.write_images(tmp_path / "images")
    masks, classes = own.write_masks(tmp_path / "masks"), write(tmp_path / "data.yaml", "names: [cat]")
    with pytest.warns(SalgenWarning, match=rf"{masks} is read and {classes} is not: .* give --masks {classes}"):
        generator("images", source=f"{tmp_path}:labels={own.write_labels(tmp_path / 'labels.csv')}", image_size=(H, W))


@pytest.mark.parametrize("suffix", ["png", "jpg", "bmp"])
def test_photographs_are_no_masks(images, tmp_path, suffix):
    folder = tmp_path / "them"
    folder.mkdir()
    noise = np.random.default_rng(0).integers(0, 256, (H, W, 3), dtype=np.uint8)
    Image.fromarray(noise).save(folder / f"{NAME}.{suffix}")
    assert "has more than 256 colours, as a photograph" in refusal(images, folder)


def test_images_are_not_their_own_masks(images, tmp_path):
    assert "is the image itself, so it is no mask" in refusal(images, images)
    grey = tmp_path / "grey.png"
    Image.fromarray(np.arange(H * W, dtype=np.uint16).reshape(H, W).astype(np.uint8)).save(grey)
    Image.open(grey).save(tmp_path / "copy.bmp")
    for mask in (grey, tmp_path / "copy.bmp"):
        with pytest.raises(UnusableError, match=r"is the image itself|has the pixels of the image"):
            check_no_photograph(grey, mask)


def test_soft_and_coloured_masks_are_masks(images, tmp_path):
    ramp = np.linspace(0, 255, H * W).reshape(H, W).astype(np.uint8)
    for name, mask in (("grey", ramp), ("red", np.dstack([ramp, ramp * 0, ramp * 0])), ("deep", ramp * np.uint16(257))):
        Image.fromarray(mask).save(tmp_path / f"{name}.png")
        check_no_photograph(images / f"{NAME}.png", tmp_path / f"{name}.png")


@pytest.mark.parametrize("form", ["{}_mask", "{}-seg", "{}.mask", "mask_{}"])
def test_a_mask_whose_name_has_a_part_of_its_own(images, tmp_path, form):
    folder = own.write_masks(tmp_path / "them")
    (folder / f"{NAME}.png").rename(folder / f"{form.format(NAME)}.png")
    assert f"rename it as its image {NAME}.png, or move it elsewhere" in refusal(images, folder)


def test_a_data_set_of_one_class_is_imported_with_a_word_and_not_trained_on(images, tmp_path):
    path = write(tmp_path / "a.json", coco("boxes", [(n, "cat", b) for n, (_, b) in BOXES.items()]))
    path.write_text(path.read_text().replace(', {"id": 8, "name": "dog"}', ""))
    how = {"image_size": "16X16", "shares": (0.5, 0.25, 0.25)}
    with pytest.warns(SalgenWarning, match="all images have the label 'cat': no network can be trained on them"):
        out = salgen.import_images(images, tmp_path / "out", masks=path, parameters=how, workers=1)
    with pytest.raises(SalgenError, match="all training images have the same class"):
        salgen.evaluate(out, model="scnn", methods=["gradient"], metrics=["m-gt"], out=tmp_path / "run")
