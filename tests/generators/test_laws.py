"""The laws that every registered generator keeps, and what the family of lesions shares."""

import json
import golden
import numpy as np
import pytest
from quick_generators import marked, quick
from salgen.registry import GENERATORS
from salgen.testing import check_generator

NAMES = marked(GENERATORS.names())
LESIONS = ["mri-lesions", "perlin-lesions", "pink-lesions", "uniform-lesions", "white-lesions"]


@pytest.mark.parametrize("name", NAMES)
def test_laws(name):
    check_generator(name)


@pytest.mark.parametrize("name", NAMES)
def test_pixels_are_those_of_this_version(name):
    assert golden.digests(name) == json.loads(golden.PATH.read_text(encoding="utf-8"))[name]


@pytest.mark.parametrize(
    "changes", [{"bit_depth": 16}, {"lesion_classes": "one_vs_two"}, {"lesions": 1}, {"window": "flat"}]
)
@pytest.mark.parametrize("name", LESIONS)
def test_exact_under_other_parameters(name, changes):
    for sample, twin in quick(name, **changes).pairs(1, "test", range(6)):
        if twin is not None:
            changed = (sample.image != twin).any(axis=2)
            assert changed.any()
            assert not (changed & ~sample.regions["lesions"]).any()


def test_one_seed_gives_the_same_slices_and_lesions_on_every_background():
    drawn = {name: [quick(name).recipe(7, "val", index).parameters for index in range(8)] for name in LESIONS}
    shared = {
        name: [{key: parameters[key] for key in ("label", "slice", "centres")} for parameters in recipes]
        for name, recipes in drawn.items()
    }
    assert all(recipes == shared["perlin-lesions"] for recipes in shared.values())
    brains = {name: quick(name).sample(7, "val", 1).regions["brain"].tobytes() for name in LESIONS}
    assert len(set(brains.values())) == 1


def test_noise_has_the_spectrum_that_beta_says():
    """The slope of log power over log frequency is -beta, fitted over many fields."""
    for beta in (0.0, 1.0, 2.0):
        made = quick("pink-lesions", beta=beta, image_size=(64, 64))
        batch = [{"field": key} for key in range(60)]
        fields = made.plugin.backgrounds(batch, made.material.bank)
        power = np.abs(np.fft.fft2(fields - fields.mean(axis=(1, 2), keepdims=True))) ** 2
        power = (power / fields.var(axis=(1, 2), keepdims=True)).mean(axis=0)
        frequency = np.hypot(np.fft.fftfreq(64)[:, None], np.fft.fftfreq(64)[None, :])
        fitted = (frequency > 0.02) & (frequency < 0.5)
        slope = np.polyfit(np.log(frequency[fitted]), np.log(power[fitted]), 1)[0]
        assert slope == pytest.approx(-beta, abs=0.1)
