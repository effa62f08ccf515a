import json
import numpy as np
import pytest
from own_image_files import polygon, run_lengths
from PIL import ExifTags, Image, ImageOps
from salgen.errors import SalgenError
from salgen.generators.factory import generator

H, W = 20, 28
STORED = np.zeros((H, W), dtype=bool)
STORED[2:9, 3:12] = True
SIZED = ("mask picture", "polygons", "rle", "boxes of sizes", "objects of sizes")
FORMS = (*SIZED, "yolo", "boxes")


def exif_of(orientation):
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    return exif


def upright(mask, orientation):
    """As a viewer shows it, by Pillow."""
    image = Image.fromarray(mask)
    image.getexif()[ExifTags.Base.Orientation] = orientation
    return np.asarray(ImageOps.exif_transpose(image))


def write(root, orientations, form, way, mask=STORED):
    """Images of one object each, with annotations of their stored pixels or upright; returns the source."""
    entries = []
    (root / "masks").mkdir()
    for name, orientation in orientations.items():
        (root / f"images/{name}").parent.mkdir(parents=True, exist_ok=True)
        pixels = np.where(mask[..., None], 220, 30).astype(np.uint8).repeat(3, 2)
        Image.fromarray(pixels).save(root / f"images/{name}.png", exif=exif_of(orientation))
        marked = mask if way == "stored" else upright(mask, orientation)
        rows, columns = (np.flatnonzero(marked.any(axis=axis)) for axis in (1, 0))
        box = int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
        height, width = marked.shape
        if form == "mask picture":
            Image.fromarray(marked.astype(np.uint8) * 255).save(root / f"masks/{name}.png")
        elif form == "yolo":
            shares = [(box[0] + box[2]) / 2 / width, (box[1] + box[3]) / 2 / height,
                      (box[2] - box[0]) / width, (box[3] - box[1]) / height]  # fmt: skip
            (root / f"masks/{name}.txt").write_text(" ".join(map(str, [0, *shares])))
        entries.append((name, marked, box))
    (root / "labels.csv").write_text("file,label\n" + "".join(f"{name},cat\n" for name in orientations))
    masks = root / "masks"
    if form.startswith("boxes"):
        masks = root / "them.csv"
        rows = [["image", "x0", "y0", "x1", "y1", "height", "width"], *([n, *b, *m.shape] for n, m, b in entries)]
        masks.write_text("".join(",".join(map(str, row if "sizes" in form else row[:5])) + "\n" for row in rows))
    elif form == "objects of sizes":
        masks = root / "them.jsonl"
        rows = [{"image": n, "objects": [{"segmentation": run_lengths(m)}]} for n, m, _ in entries]
        masks.write_text("\n".join(map(json.dumps, rows)))
    elif form in ("polygons", "rle"):
        masks = root / "them.json"
        outlines = [[polygon(box)] if form == "polygons" else run_lengths(marked) for _, marked, box in entries]
        images = [{"id": k, "file_name": f"{name}.png", "height": marked.shape[0], "width": marked.shape[1]}
                  for k, (name, marked, _) in enumerate(entries)]  # fmt: skip
        annotations = [{"id": k, "image_id": k, "category_id": 1, "bbox": [0, 0, 1, 1], "segmentation": outline}
                       for k, outline in enumerate(outlines)]  # fmt: skip
        whole = {"images": images, "annotations": annotations, "categories": [{"id": 1, "name": "cat"}]}
        masks.write_text(json.dumps(whole))
    return f"{root / 'images'}:masks={masks}:labels={root / 'labels.csv'}"


def check(source, size, **parameters):
    """Masks lie on what is bright, in every sample; returns the notes."""
    made = generator("images", source=source, image_size=size, shares=(0, 0, 1), **parameters)
    for index in range(made.available["test"]):
        sample = made.sample(0, "test", index)
        np.testing.assert_array_equal(sample.regions["object"], sample.image[..., 0] > 128)
    return made.source.notes


@pytest.mark.parametrize("way", ["stored", "upright"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("orientation", range(2, 9))
def test_a_stated_way_is_taken(tmp_path, orientation, form, way):
    size = (H, W) if orientation < 5 else (W, H)
    notes = check(write(tmp_path, {"a": orientation}, form, way), size, exif=way)
    said = "annotation of stored pixels" if way == "stored" else "annotation of an image as its EXIF"
    assert said in notes
    assert "(1; the first: a.png)" in notes


@pytest.mark.parametrize("way", ["stored", "upright"])
@pytest.mark.parametrize("form", SIZED)
def test_sizes_tell_and_images_without_a_telling_size_are_as_those(tmp_path, form, way):
    source = write(tmp_path, {"a": 6, "b": 8, "c": 5, "d": 7}, form, way)
    check(source, (W, H))
    check(source, (W, H), exif="stored" if way == "upright" else "upright")  # sizes are certain
    (tmp_path / "more").mkdir()
    made = generator("images", source=write(tmp_path / "more", {"a": 6, "b": 3, "c": 2, "d": 1}, form, way),
                     image_size=(W, W), shares=(0, 0, 1))  # fmt: skip
    for index in range(4):
        sample = made.sample(0, "test", index)
        assert sample.image[..., 0][sample.regions["object"]].mean() > 200


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("orientation", [2, 3, 4, 6])
def test_what_fits_two_readings_is_refused_with_both_named(tmp_path, form, orientation):
    square = np.zeros((H, H), dtype=bool)
    square[2:9, 3:12] = True
    source = write(tmp_path, {"a": orientation, "b": 1}, form, "stored", square)
    with pytest.raises(SalgenError, match=r"a\.png: its EXIF .* exif=stored or --set exif=upright \(1 such images"):
        generator("images", source=source)


def test_a_mask_with_an_orientation_goes_by_its_own(tmp_path):
    source = write(tmp_path, {"a": 3}, "mask picture", "stored")
    Image.open(tmp_path / "masks/a.png").save(tmp_path / "masks/a.png", exif=exif_of(3))
    check(source, (H, W))
