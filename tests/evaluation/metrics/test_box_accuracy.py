import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps_and_masks import cases
from skimage.measure import label
from salgen.evaluation.metrics.box_accuracy import BoxAccuracy
from salgen.evaluation.metrics.inputs.ranking import Ranking


def pixels_of(image):
    return set(map(tuple, np.argwhere(image).tolist()))


def filled_box(pixels):
    if not pixels:
        return set()
    rows, columns = zip(*pixels, strict=True)
    return {(i, j) for i in range(min(rows), max(rows) + 1) for j in range(min(columns), max(columns) + 1)}


def ious_slowly(saliency, mask, within, region):
    """All hundred selections, each labelled in the whole image."""
    values = saliency[region].astype(np.float64)
    low, high = values.min(), values.max()
    scaled = (saliency.astype(np.float64) - low) / (high - low) if high > low else np.zeros(saliency.shape)
    result = []
    for percent in range(100):
        labels = label((scaled >= percent / 100) & region, connectivity=2)
        sizes = [int((labels == k).sum()) for k in range(1, labels.max() + 1)]
        found = pixels_of(labels == 1 + sizes.index(max(sizes))) if sizes else set()
        wanted = pixels_of(mask & region)
        if within == "box":
            found, wanted = filled_box(found), filled_box(wanted)
        result.append(len(found & wanted) / len(found | wanted))
    return result


@pytest.mark.parametrize("within", ["box", "mask"])
@given(cases(min_negatives=0, max_side=9), st.data())
def test_measures_are_the_overlaps_at_a_hundred_thresholds(within, case, data):
    saliency, mask = case
    region = np.ones(mask.shape, dtype=bool)
    if data.draw(st.booleans()):
        region.flat[data.draw(st.lists(st.integers(0, mask.size - 1), max_size=5))] = False
    if not (mask & region).any():
        region[:] = True
    expected = ious_slowly(saliency, mask, within, region)
    found = BoxAccuracy(within=within).partial([Ranking(saliency, mask, region)])
    assert np.array_equal(found, expected)


def test_one_threshold_serves_all_maps():
    """Each map is right at one threshold alone, and two of the three at the same."""
    overlaps = np.zeros((3, 100))
    overlaps[0, 30] = overlaps[1, 60] = overlaps[2, 60] = 0.5
    overlaps[:, 10] = 0.49
    assert BoxAccuracy().aggregate(overlaps).tolist() == [0.0, 1.0, 1.0]
    assert BoxAccuracy(threshold="image").aggregate(overlaps).tolist() == [1.0, 1.0, 1.0]
    assert BoxAccuracy(iou=0.4).aggregate(overlaps).tolist() == [1.0, 1.0, 1.0]
    assert BoxAccuracy(iou=0.6).aggregate(overlaps).tolist() == [0.0, 0.0, 0.0]


def test_of_equally_good_thresholds_the_lowest():
    overlaps = np.zeros((2, 100))
    overlaps[0, 70] = overlaps[1, 20] = 1.0
    assert BoxAccuracy().aggregate(overlaps).tolist() == [0.0, 1.0]
    assert BoxAccuracy().aggregate(overlaps[:1]).tolist() == [1.0]


def test_best_of_several_masks_at_each_threshold():
    random = np.random.default_rng(1)
    saliency = random.random((8, 8))
    masks = [np.zeros((8, 8), dtype=bool) for _ in range(2)]
    masks[0][1:4, 1:4] = masks[1][2:8, 3:8] = True
    rankings = [Ranking(saliency, mask) for mask in masks]
    for within in ("box", "mask"):
        metric = BoxAccuracy(within=within)
        alone = [metric.partial([ranking]) for ranking in rankings]
        assert np.array_equal(metric.partial(rankings), np.maximum(*alone))


def test_a_constant_map_selects_the_region_at_the_lowest_threshold():
    mask = np.zeros((5, 8), dtype=bool)
    mask[:, :6] = True
    for within in ("box", "mask"):
        found = BoxAccuracy(within=within).partial([Ranking(np.full((5, 8), 0.3), mask)])
        assert found[0] == 0.75
        assert not found[1:].any()
