import numpy as np
import pytest
import torch
from scipy import ndimage
from skimage.segmentation import find_boundaries
from torch import nn
import salgen
from salgen.errors import SalgenError
from salgen.testing.methods import state_of

IMAGES = np.random.default_rng(0).random((3, 3, 12, 16)).astype(np.float32)


def maps(method, **options):
    return salgen.explain(None, IMAGES, method=method, **options)


def gaussian(grey):
    y, x = np.mgrid[:12, :16]
    return np.exp(-((y - 5.5) ** 2) / (2 * 3**2) - (x - 7.5) ** 2 / (2 * 4**2))


OF_THE_GREY_IMAGE = {
    "sobel": lambda grey: np.hypot(ndimage.sobel(grey, 0), ndimage.sobel(grey, 1)),
    "laplace": lambda grey: np.abs(ndimage.laplace(grey, mode="nearest")),
    "intensity": lambda grey: grey,
    "center": gaussian,
    "constant": lambda grey: np.full_like(grey, 0.5),
    "constant:value=0": np.zeros_like,
    "all-ones": np.ones_like,
}


@pytest.mark.parametrize("method", OF_THE_GREY_IMAGE)
def test_controls_by_scipy_and_by_hand(method):
    expected = [OF_THE_GREY_IMAGE[method](image.mean(axis=0)) for image in IMAGES.astype(float)]
    np.testing.assert_allclose(maps(method).values, np.stack(expected), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("method", ["sobel", "laplace"])
def test_edges_are_rounded_once_so_that_neither_batch_nor_processor_orders_equal_pixels(method):
    images = (np.random.default_rng(0).integers(0, 256, (4, 1, 10, 14)) / 255).astype(np.float32)
    exact = np.stack([OF_THE_GREY_IMAGE[method](image[0].astype(float)) for image in images])
    found = salgen.explain(None, images, 0, method=method).values
    np.testing.assert_array_max_ulp(found.numpy(), exact.astype(np.float32), maxulp=method == "sobel")


def test_random_is_uniform_and_different_per_sample():
    found = maps("random").values
    assert found.min() >= 0
    assert found.max() < 1
    assert abs(float(found.mean()) - 0.5) < 0.03
    assert not torch.equal(found[0], found[1])
    assert not torch.equal(maps("random", seed=1).values, found)


def test_the_oracle_is_the_mask():
    masks = IMAGES[:, 0] > 0.9
    found = maps("oracle", masks=masks)
    assert np.array_equal(found.values.numpy(), masks.astype(np.float32))
    with pytest.raises(SalgenError, match="give masks="):
        maps("oracle")


def test_the_oracles_edges_are_the_masks_inner_contour():
    masks = ndimage.binary_dilation(IMAGES[:, 0] > 0.97, np.ones((1, 5, 5)))
    found = maps("oracle-edges", masks=masks).values.numpy()
    cross = ndimage.generate_binary_structure(2, 1)
    for contour, mask in zip(found, masks, strict=True):
        assert np.array_equal(contour, mask & ~ndimage.binary_erosion(mask, cross, border_value=1))
        assert np.array_equal(contour, find_boundaries(mask, mode="inner"))
    assert (found.sum(axis=(1, 2)) < masks.sum(axis=(1, 2))).all()


def test_the_coarse_oracle_is_what_a_7x7_cam_could_show():
    images, masks = np.zeros((1, 1, 14, 14), np.float32), np.zeros((1, 14, 14), bool)
    masks[0, 2:4, 4:5] = True  # half of the cell in row 1, column 2
    raw = salgen.explain(None, images, method="oracle-7x7", masks=masks)
    assert raw.native_resolution == (7, 7)
    cells = torch.zeros(1, 1, 7, 7)
    cells[0, 0, 1, 2] = 0.5
    expected = nn.functional.interpolate(cells, size=(14, 14), mode="bilinear", align_corners=False)
    torch.testing.assert_close(raw.values, expected[:, 0])


@pytest.fixture
def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d((1, 2)), nn.Flatten(), nn.Linear(8, 2))


def test_untrained_is_the_gradient_of_fresh_weights(network):
    before = state_of(network)
    found = salgen.explain(network, IMAGES, 0, method="untrained").values
    trained = salgen.explain(network, IMAGES, 0, method="gradient").values
    assert not torch.allclose(found, trained)
    assert state_of(network) == before
    network[0].weight.data *= 3  # what was learnt does not matter
    torch.testing.assert_close(salgen.explain(network, IMAGES, 0, method="untrained").values, found)


def test_untrained_depends_on_the_seed_and_not_on_torchs(network):
    found = salgen.explain(network, IMAGES, 0, method="untrained", seed=3).values
    torch.manual_seed(99)
    again = salgen.explain(network, IMAGES, 0, method="untrained", seed=3, batch_size=1).values
    torch.testing.assert_close(again, found)
    assert not torch.allclose(salgen.explain(network, IMAGES, 0, method="untrained", seed=4).values, found)


def test_untrained_takes_another_method(network):
    cam = salgen.explain(network, IMAGES, 0, method="untrained:of=grad-cam")
    assert (cam.reduction, cam.signed) == ("sum", False)
    assert cam.native_resolution == (10, 14)
    with pytest.raises(SalgenError, match="does not explain a model"):
        salgen.explain(network, IMAGES, 0, method="untrained:of=sobel")
    with pytest.raises(SalgenError, match="unknown method"):
        salgen.explain(network, IMAGES, 0, method="untrained:of=gradeint")
