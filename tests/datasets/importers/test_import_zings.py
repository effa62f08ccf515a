"""The importer of heroes and villains, on tiny trees of its layout and on trees that are wrong in one way each."""

import re
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_datasets import assert_resumable
from PIL import ExifTags, Image, ImageOps

import salgen
from salgen.datasets.importers.layouts.zings_layout import assign_splits
from salgen.errors import SalgenError
from salgen.generators.factory import generator
from salgen.sources import OWN_COPY

COUNTS = {"heroes": 7, "villains": 5}
SIZE = (20, 28)


def draw(seed):
    """A picture of noise, and a mask of two patches."""
    picture = np.random.default_rng(seed).integers(0, 256, (*SIZE, 3), dtype=np.uint8)
    mask = np.zeros(SIZE, dtype=np.uint8)
    mask[4:9, 5:10] = mask[4:9, 15:20] = 1 + seed % 255
    return picture, mask


@pytest.fixture
def copy(tmp_path):
    """A whole copy."""
    root = tmp_path / "copy"
    for number, (folder, count) in enumerate(COUNTS.items()):
        (root / folder).mkdir(parents=True)
        (root / "masks" / folder).mkdir(parents=True)
        for index in range(count):
            picture, mask = draw(100 * number + index)
            Image.fromarray(picture).save(root / folder / f"z{index}.png")
            Image.fromarray(mask).save(root / "masks" / folder / f"z{index}.png")
    return root


def imported(path, size=(16, 16)):
    return generator("zings", source=str(path), image_size=size)


def samples_of(made):
    return {split: [made.sample(0, split, index) for index in range(count)] for split, count in made.available.items()}


def fault(path, size=(16, 16)):
    """The one line that importing a copy ends with."""
    with pytest.raises(SalgenError) as error:
        assert imported(path, size).available
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("size", [(16, 16), (31, 40)])
def test_pictures_are_resized_as_pillow_does_and_masks_to_the_nearest_pixel(copy, size):
    for samples in samples_of(imported(copy, size)).values():
        for sample in samples:
            item = sample.recipe.parameters["item"]
            with Image.open(copy / f"{item}.png") as picture, Image.open(copy / "masks" / f"{item}.png") as mask:
                expected = np.asarray(picture.resize(size[::-1], Image.Resampling.BILINEAR))
                old = np.asarray(mask)
            assert np.array_equal(sample.image, expected)
            for row, column in np.ndindex(size):
                place = int((row + 0.5) * SIZE[0] / size[0]), int((column + 0.5) * SIZE[1] / size[1])
                assert sample.regions["eyes"][row, column] == (old[place] > 0)
            assert sample.labels["label"] == ["heroes", "villains"].index(item.partition("/")[0])
            assert sample.target == {"label": "eyes"}


def test_every_picture_is_in_one_split_whatever_the_seed(copy):
    made = imported(copy)
    items = {s: {x.recipe.parameters["item"] for x in samples} for s, samples in samples_of(made).items()}
    again = {s: {made.recipe(9, s, i).parameters["item"] for i in range(n)} for s, n in made.available.items()}
    assert items == again
    assert sorted(set.union(*items.values())) == sorted(f"{f}/z{i}" for f, n in COUNTS.items() for i in range(n))
    assert sum(map(len, items.values())) == sum(COUNTS.values())


def test_there_is_no_twin_and_no_edit(copy):
    made = imported(copy)
    recipe = made.recipe(0, "train", 0)
    assert made.twin(recipe) is None
    with pytest.raises(SalgenError, match="cannot be edited"):
        made.render(recipe, omit=("eyes",))


@given(st.integers(3, 300), st.integers(3, 300))
def test_splits_are_stratified(heroes, villains):
    names = [f"heroes/{k}" for k in range(heroes)] + [f"villains/{k}" for k in range(villains)]
    splits = assign_splits(names)
    assert sorted(splits) == sorted(names)
    for folder, count in (("heroes", heroes), ("villains", villains)):
        parts = [split for name, split in splits.items() if name.startswith(folder)]
        sizes = {split: parts.count(split) for split in ("train", "val", "test")}
        assert min(sizes.values()) >= 1
        assert abs(sizes["test"] - 0.2 * count) <= 0.5
        assert abs(sizes["val"] - 0.2 * (count - sizes["test"])) <= 0.6
    assert assign_splits(names[::-1]) == splits


def test_the_paper_s_481_pictures_give_its_test_set_or_one_more():
    for heroes in range(200, 282):
        names = [f"heroes/{k}" for k in range(heroes)] + [f"villains/{k}" for k in range(481 - heroes)]
        assert list(assign_splits(names).values()).count("test") in (96, 97)


def test_one_more_picture_moves_few_others():
    names = [f"heroes/{k}" for k in range(100)] + [f"villains/{k}" for k in range(100)]
    before, after = assign_splits(names), assign_splits([*names, "heroes/new"])
    assert sum(before[name] != after[name] for name in names) <= 2


@pytest.mark.parametrize("inside", ["zings", "zings/zings"])
def test_a_folder_that_holds_the_copy_will_do(copy, tmp_path, inside):
    doubled = tmp_path / "outer" / inside
    doubled.parent.mkdir(parents=True)
    shutil.copytree(copy, doubled)
    made = imported(tmp_path / "outer")
    assert made.available == imported(copy).available
    assert made.source.digest == imported(copy).source.digest


def test_the_source_says_what_it_is(copy):
    source = imported(copy).source
    assert source.name == OWN_COPY
    assert "7 heroes (5 train, 1 val, 1 test) and 5 villains (3 train, 1 val, 1 test)" in source.notes
    assert "no ground truth" not in source.notes
    assert "Not known" in source.licence


@pytest.mark.parametrize("which", ["heroes/z0.png", "masks/heroes/z0.png"])
def test_the_digest_sees_every_file(copy, which):
    before = imported(copy).source.digest
    Image.fromarray(np.full(SIZE, 7, dtype=np.uint8)).save(copy / which)
    assert imported(copy).source.digest != before


def test_masks_that_come_out_empty_are_kept_and_counted(copy):
    mask = np.zeros(SIZE, dtype=np.uint8)
    Image.fromarray(mask).save(copy / "masks/heroes/z0.png")
    mask[2, 0] = 255  # no pixel of 16 x 16 has its middle in that row
    Image.fromarray(mask).save(copy / "masks/heroes/z1.png")
    made = imported(copy)
    assert "Of 12 masks these are no ground truth at this size: 2 empty." in made.source.notes
    assert sum(made.available.values()) == 12
    assert "at this size: 1 empty, 1 of fewer than min_mask pixels." in imported(copy, SIZE).source.notes


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "I;16"])
def test_masks_of_any_kind(copy, mode):
    _, mask = draw(0)
    levels = np.where(mask > 0, 255, 0).astype(np.uint8)
    if mode == "I;16":
        saved = Image.fromarray((mask > 0).astype(np.uint16))
    elif mode == "P":
        saved = Image.fromarray((mask == 0).astype(np.uint8))
        saved.putpalette([255, 0, 0, 0, 0, 0])
    else:
        saved = Image.fromarray(levels).convert(mode)
    saved.save(copy / "masks/heroes/z0.png")
    source = imported(copy).source
    assert np.array_equal(source.load("heroes/z0")[1], mask > 0)


def test_jpegs_and_stray_files(copy):
    picture = Image.fromarray(draw(1)[0])
    for old, new in (("z0.png", "z0.jpg"), ("z1.png", "z1.JPEG"), ("z2.png", "z2.PNG")):
        (copy / "heroes" / old).unlink()
        picture.save(copy / "heroes" / new)
    (copy / "heroes" / "._z0.png").write_text("what a Mac leaves behind")
    (copy / "heroes" / "Thumbs.db").write_text("what Windows leaves behind")
    made = imported(copy)
    assert sum(made.available.values()) == 12
    with Image.open(copy / "heroes/z0.jpg") as stored:
        assert np.array_equal(made.source.load("heroes/z0")[0], np.asarray(stored))


def save_turned(path, stored, orientation, **options):
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    stored.save(path, exif=exif, **options)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_jpeg_is_turned_to_how_viewers_show_it(copy, orientation):
    (copy / "heroes/z0.png").unlink()
    path = copy / "heroes/z0.jpg"
    save_turned(path, Image.fromarray(draw(1)[0]), orientation, quality=95)
    with Image.open(path) as picture:
        shown = np.asarray(ImageOps.exif_transpose(picture))
    mask = np.zeros(shown.shape[:2], dtype=np.uint8)
    mask[2:5, 3:9] = 255
    Image.fromarray(mask).save(copy / "masks/heroes/z0.png")
    made = imported(copy)
    assert sum(made.available.values()) == 12
    picture, eyes = made.source.load("heroes/z0")
    assert np.array_equal(picture, shown)
    assert np.array_equal(eyes, mask > 0)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_mask_is_turned_likewise(copy, orientation):
    path = copy / "masks/heroes/z0.png"
    upright = orientation < 5
    stored = draw(0)[1][3:12, 2:22] if upright else draw(0)[1][3:12, 2:22].T
    save_turned(path, Image.fromarray(np.ascontiguousarray(stored)), orientation)
    Image.fromarray(draw(0)[0][:9, :20]).save(copy / "heroes/z0.png")
    with Image.open(path) as mask:
        shown = np.asarray(ImageOps.exif_transpose(mask))
    made = imported(copy)
    assert sum(made.available.values()) == 12
    assert np.array_equal(made.source.load("heroes/z0")[1], shown > 0)


def test_sizes_are_compared_as_shown(copy):
    (copy / "heroes/z0.png").unlink()
    save_turned(copy / "heroes/z0.jpg", Image.fromarray(draw(1)[0]), 6)
    assert "the mask has 28 x 20 pixels; expected 20 x 28" in fault(copy)


@pytest.mark.parametrize("ending", [".webp", ".bmp", ".tif", ".TIFF", ".gif", ".heic"])
@pytest.mark.parametrize(("folder", "kinds"), [("heroes", "PNG or JPEG"), ("masks/villains", "PNG")])
def test_pictures_of_other_kinds_are_refused(copy, folder, kinds, ending):
    path = copy / folder / f"new{ending}"
    path.write_bytes(b"")
    assert fault(copy) == (
        f"{path}: a picture in a format that is not read here; save it as {kinds}, or move it elsewhere"
    )


def test_a_mask_that_is_a_jpeg_is_refused(copy):
    (copy / "masks/heroes/z0.png").rename(copy / "masks/heroes/z0.jpg")
    assert fault(copy).startswith(f"{copy / 'masks/heroes/z0.jpg'}: a picture in a format that is not read here")


@pytest.mark.parametrize("folder", ["heroes", "masks/villains"])
def test_pictures_in_folders_of_their_own_are_refused(copy, folder):
    path = copy / folder / "more/deep/z9.png"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    assert fault(copy) == (
        f"{path}: a picture in a folder of its own; expected it in {copy / folder}: move it there, or elsewhere"
    )


def test_hidden_files_and_what_is_no_picture_are_passed_over(copy):
    for name in (".DS_Store", ".z9.webp", "Thumbs.db", "notes.txt", ".trash/z9.png", "notes/a.txt", "notes/.z9.png"):
        path = copy / "heroes" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
    assert sum(imported(copy).available.values()) == 12


@pytest.mark.parametrize("missing", ["heroes", "villains", "masks/heroes", "masks/villains", "masks"])
def test_a_missing_folder(copy, missing):
    shutil.rmtree(copy / missing)
    expected = copy / ("masks/heroes" if missing == "masks" else missing)
    assert fault(copy).startswith(f"{expected}: expected a folder here")


def test_paths_that_hold_nothing_of_it(copy, tmp_path):
    assert fault(tmp_path / "nowhere").startswith(f"{tmp_path / 'nowhere'}: expected a folder here")
    assert fault(copy / "heroes/z0.png").startswith(f"{copy / 'heroes/z0.png'}: expected a folder here")
    assert fault(tmp_path / "nowhere").endswith("; without one, salgen make drawn-figures draws a stand-in")
    assert "stand-in" not in fault(copy / "heroes/z0.png")
    (tmp_path / "other").mkdir()
    assert fault(tmp_path / "other").startswith(f"{tmp_path / 'other/heroes'}: expected a folder here")


@pytest.mark.parametrize("folder", COUNTS)
@pytest.mark.parametrize(("left", "words"), [(0, "holds no picture"), (2, "holds 2 pictures")])
def test_a_class_with_too_few_pictures(copy, folder, left, words):
    for path in sorted((copy / folder).iterdir())[left:]:
        path.unlink()
    message = fault(copy)
    assert message.startswith(f"{copy / folder}: {words}; expected 3 or more")
    assert str(copy / folder / "NAME.png") in message


def test_a_picture_without_a_mask(copy):
    (copy / "masks/villains/z3.png").unlink()
    assert fault(copy).startswith(f"{copy / 'masks/villains/z3.png'}: expected the mask of {copy / 'villains/z3.png'}")


def test_a_mask_without_a_picture(copy):
    (copy / "villains/z3.png").unlink()
    assert fault(copy).startswith(f"{copy / 'masks/villains/z3.png'}: a mask without its picture, expected as")


def test_a_mask_of_another_size(copy):
    Image.fromarray(np.zeros((20, 27), dtype=np.uint8)).save(copy / "masks/heroes/z4.png")
    message = fault(copy)
    assert message.startswith(f"{copy / 'masks/heroes/z4.png'}: the mask has 27 x 20 pixels; expected 28 x 20")
    assert str(copy / "heroes/z4.png") in message


def test_two_pictures_of_one_name(copy):
    Image.fromarray(draw(3)[0]).save(copy / "heroes/z3.jpg")
    assert re.search(r"z3.png: z3.jpg has the same name", fault(copy))


@pytest.mark.parametrize("which", ["heroes/z1.png", "masks/heroes/z1.png"])
def test_a_broken_file_is_skipped_with_its_picture_and_counted(copy, which):
    content = (copy / which).read_bytes()
    for broken in (b"no picture", content[: len(content) // 2]):
        (copy / which).write_bytes(broken)
        made = imported(copy)
        assert made.source.notes.endswith("Skipped: unreadable image (1).")
        assert sum(map(len, samples_of(made).values())) == 11
    (copy / which).unlink()
    (copy / which).symlink_to("nowhere.png")
    assert imported(copy).source.notes.endswith("Skipped: missing image (1).")
    for number in (2, 3, 4, 5):
        (copy / f"heroes/z{number}.png").write_bytes(b"no picture")
    assert fault(copy) == "heroes: 2 pictures can be read, expected 3 or more"


def test_full_and_tiny_masks_are_no_ground_truth(copy):
    tiny = np.zeros(SIZE, dtype=np.uint8)
    tiny[:3, :4] = 255
    Image.fromarray(np.full(SIZE, 2, dtype=np.uint8)).save(copy / "masks/heroes/z0.png")  # as a trimap is read
    Image.fromarray(tiny).save(copy / "masks/heroes/z1.png")
    made = imported(copy)
    expected = (
        "1 full, as they cover all that is scored, 1 of fewer than min_mask pixels. Such samples are kept with an"
    )
    assert expected in made.source.notes
    for samples in samples_of(made).values():
        for sample in samples:
            refused = sample.recipe.parameters["item"] in ("heroes/z0", "heroes/z1")
            assert sample.regions["eyes"].any() != refused
    lower = generator("zings", source=str(copy), image_size=(16, 16), min_mask=1)
    assert "min_mask pixels" not in lower.source.notes


def test_a_data_set_is_made_of_a_copy_and_opened(copy, tmp_path):
    splits = {"train": 8, "val": 2, "test": 2}
    out = salgen.make(
        "zings", tmp_path / "out", source=str(copy), splits=splits, parameters={"image_size": "16,16"}, workers=1
    )
    opened = salgen.open(out, split="train")
    assert len(opened) == 8
    assert opened[0]["image"].shape == (3, 16, 16)
    assert opened[0]["mask"].any()
    assert "7 heroes (5 train, 1 val, 1 test)" in (out / "README.md").read_text(encoding="utf-8")


@pytest.mark.torture
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_and_run_again_it_ends_with_the_same_bytes(copy, tmp_path, workers):
    assert_resumable("zings", copy, tmp_path, workers)
