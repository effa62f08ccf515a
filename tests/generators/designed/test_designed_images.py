import numpy as np
import pytest
from salgen.generators.designed.coloured_cells import COLOURS
from salgen.generators.factory import generator

SAMPLES = range(12)


def made(name, **parameters):
    drawn = generator(name, **parameters)
    for index in SAMPLES:
        recipe = drawn.recipe(3, "test", index)
        yield drawn, recipe, drawn.render(recipe), drawn.plugin.attribution(recipe.parameters)


@pytest.mark.parametrize(
    "parameters", [{}, {"cell": 6, "spot": 1}, {"cell": 2, "spot": 1, "classes": 4, "image_size": (24, 32)}]
)
def test_cells_are_counted_by_colour(parameters):
    for drawn, _, sample, exact in made("coloured-cells", **parameters):
        counts = [(sample.image == colour).all(axis=2).sum() for colour in COLOURS[: drawn.plugin.classes]]
        np.testing.assert_array_equal(exact.sum(axis=(1, 2)), counts)
        assert np.argmax(counts) == sample.labels["label"]
        assert sorted(counts)[-2] < max(counts)
        mask = sample.regions["spots"]
        np.testing.assert_array_equal(mask, (sample.image == COLOURS[sample.labels["label"]]).all(axis=2))


def test_noise_shares_at_most_one_channel_with_a_colour():
    for drawn, _, sample, exact in made("coloured-cells", classes=4, image_size=(54, 54)):
        noise = sample.image[exact.sum(axis=0) == 0].astype(int)
        near = (abs(noise[:, np.newaxis] - COLOURS[: drawn.plugin.classes]) < 2).sum(axis=2)
        assert near.max() <= 1


@pytest.mark.parametrize("function", ["and", "or", "xor", "mod", "pairs"])
@pytest.mark.parametrize("grid", [2, 3])
def test_shares_of_discs_add_up_to_what_they_change(function, grid):
    for drawn, recipe, sample, exact in made("logic-slots", function=function, grid=grid):
        plugin, discs = drawn.plugin, recipe.parameters["discs"]
        gained = plugin.logits(discs) - plugin.logits([])
        np.testing.assert_allclose(exact.sum(axis=(1, 2)), gained, atol=1e-6)
        assert sample.labels["label"] == plugin.class_of(discs)
        assert not exact.reshape(len(exact), -1)[:, [k for k in range(plugin.slots) if k not in discs]].any()


def test_any_disc_suffices_for_or_and_every_slot_is_pivotal_for_xor():
    for _, recipe, sample, _ in made("logic-slots", function="or", grid=2):
        discs = recipe.parameters["discs"]
        assert len(sample.alternatives) == (len(discs) if len(discs) > 1 else 0)
        pivotal = {0: 4, 1: 1}.get(len(discs), 0)
        assert sample.regions["pivotal"].sum() == pivotal * generator("logic-slots").plugin.support().sum()
    for drawn, recipe, sample, exact in made("logic-slots", function="xor", grid=2):
        assert sample.regions["pivotal"].sum() == 4 * drawn.plugin.support().sum()
        assert exact.any() == bool(len(recipe.parameters["discs"]) % 2)


def test_twins_have_another_class():
    for function in ("and", "or", "xor", "mod", "pairs"):
        pairs = [(drawn.twin(recipe), sample) for drawn, recipe, sample, _ in made("logic-slots", function=function)]
        assert any(twin is not None for twin, _ in pairs)
        assert all(twin.labels != sample.labels for twin, sample in pairs if twin is not None)


def test_cancelled_pairs_have_a_sum_of_zero():
    for drawn, recipe, sample, exact in made("cancelling-patches"):
        pairs = exact.reshape(2, exact.shape[1], -1, 2)
        cancelled = np.array(recipe.parameters["cancelled"], dtype=bool).reshape(pairs.shape[1:3])
        assert not pairs.sum(axis=3)[:, cancelled].any()
        assert pairs[:, cancelled].any() or not cancelled.any()
        assert exact.sum(axis=(1, 2)).argmax() == sample.labels["label"]
        patch = drawn.plugin.patch
        evidence = sample.regions["evidence"][::patch, ::patch]
        np.testing.assert_array_equal(evidence, (exact[sample.labels["label"]] > 0) & ~np.repeat(cancelled, 2, axis=1))


def test_pixels_of_patches_give_the_logit_that_is_stated():
    drawn = generator("cancelling-patches", image_size=(16, 16), patch=4)
    for index in (*SAMPLES, 656, 703):  # in the last two neither class had the larger sum until one more patch decided
        recipe = drawn.recipe(0, "test", index)
        image = drawn.render(recipe).image.astype(float) / 255
        left, right = image[::4, ::8], image[::4, 4::8]
        logits = (left[..., 0] - left[..., 2]) * (1 - np.floor(right[..., 1]))
        stated = drawn.plugin.attribution(recipe.parameters).reshape(2, 4, 2, 2).sum(axis=3)
        np.testing.assert_allclose(stated, [-logits, logits], atol=1e-6)
