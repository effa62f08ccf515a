from types import SimpleNamespace
import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image
from salgen.datasets.picture_libraries import stand_ins
from salgen.errors import SalgenError
from salgen.generators.composites.bam import OBJECTS, SCENES
from salgen.generators.drawing.photographs import photographs
from salgen.generators.factory import generator
from salgen.seeding import Stream

SIDE = 32
PAIRS = len(OBJECTS) * len(SCENES)


@pytest.fixture(scope="module")
def bam():
    return generator("bam", image_size=(SIDE, SIDE), pictures=10)


@pytest.fixture(scope="module")
def block(bam):
    return [bam.sample(5, "train", index) for index in range(PAIRS)]


def composed(bam, recipe):
    """The image, written down a second time: each colour weighted by the alpha of the resized object."""
    p, library = recipe.parameters, bam.source
    scene = library.scenes.load("train", SCENES[p["scene"]], p["scene_number"]).astype(float)
    thing = library.objects.load("train", OBJECTS[p["object"]], p["object_number"])
    resized = Image.fromarray(thing).resize((p["width"], p["height"]), Image.Resampling.BILINEAR)
    alpha = np.zeros((SIDE, SIDE))
    for i, j in np.ndindex(p["height"], p["width"]):
        *colour, opacity = resized.getpixel((j, i))
        row, column = p["row"] + i, p["column"] + j
        alpha[row, column] = opacity
        for channel in range(3):
            below = scene[row, column, channel]
            scene[row, column, channel] = below + opacity / 255 * (colour[channel] - below)
    return scene, alpha


@pytest.mark.parametrize("index", [0, 7, 41])
def test_an_object_is_pasted_by_its_alpha(bam, block, index):
    sample = block[index]
    image, alpha = composed(bam, sample.recipe)
    assert np.abs(sample.image - image).max() <= 0.5 + 1e-9
    np.testing.assert_array_equal(sample.regions["object"], alpha > 0)
    np.testing.assert_array_equal(sample.regions["object_core"], alpha >= 127.5)
    np.testing.assert_array_equal(sample.regions["scene"], alpha == 0)


def test_a_triple_comes_from_one_recipe(bam, block):
    sample = block[3]
    scene_only = bam.render(sample.recipe, omit=("object",))
    object_only = bam.render(sample.recipe, omit=("scene",))
    there = sample.regions["object"]
    np.testing.assert_array_equal(scene_only.image, bam.twin(sample.recipe).image)
    np.testing.assert_array_equal(scene_only.image[~there], sample.image[~there])
    assert not object_only.image[~there].any()
    opaque = np.abs(object_only.image.astype(int) - sample.image).max(axis=2) == 0
    assert (opaque[there]).mean() > 0.5
    assert sample.labels == scene_only.labels == object_only.labels


def test_within_a_block_each_object_stands_on_each_scene_once(bam, block):
    pairs = [(sample.labels["object"], sample.labels["scene"]) for sample in block]
    assert sorted(pairs) == [(thing, scene) for thing in range(len(OBJECTS)) for scene in range(len(SCENES))]
    for start in range(0, PAIRS, len(OBJECTS)):
        assert {thing for thing, _ in pairs[start : start + len(OBJECTS)]} == set(range(len(OBJECTS)))
    following = [bam.sample(5, "train", index) for index in range(PAIRS, 2 * PAIRS)]
    assert sorted(pairs) == sorted((sample.labels["object"], sample.labels["scene"]) for sample in following)


def test_within_a_block_an_object_is_the_same_on_all_scenes_and_a_scene_under_all_objects(bam, block):
    alone, scenes = {}, {}
    for sample in block:
        thing, scene = sample.labels["object"], sample.labels["scene"]
        object_only = bam.render(sample.recipe, omit=("scene",)).image
        scene_only = bam.render(sample.recipe, omit=("object",)).image
        np.testing.assert_array_equal(alone.setdefault(thing, object_only), object_only)
        np.testing.assert_array_equal(scenes.setdefault(scene, scene_only), scene_only)


def test_sides_are_those_of_a_third_to_a_half_of_the_area():
    """In BAM's code the longer side is drawn from 73, which is 128 / sqrt 3, up to 89, below 128 / sqrt 2."""
    bam = generator("bam", image_size=(128, 128), pictures=10, objects=("bird", "dog"), scenes=("runway", "cockpit"))
    longer = set()
    for index in range(0, 400, 2):
        parameters = bam.recipe(0, "train", index).parameters
        longer.add(max(parameters["height"], parameters["width"]))
        assert 0 <= parameters["row"] <= 128 - parameters["height"]
        assert 0 <= parameters["column"] <= 128 - parameters["width"]
    assert min(longer) == 73
    assert max(longer) == 89


def test_every_picture_is_shown_before_one_is_shown_again(bam):
    for task, column in (("object", "object_number"), ("scene", "scene_number")):
        numbers = {}
        for index in range(10 * PAIRS):
            parameters = bam.recipe(0, "train", index).parameters
            if parameters[task] == 2:
                numbers.setdefault(index // PAIRS, set()).add(parameters[column])
        assert all(len(found) == 1 for found in numbers.values())
        assert set.union(*numbers.values()) == set(range(10))


def test_no_picture_is_in_two_splits(bam):
    for library in (bam.source.objects, bam.source.scenes):
        for name in library.classes:
            seen = [
                library.load(split, name, number).tobytes()
                for split in ("train", "val", "test")
                for number in range(library.count(split, name))
            ]
            assert len(set(seen)) == len(seen) == 30


def test_a_library_is_built_once_and_the_same_each_time(bam, tmp_path, monkeypatch):
    monkeypatch.setenv("SALGEN_CACHE", str(tmp_path))
    again = generator("bam", image_size=(SIDE, SIDE), pictures=10)
    assert again.source.digest == bam.source.digest
    files = sorted((tmp_path / "libraries").iterdir())
    assert [file.name.partition("-")[0] for file in files] == ["objects", "scenes"]
    before = [file.stat().st_mtime_ns for file in files]
    generator("bam", image_size=(SIDE, SIDE), pictures=10)
    assert [file.stat().st_mtime_ns for file in files] == before
    assert pq.read_schema(files[0]).names == ["split", "class", "height", "width", "picture"]
    files[0].write_bytes(files[0].read_bytes()[:-9])
    with pytest.raises(SalgenError, match=r"objects-.*\.parquet is damaged .* remove it, and it is built again"):
        generator("bam", image_size=(SIDE, SIDE), pictures=10)


def test_no_picture_is_decoded_to_draw_a_recipe(bam, monkeypatch):
    expected = [bam.recipe(6, "val", index) for index in range(3)]

    def load(*place):
        raise AssertionError(f"{place} was decoded")

    for library in (bam.source.objects, bam.source.scenes):
        monkeypatch.setattr(library, "load", load)
    assert [bam.recipe(6, "val", index) for index in range(3)] == expected


def test_sizes_are_those_of_the_pictures(bam):
    for library in (bam.source.objects, bam.source.scenes):
        for split in ("train", "val", "test", "another"):
            for number in (0, 9):
                place = split, library.classes[3], number
                assert library.size(*place) == library.load(*place).shape[:2]


def common(i):
    return generator("bam", image_size=(SIDE, SIDE), pictures=10, common_in=i)


@pytest.mark.parametrize("i", [0, 4, len(SCENES)])
def test_objects_that_are_common_in_some_scenes_stand_on_these_alone(bam, block, i):
    made = common(i)
    assert made.plugin.tasks == {"scene": SCENES}
    pairs = list(made.pairs(5, "train", range(PAIRS)))
    assert sum(twin is not None for _, twin in pairs) == i * len(OBJECTS)
    for plain, (sample, twin) in zip(block, pairs, strict=True):
        assert sample.recipe.parameters == plain.recipe.parameters
        assert sample.labels == {"scene": plain.labels["scene"]}
        assert sample.target == {"scene": "scene"}
        there = sample.labels["scene"] < i
        expected = plain if there else bam.render(plain.recipe, omit=("object",))
        np.testing.assert_array_equal(sample.image, expected.image)
        for name in ("object", "object_core", "scene"):
            np.testing.assert_array_equal(sample.regions[name], expected.regions[name])
        assert sample.regions["object"].any() == there
        assert (twin is None) == (made.twin(sample.recipe) is None) == (not there)
        factors = made.plugin.factors(sample.recipe.parameters)
        assert (factors["height"] is None) == (not there)
        assert factors["scene_number"] is not None
        if twin is not None:
            assert made.features(sample.recipe) == ["object"]
            np.testing.assert_array_equal(twin, bam.twin(plain.recipe).image)
            outside = ~sample.regions["object"]
            np.testing.assert_array_equal(twin[outside], sample.image[outside])


def test_crops_of_photographs_can_be_scenes():
    names = stand_ins.NAMES_OF_CROPS
    made = generator("bam", image_size=(SIDE, SIDE), pictures=10, scenes=(names[0], "bedroom", names[3]))
    assert "2 of the kinds of scenes are crops of a photograph each" in made.source.notes
    assert "CC0" in made.source.license
    assert made.source.redistributable
    scenes = made.source.scenes
    assert len({scenes.load("train", names[0], n).tobytes() for n in range(10)}) == 10
    with pytest.raises(SalgenError, match="unknown scene 'photograph/coffee'"):
        generator("bam", image_size=(SIDE, SIDE), pictures=10, scenes=("photograph/coffee", "bedroom"))


@pytest.mark.parametrize("size", [(32, 32), (20, 60), (60, 20)])
@pytest.mark.parametrize("name", stand_ins.NAMES_OF_CROPS)
def test_a_crop_shows_its_split_s_part_of_the_photograph(name, size, monkeypatch):
    """In place of the photograph an image whose rows and columns are numbered says where a crop comes from."""
    whole = photographs().load(stand_ins.FILES[stand_ins.NAMES_OF_CROPS.index(name)])
    height, width = whole.shape[:2]
    rows = np.repeat(np.arange(height)[:, None] * 255 / height, width, axis=1)
    columns = np.tile(np.arange(width) * 255 / width, (height, 1))
    numbered = np.stack([rows, columns, columns], axis=2).astype(np.uint8)
    monkeypatch.setattr(stand_ins, "photographs", lambda: SimpleNamespace(load=lambda name: numbered))
    for split, (first, end) in stand_ins.PARTS.items():
        seen = [stand_ins.crop(name, split, Stream("x", split, index=n), size) for n in range(20)]
        assert {one.shape for one in seen} == {(*size, 3)}
        assert min(one[..., 0].min() for one in seen) >= 255 * first - 2
        assert max(one[..., 0].max() for one in seen) <= 255 * end + 1
        tall = {round(np.ptp(one[..., 0].astype(int)) / 255 * height / size[0], 2) for one in seen}
        assert len(tall) > 5


@pytest.mark.parametrize("common_in", [None, 3])
def test_redraws_show_every_kind_of_scene_unless_it_is_the_class(common_in):
    made = generator("bam", image_size=(32, 32), pictures=10, common_in=common_in)
    recipe = made.recipe(0, "test", 4)
    kinds = [made.redraw(recipe, 0, number).parameters["scene"] for number in range(10)]
    assert sorted(kinds) == (list(range(10)) if common_in is None else [recipe.parameters["scene"]] * 10)
