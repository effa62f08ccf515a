"""Training images are turned and mirrored at random."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from salgen.errors import SalgenError
from salgen.evaluation.training.trainer import augmentation
from salgen.evaluation.training.training_settings import TrainingSettings, choose_settings


def augmented(seed, image, **settings):
    torch.manual_seed(seed)
    augment = augmentation(TrainingSettings(**settings))
    return torch.stack([augment(image) for _ in range(8)])


@given(seed=st.integers(0, 2**31), place=st.tuples(st.integers(0, 27), st.integers(0, 24)))
def test_an_image_is_mirrored_along_its_axes(seed, place):
    image = torch.zeros(3, 33, 33)
    image[:, place[0] : place[0] + 6, place[1] : place[1] + 9] = 1
    candidates = [image, image.flip(1), image.flip(2), image.flip(1, 2)]
    assert all(any(map(found.equal, candidates)) for found in augmented(seed, image, flips=True))


@given(seed=st.integers(0, 2**31))
def test_a_turned_blob_keeps_its_size_and_centre(seed):
    image = torch.zeros(1, 33, 33)
    image[:, 13:20, 12:21] = 1
    for found in augmented(seed, image, rotation=30.0):
        shown = (found[0] > 0.5).nonzero().float()
        assert abs(len(shown) - 63) <= 6
        assert (shown.mean(dim=0) - 16).abs().max() < 0.5


def test_each_image_has_a_turn_of_its_own_where_the_settings_say_so():
    picture = torch.rand(3, 16, 16, generator=torch.Generator().manual_seed(0))
    first, same, other = (augmented(seed, picture, rotation=5.0, flips=True) for seed in (1, 1, 2))
    assert torch.equal(first, same)
    assert not torch.equal(first, other)
    assert len({image.numpy().tobytes() for image in first}) > 4
    assert augmentation(choose_settings("scnn", "demo")[1]) is None
    assert augmentation(choose_settings("scnn", "demo", {"rotation": 5})[1]) is not None
    assert augmentation(choose_settings("scnn", "demo", {"flips": "true"})[1]) is not None
    with pytest.raises(SalgenError, match="rotation"):
        choose_settings("scnn", "demo", {"rotation": -1})


def test_missing_pixels_have_the_images_mean_colour():
    picture = torch.rand(3, 40, 40, generator=torch.Generator().manual_seed(0))
    found = augmented(0, picture, missing=0.3)
    gone = (found != picture).all(dim=1)
    assert abs(float(gone.float().mean()) - 0.3) < 0.02
    assert not torch.equal(gone[0], gone[1])
    for image, places in zip(found, gone, strict=True):
        torch.testing.assert_close(image[:, places], picture.mean(dim=(1, 2))[:, None].expand(-1, int(places.sum())))
        assert torch.equal(image[:, ~places], picture[:, ~places])
