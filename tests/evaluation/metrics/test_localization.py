from fractions import Fraction
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps_and_masks import cases, value
from skimage.measure import label
from sklearn.metrics import f1_score
import salgen
from salgen.evaluation.metrics.box_accuracy import BoxAccuracy
from salgen.evaluation.metrics.inputs.boxes import Box, above_mean, largest_component, tight_box
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.evaluation.metrics.localization_error import F1Box, F1Mask, LocalizationErrorMetric, MaskLocalizationError

BOX, MASK, OFFICIAL = "localization-error", "mask-localization-error", "official-localization-error"


def pixels_of(image):
    return set(map(tuple, np.argwhere(image).tolist()))


def box_slowly(pixels):
    if not pixels:
        return set()
    rows, columns = zip(*pixels, strict=True)
    return {(i, j) for i in range(min(rows), max(rows) + 1) for j in range(min(columns), max(columns) + 1)}


def marked_slowly(saliency):
    """The largest component of what is at or above the exact mean, as a set of pixels."""
    values = [[Fraction(float(v)) for v in row] for row in saliency]
    mean = sum(map(sum, values)) / saliency.size
    selected = np.array([[v >= mean for v in row] for row in values])
    labels = label(selected, connectivity=2)
    sizes = [int((labels == k).sum()) for k in range(1, labels.max() + 1)]
    return pixels_of(labels == 1 + sizes.index(max(sizes)))


def error_slowly(found, wanted, compat):
    if compat:
        return 1 - Fraction(len(found & wanted), len(wanted))
    return 1 - Fraction(len(found & wanted), len(found | wanted))


@pytest.mark.parametrize("compat", [None, "aabid"])
@given(cases(min_negatives=0, max_side=9))
def test_is_one_minus_iou_or_one_minus_recall(compat, case):
    saliency = np.rint(case[0] * 4) / 4  # sums are exact
    found, wanted = marked_slowly(saliency), pixels_of(case[1])
    assert value(MaskLocalizationError(compat), saliency, case[1]) == float(error_slowly(found, wanted, compat))
    boxes = box_slowly(found), box_slowly(wanted)
    assert value(LocalizationErrorMetric(compat), saliency, case[1]) == float(error_slowly(*boxes, compat))


def test_official_error_is_one_for_the_misclassified():
    maps = np.random.default_rng(0).normal(size=(4, 9, 9))
    masks = np.broadcast_to(np.arange(81).reshape(9, 9) % 9 < 3, maps.shape)
    right = np.array([True, False, True, False])
    calls = [BOX, f"{BOX}:compat=aabid", OFFICIAL, f"{OFFICIAL}:compat=aabid"]
    scores = salgen.score(maps, masks, calls, correct=right)
    assert np.array_equal(scores[OFFICIAL], np.where(right, scores[BOX], 1.0))
    assert np.array_equal(scores[f"{OFFICIAL}:compat=aabid"], np.where(right, scores[f"{BOX}:compat=aabid"], 0.0))
    assert scores.reasons[OFFICIAL] == [""] * 4


def test_official_error_is_of_the_group_where_it_is_told_what_is_right():
    maps, masks = np.zeros((1, 3, 3)), np.ones((1, 3, 3), dtype=bool)
    assert OFFICIAL not in salgen.score(maps, masks, "localization")
    assert OFFICIAL in salgen.score(maps, masks, "localization", correct=[True])


@given(cases(min_negatives=0, max_side=9))
def test_agrees_with_scikit_learn(case):
    saliency, mask = case
    found = largest_component(above_mean(saliency, np.ones(mask.shape, dtype=bool)))
    assert value(F1Mask(), saliency, mask) == pytest.approx(f1_score(mask.ravel(), found.ravel()), abs=1e-12)
    filled = [np.zeros(mask.shape, dtype=bool) for _ in range(2)]
    for image, pixels in zip(filled, (mask, found), strict=True):
        image[tight_box(pixels).pixels] = True
    assert value(F1Box(), saliency, mask) == pytest.approx(f1_score(*(f.ravel() for f in filled)), abs=1e-12)


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
            found, wanted = box_slowly(found), box_slowly(wanted)
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
    assert BoxAccuracy().aggregate(overlaps[:2]).tolist() == [1.0, 0.0]  # of equally good thresholds the lowest


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


@pytest.mark.parametrize("low", [0.1, 1.0, -0.1, -0.3, 1e-310, 1.7e308, 0.0])
def test_constant_and_nearly_constant_maps_whatever_their_sums_round_to(low):
    saliency, region = np.full((11, 13), low), np.ones((11, 13), dtype=bool)
    assert above_mean(saliency, region).all()
    saliency[2, 3] = np.nextafter(low, np.inf)
    assert np.argwhere(above_mean(saliency, region)).tolist() == [[2, 3]]


def test_a_box_within_a_box():
    assert Box(1, 2, 0, 3).within(Box(4, 9, 5, 9)) == Box(5, 6, 5, 8)


MARKED = [
    *("localization-error", "mask-localization-error", "f1-box", "f1-mask"),
    *("box-accuracy", "box-accuracy:within=mask,threshold=image", "warping-error", "warping-error:warp=reference"),
]
SHAPE = (9, 10)


def hot(value, elsewhere=0.0, kind=np.float64):
    saliency = np.full(SHAPE, elsewhere, dtype=kind)
    saliency[4, 5] = value
    return saliency


HUGE = {
    "float64": hot(1.7e308, -1.7e308),
    "float32": hot(3.4e38, -3.4e38, np.float32),
    "beside a denormal": hot(1.7e308, 5e-324),
}
MASK_SHAPES = {"full": np.s_[:, :], "pixel": np.s_[4, 5], "corner": np.s_[:2, :3], "border": np.s_[:, -1]}


@pytest.mark.parametrize("mask", MASK_SHAPES)
@pytest.mark.parametrize("name", HUGE)
def test_a_huge_pixel_marks_what_a_pixel_of_one_marks(name, mask):
    truth = np.zeros(SHAPE, dtype=bool)
    truth[MASK_SHAPES[mask]] = True
    huge, one = (salgen.score(saliency[np.newaxis], truth[np.newaxis], MARKED) for saliency in (HUGE[name], hot(1.0)))
    assert {key: value[0] for key, value in huge.items()} == {key: value[0] for key, value in one.items()}


@pytest.mark.parametrize("value", [0.0, -2.0, 3.5])
def test_an_image_of_one_pixel(value):
    scores = salgen.score(np.full((1, 1, 1), value), np.ones((1, 1, 1), dtype=bool), MARKED)
    best = {name: 0.0 if "error" in name else 1.0 for name in MARKED}
    assert {name: values[0] for name, values in scores.items()} == best
