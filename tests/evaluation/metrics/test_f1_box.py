import numpy as np
import pytest
from hypothesis import given
from maps_and_masks import cases, value
from sklearn.metrics import f1_score

from salgen.evaluation.metrics.f1_box import F1Box, F1Mask
from salgen.evaluation.metrics.inputs.boxes import above_mean, largest_component, tight_box
from salgen.evaluation.metrics.localization_error import LocalizationErrorMetric, MaskLocalizationError


@given(cases(min_negatives=0, max_side=9))
def test_is_two_over_one_plus_the_iou(case):
    for f1, error in ((F1Box(), LocalizationErrorMetric()), (F1Mask(), MaskLocalizationError())):
        missed = value(error, *case)
        assert value(f1, *case) == pytest.approx(2 * (1 - missed) / (2 - missed), abs=1e-12)


@given(cases(min_negatives=0, max_side=9))
def test_agrees_with_scikit_learn(case):
    saliency, mask = case
    found = largest_component(above_mean(saliency, np.ones(mask.shape, dtype=bool)))
    assert value(F1Mask(), saliency, mask) == pytest.approx(f1_score(mask.ravel(), found.ravel()), abs=1e-12)
    filled = [np.zeros(mask.shape, dtype=bool) for _ in range(2)]
    for image, pixels in zip(filled, (mask, found), strict=True):
        image[tight_box(pixels).pixels] = True
    assert value(F1Box(), saliency, mask) == pytest.approx(f1_score(*(f.ravel() for f in filled)), abs=1e-12)


def test_by_hand():
    mask = np.zeros((6, 6), dtype=bool)
    mask[1:3, 1:3] = True
    saliency = np.zeros((6, 6))
    saliency[1:4, 1:3] = saliency[3, 3] = 1.0
    assert value(F1Mask(), saliency, mask) == 2 * 4 / (4 + 7)
    assert value(F1Box(), saliency, mask) == 2 * 4 / (4 + 9)
