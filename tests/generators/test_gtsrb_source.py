"""The benchmark's own folder as a source: pairs, tracks, and layouts that are not as published."""

import importlib
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

import salgen
from salgen.errors import SalgenError
from salgen.generators.generator import Generator
from salgen.generators.gtsrb import open_gtsrb
from salgen.generators.gtsrb_square import VARIANT_SPLITS, GtsrbSquare
from salgen.generators.opening import generator, generator_of

TRACKS = {0: 4, 3: 2, 12: 1}  # sign class to tracks
FRAMES = 3


def picture(number, size=(15, 18)):
    return np.random.default_rng(number).integers(0, 256, (*size, 3), dtype=np.uint8)


def plant(root):
    """A tree as torchvision has it: 21 crops for training, 9 for the test."""
    number = 0
    for sign, tracks in TRACKS.items():
        folder = root / "gtsrb" / "GTSRB" / "Training" / f"{sign:05d}"
        folder.mkdir(parents=True)
        (folder / f"GT-{sign:05d}.csv").write_text("not read", encoding="utf-8")
        for track in range(tracks):
            for frame in range(FRAMES):
                Image.fromarray(picture(number)).save(folder / f"{track:05d}_{frame:05d}.ppm")
                number += 1
    test = root / "gtsrb" / "GTSRB" / "Final_Test" / "Images"
    test.mkdir(parents=True)
    rows = ["Filename;Width;Height;Roi.X1;Roi.Y1;Roi.X2;Roi.Y2;ClassId"]
    for index, sign in enumerate([0, 3, 0, 3, 0, 3, 12, 12, 12]):
        Image.fromarray(picture(1000 + index)).save(test / f"{index:05d}.ppm")
        rows.append(f"{index:05d}.ppm;18;15;1;1;16;13;{sign}")
    table(root).write_text("\n".join(rows) + "\n", encoding="utf-8")
    return root


def table(root):
    return root / "gtsrb" / "GT-final_test.csv"


def training(root):
    return root / "gtsrb" / "GTSRB" / "Training"


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    return plant(tmp_path_factory.mktemp("benchmark"))


@pytest.fixture
def tree(tmp_path):
    return plant(tmp_path)


def opened(root):
    return generator("gtsrb-square", str(root), image_size=(32, 32))


def test_what_is_in_the_source(planted):
    source = open_gtsrb(str(planted))
    assert source.name == "gtsrb"
    assert len(source.names()) == 21 + 9
    assert source.split_of("test/00003.ppm") == "test"
    assert source.classes["test/00003.ppm"] == 3
    assert source.classes["train/00012/00000_00001.ppm"] == 12
    assert np.array_equal(source.load("train/00000/00000_00002.ppm"), picture(2))
    assert "not redistributed" in source.licence
    assert "30 crops of real traffic signs of 3 classes: 15 for train, 6 for val, 9 for test" in source.notes
    assert "15 % of the training tracks" in source.notes


def test_no_track_is_in_training_and_validation(planted):
    source = open_gtsrb(str(planted))
    tracks = {"train": set(), "val": set()}
    for name in source.names():
        if source.split_of(name) != "test":
            _, sign, file = name.split("/")
            tracks[source.split_of(name)].add((sign, file.split("_")[0]))
    assert not tracks["train"] & tracks["val"]
    assert sorted(sign for sign, _ in tracks["val"]) == ["00000", "00003"], "a sign with one track trains with it"
    assert len(tracks["train"]) == 5


def test_fifteen_of_a_hundred_tracks_are_for_validation(tmp_path):
    plant(tmp_path)
    for track in range(4, 20):
        Image.fromarray(picture(track)).save(training(tmp_path) / "00000" / f"{track:05d}_00000.ppm")
    source = open_gtsrb(str(tmp_path))
    held_out = {n.split("/")[2][:5] for n in source.names() if "/00000/" in n and source.split_of(n) == "val"}
    assert len(held_out) == 3


def test_pairs_of_a_sign_and_what_is_left_out(planted):
    made = opened(planted)
    # train: 9 + 3 + 3 crops of three signs, val: 3 + 3, test: 3 + 3 + 3; each odd number loses one
    assert made.available == {"train": 12, "val": 4, "test": 6, **dict.fromkeys(VARIANT_SPLITS, 6)}
    assert "8 crops without a partner are left out" in made.source.notes
    for split, count in made.available.items():
        recipes = [made.recipe(0, split, index).parameters for index in range(count)]
        assert len({recipe["item"] for recipe in recipes}) == count
        owner = "test" if split in VARIANT_SPLITS else split
        assert {made.source.split_of(recipe["item"]) for recipe in recipes} == {owner}
        for one, other in zip(recipes[0::2], recipes[1::2], strict=True):
            assert one["sign_class"] == other["sign_class"] == made.source.classes[one["item"]]
            assert {one["drawn_label"], other["drawn_label"]} == {0, 1}
    with pytest.raises(SalgenError, match="split 'test_moved' of gtsrb has 6 samples"):
        made.recipe(0, "test_moved", 6)
    with pytest.raises(SalgenError, match="split 'holdout' of gtsrb has 0 samples"):
        made.recipe(0, "holdout", 0)


def test_the_order_of_pairs_comes_from_the_seed(planted):
    made = opened(planted)
    orders = {tuple(made.recipe(seed, "train", i).parameters["item"] for i in range(12)) for seed in range(6)}
    assert len(orders) == 6
    assert len({frozenset(order) for order in orders}) == 1


def test_pixels_are_those_of_the_crop_resized_bilinearly(planted):
    made = opened(planted)
    for index in range(6):
        sample = made.sample(0, "test", index)
        crop = made.source.load(sample.recipe.parameters["item"])
        expected = np.asarray(Image.fromarray(crop).resize((32, 32), Image.Resampling.BILINEAR))
        outside = ~sample.regions["square"]
        assert np.array_equal(sample.image[outside], expected[outside])
        moved = made.sample(0, "test_moved", index)
        outside = ~moved.regions["square"]
        assert np.array_equal(moved.image[outside], expected[outside])
        assert np.array_equal(made.sample(0, "test_absent", index).image, expected)


def test_a_redraw_is_another_crop_of_the_split(planted):
    made = opened(planted)
    recipe = next(r for r in (made.recipe(0, "test_resized", i) for i in range(2)) if r.parameters["label"])
    redrawn = [made.redraw(recipe, 0, number) for number in range(8)]
    items = {r.parameters["item"] for r in redrawn}
    assert len(items) > 2
    assert {made.source.split_of(item) for item in items} == {"test"}
    assert all(r.parameters["square"] == recipe.parameters["square"] for r in redrawn)


def test_the_data_set_is_made_and_opened_again(planted, tmp_path):
    folder = salgen.make(
        "gtsrb-square",
        tmp_path / "made",
        scale="demo",
        source=str(planted),
        parameters={"image_size": (32, 32)},
        workers=1,
    )
    assert len(salgen.open(folder, split="train")) == 12
    assert len(salgen.open(folder, split="test_noisy_square")) == 6
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "30 crops of real traffic signs" in card
    spec = opened(planted).spec({"train": 12}, 0)
    assert isinstance(generator_of(spec, str(planted)), Generator)
    with pytest.raises(SalgenError, match="made from source 'gtsrb'"):
        generator_of(spec)


@pytest.mark.parametrize("inside", ["", "gtsrb", "gtsrb/GTSRB"])
def test_paths_that_are_understood(planted, inside):
    assert open_gtsrb(str(planted / inside)).digest == open_gtsrb(str(planted)).digest


# Other layouts ------------------------------------------------------------------------------------------


def refuses(root, *expected):
    """Opening fails with one line that holds all that is expected."""
    with pytest.raises(SalgenError) as raised:
        open_gtsrb(str(root))
    message = str(raised.value)
    assert "\n" not in message
    for part in expected:
        assert str(part) in message


def test_no_such_folder(tmp_path):
    refuses(tmp_path / "nowhere", tmp_path / "nowhere", "there is no such folder")


def test_a_folder_with_something_else(tmp_path):
    (tmp_path / "holidays").mkdir()
    refuses(tmp_path, tmp_path / "gtsrb" / "GTSRB" / "Training", "missing")


def test_a_benchmark_beside_the_folder_is_not_taken_for_it(tree):
    (tree / "gtsrb" / "other").mkdir()
    refuses(tree / "gtsrb" / "other", tree / "gtsrb" / "other" / "gtsrb" / "GTSRB" / "Training")


def test_a_doubled_folder(tree):
    shutil.move(tree / "gtsrb" / "GTSRB", tree / "inner")
    (tree / "gtsrb" / "GTSRB").mkdir()
    shutil.move(tree / "inner", tree / "gtsrb" / "GTSRB" / "GTSRB")
    for root in (tree, tree / "gtsrb", tree / "gtsrb" / "GTSRB"):
        refuses(root, tree / "gtsrb" / "GTSRB" / "GTSRB", "a folder too deep")


def test_the_table_is_missing(tree):
    table(tree).unlink()
    refuses(tree, table(tree), "missing")


def test_the_table_has_commas(tree):
    table(tree).write_text(table(tree).read_text(encoding="utf-8").replace(";", ","), encoding="utf-8")
    refuses(tree, table(tree), "semicolons", "Filename,Width,Height")


def test_the_table_lacks_the_classes(tree):
    lines = table(tree).read_text(encoding="utf-8").splitlines()
    table(tree).write_text("\n".join(line.rpartition(";")[0] for line in lines), encoding="utf-8")
    refuses(tree, table(tree), "Filename and ClassId")


@pytest.mark.parametrize("sign", ["43", "-1", "stop", ""])
def test_the_table_names_a_class_that_there_is_not(tree, sign):
    table(tree).write_text(f"Filename;ClassId\n00000.ppm;{sign}\n", encoding="utf-8")
    refuses(tree, f"{table(tree)}, line 2", repr(sign), "from 0 to 42")


def test_the_table_names_a_missing_image(tree):
    missing = tree / "gtsrb" / "GTSRB" / "Final_Test" / "Images" / "00004.ppm"
    missing.unlink()
    refuses(tree, f"{table(tree)}, line 6", missing)


def test_an_empty_table(tree):
    table(tree).write_text("Filename;ClassId\n", encoding="utf-8")
    refuses(tree, table(tree), "expected a row for each image", tree / "gtsrb" / "GTSRB" / "Final_Test" / "Images")


def test_a_table_with_a_byte_order_mark(tree):
    before = open_gtsrb(str(tree)).digest
    table(tree).write_text(table(tree).read_text(encoding="utf-8"), encoding="utf-8-sig")
    assert open_gtsrb(str(tree)).digest == before


def test_a_table_of_bytes(tree):
    table(tree).write_bytes(b"Filename;ClassId\n\xff\xfe\n")
    refuses(tree, table(tree), "cannot be read")


def test_a_class_without_images(tree):
    folder = training(tree) / "00003"
    for path in folder.glob("*.ppm"):
        path.unlink()
    refuses(tree, folder, "there is none")


def test_no_class_at_all(tree):
    for folder in training(tree).iterdir():
        shutil.rmtree(folder)
    refuses(tree, training(tree) / "00000", "there is none")


def test_a_file_that_names_no_track(tree):
    odd = training(tree) / "00003" / "sign.ppm"
    Image.fromarray(picture(1)).save(odd)
    refuses(tree, odd, "TTTTT_FFFFF.ppm")


def test_an_image_that_ends_too_soon(tree):
    for path in (tree / "gtsrb" / "GTSRB" / "Final_Test" / "Images").glob("*.ppm"):
        path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(SalgenError, match=r"Final_Test.Images.0000\d.ppm: cannot be read as a picture"):
        opened(tree).sample(0, "test", 0)


# Download -----------------------------------------------------------------------------------------------


def test_torchvision_fetches_it_when_asked(monkeypatch, tmp_path):
    monkeypatch.setenv("SALGEN_CACHE", str(tmp_path))
    asked = []

    def fetch(root, split, download):
        asked.append((split, download))
        if split == "train":
            plant(type(tmp_path)(root))

    monkeypatch.setattr(importlib, "import_module", lambda name: SimpleNamespace(GTSRB=fetch))
    source = GtsrbSquare().open_source("download")
    assert asked == [("train", True), ("test", True)]
    assert len(source.names()) == 30


@pytest.mark.parametrize("fault", [OSError("no route to host\nat all"), RuntimeError("File not found or corrupted.")])
def test_no_network(monkeypatch, tmp_path, fault):
    monkeypatch.setenv("SALGEN_CACHE", str(tmp_path))

    def fetch(root, split, download):
        raise fault

    monkeypatch.setattr(importlib, "import_module", lambda name: SimpleNamespace(GTSRB=fetch))
    reason = str(fault).splitlines()[0]
    refuses("download", reason, tmp_path / "gtsrb", "gtsrb/GTSRB/Training")
