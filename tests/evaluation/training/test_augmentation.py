"""Augmentation moves an image and its mask as one."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from salgen.errors import SalgenError
from salgen.evaluation.training.augmentation import Augmentation
from salgen.evaluation.training.training_settings import choose_settings
from salgen.evaluation.training.training_state import Epoch, is_over


def blob(place):
    mask = torch.zeros(33, 33, dtype=torch.bool)
    mask[place[0] : place[0] + 6, place[1] : place[1] + 9] = True
    return mask


@given(seed=st.integers(0, 2**31), place=st.tuples(st.integers(0, 27), st.integers(0, 24)))
def test_a_mirrored_image_has_the_mirrored_mask(seed, place):
    mask = blob(place)
    torch.manual_seed(seed)
    images, masks = Augmentation(0.0, True).pairs(mask.float().expand(4, 3, 33, 33), mask.expand(4, 33, 33))
    assert torch.equal(images, masks[:, None].float().expand(4, 3, 33, 33))
    candidates = [mask, mask.flip(0), mask.flip(1), mask.flip(0, 1)]
    assert all(any(torch.equal(found, candidate) for candidate in candidates) for found in masks)


@given(seed=st.integers(0, 2**31))
def test_a_turned_image_has_the_turned_mask(seed):
    """Where the interpolated picture of the mask is above a half the mask is, but for rounding along its border."""
    mask = blob((9, 12))
    torch.manual_seed(seed)
    images, masks = Augmentation(30.0, True).pairs(mask.float().expand(3, 1, 33, 33), mask.expand(3, 33, 33))
    assert masks.dtype == torch.bool
    differ = ((images[:, 0] > 0.5) != masks).sum(dim=(1, 2))
    assert (differ <= 4).all()
    assert ((masks.sum(dim=(1, 2)) - 54).abs() <= 6).all()


def test_each_image_has_a_turn_of_its_own_and_the_seed_decides():
    picture = torch.rand(3, 16, 16, generator=torch.Generator().manual_seed(0)).expand(8, 3, 16, 16)
    found = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        found.append(Augmentation(5.0, True).images(picture))
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])
    assert len({image.numpy().tobytes() for image in found[0]}) > 4


def test_a_training_without_turns_and_mirrors_has_none():
    assert Augmentation.of(choose_settings("scnn", "demo")[1]) is None
    assert Augmentation.of(choose_settings("scnn", "demo", {"rotation": 5, "flips": "true"})[1]) == Augmentation(
        5.0, True
    )
    with pytest.raises(SalgenError, match="rotation"):
        choose_settings("scnn", "demo", {"rotation": -1})


def test_training_stops_once_the_accuracy_holds_for_two_epochs():
    _, chosen = choose_settings("scnn", "demo", {"stop_accuracy": 0.9, "epochs": 10})
    epochs = [Epoch(1.0, 1.0, accuracy) for accuracy in (0.95, 0.8, 0.9, 0.9)]
    assert [is_over(epochs[:count], chosen) for count in range(1, 5)] == [False, False, False, True]
