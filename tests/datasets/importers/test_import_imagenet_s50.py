import shutil
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from imagenet_s_tree import class_folder, encode, write_layout
from PIL import Image
from torchvision.transforms import CenterCrop, Compose, InterpolationMode, Resize
from salgen.datasets.importers.imagenet_s50 import WNIDS, ImageNetS50, decode, middle
from salgen.errors import SalgenError
from salgen.generators.factory import generator
from salgen.testing import check_importer

CLASSES = ("n01", "n02", "n03")
SIZE = (40, 52)  # of the pictures: rows, columns
PIXELS = np.random.default_rng(0).integers(0, 256, (*SIZE, 3), dtype=np.uint8)


def ids_of(label):
    """Ids of a mask picture: the class on the left, another one and ignored pixels in the middle."""
    ids = np.zeros(SIZE, dtype=int)
    ids[5:30, 8:30] = label + 1
    ids[20:36, 26:34] = 1 + (label + 1) % 3
    ids[3:9, 30:38] = 1000
    return ids


def as_levels(ids):
    return np.stack([ids % 256, ids // 256, 0 * ids], axis=-1).astype(np.uint8)


def add(root, part, wnid, name, label, pixels=PIXELS):
    picture, mask = root / part / wnid / f"{name}.JPEG", root / f"{part}-segmentation" / wnid / f"{name}.png"
    for path in (picture, mask):
        path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(picture, quality=95)
    Image.fromarray(as_levels(ids_of(label))).save(mask)


@pytest.fixture
def root(tmp_path):
    """Three classes, two validation images of each, five annotated training images, and parts that are not used."""
    root = tmp_path / "ImageNetS50"
    for label, wnid in enumerate(CLASSES):
        for number in range(2):
            add(root, "validation", wnid, f"ILSVRC2012_val_{number}", label)
        for number in range(5):
            add(root, "train-semi", wnid, f"{wnid}_{number}", label)
        for part in ("train", "test"):
            (root / part / wnid).mkdir(parents=True)
    return root


def opened(path, **changes):
    return generator("imagenet-s50", source=str(path), **{"classes": CLASSES, "image_size": (32, 32), **changes})


def mask_file(root, wnid="n01", name="ILSVRC2012_val_0", part="validation"):
    return root / f"{part}-segmentation" / wnid / f"{name}.png"


def of_item(made, ending, split="test"):
    samples = (made.sample(0, split, index) for index in range(made.available[split]))
    return next(sample for sample in samples if sample.recipe.parameters["item"].endswith(ending))


@given(arrays(bool, (5, 7)), arrays(bool, (5, 7)), st.integers(1, 65535).filter(lambda number: number != 1000))
def test_ids_survive_a_mask_picture(thing, ignored, class_id):
    levels = encode(thing, ignored, class_id)
    assert levels.dtype == np.uint8
    for (row, column), number in np.ndenumerate(decode(levels)):
        red, green, blue = map(int, levels[row, column])
        assert number == red + 256 * green
        assert blue == 0
        assert number == (1000 if ignored[row, column] else class_id if thing[row, column] else 0)


def test_validation_images_are_the_test_split_and_every_fifth_other_is_for_val(root):
    made = opened(root)
    assert made.available == {"train": 12, "val": 3, "test": 6}
    items = {split: set(made.material.splits[split]) for split in made.available}
    assert items["val"] == {f"train-semi/{wnid}/{wnid}_4.JPEG" for wnid in CLASSES}
    assert items["test"] == {f"validation/{w}/ILSVRC2012_val_{k}.JPEG" for w in CLASSES for k in range(2)}
    shutil.rmtree(root / "train-semi")
    shutil.rmtree(root / "train-semi-segmentation")
    made = opened(root)
    assert made.available == {"train": 0, "val": 0, "test": 6}
    assert "no folder train or train-semi" in made.source.notes


@pytest.mark.parametrize("size", [16, 32, 64])
def test_regions_are_the_ids_in_torchvisions_geometry(root, size):
    sample = of_item(opened(root, image_size=(size, size)), "n02/ILSVRC2012_val_1.JPEG")
    shorter = round(256 * size / 224)
    geometry = [
        Compose([Resize(shorter, interpolation=how), CenterCrop(size)])
        for how in (InterpolationMode.BILINEAR, InterpolationMode.NEAREST)
    ]
    with Image.open(root / "validation/n02/ILSVRC2012_val_1.JPEG") as picture:
        assert np.array_equal(sample.image, np.asarray(geometry[0](picture)))
    ids = np.asarray(geometry[1](Image.fromarray(ids_of(1).astype(np.int32))))
    assert sample.labels == {"label": 1}
    assert np.array_equal(sample.regions["object"], ids == 2)
    assert np.array_equal(sample.regions["annotated"], ids != 1000)
    assert set(np.unique(ids)) == {0, 2, 3, 1000}


@given(st.tuples(st.integers(8, 400), st.integers(8, 400)), st.integers(0, 99))
def test_pictures_of_any_size_are_cut_as_torchvision_does_it_at_224(shape, seed):
    picture = Image.fromarray(np.random.default_rng(seed).integers(0, 256, (*shape, 3), dtype=np.uint8))
    for ours, theirs in (
        (Image.Resampling.BILINEAR, InterpolationMode.BILINEAR),
        (Image.Resampling.NEAREST, InterpolationMode.NEAREST),
    ):
        expected = Compose([Resize(256, interpolation=theirs), CenterCrop(224)])(picture)
        assert np.array_equal(middle(picture, 224, ours), np.asarray(expected))


@pytest.mark.parametrize(("ignore", "region"), [("drop", "annotated"), ("background", None)])
def test_ignored_pixels_are_scored_or_not(root, ignore, region):
    made = opened(root, ignore=ignore)
    assert made.plugin.valid_region == region
    assert made.plugin.region_names() == ["object", "annotated"]


def test_the_folder_around_it_and_a_doubled_one_are_found(root, tmp_path):
    digest = opened(root).source.digest
    assert opened(tmp_path).source.digest == digest
    doubled = tmp_path / "download" / "ImageNetS50"
    doubled.mkdir(parents=True)
    root.rename(doubled / "ImageNetS50")
    assert opened(tmp_path / "download").source.digest == digest
    assert opened(doubled).source.digest == digest


@pytest.mark.parametrize(("mode", "turn"), [("L", 1), ("CMYK", 1), ("RGB", 6)])
def test_grey_and_cmyk_pictures_become_colours_and_none_is_turned(root, mode, turn):
    """As in torchvision, the orientation in EXIF counts for nothing."""
    path = root / "validation/n01/ILSVRC2012_val_0.JPEG"
    exif = Image.Exif()
    exif[0x0112] = turn
    Image.fromarray(PIXELS).convert(mode).save(path, exif=exif)
    image = of_item(opened(root), "n01/ILSVRC2012_val_0.JPEG").image
    assert image.shape == (32, 32, 3)
    with Image.open(path) as picture:
        assert picture.getexif()[0x0112] == turn
        assert np.array_equal(image, middle(picture.convert("RGB"), 32, Image.Resampling.BILINEAR))


def test_a_mask_of_another_class_alone_is_kept_and_empty(root):
    Image.fromarray(as_levels(np.full(SIZE, 3))).save(mask_file(root))
    sample = of_item(opened(root), "n01/ILSVRC2012_val_0.JPEG")
    assert sample.labels == {"label": 0}
    assert not sample.regions["object"].any()
    assert sample.regions["annotated"].all()


def test_the_fifty_classes_are_expected_by_default_and_have_their_words():
    classes = ImageNetS50().tasks["label"]
    assert len(classes) == len(WNIDS) == 50
    assert (classes[0], classes[-1]) == ("goldfish", "agaric")
    assert list(WNIDS) == sorted(set(WNIDS))
    assert ImageNetS50(classes=("n01443537", "n09999999")).tasks["label"] == ("goldfish", "n09999999")


def fails(path, message, **changes):
    with pytest.raises(SalgenError, match=message):
        opened(path, **changes)


def test_a_missing_part_is_named(root, tmp_path):
    shutil.rmtree(root / "train-semi-segmentation")
    fails(
        root, f"^{root}/train-semi-segmentation must have a folder for each of the 3 classes and no other: n01 is mis"
    )
    (root / "train-semi").rename(root / "elsewhere")  # the masks alone are of no use, and nothing asks for them
    assert opened(root).available["train"] == 0
    shutil.rmtree(root / "validation")
    fails(root, f"^{root}/validation must have a folder for each[^;]*$")  # no stand-in is named
    shutil.rmtree(root / "validation-segmentation")
    for path in (root, tmp_path):
        fails(path, f"{root}/validation-segmentation is missing")
    nowhere = "nowhere/ImageNetS50/validation-segmentation is missing.*"
    fails(tmp_path / "nowhere", f"{nowhere}; without one, salgen make textured-shapes draws a stand-in$")


def test_49_classes_are_one_too_few(tmp_path):
    for wnid in WNIDS[:30] + WNIDS[31:]:
        add(tmp_path / "ImageNetS50", "validation", wnid, "a", 0)
    fails(tmp_path, f"each of the 50 classes and no other: {WNIDS[30]} is missing", classes=())


def remove_all(folder):
    for file in folder.iterdir():
        file.unlink()


IMAGE, MASK = "validation/n02/ILSVRC2012_val_0.JPEG", "validation-segmentation/n02/ILSVRC2012_val_0.png"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda root: shutil.rmtree(root / "validation-segmentation/n02"), "classes and no other: n02 is missing"),
        (lambda root: add(root, "validation", "n09", "a", 0), "validation must have .*: n09 is not one of"),
        (lambda root: remove_all(root / "train-semi/n03"), "train-semi/n03: each image needs a mask"),
        *((lambda root, file=file: (root / file).unlink(), "n02: each image .*: ILSVRC2012_val_0 has none")
          for file in (IMAGE, MASK)),
    ],
)  # fmt: skip
def test_what_does_not_belong_together_is_named(root, change, message):
    change(root)
    fails(root, message)


UNKNOWN = np.where(np.indices(SIZE).sum(axis=0) == 0, 999, ids_of(0))  # not even in the part that is cut out


@pytest.mark.parametrize("which", ["image", "mask"])
def test_broken_files_are_skipped_and_counted(root, which):
    path = mask_file(root) if which == "mask" else root / "validation/n01/ILSVRC2012_val_0.JPEG"
    content = path.read_bytes()
    for broken in (b"none", content[:-3] if which == "image" else content[:60]):
        path.write_bytes(broken)
        made = opened(root)
        assert made.available["test"] == 5
        assert "Skipped: unreadable image (1)." in made.source.notes
    path.unlink()
    path.symlink_to("nowhere")
    made = opened(root)
    assert made.available["test"] == 5
    assert "Skipped: missing image (1)." in made.source.notes


def test_images_without_a_mask_are_trained_on_and_none_is_there_twice(root):
    for wnid in CLASSES:
        for name in (f"{wnid}_4", f"{wnid}_0", f"{wnid}_70", f"{wnid}_71"):  # the first two are in train-semi
            Image.fromarray(PIXELS).save(root / "train" / wnid / f"{name}.JPEG")
    made = opened(root)
    assert made.available == {"train": 12 + 6, "val": 3, "test": 6}
    assert "6 training images are those of train and have no mask." in made.source.notes
    sample = of_item(made, "train/n02/n02_70.JPEG", "train")
    assert sample.labels == {"label": 1}
    assert not sample.regions["object"].any()
    assert not sample.regions["annotated"].any()
    assert of_item(made, "train-semi/n02/n02_0.JPEG", "train").regions["object"].any()


def test_full_and_tiny_masks_are_no_ground_truth_and_counted(root):
    tiny, full = ids_of(0), np.where(ids_of(0) == 1000, 1000, 1)
    tiny[tiny == 1] = 0
    tiny[20:22, 26:28] = 1
    Image.fromarray(as_levels(full)).save(mask_file(root))
    Image.fromarray(as_levels(tiny)).save(mask_file(root, name="ILSVRC2012_val_1"))
    made = opened(root)
    assert "Of 21 masks these are no ground truth" in made.source.notes
    assert "1 full, as they cover all that is scored, 1 of fewer than min_mask pixels" in made.source.notes
    for number in range(2):
        assert not of_item(made, f"n01/ILSVRC2012_val_{number}.JPEG").regions["object"].any()
    whole = opened(root, ignore="background", min_mask=1)
    for number in range(2):
        assert of_item(whole, f"n01/ILSVRC2012_val_{number}.JPEG").regions["object"].any()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"image_size": (32, 48)}, "images are square"),
        ({"classes": ("n02", "n01")}, "must be sorted"),
        ({"ignore": "keep"}, "drop, background"),
    ],
)
def test_wrong_parameters_are_refused(root, changes, message):
    fails(root, message, **changes)


def test_it_keeps_the_laws_of_importers(root):
    check_importer("imagenet-s50", str(root), classes=CLASSES)


def test_a_stand_in_in_the_published_layout_is_imported_with_its_labels_and_masks(tmp_path):
    stand_in = generator("textured-shapes", image_size=(32, 32))
    write_layout(stand_in, tmp_path, {"test": 50, "train": 50}, seed=4)
    classes = tuple(class_folder(label) for label in range(50))
    made = opened(tmp_path, classes=classes)
    assert made.available == {"train": 50, "val": 0, "test": 50}
    for index in range(50):
        sample = made.sample(0, "test", index)
        number = int(sample.recipe.parameters["item"].split("_")[-1].removesuffix(".JPEG")) - 1
        original = stand_in.sample(4, "test", number)
        assert sample.labels == original.labels
        ids = np.where(original.regions["object"], 1, np.where(original.regions["annotated"], 0, 2)).astype(np.uint8)
        ids = middle(Image.fromarray(ids), 32, Image.Resampling.NEAREST)
        assert np.array_equal(sample.regions["object"], ids == 1)
        assert np.array_equal(sample.regions["annotated"], ids != 2)
        expected = middle(Image.fromarray(original.image), 32, Image.Resampling.BILINEAR)
        assert np.abs(sample.image.astype(int) - expected).mean() < 12  # JPEG loses some
