import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps_and_masks import cases
import salgen
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.evaluation.metrics.model_contrast import Mcr, Mcs


@st.composite
def pairs(draw):
    saliency, mask = draw(cases())
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    return saliency, rng.normal(size=saliency.shape).astype(np.float32), mask


def energy(saliency):
    """BAM's map, with NumPy's percentile."""
    positive = np.where(saliency > 0, saliency, 0).astype(float)
    cut = np.minimum(positive, np.percentile(positive, 99))
    spread = cut.max() - cut.min()
    return (cut - cut.min()) / spread if spread else np.zeros(cut.shape)


def inside(values, mask):
    return sum(values[place] for place in np.ndindex(mask.shape) if mask[place])


@given(pairs())
def test_mcs_is_the_difference_of_mean_strengths(case):
    one, other, mask = case
    expected = (inside(energy(one), mask) - inside(energy(other), mask)) / mask.sum()
    assert Mcs()(Ranking(one, mask), paired_map=other)[0] == pytest.approx(expected, abs=1e-9)


@given(pairs())
def test_mcr_is_the_difference_of_shares(case):
    one, other, mask = case
    found, reason = Mcr()(Ranking(one, mask), paired_map=other)
    totals = energy(one).sum(), energy(other).sum()
    if 0 in totals:
        assert np.isnan(found)
        assert reason == "zero_energy"
    else:
        expected = inside(energy(one), mask) / totals[0] - inside(energy(other), mask) / totals[1]
        assert found == pytest.approx(expected, abs=1e-9)
        assert reason == ""


@given(pairs())
def test_exchanging_the_models_turns_the_sign(case):
    one, other, mask = case
    for metric in (Mcs(), Mcr()):
        there, reason = metric(Ranking(one, mask), paired_map=other)
        back, same_reason = metric(Ranking(other, mask), paired_map=one)
        assert reason == same_reason
        assert there == -back or reason


def test_through_score():
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
