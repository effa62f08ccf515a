import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps_and_masks import cases, value
import salgen
from salgen.evaluation.metrics.g_cf import GCf, bam_map
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.evaluation.metrics.model_contrast import Mcr, Mcs


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


@st.composite
def pairs(draw):
    saliency, mask = draw(cases())
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    return saliency, rng.normal(size=saliency.shape).astype(np.float32), mask


@given(pairs())
def test_mcs_is_the_difference_of_mean_strengths(case):
    one, other, mask = case
    expected = strength_by_loops(one, mask) - strength_by_loops(other, mask)
    assert Mcs()(Ranking(one, mask), paired_map=other)[0] == pytest.approx(expected, abs=1e-9)


@given(pairs())
def test_mcr_is_the_difference_of_shares(case):
    one, other, mask = case
    found, reason = Mcr()(Ranking(one, mask), paired_map=other)
    first, second = bam_map_by_loops(one), bam_map_by_loops(other)
    if not (first.any() and second.any()):
        assert np.isnan(found)
        assert reason == "zero_energy"
    else:
        expected = first[mask].sum() / first.sum() - second[mask].sum() / second.sum()
        assert (found, reason) == (pytest.approx(expected, abs=1e-9), "")


@given(pairs())
def test_exchanging_the_models_turns_the_sign(case):
    one, other, mask = case
    for metric in (Mcs(), Mcr()):
        there, reason = metric(Ranking(one, mask), paired_map=other)
        back, same_reason = metric(Ranking(other, mask), paired_map=one)
        assert reason == same_reason
        assert there == -back or reason


def test_contrast_through_score():
    rng = np.random.default_rng(3)
    maps, paired = rng.normal(size=(2, 4, 9, 8)).astype(np.float32)
    masks = rng.random((4, 9, 8)) < 0.3
    paired[3] = -1.0
    scores = salgen.score(maps, masks, ["mcs", "mcr"], paired_maps=paired, correct=[True, False, True, True])
    assert scores.reasons == {"mcs": ["", "misclassified", "", ""], "mcr": ["", "misclassified", "", "zero_energy"]}
    assert scores.worst_case["mcr"][3] == -1.0
    assert scores["mcs"][3] == salgen.score(maps, masks, "g-cf")["g-cf"][3]
    full = salgen.score(maps, np.ones_like(masks), ["mcr"], paired_maps=maps[::-1])
    assert full.reasons["mcr"] == ["trivial_full_mask"] * 4
    np.testing.assert_allclose(full["mcr"], 0, atol=1e-15)


def test_nothing_outside_the_region_counts():
    rng = np.random.default_rng(4)
    maps, paired = rng.normal(size=(2, 3, 9, 8))
    masks = rng.random((3, 9, 8)) < 0.3
    region = np.zeros((9, 8), dtype=bool)
    region[2:7, 1:6] = True
    given = [np.where(region, values, np.nan) for values in (maps, paired)]
    found = salgen.score(given[0], masks, ["mcs", "mcr"], valid=region, paired_maps=given[1])
    cut = [values[:, 2:7, 1:6] for values in (maps, masks, paired)]
    expected = salgen.score(cut[0], cut[1], ["mcs", "mcr"], paired_maps=cut[2])
    for name in found:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-12)
