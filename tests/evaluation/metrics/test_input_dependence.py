import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maps_and_masks import cases, value
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.metrics.g_cf import GCf
from salgen.evaluation.metrics.input_dependence import Idr, IdrBam, Iir
from salgen.evaluation.metrics.inputs.metric import MISCLASSIFIED, NO_TWIN, PATCH_MATTERS
from salgen.evaluation.metrics.inputs.metric_inputs import Counterpart, MetricInputs
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.evaluation.scoring.metric_computation import aggregate_scores, compute_metrics


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
    """A map whose strength on the mask is `level`."""
    saliency = np.zeros((10, 10))
    saliency[:, :2], saliency[:, 2:5] = level, 1.0
    return saliency


BY_HAND = [
    (Idr(), 0.6, 0.5, 1.0),
    (IdrBam(), 0.6, 0.5, 0.0),
    (Iir(), 0.54, 0.5, 1.0),
    (Iir(), 0.56, 0.5, 0.0),
    (Iir(), 0.46, 0.5, 1.0),
    (Iir(), 1.0, 0.905, 0.0),  # 0.095 is more than a tenth of 0.905: the share is of the image without the patch
    (Iir(), 0.905, 1.0, 1.0),
]


@pytest.mark.parametrize(("metric", "present", "absent", "expected"), BY_HAND)
def test_by_hand(metric, present, absent, expected):
    assert of(metric, strength(present), strength(absent), MASK) == expected


def test_ties_count_zero_in_both_rates_and_nothing_is_independent_of_nothing():
    zero = np.zeros((10, 10))
    assert [of(metric, zero, zero, MASK) for metric in (Idr(), IdrBam(), Iir())] == [0.0, 0.0, 0.0]
    same = strength(0.5)
    assert [of(metric, same, same, MASK) for metric in (Idr(), IdrBam(), Iir())] == [0.0, 0.0, 1.0]


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


def test_the_maps_with_a_patch_must_be_given():
    maps = np.zeros((1, 10, 10))
    with pytest.raises(SalgenError, match="needs an input that is not given: patched_maps="):
        salgen.score(maps, MASK[None], "iir", twin_maps=maps)


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
        saliency=maps,
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
