import math
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from salgen.generators.factory import generator
from salgen.generators.traffic_lights.traffic_light import GREEN_FULL, LENS, LUMA, PITCH, RED_FULL, light_colour

SIZE = (32, 32)
RED = 1


def lights(**parameters):
    return generator("drawn-lights", source=None, **{"image_size": SIZE, **parameters})


LIGHTS = lights()


def radii(parameters, image_size):
    """Each pixel's distance from the lit lens in lens radii, pixel by pixel with an angle."""
    pose, unit = parameters["pose"], min(image_size)
    angle = math.atan(pose["lean"])
    along = (parameters["position"] - 1) * PITCH * pose["height"] * unit
    distances = np.zeros(image_size)
    for row, column in np.ndindex(*image_size):
        y, x = row + 0.5 - pose["row"] * image_size[0], column + 0.5 - pose["column"] * image_size[1]
        down = y * math.cos(angle) + x * math.sin(angle) - along
        across = (x * math.cos(angle) - y * math.sin(angle)) / pose["width"]
        distances[row, column] = math.hypot(down, across) / (LENS * pose["height"] * unit)
    return distances


@pytest.mark.parametrize("size", [(32, 32), (24, 40), (40, 24)])
def test_the_mask_is_lens_and_halo(size):
    made = lights(image_size=size)
    for index in range(6):
        sample = made.sample(2, "train", index)
        distances, halo = radii(sample.recipe.parameters, size), sample.recipe.parameters["lamp"]["halo"]
        assert np.array_equal(sample.regions["lamp"], distances < halo)
        assert sample.regions["core"][distances < 0.88].all()
        assert not sample.regions["core"][distances > 0.99].any()


@given(tone=st.floats(0, 1), luma=st.floats(0.05, 0.95), ends=st.sampled_from([RED_FULL, GREEN_FULL]))
def test_both_colours_have_the_luma_asked_for(tone, luma, ends):
    colour = light_colour(ends, tone, luma)
    assert colour @ LUMA == pytest.approx(luma)
    assert (colour >= 0).all()
    assert (colour <= 1).all()


def test_image_and_twin_are_equally_bright():
    for index in range(12):
        sample = LIGHTS.sample(0, "test", index)
        brightness = [image @ np.array(LUMA) for image in (sample.image, LIGHTS.twin(sample.recipe).image)]
        assert np.abs(brightness[0] - brightness[1]).max() <= 1.0, "they differ by rounding alone"


@pytest.mark.parametrize(("bias", "share"), [(0.0, 0.5), (0.5, 0.75), (1.0, 1.0)])
def test_position_bias_is_the_share_that_follows_the_class(bias, share):
    made = lights(position_bias=bias)
    recipes = [made.recipe(1, "train", index).parameters for index in range(600)]
    usual = [parameters["position"] == (0 if parameters["label"] == RED else 2) for parameters in recipes]
    assert {parameters["position"] for parameters in recipes} == {0, 2}
    assert abs(np.mean(usual) - share) <= 4 * math.sqrt(share * (1 - share) / 600)


def test_only_the_lamps_colour_knows_the_class():
    """With the label turned over and the lamp unlit there is the same picture."""
    for index in range(6):
        recipe = LIGHTS.recipe(3, "val", index)
        other = {**recipe.parameters, "label": 1 - recipe.parameters["label"]}
        unlit = LIGHTS.render(recipe, omit=("lamp",))
        turned = LIGHTS.render(type(recipe)(recipe.generator, recipe.version, "val", index, other), omit=("lamp",))
        assert np.array_equal(unlit.image, turned.image)
        assert not unlit.regions["lamp"].any()
        assert not unlit.regions["core"].any()


def test_factors_name_the_lens_and_its_centre():
    for index in range(6):
        sample = LIGHTS.sample(6, "train", index)
        factors = LIGHTS.plugin.factors(sample.recipe.parameters)
        rows, columns = np.nonzero(sample.regions["core"])
        assert factors["row"] == pytest.approx(rows.mean() + 0.5, abs=0.5)
        assert factors["column"] == pytest.approx(columns.mean() + 0.5, abs=0.5)
        assert (factors["position"] == 0) == (factors["row"] < SIZE[0] / 2)
        assert factors["night"] in (0, 1)
