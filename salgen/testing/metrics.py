"""The laws that every metric of single samples keeps; each check raises AssertionError with the one that was broken."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any
import numpy as np
from salgen.evaluation.metrics.inputs.metric import FAMILIES
from salgen.evaluation.metrics.inputs.metric_inputs import OF_THE_MASK
from salgen.evaluation.scoring.metric_computation import worst_of
from salgen.evaluation.scoring.metric_selection import HOW_TO_GIVE
from salgen.evaluation.scoring.scoring import score
from salgen.registry import METRICS
from salgen.types import Float32, Mask

SIZE = (12, 16)
TOLERANCE = 1e-12
BLOCK, BLOCKS = np.zeros((2, *SIZE), dtype=bool)  # one block of 3x4 pixels, and two
BLOCK[7:10, 9:13] = BLOCKS[7:10, 9:13] = BLOCKS[1:4, 2:6] = True


def check_metric(metric: Any, parameters: Mapping[str, Any] | None = None) -> None:
    """Check what a metric declares, and the laws that hold for every one that needs a map and a mask only.

    The declared members exist. Values lie within the bounds, and reasons explain NaN. The mask itself as a map beats
    random maps in the declared direction. Ties are not decided by the positions of pixels, if the metric ignores these.
    Values outside the scored region do not matter. Faults of masks and maps are distinguished. The arguments are not
    changed. A metric that reads no pixels has the same values where maps are on an accelerator.

    Parameters
    ----------
    metric
        A registered name, or an instance.
    parameters
        Parameters where a name is given; the defaults where not given.
    """
    if isinstance(metric, str):
        name, metric = metric, METRICS.create(metric, parameters)
        assert metric.name == name, f"{metric.name}: is registered as {name!r}"
    _check_metric_declarations(metric)
    if not metric.needs or not metric.needs <= {"mask", "negatives"} or metric.higher_is_better is None:
        return
    _check_metric_values(metric)
    _check_metric_favours_the_mask(metric)
    if metric.ignores_position:
        _check_metric_ties(metric)
    if metric.regional:
        _check_metric_region(metric)
    _check_metric_faults(metric)


def _random_maps(count: int = 20) -> Float32:
    """Signed noise, every second map coarse so that pixels tie."""
    maps = np.random.default_rng(0).normal(size=(count, *SIZE)).astype(np.float32)
    maps[::2] = np.rint(maps[::2])
    return maps


def _check_metric_declarations(metric: Any) -> None:
    assert type(metric).__dataclass_params__.frozen, f"{metric.name}: is not a frozen dataclass"
    assert metric.kind in ("sample", "pair", "dataset"), f"{metric.name}: kind {metric.kind!r} does not exist"
    assert all((metric.version, metric.reference)), f"{metric.name}: states no version or no reference"
    low, high = metric.bounds
    assert low < high, f"{metric.name}: bounds {metric.bounds} are not in order"
    assert metric.family in FAMILIES, f"{metric.name}: family {metric.family!r} is none of {', '.join(FAMILIES)}"
    unknown = metric.needs - {*OF_THE_MASK, *HOW_TO_GIVE, "training"}
    assert not unknown, f"{metric.name}: needs {sorted(unknown)}, which are not inputs of any metric"
    fields = {f.name: f for f in dataclasses.fields(metric)}
    assert set(metric.sweep) <= fields.keys(), f"{metric.name}: sweeps a name that is not a parameter"
    clash = set(metric.aliases) & set(METRICS.names())
    assert not clash, f"{metric.name}: aliases {sorted(clash)} are names of registered metrics"
    assert all(f.metadata.get("help") for f in fields.values()), f"{metric.name}: a parameter has no description"


def _check_metric_values(metric: Any) -> None:
    maps = _random_maps()
    masks = np.broadcast_to(BLOCKS, maps.shape).copy()
    before = maps.copy(), masks.copy()
    scores = score(maps, masks, metric)
    values, reasons = next(iter(scores.values())), next(iter(scores.reasons.values()))
    low, high = metric.bounds
    inside = np.isnan(values) | ((values >= low) & (values <= high))
    assert inside.all(), f"{metric.name}: values {values[~inside]} are out of bounds {metric.bounds}"
    explained = [bool(reason) == math.isnan(value) for value, reason in zip(values, reasons, strict=True)]
    assert all(explained), f"{metric.name}: a value is NaN without a reason, or has a reason and is not NaN"
    unchanged = np.array_equal(maps, before[0]) and np.array_equal(masks, before[1])
    assert unchanged, f"{metric.name}: it changes its arguments"
    again = next(iter(score(maps, masks, metric).values()))
    assert np.array_equal(values, again, equal_nan=True), f"{metric.name}: a second run gives other values"


def _check_metric_favours_the_mask(metric: Any) -> None:
    sign = 1.0 if metric.higher_is_better else -1.0
    oracle = _value(metric, BLOCK, BLOCK)  # under some metrics a map of two blocks is not the best
    noise = np.random.default_rng(1).normal(size=(20, *SIZE)).astype(np.float32)
    random = [_value(metric, values, BLOCK) for values in noise]
    better = sign * float(np.nanmean(random)) < sign * oracle
    assert better, f"{metric.name}: random maps are no worse than the mask itself"


def _check_metric_ties(metric: Any) -> None:
    """Check that maps with plateaus keep their value when they are turned by half a turn with their mask."""
    corner = np.zeros(SIZE, dtype=bool)
    corner[-4:, -5:] = True
    for values in (np.ones(SIZE, dtype=np.float32), *np.maximum(np.rint(_random_maps()), 0.0)):
        straight, turned = _value(metric, values, corner), _value(metric, values[::-1, ::-1], corner[::-1, ::-1])
        same = abs(straight - turned) <= TOLERANCE or (math.isnan(straight) and math.isnan(turned))
        assert same, f"{metric.name}: tied pixels are distinguished by their positions: {straight} and {turned}"


def _check_metric_region(metric: Any) -> None:
    region = np.ones(SIZE, dtype=bool)
    region[:, :5] = False
    for values in _random_maps(4):
        changed = np.where(region, values, np.float32(1e6))
        inside, with_changes = _value(metric, values, BLOCKS, region), _value(metric, changed, BLOCKS & region, region)
        same = inside == with_changes or (math.isnan(inside) and math.isnan(with_changes))
        assert same, f"{metric.name}: values outside the scored region count: {inside} and {with_changes}"


def _check_metric_faults(metric: Any) -> None:
    maps = np.ones((3, *SIZE), dtype=np.float32)
    maps[1, 2, 3] = np.nan
    maps[2, 2, 3] = np.inf
    scores = score(maps, np.stack([np.zeros_like(BLOCKS), BLOCKS, BLOCKS]), metric)
    (values,), (worst,), (reasons,) = scores.values(), scores.worst_case.values(), scores.reasons.values()
    assert np.isnan(values[1:]).all(), f"{metric.name}: a map with NaN or infinity has a value"
    assert reasons[1:] == ["non_finite_map"] * 2, f"{metric.name}: reasons for maps with NaN or infinity: {reasons[1:]}"
    expected = worst_of(metric) if math.isfinite(worst_of(metric)) else math.nan
    has_worst = np.array_equal(worst[1:], [expected] * 2, equal_nan=True)
    assert has_worst, f"{metric.name}: a map with NaN or infinity does not get the worst value"
    if "mask" in metric.needs and not metric.takes_empty_masks:
        empty = math.isnan(values[0]) and math.isnan(worst[0]) and reasons[0] == "empty_mask"
        assert empty, f"{metric.name}: an empty mask is not dropped as empty_mask"


def _value(metric: Any, values: Any, mask: Mask, region: Mask | None = None) -> float:
    (result,) = score(np.asarray(values)[np.newaxis], mask[np.newaxis], metric, valid=region).values()
    return float(result[0])
