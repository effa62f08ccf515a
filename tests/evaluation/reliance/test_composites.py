"""Composite evidence: objects filled in and pasted elsewhere, and what networks with known reliance get of it."""

import numpy as np
import pytest
from salgen.errors import SalgenError
from salgen.evaluation.reliance.composites import FILLINGS, composite_evidence, fill

SIZE = 32


def photographs(count=8):
    """Grey backgrounds, each with another brightness and a gradient, and a red or a blue square in one half each."""
    random, down = np.random.default_rng(0), np.linspace(0, 0.2, SIZE, dtype=np.float32)
    labels, masks = np.arange(count) % 2, np.zeros((count, SIZE, SIZE), dtype=bool)
    images = np.empty((count, 3, SIZE, SIZE), dtype=np.float32)
    for number, label in enumerate(labels):
        images[number] = 0.2 + 0.4 * random.random() + down[:, None]
        top, left = random.integers(4, 16, size=2)
        masks[number, top : top + 9, left : left + 9] = True
        images[number][:, masks[number]] = np.array([[0.9, 0.1, 0.1], [0.1, 0.1, 0.9]], np.float32)[label][:, None]
    return images, masks, labels.astype(np.int64)


def by_feature(images):
    """Logits of the red and of the blue object, whatever the background."""
    redness = (images[:, 0] - images[:, 2]).mean(axis=(1, 2)).astype(np.float64)
    return np.stack([redness, -redness], axis=1)


def by_corner(images):
    """Logits that follow the brightness of a corner alone."""
    bright = images[:, 0, 0, 0].astype(np.float64) - 0.4
    return np.stack([bright, -bright], axis=1)


@pytest.mark.parametrize("filling", FILLINGS)
def test_an_object_is_filled_in_from_around_it(filling):
    images, masks, _ = photographs(1)
    filled = fill(images[0], masks[0], filling)
    np.testing.assert_array_equal(filled[:, ~masks[0]], images[0][:, ~masks[0]])
    assert np.ptp(filled, axis=0).max() < 1e-3, "grey around, so grey within"
    around = images[0].mean(axis=0)[:, 0][:, None].repeat(SIZE, 1)  # the gradient, without the object
    assert np.abs(filled[0] - around)[masks[0]].max() < {"inpainted": 0.02}.get(filling, 0.06)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_nothing_is_filled_in_where_there_is_nothing_around(share):
    with pytest.raises(SalgenError, match="empty or covers all"):
        fill(np.zeros((3, 8, 8), np.float32), np.full((8, 8), bool(share)), "ring")


@pytest.mark.parametrize(("network", "share"), [(by_feature, 1.0), (by_corner, 0.0)])
def test_evidence_is_for_networks_that_use_the_feature_each_asked_about_its_own_logit(network, share):
    images, masks, labels = photographs()
    found = composite_evidence(images, masks, list("abcdefgh"), labels, labels, network)
    assert [list(of_sample) for of_sample in found] == [list(FILLINGS)] * 8
    assert np.mean([[one.certified for one in of_sample.values()] for of_sample in found]) == share

    def logits(shown):
        return np.pad(network(shown), ((0, 0), (0, 1)), constant_values=100.0)

    every = composite_evidence(images, masks, list("abcdefgh"), labels, labels, logits, shown=np.ones(8, dtype=bool))
    assert np.mean([[one.certified for one in of_sample.values()] for of_sample in every]) == share
    rivals = composite_evidence(images, masks, list("abcdefgh"), labels, labels, logits)
    assert not any(one.correct for of_sample in rivals for one in of_sample.values())


def test_photographs_of_one_cluster_are_no_backgrounds_of_each_other():
    images, masks, labels = photographs()
    with pytest.raises(SalgenError, match="5 photographs of different clusters or more"):
        composite_evidence(images, masks, list("aaaaabcd"), labels, labels, by_feature)
