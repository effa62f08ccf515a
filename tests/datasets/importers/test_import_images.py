import json
import shutil
import numpy as np
import own_image_files as own
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
import salgen
from salgen.datasets.layouts.own_images.outlines import Polygons
from salgen.datasets.layouts.own_images.own_split import by_shares
from salgen.datasets.making import make
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.verification.verifying import verify

FORMATS = {
    "mask pictures": lambda root: own.write_masks(root / "them"),
    "coco polygons": lambda root: own.write_coco(root / "them.json", "polygons"),
    "coco run lengths": lambda root: own.write_coco(root / "them.json", "rle"),
    "coco compressed": lambda root: own.write_coco(root / "them.json", "compressed"),
    "coco boxes": lambda root: own.write_coco(root / "them.json", "boxes"),
    "yolo polygons": lambda root: own.write_yolo(root / "them", "polygons"),
    "yolo boxes": lambda root: own.write_yolo(root / "them", "boxes"),
    "boxes": lambda root: own.write_boxes(root / "them.csv"),
}


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_masks_in_every_format_are_read_back_equal(images, tmp_path, form):
    if form == "coco compressed":
        pytest.importorskip("pycocotools")
    masks = FORMATS[form](tmp_path)
    labels = own.write_labels(tmp_path / "labels.csv") if form == "mask pictures" else None
    made = own.opened(images, masks, labels=labels)
    assert made.plugin.tasks == {"label": own.NAMES}
    found = own.by_name(made)
    assert found.keys() == own.BOXES.keys()
    for name, (label, box) in own.BOXES.items():
        np.testing.assert_array_equal(found[name].regions["object"], own.painted(box))
        assert made.plugin.classes[found[name].labels["label"]] == label
        assert found[name].alternatives == ()
        assert found[name].present == {}


@given(st.lists(st.tuples(st.floats(-5, own.W + 5), st.floats(-5, own.H + 5)), min_size=3, max_size=7), st.data())
def test_a_pixel_belongs_to_a_polygon_if_its_centre_does(corners, data):
    """By the winding number of the angles that the corners take around the centre."""
    drawn = Polygons([np.array(corners)]).paint((own.H, own.W))
    row, column = data.draw(st.integers(0, own.H - 1)), data.draw(st.integers(0, own.W - 1))
    towards = np.array(corners) - (column + 0.5, row + 0.5)
    after = np.roll(towards, -1, axis=0)
    cross, dot = towards[:, 0] * after[:, 1] - towards[:, 1] * after[:, 0], (towards * after).sum(axis=1)
    lengths = np.maximum(np.hypot(*(after - towards).T), 1e-9)
    if (np.abs(cross) / lengths).min() > 1e-6:  # the centre is on none of the lines
        assert drawn[row, column] == (round(float(np.arctan2(cross, dot).sum() / (2 * np.pi))) % 2 == 1)


def test_polygons_of_an_object_are_united_whatever_their_direction(images, tmp_path):
    first, second = (2, 2, 10, 10), (6, 6, 20, 18)
    backwards = np.array(own.polygon(second)).reshape(-1, 2)[::-1].ravel().tolist()
    path = own.write_coco(tmp_path / "them.json")
    whole = json.loads(path.read_text())
    whole["annotations"][0]["segmentation"] = [own.polygon(first), backwards]
    path.write_text(json.dumps(whole))
    np.testing.assert_array_equal(
        own.by_name(own.opened(images, path))["a0"].regions["object"], own.painted(first, second)
    )


def test_masks_are_resized_to_the_nearest_pixel_and_images_as_pillow_does(images, tmp_path):
    size = (16, 40)
    for name, sample in own.by_name(
        own.opened(images, own.write_boxes(tmp_path / "boxes.csv"), image_size=size)
    ).items():
        for row, column in np.ndindex(size):
            place = int((row + 0.5) * own.H / size[0]), int((column + 0.5) * own.W / size[1])
            assert sample.regions["object"][row, column] == own.painted(own.BOXES[name][1])[place]
        assert sample.image.shape == (*size, 3)


@pytest.mark.parametrize(
    "header",
    ["filename,class,xmin,ymin,xmax,ymax", "\ufeffPath,Category,X1,Y1,X2,Y2", "file_name,label,left,top,right,bottom"],
)
def test_other_names_of_columns(images, tmp_path, header):
    found = own.by_name(own.opened(images, own.write_boxes(tmp_path / "boxes.csv", header)))
    np.testing.assert_array_equal(found["a0"].regions["object"], own.painted(own.BOXES["a0"][1]))


@pytest.mark.parametrize(
    "names",
    [
        "names: [cat, 'dog']",
        'names: {0: cat, 1: "dog"}',
        "names:\n- cat  # a class\n- dog\nnc: 2",
        "path: x\nnames:\n  0: cat\n  1: dog\n\nnc: 2",
        "names: [\n  cat,\n  dog,\n]",
    ],
)
@pytest.mark.parametrize("split_first", [True, False])
def test_a_data_yaml_with_the_two_layouts_of_yolo(tmp_path, names, split_first):
    parts = {"train": ("a0", "a1"), "valid": ("b0",), "test": ("b1",)}
    texts = own.write_yolo(tmp_path / "texts", "boxes")
    for split, members in parts.items():
        place = "{0}/{1}" if split_first else "{1}/{0}"
        own.write_images(tmp_path / "data" / place.format(split, "images"), members)
        for name in members:
            target = tmp_path / "data" / place.format(split, "labels") / f"{name}.txt"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(texts / f"{name}.txt", target)
    (tmp_path / "data" / "data.yaml").write_text(f"train: ../train/images\n{names}\n")
    made = own.opened(tmp_path / "data")
    assert made.available == {"train": 2, "val": 1, "test": 1}
    assert made.plugin.tasks == {"label": own.NAMES}
    assert "Splits are those of the user." in made.source.notes
    np.testing.assert_array_equal(own.samples(made)[0].regions["object"], own.painted(own.BOXES["b1"][1]))


def test_texts_of_yolo_beside_the_images(images, tmp_path):
    texts = own.write_yolo(tmp_path / "texts", "polygons")
    for path in texts.iterdir():
        shutil.move(path, images)
    found = own.by_name(own.opened(images, images / "classes.txt"))
    np.testing.assert_array_equal(found["b1"].regions["object"], own.painted(own.BOXES["b1"][1]))


def test_a_table_of_labels_gives_label_split_and_cluster(images, tmp_path):
    rows = {"a0": "sick,train,p1", "a1.png": "healthy,train,p1", "photos/b0.png": "sick,valid,p2", "b1": "sick,test,"}
    labels = own.write_labels(tmp_path / "them.csv", rows, "file,label,split,cluster")
    made = own.opened(images, own.write_masks(tmp_path / "masks"), labels=labels)
    assert made.plugin.tasks == {"label": ("healthy", "sick")}
    assert made.available == {"train": 2, "val": 1, "test": 1}
    train = own.samples(made, "train")
    assert {made.cluster(sample.recipe) for sample in train} == {"p1"}
    assert {made.cluster(own.samples(made)[0].recipe)} == {"b1.png"}
    assert {sample.recipe.parameters["item"]: sample.labels["label"] for sample in train} == {"a0.png": 1, "a1.png": 0}


def test_labels_beside_annotations_take_all_objects_unless_they_are_their_classes(images, tmp_path):
    objects = [("a0", "cat", (1, 1, 9, 9)), ("a0", "dog", (12, 2, 20, 18)), ("b0", "dog", (0, 0, 8, 8))]
    masks = own.write_coco(tmp_path / "them.json", objects=objects)
    sick = own.write_labels(tmp_path / "sick.csv", {"a0": "sick", "b0": "healthy"})
    found = own.by_name(own.opened(images, masks, labels=sick))
    np.testing.assert_array_equal(found["a0"].regions["object"], own.painted((1, 1, 9, 9), (12, 2, 20, 18)))
    dogs = own.write_labels(tmp_path / "dogs.csv", {"a0": "dog", "b0": "dog"})
    found = own.by_name(own.opened(images, masks, labels=dogs))
    np.testing.assert_array_equal(found["a0"].regions["object"], own.painted((12, 2, 20, 18)))


def test_folders_are_classes_and_splits(tmp_path):
    names = ["train/cat/x", "train/dog/x", "val/cat/y", "test/dog/z"]
    root = own.write_images(tmp_path / "data" / "images", names)
    for name in names:
        mask = tmp_path / "data" / "masks" / f"{name}.png"
        mask.parent.mkdir(parents=True)
        shutil.copy(own.write_masks(tmp_path / name.replace("/", "-")) / "a0.png", mask)
    for made in (own.opened(tmp_path / "data"), own.opened(root, tmp_path / "data" / "masks")):
        assert made.available == {"train": 2, "val": 1, "test": 1}
        assert {s.recipe.parameters["item"]: s.labels["label"] for s in own.samples(made, "train")} == {
            "train/cat/x.png": 0,
            "train/dog/x.png": 1,
        }
    assert own.opened(tmp_path / "data").source.digest == own.opened(root, tmp_path / "data" / "masks").source.digest


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize("split", ["", "train/"])
def test_image_folders_of_hugging_face(tmp_path, form, split):
    root = own.write_images(tmp_path / "data", [f"{split}{name}" for name in own.BOXES])
    rows = [{"file_name": f"{name}.png", "label": number % 2} for number, name in enumerate(own.BOXES)]
    table = root / split / f"metadata.{form}"
    if form == "jsonl":
        table.write_text("\n".join(map(json.dumps, rows)) + "\n")
    else:
        table.write_text("file_name,label\n" + "\n".join(f"{row['file_name']},{row['label']}" for row in rows))
    made = own.opened(root, own.write_masks(tmp_path / "masks"))
    assert made.plugin.tasks == {"label": ("0", "1")}
    assert made.available == ({"train": 4, "val": 0, "test": 0} if split else {"train": 0, "val": 0, "test": 4})


@pytest.mark.parametrize("column", ["objects", "mask", "mask_file_name"])
def test_image_folders_of_hugging_face_with_masks_or_objects(tmp_path, column):
    root = own.write_metadata(tmp_path / "data", column)
    (root / "masks").mkdir()  # what the tables name comes first
    made = own.opened(root)
    assert made.plugin.tasks == {"label": own.NAMES}
    assert made.available == {"train": 2, "val": 0, "test": 2}
    found = own.by_name(made, "train") | own.by_name(made)
    assert found.keys() == {"test/a0", "train/a1", "test/b0", "train/b1"}
    for name, sample in found.items():
        label, box = own.BOXES[name.partition("/")[2]]
        assert made.plugin.classes[sample.labels["label"]] == label
        np.testing.assert_array_equal(sample.regions["object"], own.painted(box))
    named = own.opened(root, *sorted(root.glob("*/metadata.jsonl")))
    assert named.source.digest == made.source.digest
    before = made.source.digest
    first = next((root / "test").glob("them/*" if column != "objects" else "metadata.jsonl"))
    if column == "objects":
        first.write_text(first.read_text().replace("[[3,", "[[4,"))
    else:
        Image.fromarray(own.painted((1, 1, 9, 9))).save(first)
    assert own.opened(root).source.digest != before


def test_objects_of_hugging_face_in_other_forms(images, tmp_path):
    """A dict for each object, JSON in a CSV file, no categories, and clusters of images without a label."""
    table = tmp_path / "them.csv"
    table.write_text(
        "file_name,objects,cluster\n"
        'a0.png,"[{""bbox"": [3, 2, 9, 7], ""category"": 1}, {""bbox"": [20, 1, 4, 4], ""category"": 0}]",p\n'
        'b0.png,"{""bbox"": [[0, 0, 8, 20], [1, 2]], ""category"": [1, 1]}",p\n'
        "b1.png,,q\n"
    )
    made = own.opened(images, table, labels=table)
    found = {(s.recipe.parameters["item"], s.labels["label"]): s for s in own.samples(made)}
    assert made.plugin.tasks == {"label": ("0", "1")}
    assert found.keys() == {("a0.png", 0), ("a0.png", 1), ("b0.png", 1)}
    np.testing.assert_array_equal(found["a0.png", 1].regions["object"], own.painted((3, 2, 12, 9)))
    np.testing.assert_array_equal(found["b0.png", 1].regions["object"], own.painted((0, 0, 8, 20)))
    assert {made.cluster(sample.recipe) for sample in found.values()} == {"p"}
    assert "annotation that is no row of numbers (1; the first: them.csv row 3)" in made.source.notes
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"file_name": "a0.png", "label": "cat", "objects": {"bbox": [[3, 2, 9, 7]]}}')
    found = own.by_name(own.opened(images, bare, labels=bare))
    np.testing.assert_array_equal(found["a0"].regions["object"], own.painted(own.BOXES["a0"][1]))


def test_a_class_that_one_of_several_annotations_lacks_is_not_another_ones(images, tmp_path):
    cats = own.write_coco(tmp_path / "cats.json", objects=[("a0", "cat", (1, 1, 9, 9))])
    dogs = tmp_path / "dogs.csv"
    dogs.write_text("image,label,x0,y0,x1,y1\na0,dog,12,2,20,18\na1,dog,1,1,9,9\n")
    made = own.opened(images, cats, dogs, labels=own.write_labels(tmp_path / "l.csv", {"a0": "cat", "a1": "dog"}))
    assert own.by_name(made)["a0"].alternatives == ()


def test_an_image_of_several_classes_is_a_sample_for_each_in_test_and_one_elsewhere(images, tmp_path):
    objects = [
        *(("a0", "cat", (1, 1, 5, 5)), ("a0", "dog", (6, 2, 26, 18)), ("a0", "cat", (20, 15, 28, 20))),
        *(("b0", "cat", (0, 0, 9, 9)), ("b1", "dog", (3, 3, 9, 9))),
    ]
    masks = own.write_coco(tmp_path / "them.json", objects=objects)
    made = own.opened(images, masks)
    assert made.available["test"] == 4
    found = {(s.recipe.parameters["item"], s.labels["label"]): s for s in own.samples(made)}
    np.testing.assert_array_equal(found["a0.png", 0].regions["object"], own.painted((1, 1, 5, 5), (20, 15, 28, 20)))
    np.testing.assert_array_equal(found["a0.png", 1].regions["object"], own.painted((6, 2, 26, 18)))
    shown = [found[key].present["label"] for key in (("a0.png", 0), ("a0.png", 1), ("b0.png", 0))]
    assert shown == [(0, 1), (0, 1), (0,)]
    assert len({made.cluster(sample.recipe) for sample in found.values()}) == 3
    train = own.by_name(own.opened(images, masks, shares=(1, 0, 0)), "train")
    assert len(train) == 3
    assert train["a0"].labels == {"label": 1}
    assert train["a0"].present == {"label": (0, 1)}
    assert "image without an object (1; the first: a1.png)" in made.source.notes
    dogs = own.opened(images, masks, classes=("dog",))
    assert sorted(own.by_name(dogs)) == ["a0", "b1"]
    assert "image of no class that is wanted (1; the first: b0.png)" in dogs.source.notes
    assert own.opened(images, masks, classes="dog,cat").plugin.tasks == {"label": ("dog", "cat")}


def test_masks_of_several_annotators_are_all_acceptable(images, tmp_path):
    labels = own.write_labels(tmp_path / "labels.csv")
    second = own.write_coco(
        tmp_path / "second.json", objects=[("a0", "cat", (0, 0, 9, 9)), ("b1", "cat", (1, 1, 4, 4))]
    )
    found = own.by_name(own.opened(images, own.write_masks(tmp_path / "first"), second, labels=labels))
    np.testing.assert_array_equal(found["a0"].regions["object"], own.painted(own.BOXES["a0"][1]))
    np.testing.assert_array_equal(found["a0"].alternatives, [own.painted((0, 0, 9, 9))])
    assert found["a1"].alternatives == ()
    (tmp_path / "data").mkdir()
    shutil.copytree(images, tmp_path / "data" / "images")
    shutil.copytree(tmp_path / "first", tmp_path / "data" / "masks")
    shutil.copy(second, tmp_path / "data" / "masks-2.json")
    shutil.copy(labels, tmp_path / "data")
    again = own.by_name(own.opened(tmp_path / "data"))
    assert all(len(again[name].alternatives) == len(found[name].alternatives) for name in own.BOXES)


def test_images_without_a_mask_are_kept_and_not_scored(images, tmp_path):
    masks = own.write_masks(tmp_path / "masks")
    (masks / "b0.png").unlink()
    made = own.opened(images, masks, labels=own.write_labels(tmp_path / "labels.csv"))
    assert not own.by_name(made)["b0"].regions["object"].any()
    assert "1 of the samples have no mask and are not scored." in made.source.notes


def test_levels_of_the_object_in_mask_pictures(images, tmp_path):
    masks, labels = (own.write_masks(tmp_path / "masks", level=3), own.write_labels(tmp_path / "labels.csv"))
    for path in masks.iterdir():
        Image.fromarray(np.asarray(Image.open(path)) + np.uint8(1)).save(path)  # 4 within, 1 around
    with pytest.raises(SalgenError, match=r"a0.png: is empty, full or too small .* --set mask_values=1"):
        own.opened(images, masks, labels=labels).source.notes  # noqa: B018
    found = own.by_name(own.opened(images, masks, labels=labels, mask_values="4,9"))
    np.testing.assert_array_equal(found["b0"].regions["object"], own.painted(own.BOXES["b0"][1]))


@given(st.lists(st.integers(1, 60), min_size=1, max_size=5), st.integers(0, 9))
def test_splits_are_stratified_and_stay_nearly_as_they_are_when_an_image_is_added(counts, seed):
    free = {number: [f"{number}-{k}" for k in range(count)] for number, count in enumerate(counts)}
    splits = by_shares(free, (0.64, 0.16, 0.2), seed)
    for share, split in ((0.64, "train"), (0.16, "val"), (0.2, "test")):
        assert abs(list(splits.values()).count(split) - share * sum(counts)) <= 1.5
        for number, count in enumerate(counts):
            members = [name for name in splits if name.startswith(f"{number}-")]
            assert abs(sum(splits[name] == split for name in members) - share * count) < 2.1
    assert by_shares({n: names[::-1] for n, names in free.items()}, (0.64, 0.16, 0.2), seed) == splits
    more = by_shares({**free, 0: [*free[0], "new"]}, (0.64, 0.16, 0.2), seed)
    assert sum(splits[name] != more[name] for name in splits) <= 2 * len(counts)


def test_images_of_a_cluster_are_in_one_split(tmp_path):
    names = [f"i{k}" for k in range(30)]
    root = own.write_images(tmp_path / "photos", names)
    rows = {name: f"{own.NAMES[k % 2]},p{k // 6}" for k, name in enumerate(names)}
    labels = own.write_labels(tmp_path / "labels.csv", rows, "file,label,cluster")
    boxes = tmp_path / "boxes.csv"
    boxes.write_text("image,x0,y0,x1,y1\n" + "".join(f"{name},1,1,9,9\n" for name in names))
    made = own.opened(root, boxes, labels=labels, shares=(0.6, 0.2, 0.2))
    clusters = {split: {made.cluster(s.recipe) for s in own.samples(made, split)} for split in made.available}
    assert {split: len(members) for split, members in clusters.items()} == {"train": 3, "val": 1, "test": 1}
    assert len(set.union(*clusters.values())) == 5
    assert "of each class 60 % to train, 20 % to val and 20 % to test" in made.source.notes
    assert own.opened(root, boxes, labels=labels, split_seed=3).source.splits != made.source.splits


def test_a_data_set_is_verified_and_made_again_from_its_source(tmp_path):
    names = [f"{own.NAMES[k % 2]}/i{k}" for k in range(24)]
    root = own.write_images(tmp_path / "photos", names)
    boxes = tmp_path / "boxes.csv"
    boxes.write_text(
        "image,x0,y0,x1,y1\n" + "".join(f"{name},{k % 5},1,18,{9 + k % 7}\n" for k, name in enumerate(names))
    )
    out = salgen.import_images(root, tmp_path / "out", masks=boxes, parameters={"image_size": (16, 24)}, workers=1)
    assert verify(out, source=f"{root}:masks={boxes}") == []
    how = {"source": f"{root}:masks={boxes}", "parameters": {"image_size": "16x24"}}
    again = make("images", tmp_path / "again", workers=1, **how)
    assert (again / "SHA256SUMS").read_bytes() == (out / "SHA256SUMS").read_bytes()
    assert str(tmp_path) not in (out / "salgen.json").read_text() + (out / "README.md").read_text()


@pytest.mark.parametrize("size", [(40, 60), (60, 40)])
def test_the_central_square_is_taken_of_image_and_mask(size, tmp_path):
    """At a size of its own nothing is resized, so that pixels are those of the picture."""
    random, (rows, columns) = np.random.default_rng(0), size
    pixels, mask = random.integers(256, size=(*size, 3), dtype=np.uint8), random.random(size) > 0.5
    for folder, array in (("photos/cat", pixels), ("masks", mask.astype(np.uint8) * 255)):
        (tmp_path / folder).mkdir(parents=True)
        Image.fromarray(array).save(tmp_path / folder / "a.png")
    parameters = {"crop": 0.5, "image_size": (20, 20), "shares": (0, 0, 1)}
    data = salgen.import_images(tmp_path / "photos", masks=tmp_path / "masks", parameters=parameters)
    sample = salgen.load(data, "test")[0]
    middle = np.s_[(rows - 20) // 2 : (rows + 20) // 2, (columns - 20) // 2 : (columns + 20) // 2]
    np.testing.assert_array_equal(np.round(sample["image"] * 255).astype(np.uint8), pixels[middle].transpose(2, 0, 1))
    np.testing.assert_array_equal(sample["mask"], mask[middle])


def test_pictures_of_which_none_is_marked_become_a_data_set_without_scores(images, tmp_path):
    nothing = tmp_path / "nothing.json"
    nothing.write_text(json.dumps({"images": [], "annotations": [], "categories": []}))
    labels = own.write_labels(tmp_path / "labels.csv")
    with pytest.warns(SalgenWarning, match="no image that can be used has a mask or an annotation, so none can"):
        out = salgen.import_images(images, tmp_path / "out", masks=nothing, labels=labels, workers=1)
    dataset = salgen.load(out)
    assert len(dataset)
    assert not any(dataset[number]["mask"].any() for number in range(len(dataset)))
