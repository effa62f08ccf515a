import math
import warnings
import numpy as np
import pytest
from hypothesis import given
from maps_and_masks import VARIANTS, cases, odd_maps, odd_masks
from small_classifiers import case, classifier
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.metric import NON_FINITE_MAP, TRIVIAL_FULL_MASK, UNUSABLE_SAMPLE
from salgen.evaluation.metrics.inputs.metric_inputs import OF_THE_MASK
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.evaluation.scoring.metric_computation import worst_of
from salgen.evaluation.scoring.metric_selection import HOW_TO_GIVE, choose_metrics, create_metric
from salgen.registry import METRICS, Entry
from salgen.testing import check_metric

PIXELWISE = ("roc-auc", "average-precision", "prec99", "m-gt", "relevance-mass", "pointing-game")
OF_MASKS = tuple(name for name in METRICS.names() if METRICS.load(name).needs <= OF_THE_MASK)
OF_MORE = tuple(name for name in METRICS.names() if name not in OF_MASKS)
ASKING = (
    *(f"average-{which}:{how}" for which in ("drop", "increase") for how in ("space=pixel", "compat=aabid")),
    *(f"insertion-auc:variant={variant},baseline=twin,step=3" for variant in ("petsiuk", "li2020", "saliency-bench")),
    "deletion-auc:baseline=blur",
)


def score_of(name, saliency, mask):
    return create_metric(name)(Ranking(saliency, mask))


@pytest.mark.parametrize("name", METRICS.names())
def test_conforms(name):
    check_metric(name)


@pytest.mark.parametrize("call", [*VARIANTS, *ASKING, "pointing-game:ties=any"])
def test_variants_conform(call):
    check_metric(create_metric(call))


@pytest.mark.parametrize("call", [call for call in (*OF_MASKS, *VARIANTS) if create_metric(call).regional])
def test_a_region_is_the_map_cut_out(call):
    """To the last bit: what lies outside does not even change the rounding."""
    rng = np.random.default_rng(0)
    maps, masks, valid = rng.normal(size=(4, 9, 8)), rng.random((4, 9, 8)) < 0.3, np.zeros((9, 8), dtype=bool)
    inner = (slice(None), slice(2, 8), slice(1, 6))
    valid[inner[1:]] = True
    (whole,) = salgen.score(np.where(valid, maps, np.nan), masks, call, valid=valid).values()
    (part,) = salgen.score(maps[inner], masks[inner], call).values()
    assert np.array_equal(whole, part, equal_nan=True)


@pytest.mark.parametrize("name", PIXELWISE)
@given(cases(min_negatives=1))
def test_no_map_leaves_the_bounds_or_beats_the_mask_itself(name, case):
    saliency, mask = case
    result, _ = score_of(name, saliency, mask)
    oracle, _ = score_of(name, mask.astype(np.float32), mask)

    assert math.isnan(result) or 0.0 <= result <= oracle


@pytest.mark.parametrize("call", [*OF_MASKS, *VARIANTS])
@pytest.mark.parametrize("side", [1, 8])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_no_map_and_no_mask_is_too_odd(call, side, kind):
    """Every map on every mask, in one call, with no warning."""
    maps, masks = odd_maps(side, kind), odd_masks(side)
    pairs = [(a, b) for a in maps for b in masks]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = salgen.score(np.stack([maps[a] for a, _ in pairs]), np.stack([masks[b] for _, b in pairs]), call)
    (values,), (worst,), (reasons,) = scores.values(), scores.worst_case.values(), scores.reasons.values()
    metric = create_metric(call)
    low, high = metric.bounds
    filled = _worst_of_all(metric, values)
    for pair, value, least, reason in zip(pairs, values, worst, reasons, strict=True):
        if math.isnan(value):
            assert reason, pair
            assert least == pytest.approx(math.nan if reason in UNUSABLE_SAMPLE else filled, nan_ok=True), pair
        else:
            assert low - 1e-12 <= value <= high + 1e-12, pair
            trivial = "mask" in metric.needs and masks[pair[1]].all()
            assert reason == (TRIVIAL_FULL_MASK if trivial else ""), pair
            assert least == value, pair
        if pair[0] in ("nan", "inf", "-inf"):
            assert reason == NON_FINITE_MAP or reason in UNUSABLE_SAMPLE, pair


def _worst_of_all(metric, values):
    """What a failed map must get: the worst bound, or the worst of the others where there is none."""
    worst, known = worst_of(metric), values[np.isfinite(values)]
    if not math.isinf(worst):
        return worst
    return math.nan if not known.size else known.min() if metric.higher_is_better else known.max()


@pytest.mark.parametrize("name", OF_MORE)
def test_what_needs_more_than_a_mask_says_so(name):
    """The others, which no test above reaches: none is left out in silence."""
    maps, masks = odd_maps(8, np.float32), odd_masks(8)
    with pytest.raises(SalgenError, match=r"lacks an input: |retrains models") as caught:
        salgen.score(np.stack([*maps.values()]), np.stack([masks["block"]] * len(maps)), name)
    needed = METRICS.load(name).needs - OF_THE_MASK - {"training"}
    assert not needed or any(str(caught.value).endswith(HOW_TO_GIVE[need]) for need in needed)


@pytest.mark.parametrize(
    "name", [name for name in OF_MORE if {"model", "mask"} & METRICS.load(name).needs == {"model"}]
)
def test_no_sample_depends_on_its_batch(name):
    """Nor does what is drawn for it, by the metric or by the method that explains it again."""
    model, given_, ids = classifier((8, 9)), case((8, 9)), np.array(list("abcd"))
    calls = choose_metrics([f"{name}:samples=3" if name == "max-sensitivity" else name], scale="full")

    def scored(part):
        own = {key: values[part] for key, values in given_.items() if key != "maps"} | {"ids": list(ids[part])}
        maps = salgen.explain(model, method="gradient-shap:n=2", **own)
        return salgen.score(maps, metrics=calls, model=model, **own)

    together = scored(slice(None))
    for part in ([0], [3, 1], [2, 0, 1]):
        for call, values in scored(part).items():
            np.testing.assert_allclose(values, together[call][part], atol=1e-3)


def by_pixel_order(_metric, ranking):
    largest = np.argsort(ranking.saliency, axis=None, kind="stable")[-ranking.p :]
    return float(ranking.mask.ravel()[largest].mean()), ""


@pytest.mark.parametrize(
    ("fault", "law"),
    [
        (by_pixel_order, "by their positions"),
        (lambda _metric, ranking: (0.5, ""), "no worse than the mask"),
        (lambda _metric, ranking: (math.nan, ""), "without a reason"),
    ],
)
def test_check_metric_finds_faults(fault, law, monkeypatch):
    faulty = type("Faulty", (METRICS.load("m-gt"),), {"name": "faulty", "aliases": (), "__call__": fault})

    class Fake(Entry):
        def load(self):
            return faulty

    monkeypatch.setitem(METRICS.entries, "faulty", Fake("faulty", "here", ""))
    with pytest.raises(AssertionError, match=law):
        check_metric("faulty")
