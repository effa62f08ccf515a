"""The composition of background, lesions and brain: what is painted, where, and what is called the cause."""

from dataclasses import dataclass
from typing import ClassVar
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from salgen.errors import SalgenError
from salgen.generators.interfaces import Context, Edit
from salgen.generators.lesions.brains import BrainBank
from salgen.generators.lesions.lesion_shape import lesion_profile
from salgen.generators.lesions.lesions import LesionMaterial, Lesions


@dataclass(frozen=True)
class Flat(Lesions):
    """A background of known values: rising along rows and columns, never zero."""

    name: ClassVar[str] = "flat"
    version: ClassVar[str] = "1"

    def draw_background(self, context):
        return {}

    def backgrounds(self, batch, bank):
        ramp = 1.0 + np.add.outer(np.arange(self.image_size[0]), np.arange(self.image_size[1]))
        return np.stack([ramp] * len(batch))


def ellipse(height, width, slices=3):
    y, x = np.mgrid[:height, :width]
    centre = (height - 1) / 2, (width - 1) / 2
    inside = ((y - centre[0]) / (height * 0.46)) ** 2 + ((x - centre[1]) / (width * 0.46)) ** 2 <= 1
    masks = np.stack([inside] * slices)
    return BrainBank(
        masks, masks.astype(np.uint16) * 65535, np.zeros(slices, dtype=int), {"test": np.arange(slices)}, "test"
    )


def drawn(plugin, index, seed=0):
    bank = ellipse(*plugin.image_size)
    material = LesionMaterial(bank, [plugin._places(brain, index) for index, brain in enumerate(bank.masks)])
    return plugin.draw(Context(seed, plugin.family, "train", index, material)), material


FLAT = Flat(image_size=(40, 48), bit_depth=16, diameter=6)


def positive(plugin=FLAT):
    return next(pair for pair in (drawn(plugin, index) for index in range(2)) if pair[0]["label"] == 1)


@given(st.integers(0, 10_000), st.integers(0, 2**31))
def test_two_lesions_lie_in_the_brain_in_the_top_half_and_apart(index, seed):
    parameters, material = drawn(FLAT, index, seed)
    assert len(parameters["centres"]) == parameters["shown"] == 2 * parameters["label"]
    for row, column in parameters["centres"]:
        assert material.bank.masks[0][row, column]
        assert 3 <= row < 20
        assert 3 <= column <= 45
    if parameters["label"]:
        one, two = np.array(parameters["centres"])
        assert np.abs(one - two).max() >= 6


def test_pixels_are_background_times_factors_rounded_once():
    parameters, material = positive()
    brain = material.bank.masks[0]
    expected = (1.0 + np.add.outer(np.arange(40), np.arange(48))) * brain
    expected = expected / expected.max()
    loss = 0.7 * lesion_profile(6, "hamming")
    for row, column in parameters["centres"]:
        for i in range(6):
            for j in range(6):
                expected[row - 3 + i, column - 3 + j] *= 1.0 - loss[i, j]
    image = FLAT.render(parameters, material, Edit()).image
    assert image.dtype == np.uint16
    assert np.array_equal(image[..., 0], np.rint(expected * 65535))


def test_one_lesion_can_be_shown_alone():
    parameters, material = positive()
    one = FLAT.render(parameters, material, Edit(change={"lesions": 1}))
    both = FLAT.render(parameters, material, Edit())
    assert np.array_equal(one.regions["lesions"], both.regions["lesion_1"])
    with pytest.raises(SalgenError, match="changes lesions to 0, 1, 2"):
        FLAT.render(parameters, material, Edit(change={"lesions": 3}))


@dataclass(frozen=True)
class Multiplied(Flat):
    """As the authors' MRI."""

    authors_sum: ClassVar[bool] = False


@pytest.mark.parametrize("kind", [Flat, Multiplied])
def test_authors_exact_lets_lesions_overlap_and_scales_by_the_finished_image(kind):
    plugin = kind(image_size=(40, 48), bit_depth=16, diameter=6, authors_exact=True)
    _, material = positive()
    parameters = {"label": 1, "slice": 0, "shown": 2, "centres": [[12, 20], [13, 21]]}
    total, left = np.zeros((40, 48)), np.ones((40, 48))
    for row, column in parameters["centres"]:
        for i in range(6):
            for j in range(6):
                loss = 0.7 * lesion_profile(6, "hamming")[i, j]
                total[row - 3 + i, column - 3 + j] += loss
                left[row - 3 + i, column - 3 + j] *= 1 - loss
    left = left if kind is Multiplied else 1 - total
    values = (1.0 + np.add.outer(np.arange(40), np.arange(48))) * material.bank.masks[0] * left
    expected = np.rint(np.maximum(values, 0) / values.max() * 65535)
    image = plugin.render(parameters, material, Edit()).image[..., 0]
    assert np.abs(image - expected).max() <= 1
    assert total.max() > 1


def test_factors_have_the_same_keys_for_every_sample():
    keys = {tuple(FLAT.factors(drawn(FLAT, index)[0])) for index in range(6)}
    assert keys == {("slice", "lesions_shown", "lesion_1_row", "lesion_1_column", "lesion_2_row", "lesion_2_column")}


def test_no_place_is_an_error_that_says_what_to_change():
    plugin = Flat(image_size=(16, 16), diameter=9)
    with pytest.raises(SalgenError, match=r"no place for the lesions on background \d: diameter 9, 2 lesions"):
        [drawn(plugin, index) for index in range(2)]
