import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from maps_and_masks import cases, value
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.metrics.contrast import GCf, Idr, IdrBam, Iir, Mcr, Mcs
from salgen.evaluation.metrics.inputs.metric import MISCLASSIFIED, NO_TWIN, PATCH_MATTERS
from salgen.evaluation.metrics.inputs.metric_inputs import Counterpart, MetricInputs
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.evaluation.scoring.metric_computation import aggregate_scores, compute_metrics


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


@given(cases(max_side=20))
@example((np.array([[1.7e308, -1.7e308]]), np.array([[True, False]])))
@example((np.array([[5e-324, -5e-324]]), np.array([[True, False]])))
def test_is_the_mean_of_bams_map_on_the_mask(case):
    assert value(GCf(), *case) == pytest.approx(strength_by_loops(*case), rel=1e-9, abs=1e-12)


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


def test_contrast_through_score():
    rng = np.random.default_rng(3)
    maps, paired = rng.normal(size=(2, 4, 9, 8)).astype(np.float32)
    masks = rng.random((4, 9, 8)) < 0.3
    paired[3] = -1.0
    calls = ["mcs", "mcr", "g-cf"]
    scores = salgen.score(maps, masks, calls, paired_maps=paired, correct=[True, False, True, True])
    assert scores.reasons["mcs"] == scores.reasons["g-cf"] == ["", "misclassified", "", ""]
    assert scores.reasons["mcr"] == ["", "misclassified", "", "zero_energy"]
    assert scores.worst_case["mcr"][3] == -1.0
    assert scores["mcs"][3] == scores["g-cf"][3] == value(GCf(), maps[3], masks[3])
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


@st.composite
def with_and_without(draw):
    """Maps of an image and its twin; now and then the same, or with the same strength on the mask."""
    saliency, mask = draw(cases())
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    other = draw(st.sampled_from([saliency, np.rint(saliency / 2), rng.normal(size=saliency.shape)]))
    return saliency, other, mask


def of(metric, present, absent, mask):
    """The metric of a map with the feature, or with a patch in its place, and of one without."""
    unread = np.full(mask.shape, 7.0)  # the image's own map says nothing of a patch
    own, others = (unread, {"patched_map": present}) if isinstance(metric, Iir) else (present, {})
    found, reason = metric(Ranking(own, mask), twin_map=absent, **others)
    assert reason == ""
    assert found in (0.0, 1.0)
    return found


@given(with_and_without())
def test_the_two_rates_and_the_ties_sum_to_one(case):
    present, absent, mask = case
    strengths = [value(GCf(), values, mask) for values in (present, absent)]
    tied = float(strengths[0] == strengths[1])
    assert of(Idr(), *case) + of(IdrBam(), *case) + tied == 1.0
    assert of(Idr(), *case) == of(IdrBam(), absent, present, mask) == float(strengths[0] > strengths[1])


@given(with_and_without(), st.sampled_from([0.0, 0.1, 0.5, 2.0]))
def test_iir_asks_whether_the_change_is_below_a_share(case, tolerance):
    present, absent, mask = case
    patched, plain = (value(GCf(), values, mask) for values in (present, absent))
    assert of(Iir(tolerance=tolerance), *case) == float(abs(plain - patched) < tolerance * plain)


MASK = np.zeros((10, 10), dtype=bool)
MASK[:, :2] = True


def strength(level):
    saliency = np.zeros((10, 10))
    saliency[:, :2], saliency[:, 2:5] = level, 1.0
    return saliency


def test_through_score():
    maps = np.stack([strength(0.6), strength(0.6), np.full((10, 10), np.nan), strength(0.5)])
    twins = np.stack([strength(0.5), strength(0.7), strength(0.5), np.full((10, 10), np.inf)])
    masks = np.stack([MASK] * 4)
    calls = ["idr", "idr-bam", "iir:tolerance=0.3"]
    scores = salgen.score(maps, masks, calls, twin_maps=twins, patched_maps=maps[[0, 1, 3, 3]])
    assert scores["idr"][:2].tolist() == [1.0, 0.0]
    assert scores["idr-bam"][:2].tolist() == [0.0, 1.0]
    assert scores["iir:tolerance=0.3"][:2].tolist() == [1.0, 1.0]
    for name, worst in {"idr": 1.0, "idr-bam": 0.0}.items():
        assert scores.reasons[name][2:] == ["non_finite_map"] * 2
        assert scores.worst_case[name][2:].tolist() == [worst] * 2
    wrong = salgen.score(maps[:1], masks[:1], "idr", twin_maps=twins[:1], correct=[False])
    assert wrong.reasons["idr"] == ["misclassified"]


def test_iir_of_the_second_model_looks_at_its_maps_alone():
    metric = Iir(of="paired")
    assert metric.needs == {"mask", "paired_maps", "paired_twin_maps", "paired_patched_maps"}
    other = {"paired_map": strength(0.0), "paired_twin_map": strength(0.5)}
    for level, expected in ((0.54, 1.0), (0.56, 0.0)):
        found = metric(Ranking(strength(0.9), MASK), paired_patched_map=strength(level), **other)
        assert found == (expected, "")


def test_a_patch_at_fault_is_no_fault_of_the_map():
    maps = np.stack([strength(0.5)] * 4)
    right, there = np.array([True, True, True, False]), np.array([True, True, False, True])
    faults = ["", PATCH_MATTERS, "", ""]
    data = MetricInputs(
        maps=maps,
        masks=np.stack([MASK] * 4)[:, np.newaxis],
        correct=np.ones(4, dtype=bool),
        ids=("0", "1", "2", "3"),
        counterparts={
            "twin_maps": Counterpart(maps, right, there),
            "patched_maps": Counterpart(maps, right, there, faults),
        },
    )
    cases = (([0, 1, 2, 3], ["", PATCH_MATTERS, NO_TWIN, MISCLASSIFIED]), ([1, 0], [PATCH_MATTERS, ""]))
    for chosen, expected in cases:
        metrics = {"iir": Iir()}
        scores = aggregate_scores(metrics, compute_metrics(data.take(np.array(chosen)), metrics))
        assert scores.reasons["iir"] == expected
        values = [1.0 if reason == "" else np.nan for reason in expected]
        assert np.array_equal(scores["iir"], values, equal_nan=True)
        assert np.array_equal(scores.worst_case["iir"], values, equal_nan=True)


@pytest.mark.parametrize("given", [{}, {"paired_maps": strength(0.5)[np.newaxis]}])
def test_what_only_a_run_can_compare_is_said_so(given):
    with pytest.raises(SalgenError, match=r"second model: use salgen\.evaluate"):
        salgen.score(strength(0.5)[np.newaxis], MASK[np.newaxis], ["idr:of=paired"], **given)
