import importlib
import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace
import numpy as np
import pytest
from PIL import Image
import salgen
from salgen.datasets.importers.gtsrb_square import GtsrbSquare, open_gtsrb
from salgen.errors import SalgenError
from salgen.generators.factory import generator, generator_of
from salgen.generators.generator import Generator
from salgen.generators.traffic_signs.drawn_signs import VARIANT_SPLITS

TABLE, TEST, TRAINED = "gtsrb/GT-final_test.csv", "gtsrb/GTSRB/Final_Test/Images", "gtsrb/GTSRB/Training"
TRACKS = {0: 4, 3: 2, 12: 1}  # sign class to tracks
FRAMES = 3


def picture(number, size=(15, 18)):
    return np.random.default_rng(number).integers(0, 256, (*size, 3), dtype=np.uint8)


def plant(root):
    """A tree as torchvision has it: 21 crops for training, 9 for the test."""
    number = 0
    for sign, tracks in TRACKS.items():
        folder = (root / TRAINED) / f"{sign:05d}"
        folder.mkdir(parents=True)
        (folder / f"GT-{sign:05d}.csv").write_text("not read", encoding="utf-8")
        for track in range(tracks):
            for frame in range(FRAMES):
                Image.fromarray(picture(number)).save(folder / f"{track:05d}_{frame:05d}.ppm")
                number += 1
    test = root / TEST
    test.mkdir(parents=True)
    rows = ["Filename;Width;Height;Roi.X1;Roi.Y1;Roi.X2;Roi.Y2;ClassId"]
    for index, sign in enumerate([0, 3, 0, 3, 0, 3, 12, 12, 12]):
        Image.fromarray(picture(1000 + index)).save(test / f"{index:05d}.ppm")
        rows.append(f"{index:05d}.ppm;18;15;1;1;16;13;{sign}")
    (root / TABLE).write_text("\n".join(rows) + "\n", encoding="utf-8")
    return root


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
    assert "not redistributed" in source.license
    assert "30 crops of real traffic signs of 3 of 43 sign classes (missing: 1-2, 4-11, 13-42)" in source.notes
    assert ": 15 for train, 6 for val, 9 for test" in source.notes
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


def test_fifteen_of_a_hundred_tracks_are_for_validation(tree):
    for track in range(4, 20):
        Image.fromarray(picture(track)).save((tree / TRAINED) / "00000" / f"{track:05d}_00000.ppm")
    source = open_gtsrb(str(tree))
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
    how = {"scale": "demo", "source": str(planted), "parameters": {"image_size": (32, 32)}, "workers": 1}
    folder = salgen.make("gtsrb-square", tmp_path / "made", **how)
    assert len(salgen.load(folder, split="train")) == 12
    assert len(salgen.load(folder, split="test_noisy_square")) == 6
    assert "30 crops of real traffic signs" in (folder / "README.md").read_text(encoding="utf-8")
    spec = opened(planted).spec({"train": 12}, 0)
    assert isinstance(generator_of(spec, str(planted)), Generator)
    with pytest.raises(SalgenError, match="made from gtsrb of gtsrb-square, which only you have"):
        generator_of(spec)


def test_neither_the_path_nor_what_systems_add_makes_another_source(tree):
    before = open_gtsrb(str(tree)).digest
    assert open_gtsrb(str(tree / "gtsrb")).digest == open_gtsrb(str(tree / "gtsrb" / "GTSRB")).digest == before
    ((tree / TRAINED) / ".hidden").mkdir()
    for name in (".DS_Store", "._00000_00000.ppm", ".ppm"):
        ((tree / TRAINED) / "00003" / name).write_text("no picture", encoding="utf-8")
    assert open_gtsrb(str(tree)).digest == before
    text = (tree / TABLE).read_text(encoding="utf-8")
    (tree / TABLE).write_text(f"{text}00003.ppm;18;15;1;1;16;13;3\n", encoding="utf-8-sig")  # a row said twice
    assert open_gtsrb(str(tree)).digest == before
    for suffix, path in zip((".PPM", ".PpM"), sorted(((tree / TRAINED) / "00012").glob("*.ppm")), strict=False):
        path.rename(path.with_suffix(suffix))
    source = open_gtsrb(str(tree))
    assert len(source.names()) == 30
    assert source.classes["train/00012/00000_00001.PpM"] == 12


def refuses(root, *expected):
    """Opening fails with one line that holds all that is expected."""
    with pytest.raises(SalgenError) as raised:
        open_gtsrb(str(root))
    message = str(raised.value)
    for part in expected:
        assert str(part) in message


def of_rows(*rows, header="Filename;ClassId"):
    """Write another table of test images."""
    return lambda tree: (tree / TABLE).write_text("\n".join([header, *rows, ""]), encoding="utf-8")


def replaced(old, new):
    return lambda tree: (tree / TABLE).write_text((tree / TABLE).read_text(encoding="utf-8").replace(old, new))


def emptied(tree, but=0):
    """Leave so many images in each class folder."""
    for folder in (tree / TRAINED).iterdir():
        for path in sorted(folder.glob("*.ppm"))[but:]:
            path.unlink()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda tree: (tree / TABLE).unlink(), [TABLE, "No such file"]),
        (replaced(";", ","), [TABLE, "separated by semicolons", "KeyError: 'Filename'"]),
        (replaced("ClassId", "Sign"), [TABLE, "Filename and ClassId"]),
        *((of_rows(f"00000.ppm;{sign}"), [TABLE, "from 0 to 42"]) for sign in ("stop", "")),
        (of_rows(), [TEST, "pairs of one sign class are needed, but test has none"]),
        (lambda tree: (tree / TABLE).write_bytes(b"Filename;ClassId\n\xff\xfe\n"), [TABLE, "codec can't decode"]),
        (lambda tree: shutil.rmtree(tree / TRAINED), [TRAINED, "is missing"]),
        (emptied, [TRAINED, "pairs of one sign class are needed, but train has none"]),
        (lambda tree: emptied(tree, 1), [TRAINED, "pairs of one sign class are needed, but train has none"]),
        (of_rows("00000.ppm;0", "00001.ppm;3"), [TEST, "pairs of one sign class are needed, but test has none"]),
    ],
)  # fmt: skip
def test_what_is_not_as_published_is_named(tree, change, expected):
    change(tree)
    refuses(tree, str(tree / expected[0]), *expected[1:])


def test_an_image_that_ends_too_soon(tree):
    tests = sorted((tree / TEST).glob("*.ppm"))
    tests[0].write_bytes(tests[0].read_bytes()[:60])
    tests[2].unlink()
    made = opened(tree)
    assert made.available["test"] == 4  # of sign 0 one is left, of 3 three, of 12 three
    assert made.source.notes.endswith("Skipped: missing image (1), unreadable image (1).")
    for index in range(4):
        made.sample(0, "test", index)
    for path in tests:
        path.unlink(missing_ok=True)
        path.write_bytes(b"P6")
    refuses(tree, "Final_Test/Images: pairs of one sign class are needed, but test has none")


@pytest.mark.parametrize("place", ["", "GTSRB", "GTSRB/Final_Test", "GTSRB/Final_Test/Images"])
def test_the_benchmarks_own_archives_are_read(tree, place):
    before = open_gtsrb(str(tree)).digest
    final = tree / "gtsrb" / "GTSRB" / "Final_Training"
    final.mkdir()
    (tree / TRAINED).rename(final / "Images")
    if place:
        (tree / TABLE).rename(tree / "gtsrb" / place / (tree / TABLE).name)
    for root in (tree, tree / "gtsrb", tree / "gtsrb" / "GTSRB"):
        assert open_gtsrb(str(root)).digest == before


@pytest.fixture
def fetching(monkeypatch, tmp_path):
    """Let a function fetch in torchvision's place, into a cache of its own; say what is asked of it."""
    monkeypatch.setenv("SALGEN_CACHE", str(tmp_path))
    asked = []

    def replace(fetch):
        def fetched(root, split, download):
            asked.append((split, download))
            fetch(Path(root), split)

        monkeypatch.setattr(importlib, "import_module", lambda name: SimpleNamespace(GTSRB=fetched))
        return asked

    return replace


def fetch_whole(root, split):
    """As torchvision does, take any folder that is there for a whole split."""
    folder = root / "gtsrb" / "GTSRB" / {"train": "Training", "test": "Final_Test"}[split]
    if not folder.is_dir():
        with tempfile.TemporaryDirectory() as other:
            plant(Path(other))
            shutil.copytree(Path(other) / "gtsrb" / "GTSRB" / folder.name, folder)
            shutil.copy((Path(other) / TABLE), (root / TABLE))


def test_torchvision_fetches_it_when_asked_and_once(fetching, tmp_path):
    def fetch(root, split):
        assert not (tmp_path / "gtsrb").exists(), "it has its name when all is there"
        fetch_whole(root, split)

    asked = fetching(fetch)
    source = GtsrbSquare().open_source("download")
    assert asked == [("train", True), ("test", True)]
    assert len(source.names()) == 30
    assert open_gtsrb("download").digest == source.digest == open_gtsrb(str(tmp_path / "gtsrb")).digest
    assert len(asked) == 2
    assert {path.name for path in tmp_path.iterdir() if path.suffix != ".npz"} == {"gtsrb", "locks"}


FAULTS = [KeyboardInterrupt(), OSError("no route to host\nat all"), RuntimeError("File not found or corrupted.")]


@pytest.mark.parametrize("fault", FAULTS)
def test_an_interrupted_download_leaves_nothing(fetching, tmp_path, fault):
    def fetch(root, split):
        if split == "test":
            raise fault
        ((root / TRAINED) / "00000").mkdir(parents=True)

    fetching(fetch)
    with pytest.raises((KeyboardInterrupt, SalgenError)) as raised:
        open_gtsrb("download")
    for said in (*str(fault).splitlines()[:1], tmp_path / "gtsrb", TRAINED) if str(fault) else ():
        assert str(said) in str(raised.value)
    assert [path.name for path in tmp_path.iterdir()] == ["locks"]
    fetching(fetch_whole)
    assert len(open_gtsrb("download").names()) == 30


def test_a_cached_folder_that_lacks_something(fetching, tmp_path):
    asked = fetching(fetch_whole)
    root = tmp_path / "gtsrb"
    plant(root)
    shutil.rmtree(root / TRAINED)
    refuses("download", (root / TRAINED), f"remove {root} and run it again")
    assert asked == []
