import numpy as np
import pytest
from scipy import ndimage
from scipy.stats import spearmanr
import salgen
from salgen.evaluation.metrics.map_properties import edges

IMAGES = np.random.default_rng(0).random((4, 3, 9, 11)).astype(np.float32)
MAPS = np.random.default_rng(1).normal(size=(4, 9, 11)).astype(np.float32)


def scipys_edges(image):
    grey = image.astype(float).mean(axis=0)
    return np.hypot(ndimage.sobel(grey, 0), ndimage.sobel(grey, 1))


def test_is_scipys_spearman_with_scipys_sobel():
    scores = salgen.score(MAPS, metrics="edge-correlation", images=IMAGES)
    expected = [spearmanr(m.ravel(), scipys_edges(x).ravel()).statistic for m, x in zip(MAPS, IMAGES, strict=True)]
    np.testing.assert_allclose(scores["edge-correlation"], expected, atol=1e-12)
    assert scores.reasons["edge-correlation"] == [""] * 4


@pytest.mark.parametrize("colour", [(0.1, 0.7, 0.3), (1 / 3, 1 / 3, 1 / 3), (77 / 255, 200 / 255, 13 / 255)])
def test_flat_areas_tie_whatever_their_colour(colour):
    image = np.full((3, 9, 11), 0.5, dtype=np.float32)
    image[:, :, 6:] = np.array(colour)[:, None, None]
    assert np.unique(edges(image)[:, [0, 1, 2, 3, 4, 7, 8, 9, 10]]).tolist() == [0.0]
    assert (edges(image)[:, 5:7] > 0).all()
    assert (edges(np.broadcast_to(image[:, :1, -1:], image.shape).copy()) == 0).all()


def test_constant_maps_and_images():
    maps, images = MAPS.copy(), IMAGES.copy()
    maps[0], images[1] = 0.3, 0.7
    scores = salgen.score(maps, metrics="edge-correlation", images=images)
    assert scores.reasons["edge-correlation"] == ["constant_map", "constant_map", "", ""]
    assert np.isnan(scores["edge-correlation"]).tolist() == [True, True, False, False]


def test_only_the_region_is_ranked():
    region = np.zeros((9, 11), dtype=bool)
    region[1:6, 3:9] = True
    spoilt = np.where(region, MAPS, np.nan)
    found = salgen.score(spoilt, metrics="edge-correlation", images=IMAGES, valid=region)["edge-correlation"]
    expected = [spearmanr(m[region], scipys_edges(x)[region]).statistic for m, x in zip(MAPS, IMAGES, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-12)
