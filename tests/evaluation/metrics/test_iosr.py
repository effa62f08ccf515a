import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps_and_masks import cases, value
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.evaluation.metrics.iosr import IoSR
from salgen.evaluation.scoring.metric_selection import create_metric


@given(cases(min_negatives=0), st.sampled_from([0.0, 0.25, 0.5, 0.75]))
def test_is_counted_pixel_by_pixel(case, threshold):
    saliency, mask = case[0].astype(np.float64).ravel().tolist(), case[1].ravel().tolist()
    highest, inside, salient = max(saliency), 0, 0
    for v, m in zip(saliency, mask, strict=True):
        if v > threshold * highest:
            salient += 1
            inside += m
    if highest <= 0:
        assert IoSR(threshold)(Ranking(*case))[1] == "zero_energy"
    else:
        assert value(IoSR(threshold), *case) == inside / salient


def test_by_hand():
    mask = np.array([[True, True, False, False]])
    assert value(IoSR(), [[4.0, 2.0, 3.0, -9.0]], mask) == 0.5  # half of the largest is not above it
    assert value(IoSR(0.4), [[4.0, 2.0, 3.0, -9.0]], mask) == 2 / 3
    assert value(IoSR(), [[4.0, 2.0, 3.0, 9.0]], mask, np.array([[True, True, True, False]])) == 0.5


def test_a_constant_positive_map_has_the_masks_share():
    for level in (5e-324, 0.3, 1.7e308):
        for threshold in (0.0, 0.5, 0.99):
            assert value(IoSR(threshold), np.full((4, 4), level), np.eye(4, dtype=bool)) == 0.25


def test_no_value_is_above_the_largest():
    with pytest.raises(SalgenError, match="no value is above the largest"):
        create_metric("iosr:threshold=1")
