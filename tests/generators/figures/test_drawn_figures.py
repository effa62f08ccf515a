import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from salgen.generators.factory import generator
from salgen.generators.interfaces import Edit

SEED = 2
SIDES = ("left_eye", "right_eye")
places = st.tuples(st.integers(0, 2**31), st.integers(0, 10_000))


def figures(size=32, **changes):
    return generator("drawn-figures", image_size=size if isinstance(size, tuple) else (size, size), **changes)


def painted_on(made, recipe, value, omit=()):
    """The eyes on a canvas of one value."""
    canvas = np.full((*made.plugin.image_size, 3), value)
    made.plugin.paint(canvas, recipe.parameters, None, Edit(omit))
    return canvas


@given(places)
def test_without_eyes_nothing_tells_of_the_class(place):
    """The rest is a function of what is drawn without regard to the label, the shades of the eyes included."""
    made = figures()
    recipe = made.recipe(place[0], "train", place[1])
    bare = made.render(recipe, omit=("eyes",))
    other = {**recipe.parameters, "label": 1 - recipe.parameters["label"], "white": [0, 0, 0], "yellow": [9, 9, 9]}
    assert np.array_equal(made.plugin.render(other, None, Edit(("eyes",))).image, bare.image)
    assert not any(region.any() for region in bare.regions.values())
    assert np.array_equal(made.render(recipe, omit=SIDES).image, bare.image)


@pytest.mark.parametrize("size", [16, 33, 64])
def test_the_mask_is_the_whole_support(size):
    made = figures(size)
    for index in range(4):
        sample = made.sample(SEED, "val", index)
        for side in SIDES:
            others = tuple(name for name in SIDES if name != side)
            dark, light = (painted_on(made, sample.recipe, value, others) for value in (0.25, 0.75))
            touched = ((dark != 0.25) | (light != 0.75)).any(axis=2)
            assert np.array_equal(touched, sample.regions[side])
            assert np.array_equal(touched, made.render(sample.recipe, omit=others).regions["eyes"])
        assert np.array_equal(sample.regions["eyes"], sample.regions["left_eye"] | sample.regions["right_eye"])


def nearest_to_ellipse(parameters, number, size):
    """For each pixel the smallest (distance from the eye's middle / radius there) of its 16 places, by trigonometry."""
    tall, wide = parameters["radii"][number]
    angle = 2 * np.arctan(parameters["turn"])
    aside = (-1, 1)[number] * (parameters["gap"] / 2 + wide)
    found = np.full((size, size), np.inf)
    for row, column, down, across in np.ndindex(size, size, 4, 4):
        y = row + (down + 0.5) / 4 - size * (0.5 + parameters["down"])
        x = column + (across + 0.5) / 4 - size * (0.5 + parameters["across"])
        y, x = (y * np.cos(angle) - x * np.sin(angle)) / size, (y * np.sin(angle) + x * np.cos(angle)) / size
        found[row, column] = min(found[row, column], np.hypot(y / tall, (x - aside) / wide))
    return found


def test_the_eyes_are_the_ellipses_that_the_recipe_says():
    made = figures(24)
    for index in range(2):
        sample = made.sample(SEED, "test", index)
        for number, side in enumerate(SIDES):
            nearest = nearest_to_ellipse(sample.recipe.parameters, number, 24)
            assert sample.regions[side][nearest < 0.99].all()
            assert not sample.regions[side][nearest > 1].any()


def test_both_colours_can_be_asked_for():
    made = figures()
    recipe = made.recipe(SEED, "train", 0)
    seen = {colour: made.render(recipe, change={"eyes": colour}) for colour in ("white", "yellow")}
    assert {colour: sample.labels["label"] for colour, sample in seen.items()} == {"white": 0, "yellow": 1}
    own = ("white", "yellow")[recipe.parameters["label"]]
    assert np.array_equal(seen[own].image, made.render(recipe).image)
