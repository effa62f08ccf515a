"""Designed networks compute what they state, and the stated attributions are those of the networks, by brute force."""

from itertools import combinations
from math import comb
import numpy as np
import pytest
import torch
import salgen
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.generators.designed.designed_images import NEUTRAL
from salgen.generators.factory import generator
from salgen.generators.interfaces import Edit
from salgen.registry import MODELS

SAMPLES = range(6)
FUNCTIONS = ["and", "or", "xor", "mod", "pairs"]


def designed(model, name, **parameters):
    drawn = generator(name, **parameters)
    return drawn, MODELS.create(model).design(drawn.plugin).eval()


def logits(network, images):
    """Logits (N, K) of images uint8 (N, H, W, 3)."""
    pixels = torch.from_numpy(np.stack(images).transpose(0, 3, 1, 2) / 255.0).float()
    with torch.inference_mode():
        return network(pixels).numpy().astype(float)


def recipes(drawn):
    return [drawn.recipe(1, "test", index) for index in SAMPLES]


COUNTERS = [
    ("colour-counter", {}),
    ("colour-counter", {"image_size": (18, 36), "classes": 4, "spot": 1}),
    ("colour-counter-vit", {"cell": 6, "spot": 1}),
]


@pytest.mark.parametrize(("model", "parameters"), COUNTERS)
def test_counters_count_and_taking_away_any_set_of_cells_takes_away_their_values(model, parameters):
    drawn, network = designed(model, "coloured-cells", **parameters)
    for recipe in recipes(drawn):
        found = logits(network, [drawn.render(recipe).image])[0]
        np.testing.assert_allclose(found, drawn.plugin.attribution(recipe.parameters).sum(axis=(1, 2)), rtol=1e-4)
    side, random = drawn.plugin.cell, np.random.default_rng(0)
    for recipe in recipes(drawn)[:2]:
        image, exact = drawn.render(recipe).image, drawn.plugin.attribution(recipe.parameters)
        sets = [random.random(exact.shape[1:]) < share for share in (0.02, 0.1, 0.5, 0.9)]
        single = np.zeros(exact.shape[1:], dtype=bool)
        single.flat[exact[0].argmax()] = True
        for chosen in [*sets, single]:
            without = image.copy()
            without[chosen.repeat(side, 0).repeat(side, 1)] = NEUTRAL
            before, after = logits(network, [image, without])
            np.testing.assert_allclose(before - after, exact[:, chosen].sum(axis=1), rtol=1e-4, atol=0.01)


def shapley(value, players):
    """Shapley's value of each player by its definition, over all coalitions of the others."""
    count = len(players)
    shares = []
    for player in players:
        others = [other for other in players if other != player]
        shares.append(
            sum(
                (value({*part, player}) - value({*part})) / (count * comb(count - 1, size))
                for size in range(count)
                for part in combinations(others, size)
            )
        )
    return np.array(shares)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("grid", [2, 3])
def test_shares_of_slots_are_shapley_values_of_the_network(function, grid):
    """Over all 2^K sets of slots; a slot without a disc adds nothing to any."""
    drawn, network = designed("slot-logic", "logic-slots", function=function, grid=grid, image_size=(8 * grid,) * 2)
    plugin = drawn.plugin
    for recipe in recipes(drawn):
        discs = recipe.parameters["discs"]
        subsets = [part for size in range(len(discs) + 1) for part in combinations(discs, size)]
        images = [plugin.render({**recipe.parameters, "discs": list(part)}, None, Edit()).image for part in subsets]
        values = dict(zip(map(frozenset, subsets), logits(network, images), strict=True))
        for part in subsets:
            np.testing.assert_allclose(values[frozenset(part)], plugin.logits(part), atol=1e-6)
        shown = set(discs)
        expected = shapley(lambda part, of=values, shown=shown: of[frozenset(part & shown)], range(plugin.slots))
        exact = plugin.attribution(recipe.parameters).reshape(-1, plugin.slots)
        np.testing.assert_allclose(exact, expected.T, atol=1e-6)


def test_a_canceller_that_joins_after_its_patch_takes_away_its_value():
    """In any order with left patches before the green ones beside them, each adds its stated value."""
    drawn, network = designed("cancellation", "cancelling-patches", image_size=(24, 24), patch=4)
    random = np.random.default_rng(0)
    for recipe in recipes(drawn)[:3]:
        image, exact = drawn.render(recipe).image, drawn.plugin.attribution(recipe.parameters)
        rows, columns = exact.shape[1:]
        order = sorted(np.ndindex(rows, columns), key=lambda cell: (random.random() / 2 + cell[1] % 2, cell))
        shown = np.zeros_like(image)
        stages = [shown.copy()]
        for row, column in order:
            patch = np.s_[4 * row : 4 * row + 4, 4 * column : 4 * column + 4]
            shown[patch] = image[patch]
            stages.append(shown.copy())
        gained = np.diff(logits(network, stages), axis=0)
        np.testing.assert_allclose(gained, [exact[:, row, column] for row, column in order], atol=1e-5)
        assert stages[-1].tobytes() == image.tobytes()


def explained(network, sample, target, method, **parameters):
    """The map (H, W) of one image, its channels summed."""
    image = torch.from_numpy(sample.image.transpose(2, 0, 1)[None] / 255.0).float()
    maps = salgen.explain(ModelView.of(network), image, target, method=method, reduce="sum", **parameters)
    return np.asarray(maps)[0]


@pytest.mark.parametrize(("steps", "expected"), [(10, 0.0), (100, 0.0), (200, 0.0), (400, 1.0625), (5000, 1.02)])
def test_integrated_gradients_miss_a_colour_that_the_path_meets_at_its_end(steps, expected):
    """Midpoint rule from black: a pixel of the colour counts in the last 1/425 of the path alone."""
    drawn, network = designed("colour-counter", "coloured-cells", image_size=(18, 18), classes=2, spot=1)
    sample = drawn.render(drawn.recipe(1, "test", 0))
    exact = drawn.plugin.attribution(sample.recipe.parameters)[0]
    shown = explained(network, sample, 0, "integrated-gradients", steps=steps, quadrature="midpoint")
    np.testing.assert_allclose(shown, expected * exact, atol=2e-3)
    assert exact.sum() > 0


@pytest.mark.parametrize("method", ["raw-attention", "attention-rollout"])
def test_uniform_attention_shows_every_patch_alike(method):
    """What is attended to is not what counts: the logit is that of the coloured patches alone."""
    drawn, network = designed("colour-counter-vit", "coloured-cells", cell=6, spot=1)
    sample = drawn.render(drawn.recipe(1, "test", 0))
    exact = drawn.plugin.attribution(sample.recipe.parameters)[sample.labels["label"]]
    shown = explained(network, sample, sample.labels["label"], method)
    assert len(np.unique(exact)) == 2
    assert np.ptp(shown) <= 1e-5 * shown.max()
    assert shown.max() > 0


def test_what_is_cancelled_is_seen_by_whole_patches_alone():
    """A patch x and its canceller add nothing: without the canceller the logit is x higher, without x the same."""
    drawn, network = designed("cancellation", "cancelling-patches", image_size=(24, 24), patch=4)
    sample = drawn.render(drawn.recipe(1, "test", 0))
    exact = drawn.plugin.attribution(sample.recipe.parameters)[1].reshape(-1, 2)  # patches and what is to their right
    cancelled = exact[:, 1] != 0
    assert 0 < cancelled.sum() < len(cancelled)
    shown = explained(network, sample, 1, "occlusion", window=(4, 4), stride=4, output="score")[::4, ::4]
    gradients = explained(network, sample, 1, "input-x-gradient").reshape(6, 4, 6, 4).sum(axis=(1, 3))
    shown, gradients = shown.reshape(-1, 2), gradients.reshape(-1, 2)
    np.testing.assert_allclose(gradients, exact * ~cancelled[:, np.newaxis], atol=1e-5)
    np.testing.assert_allclose(shown, exact * np.stack([~cancelled, cancelled], axis=1), atol=1e-5)
