import hashlib
from collections import Counter
from functools import cache
import numpy as np
import pytest
from salgen.generators.factory import generator
from salgen.generators.traffic_signs.drawn_signs import VARIANT_SPLITS, places_apart
from salgen.generators.traffic_signs.pictures import SIGNS, sign_picture

SIZE = 32
SIDE = 5  # a seventh of 32, rounded
COUNT = 6


@cache
def made(**changes):
    return generator("drawn-signs", **{"image_size": (SIZE, SIZE), **changes})


@cache
def samples(split, seed=0):
    return [made().sample(seed, split, index) for index in range(COUNT)]


def corner(side=SIDE, size=SIZE, margin=0):
    mask = np.zeros((size, size), dtype=bool)
    end = size - margin
    mask[end - side : end, end - side : end] = True
    return mask


@pytest.mark.parametrize("split", ["train", "val", "test", "test_moved"])
def test_each_sign_stands_in_two_consecutive_samples_one_of_each_class(split):
    recipes = [made().recipe(0, split, index).parameters for index in range(2 * 2 * 43)]
    for one, other in zip(recipes[0::2], recipes[1::2], strict=True):
        assert one["sign_class"] == other["sign_class"]
        assert {one["label"], other["label"]} == {0, 1}
        assert one["fields"] != other["fields"], "another picture of the same sign"
    blocks = [[recipe["sign_class"] for recipe in recipes[start : start + 86 : 2]] for start in (0, 86)]
    assert sorted(blocks[0]) == sorted(blocks[1]) == list(range(43))
    assert blocks[0] != blocks[1]
    firsts = Counter(recipe["label"] for recipe in recipes[0::2])
    assert min(firsts.values()) > 20, "which of the two has the square is drawn"


@pytest.mark.parametrize("split", ["train", "test", *VARIANT_SPLITS])
def test_the_label_says_what_is_seen(split):
    for sample in samples(split):
        assert sample.labels["label"] == int(sample.regions["square"].any())
        assert sample.recipe.parameters["label"] == sample.labels["label"]
        without = made().render(sample.recipe, omit=("square",))
        assert without.labels == {"label": 0}
        assert not without.regions["square"].any()


def test_variants_show_the_signs_of_test_and_differ_as_their_names_say():
    for index, original in enumerate(samples("test")):
        shown = {split: samples(split)[index] for split in VARIANT_SPLITS}
        bare = made().render(original.recipe, omit=("square",)).image
        assert np.array_equal(shown["test_original"].image, original.image)
        absent = shown["test_absent"]
        assert np.array_equal(absent.image, bare)
        assert absent.labels == {"label": 0}
        assert (made().twin(absent.recipe), made().features(absent.recipe)) == (None, [])
        for split in ("test_moved", "test_resized", "test_noisy_square"):
            square = shown[split].regions["square"]
            assert np.array_equal(shown[split].image[~square], bare[~square])
        square = original.regions["square"]
        noisy = shown["test_noisy_background"]
        assert np.array_equal(noisy.image[square], original.image[square])
        assert (noisy.image[~square] != original.image[~square]).mean() > 0.8
        assert np.array_equal(noisy.regions["square"], square)


def test_regions_of_the_variants():
    for index, original in enumerate(samples("test")):
        positive = original.labels["label"] == 1
        expected = corner() if positive else np.zeros((SIZE, SIZE), dtype=bool)
        for split in ("test", *VARIANT_SPLITS):
            regions = samples(split)[index].regions
            assert np.array_equal(regions["training_square"], expected)
            if split not in ("test_absent", "test_moved", "test_resized"):
                assert np.array_equal(regions["square"], expected)
        resized = samples("test_resized")[index].regions["square"]
        assert np.array_equal(resized, corner(2 * SIDE) if positive else expected)
        moved = samples("test_moved")[index].regions["square"]
        assert moved.sum() == (SIDE * SIDE if positive else 0)
        assert not (moved & expected).any()


def test_the_square_is_moved_to_many_places_and_to_none_that_touches_the_old_one():
    places = {tuple(made().recipe(0, "test_moved", i).parameters["square"] or ()) for i in range(40)} - {()}
    assert len(places) > 15
    slow = []
    for row in range(10 - 3 + 1):
        for column in range(8 - 3 + 1):
            apart = row + 3 <= 6 or row >= 6 + 3 or column + 3 <= 5 or column >= 5 + 3
            slow += [[row, column]] if apart else []
    assert places_apart((10, 8), (6, 5, 3)).tolist() == slow


def test_the_square_has_its_colour_and_the_noisy_one_is_near_it():
    coloured = made(square_color=(0.2, 0.6, 1.0), square_side=10, margin=3)
    sample = next(s for s in (coloured.sample(0, "test", i) for i in range(2)) if s.labels["label"])
    assert np.array_equal(sample.regions["square"], corner(10, margin=3))
    assert (sample.image[sample.regions["square"]] == (51, 153, 255)).all()
    noisy = coloured.sample(0, "test_noisy_square", sample.recipe.index)
    differences = noisy.image[sample.regions["square"]][:, 1] / 255 - 0.6  # the green is clipped least
    assert 0.12 < differences.std() < 0.25
    assert abs(differences.mean()) < 0.08


def test_the_background_noise_reaches_plain_images_too_and_is_clipped_gaussian():
    silent = made(noise=0.0)
    for index in range(COUNT):
        before, noisy = samples("test")[index], samples("test_noisy_background")[index]
        outside = ~before.regions["square"] & (abs(before.image.astype(int) - 128).max(axis=2) < 30)
        change = (noisy.image.astype(float) - before.image)[outside] / 255
        if change.size > 300:
            assert change.std() == pytest.approx(0.2, abs=0.03)
        assert np.array_equal(silent.sample(0, "test_noisy_background", index).image, before.image)


@pytest.mark.parametrize("split", ["test_moved", "test_noisy_background"])
def test_a_redraw_is_another_sign_behind_the_same_square(split):
    sample = next(s for s in samples(split) if s.labels["label"])
    redrawn = [made().redraw(sample.recipe, 0, number) for number in range(86)]
    assert sorted(recipe.parameters["sign_class"] for recipe in redrawn) == sorted(2 * list(range(43)))
    other = made().render(redrawn[0])
    assert all(np.array_equal(other.regions[name], sample.regions[name]) for name in sample.regions)
    square = sample.regions["square"]
    assert np.array_equal(other.image[square], sample.image[square])
    assert not np.array_equal(other.image[~square], sample.image[~square])


def test_factors():
    plain, square = sorted(samples("test_resized")[:2], key=lambda sample: sample.labels["label"])
    factors = [made().plugin.factors(sample.recipe.parameters) for sample in (plain, square)]
    sign = plain.recipe.parameters["sign_class"]
    nothing = {"square_row": None, "square_column": None, "square_side": None}
    assert factors[0] == {"sign_class": sign, "variant": 3, **nothing}
    place = {"square_row": SIZE - 2 * SIDE, "square_column": SIZE - 2 * SIDE, "square_side": 2 * SIDE}
    assert factors[1] == {"sign_class": sign, "variant": 3, **place}


def test_all_signs_are_drawn_as_in_this_version():
    drawn = b"".join(level.tobytes() for sign in range(SIGNS) for level in sign_picture(sign))
    assert hashlib.sha256(drawn).hexdigest()[:16] == "14f92b34dcc3dc7a"
