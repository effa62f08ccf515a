import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps_and_masks import cases, value
import salgen
from salgen.evaluation.metrics.g_cf import GCf, bam_map
from salgen.evaluation.metrics.inputs.ranking import Ranking


def bam_map_by_loops(saliency):
    """max(S, 0), its 99th percentile between the two nearest values, cut there, from 0 to 1."""
    positive = [max(float(v), 0.0) for v in np.ravel(saliency)]
    ordered = sorted(positive)
    place = 0.99 * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    top = ordered[below] + (place - below) * (ordered[above] - ordered[below])
    low = ordered[0]
    if top <= low:
        return np.zeros(np.shape(saliency))
    return np.reshape([(min(v, top) - low) / (top - low) for v in positive], np.shape(saliency))


def strength_by_loops(saliency, mask):
    energy = bam_map_by_loops(saliency)
    inside = [energy[place] for place in np.ndindex(mask.shape) if mask[place]]
    return sum(inside) / len(inside)


@given(cases())
def test_is_the_mean_of_bams_map_on_the_mask(case):
    assert value(GCf(), *case) == pytest.approx(strength_by_loops(*case), rel=1e-9, abs=1e-12)


@given(cases(max_side=20))
def test_bams_map_by_loops(case):
    np.testing.assert_allclose(bam_map(Ranking(*case)), bam_map_by_loops(case[0]), rtol=1e-9, atol=1e-12)


@given(cases(), st.floats(0.01, 100))
def test_scale_does_not_matter(case, factor):
    saliency, mask = case
    assert value(GCf(), saliency.astype(float) * factor, mask) == pytest.approx(value(GCf(), *case), rel=1e-5, abs=1e-5)


def test_by_hand():
    saliency = np.full((10, 11), -5.0)
    saliency[0] = [0, 1, 2, 4, 4, 4, 4, 4, 4, 4, 4]  # eight of 110: the 99th percentile is 4
    mask = np.zeros((10, 11), dtype=bool)
    mask[0, 1:4] = True
    assert value(GCf(), saliency, mask) == pytest.approx((0.25 + 0.5 + 1.0) / 3)
    saliency[5, 5] = 1000.0  # one more hot pixel is cut
    assert value(GCf(), saliency, mask) == pytest.approx((0.25 + 0.5 + 1.0) / 3)


def test_extremes_of_the_number_range():
    mask = np.array([[True, False]])
    for high in (5e-324, 1.7e308):
        assert value(GCf(), [[high, -high]], mask) == pytest.approx(1.0)
        assert value(GCf(), [[-high, high]], mask) == 0.0


def test_only_right_samples_count():
    rng = np.random.default_rng(0)
    maps, masks = rng.normal(size=(2, 9, 8)), rng.random((2, 9, 8)) < 0.3
    scores = salgen.score(maps, masks, "g-cf", correct=[True, False])
    assert scores.reasons["g-cf"] == ["", "misclassified"]
    assert scores["g-cf"][0] == value(GCf(), maps[0], masks[0])
