from collections import Counter
from itertools import combinations
import numpy as np
import pytest
from PIL import Image
from salgen.generators.composites.bam import OBJECTS
from salgen.generators.composites.multi_objects import ClassRounds
from salgen.generators.composites.pasting import placed
from salgen.generators.factory import generator
from salgen.generators.interfaces import Context
from salgen.seeding import Stream

SIDE = 32
IMAGES, PAIRS = 70, 160  # of a block: one to four objects of ten classes, and from two on also with two of a class


@pytest.fixture(scope="module")
def made():
    return generator("multi-objects", image_size=(SIDE, SIDE), pictures=10)


@pytest.fixture(scope="module")
def block(made):
    """Recipes of a block of test samples."""
    return [made.recipe(5, "test", index) for index in range(PAIRS)]


def by_image(recipes):
    found = {}
    for recipe in recipes:
        found.setdefault(recipe.parameters["image"], []).append(recipe)
    return found


def composed(made, recipe):
    """The image, written down a second time, with the largest alpha of each class in every pixel."""
    parameters, library = recipe.parameters, made.source
    split, names = parameters["split"], library.objects.classes
    scene = library.scenes.classes[parameters["scene"]]
    image = library.scenes.load(split, scene, parameters["scene_number"]).astype(float)
    alphas = np.zeros((len(names), SIDE, SIDE))
    boxes = np.zeros((len(names), SIDE, SIDE), dtype=bool)
    for number, picture, (top, left, height, width) in zip(
        parameters["classes"], parameters["pictures"], parameters["windows"], strict=True
    ):
        thing = Image.fromarray(library.objects.load(split, names[number], picture))
        resized = thing.resize((width, height), Image.Resampling.BILINEAR)
        seen = []
        for i, j in np.ndindex(height, width):
            *colour, alpha = resized.getpixel((j, i))
            row, column = top + i, left + j
            assert alphas[:, row, column].max() == 0, "windows overlap"
            alphas[number, row, column] = alpha
            if alpha:
                seen.append((row, column))
            for channel in range(3):
                image[row, column, channel] += alpha / 255 * (colour[channel] - image[row, column, channel])
        (first, start), (last, stop) = np.min(seen, axis=0), np.max(seen, axis=0)
        boxes[number, first : last + 1, start : stop + 1] = True
    return image, alphas, boxes


@pytest.mark.parametrize("index", [0, 11, 47, 90, 133])
def test_objects_are_pasted_beside_each_other_and_each_class_has_its_regions(made, block, index):
    recipe = block[index]
    sample, number = made.render(recipe), recipe.parameters["object"]
    image, alphas, boxes = composed(made, recipe)
    others = np.delete(alphas, number, axis=0).max(axis=0)
    assert np.abs(sample.image - image).max() <= 0.5 + 1e-9
    np.testing.assert_array_equal(sample.regions["object"], alphas[number] > 0)
    np.testing.assert_array_equal(sample.regions["object_core"], alphas[number] >= 127.5)
    np.testing.assert_array_equal(sample.regions["boxes"], boxes[number])
    np.testing.assert_array_equal(sample.regions["others"], others > 0)
    assert sample.labels == {"object": number}
    assert sample.present == {"object": tuple(np.flatnonzero(alphas.any(axis=(1, 2))).tolist())}


def test_the_samples_of_a_test_image_follow_each_other_and_differ_in_the_class_alone(made, block):
    images = [recipe.parameters["image"] for recipe in block]
    assert images == sorted(images)
    assert sorted(set(images)) == list(range(IMAGES))
    for recipes in by_image(block).values():
        samples = [made.render(recipe) for recipe in recipes]
        present = samples[0].present["object"]
        assert sorted(sample.labels["object"] for sample in samples) == list(present)
        for sample in samples[1:]:
            np.testing.assert_array_equal(sample.image, samples[0].image)
            assert sample.present == samples[0].present
        for one, other in combinations(samples, 2):
            assert not (one.regions["object"] & other.regions["object"]).any()
        everything = samples[0].regions["object"] | samples[0].regions["others"]
        np.testing.assert_array_equal(np.any([each.regions["object"] for each in samples], axis=0), everything)


def test_a_block_shows_every_class_equally_often_with_every_number_of_objects(made, block):
    assert set(Counter(recipe.parameters["object"] for recipe in block).values()) == {PAIRS // len(OBJECTS)}
    shown = Counter()
    for recipes in by_image(block).values():
        classes = recipes[0].parameters["classes"]
        shown[len(classes), len(set(classes))] += 1
        assert len(recipes) == len(set(classes))
    assert shown == dict.fromkeys([(1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (4, 3), (4, 4)], len(OBJECTS))
    following = [made.recipe(5, "test", PAIRS + index).parameters["object"] for index in range(PAIRS)]
    assert [recipe.parameters["object"] for recipe in block] != following


def test_which_image_a_test_sample_is_of_is_what_counting_from_the_start_finds():
    rounds = ClassRounds.of(5, (1, 3))
    context = Context(3, "any", "test", 0, None)
    counted = [
        (image, place) for image in range(3 * rounds.images) for place in range(len(rounds.content(context, image)[0]))
    ]
    assert [rounds.pair(context, index) for index in range(3 * rounds.pairs)] == counted


def test_elsewhere_each_image_is_there_once_about_its_largest_object(made):
    recipes = [made.recipe(5, "train", index) for index in range(IMAGES)]
    assert [recipe.parameters["image"] for recipe in recipes] == list(range(IMAGES))
    for recipe in recipes:
        areas = [height * width for _, _, height, width in recipe.parameters["windows"]]
        assert recipe.parameters["object"] == recipe.parameters["classes"][int(np.argmax(areas))]
        assert areas.count(max(areas)) == 1
    for start in range(0, IMAGES, len(OBJECTS)):
        labels = [recipe.parameters["object"] for recipe in recipes[start : start + len(OBJECTS)]]
        assert sorted(labels) == list(range(len(OBJECTS)))


def test_the_twin_lacks_the_objects_of_the_class_and_the_others_can_be_left_out_alone(made, block):
    shown = [Counter(recipe.parameters["classes"]) for recipe in block]
    twice = [counts[r.parameters["object"]] == 2 != counts.total() for r, counts in zip(block, shown, strict=True)]
    recipe = block[twice.index(True)]
    sample, twin = made.render(recipe), made.twin(recipe)
    alone = made.render(recipe, omit=("others",))
    np.testing.assert_array_equal((sample.image != twin.image).any(axis=2) & ~sample.regions["object"], False)
    np.testing.assert_array_equal(alone.image[sample.regions["object"]], sample.image[sample.regions["object"]])
    assert made.plugin.factors(recipe.parameters)["objects"] == 2
    assert not twin.regions["boxes"].any()
    assert recipe.parameters["object"] not in twin.present["object"]
    assert alone.present == {"object": (recipe.parameters["object"],)}
    single = next(r for r in block if len(r.parameters["classes"]) == 1)
    assert made.features(single) == ["object"]
    assert made.features(recipe) == ["object", "others"]


def test_windows_lie_beside_each_other_and_one_without_a_place_is_made_smaller():
    for index in range(40):
        sizes = [(20, 12), (9, 14), (9, 9), (11, 4)]
        taken = np.zeros((24, 24), dtype=int)
        windows = placed(sizes, (24, 24), Stream("windows", index=index))
        for window, size in zip(windows, sizes, strict=True):
            taken[window.slices] += 1
            assert (window.height, window.width) <= size
        assert taken.max() == 1
        assert taken.sum() == sum(window.height * window.width for window in windows)
        assert (windows[0].height, windows[0].width) == sizes[0]
    corner = placed([(10, 20), (20, 20)], (20, 20), Stream("tight"))[1]
    assert (corner.height, corner.width) in {(10, 10), (8, 8), (7, 7), (6, 6), (5, 5)}
