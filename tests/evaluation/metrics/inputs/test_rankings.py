"""Maps on a device against the same maps one at a time: every count the same, every sum to its rounding."""

import dataclasses
import warnings
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from maps_and_masks import VARIANTS, odd_maps, odd_masks
from salgen.evaluation.metrics.inputs import device_maps
from salgen.evaluation.metrics.inputs.batched_ranking import BatchedRanking, RankedMap
from salgen.evaluation.metrics.inputs.device_maps import DeviceMaps, SortedMaps
from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.evaluation.scoring.metric_computation import aggregate_scores, compute_metrics
from salgen.evaluation.scoring.metric_selection import create_metric
from salgen.registry import METRICS

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
COUNTED = tuple(
    call
    for call in (*METRICS.names(), *VARIANTS, "pointing-game:ties=any", "iou:threshold=0")
    if not getattr(create_metric(call), "reads_pixels", True)
)
OF_PIXELS = ("pointing-game:tolerance=2", "pointing-game:ties=first", "iou:compat=aabid", "warping-error")


@st.composite
def batches(draw):
    """Maps with many ties, some odd ones, and masks and regions of any size: (B, H, W), (B, K, H, W), (B, H, W)."""
    count, masks, height, width = (draw(st.integers(1, most)) for most in (4, 3, 6, 7))
    kind = draw(st.sampled_from([np.float32, np.float64]))
    coarse = st.integers(-2, 2).map(float)
    fine = st.floats(-1e3, 1e3, width=32)
    odd = st.sampled_from([np.nan, np.inf, -np.inf, -0.0, 3e38, -3e38, 1e-45])
    of_maps = draw(st.sampled_from([coarse, fine, st.one_of(coarse, fine), st.one_of(coarse, odd), st.just(0.25)]))
    maps = draw(arrays(np.float32, (count, height, width), elements=of_maps)).astype(kind)
    flags = st.sampled_from([st.booleans(), st.just(True), st.just(False)])
    truth = draw(arrays(np.bool_, (count, masks, height, width), elements=draw(flags)))
    valid = draw(st.one_of(st.none(), arrays(np.bool_, (count, height, width), elements=draw(flags))))
    return maps, truth, valid


def on_both(maps, masks, valid, calls, device="cpu"):
    """Scores by NumPy, and on the device."""
    metrics = {call: create_metric(call) for call in calls}
    ids = [str(number) for number in range(len(maps))]
    data = MetricInputs(maps, masks, valid, ids=ids)
    there = dataclasses.replace(data, saliency=DeviceMaps(torch.tensor(maps, device=device)), _cache={})
    return [aggregate_scores(metrics, compute_metrics(inputs, metrics)) for inputs in (data, there)]


def assert_same(host, device):
    for name in host:
        assert host.reasons[name] == device.reasons[name], name
        for one, other in ((host[name], device[name]), (host.worst_case[name], device.worst_case[name])):
            np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-9, err_msg=name)


def counts_of(ranking):
    """Everything that is counted, as whole numbers."""
    counts = [ranking.p, ranking.n, ranking.finite]
    if ranking.p and ranking.n and ranking.finite:
        counts += [ranking.cut(0.0), ranking.cut(1.0), ranking.cut_at_top, ranking.cut_at_pth_largest]
        counts += [ranking.cut_at_negative(how_many) for how_many in (lambda n: 0, lambda n: n // 2, lambda n: n - 1)]
        counts += [ranking.above_scaled(t) for t in (0.0, 0.25, 0.5)]
        counts += [ranking.above_share_of_top(t) for t in (0.0, 0.5)]
    return counts


@pytest.mark.parametrize("device", DEVICES)
@settings(deadline=None)
@given(batches())
def test_scores_are_those_of_single_maps(device, batch):
    assert_same(*on_both(*batch, COUNTED, device))


@pytest.mark.parametrize("device", DEVICES)
@settings(deadline=None)
@given(batches())
def test_counts_are_those_of_single_maps(device, batch):
    maps, masks, valid = batch
    data = MetricInputs(maps, masks, valid)
    there = MetricInputs(DeviceMaps(torch.tensor(maps, device=device)), masks, valid)
    for index in range(len(maps)):
        for one, other in zip(data.rankings(index), there.ranked_on_device(index), strict=True):
            assert isinstance(other, RankedMap)
            assert counts_of(one) == counts_of(other)
            assert counts_of(one.boxed) == counts_of(other.boxed)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("side", [1, 8])
def test_odd_maps_have_the_same_scores(side, kind, device):
    maps, masks = odd_maps(side, kind), odd_masks(side)
    pairs = [(a, b) for a in maps.values() for b in masks.values()]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arguments = np.stack([a for a, _ in pairs]), np.stack([b for _, b in pairs])[:, np.newaxis], None
        assert_same(*on_both(*arguments, COUNTED, device))


@pytest.mark.parametrize("device", DEVICES)
def test_metrics_of_pixels_are_computed_beside_them(device):
    """Copied once, for these metrics alone; their values are the same to the last bit."""
    maps, masks = batch_of_noise()
    host, there = on_both(maps, masks, None, [*COUNTED, *OF_PIXELS], device)
    assert_same(host, there)
    assert all(np.array_equal(host[call], there[call], equal_nan=True) for call in OF_PIXELS)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("pixels", [1, 2 * 72, 5 * 72])
def test_parts_that_fit_into_memory_are_the_same(pixels, device, monkeypatch):
    maps, masks = batch_of_noise()
    _, whole = on_both(maps, masks, None, COUNTED, device)
    monkeypatch.setattr(device_maps, "BLOCK_PIXELS", pixels)
    _, parts = on_both(maps, masks, None, COUNTED, device)
    assert all(np.array_equal(parts[call], whole[call], equal_nan=True) for call in COUNTED)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("within", ["image", "region"])
def test_no_statistic_mixes_devices_or_reads_a_number(kind, within, monkeypatch):
    """On the device `meta`, whose tensors hold nothing: only shapes, kinds and devices are told."""
    ones = torch.ones(3, 2, 5, 6, dtype=torch.bool, device="meta")
    region = None if within == "image" else ones[:, 0]
    batch = BatchedRanking(SortedMaps(torch.empty(3, 5, 6, dtype=kind, device="meta")), ones, region)
    monkeypatch.setattr(BatchedRanking, "on_host", lambda *of_what: [[4, 5]] * 3)  # the numbers n, for the next line
    cuts = [batch.cut(0.5), batch.cut_at_top(), batch.cut_at_pth_largest(), batch.cut_at_negative(lambda n: n // 2)]
    pairs = [batch.above_scaled(0.5), batch.above_share_of_top(0.5), batch.masses(), batch.boxed.scaled_sums()]
    single = [batch.p(), batch.n(), batch.finite(), batch.over_positives(lambda levels: levels.negatives_tied)]
    for size, found in (((4,), cuts), ((2,), pairs), ((), single)):
        assert all(one.device.type == "meta" and one.shape == (3, 2, *size) for one in found)
    assert all(one.dtype == torch.float64 for one in (*pairs[2:], single[3]))


def test_maps_are_sorted_once_for_all_regions(monkeypatch):
    maps, masks = batch_of_noise()
    shared, sorted_maps = DeviceMaps(torch.tensor(maps)), []
    sort = torch.Tensor.sort
    monkeypatch.setattr(torch.Tensor, "sort", lambda values, dim: sorted_maps.append(values) or sort(values, dim=dim))
    metrics = {call: create_metric(call) for call in COUNTED}
    for valid in (None, masks[:, 0], ~masks[:, 0]):
        compute_metrics(MetricInputs(shared, masks, valid), metrics)
    assert len(sorted_maps) == 1


def batch_of_noise():
    """Five maps of 8x9 with ties, of which the last is not finite, and two masks of each."""
    rng = np.random.default_rng(0)
    maps, masks = rng.normal(size=(5, 8, 9)).astype(np.float32).round(1), rng.random((5, 2, 8, 9)) < 0.3
    maps[4, 0, 0] = np.nan
    return maps, masks


PIXELS = arrays(np.float32, (5, 6), elements=st.integers(-3, 3).map(float))
MASKS = arrays(np.bool_, (5, 6))


@given(PIXELS, MASKS, MASKS)
def test_levels_and_cuts_are_counts(saliency, mask, valid):
    ranking = Ranking(saliency, mask, valid)
    inside, outside = saliency[mask & valid], saliency[~mask & valid]
    assert (ranking.p, ranking.n) == (len(inside), len(outside))
    levels = sorted(set(inside.tolist()))
    assert ranking.levels.positives.tolist() == [int((inside == v).sum()) for v in levels]
    assert ranking.levels.negatives_below.tolist() == [int((outside < v).sum()) for v in levels]
    assert ranking.levels.negatives_tied.tolist() == [int((outside == v).sum()) for v in levels]
    assert ranking.levels.positives_from.tolist() == [int((inside >= v).sum()) for v in levels]
    assert ranking.levels.negatives_from.tolist() == [int((outside >= v).sum()) for v in levels]
    assert ranking.over_positives(lambda levels: levels.negatives_tied) == sum((outside == v).sum() for v in inside)
    for v in range(-4, 5):
        expected = [int(op.sum()) for side in (inside, outside) for op in (side > v, side == v)]
        assert list(ranking.cut(np.float32(v))) == expected


@given(PIXELS, MASKS, st.integers(0, 29), st.sampled_from([np.nan, np.inf, -np.inf]))
def test_a_value_that_is_not_finite_is_seen(saliency, mask, place, bad):
    assert Ranking(saliency, mask).finite
    spoilt = saliency.copy()
    spoilt.ravel()[place] = bad
    assert not Ranking(spoilt, mask).finite


def test_signed_zeros_are_tied():
    ranking = Ranking(np.array([[0.0, -0.0, 0.0, -0.0]]), np.array([[True, True, False, False]]))
    assert [counts.tolist() for counts in ranking.levels] == [[2], [0], [2], [2], [2]]


def test_the_map_is_left_as_it_is():
    saliency = np.array([[3.0, 1.0, 2.0]])
    ranking = Ranking(saliency, np.array([[True, True, True]]))
    assert ranking.positives.tolist() == [1.0, 2.0, 3.0]
    assert saliency.tolist() == [[3.0, 1.0, 2.0]]
