from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
import numpy as np
import pytest
import torch
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.metric import DatasetMetric, ModelMetric
from salgen.evaluation.metrics.ranking_metrics import MGt, Prec99, RocAuc
from salgen.registry import METRICS

SHAPE = (12, 13)


@pytest.fixture
def maps():
    return np.random.default_rng(0).normal(size=(4, *SHAPE)).astype(np.float32)


@pytest.fixture
def masks():
    masks = np.zeros((4, *SHAPE), dtype=bool)
    for i in range(4):
        masks[i, i : i + 3, 2:6] = True
    return masks


def asked(outputs=2):
    """A network with black images and targets."""
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12 * 13, outputs))
    return {"model": model, "images": np.zeros((4, 1, *SHAPE), dtype=np.float32), "targets": np.zeros(4, dtype=int)}


def equal(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name], equal_nan=True) for name in a)


def test_each_metric_alone_is_the_same_as_together_and_zeros_and_ones_are_a_mask(maps, masks):
    together = salgen.score(maps, masks, "all")
    for name in together:
        assert np.array_equal(salgen.score(maps, masks, [name])[name], together[name], equal_nan=True)
    expected = salgen.score(maps, masks, "all")
    for kind in (np.uint8, np.int64, np.float32):
        assert equal(salgen.score(maps, masks.astype(kind), "all"), expected)
    assert equal(salgen.score(maps, masks[:, np.newaxis], "all"), expected)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_tensors_are_the_same_as_arrays(maps, masks, kind):
    tensors = torch.tensor(maps, dtype=kind, requires_grad=True)
    expected = salgen.score(tensors.detach().float().numpy(), masks, "all")
    assert equal(salgen.score(tensors, torch.tensor(masks), "all"), expected)


def test_fault_of_the_mask_stays_undefined_whatever_the_map(maps, masks):
    scores = salgen.score(maps, masks, "all", valid=np.zeros(SHAPE, dtype=bool))
    assert all(reasons == ["empty_mask"] * 4 for reasons in scores.reasons.values())
    valid = np.ones((4, *SHAPE), dtype=bool)
    valid[2] = ~masks[2]
    assert salgen.score(maps, masks, ["m-gt"], valid=valid).reasons["m-gt"] == ["", "", "empty_mask", ""]
    masks[1] = False
    maps[1, 0, 0] = np.nan
    scores = salgen.score(maps, masks, "all")
    assert scores.reasons.pop("mae")[1] == "non_finite_map"  # an empty mask is as good as any for it
    for name in scores.reasons:
        assert np.isnan(scores[name][1])
        assert np.isnan(scores.worst_case[name][1])
        assert scores.reasons[name][1] == "empty_mask"


def test_float64_ties_stay_exact_and_no_maps_give_no_scores():
    maps = np.array([[[1.0, 1.0 + 1e-12, 0.0]]])
    masks = np.array([[[False, True, False]]])
    assert salgen.score(maps, masks, ["roc-auc"])["roc-auc"] == [1.0]
    assert salgen.score(maps.astype(np.float32), masks, ["roc-auc"])["roc-auc"] == [0.75]
    scores = salgen.score(np.zeros((0, *SHAPE)), np.zeros((0, *SHAPE), dtype=bool), ["m-gt"])
    assert scores["m-gt"].shape == (0,)
    assert scores.reasons == {"m-gt": []}


@pytest.mark.parametrize("kind", [np.int16, ">f4", np.float16])
def test_maps_may_be_of_other_types(maps, masks, kind):
    whole = np.rint(maps * 10)
    assert equal(salgen.score(whole.astype(kind), masks, "all"), salgen.score(whole, masks, "all"))


def test_valid_region_is_the_map_cut_out_of_each_map(maps, masks):
    valid = np.zeros(SHAPE, dtype=bool)
    valid[1:6, 1:8] = True
    expected = salgen.score(maps[:, 1:6, 1:8], masks[:, 1:6, 1:8], "all")
    spoilt = np.where(valid, maps, np.nan)
    for region in (valid, np.broadcast_to(valid, maps.shape), torch.tensor(valid), valid.astype(np.uint8)):
        assert equal(salgen.score(maps, masks, "all", valid=region), expected)
    assert equal(salgen.score(spoilt, masks, "all", valid=valid), expected)
    valid = np.random.default_rng(1).random(maps.shape) < 0.8
    scores = salgen.score(maps, masks, "all", valid=valid)
    for i in range(4):
        alone = salgen.score(maps[i : i + 1], masks[i : i + 1], "all", valid=valid[i])
        assert all(alone[name][0] == scores[name][i] for name in scores)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"maps": np.zeros(SHAPE)}, r"maps have shape \(12, 13\): must be \(N, H, W\)"),
        ({"maps": np.zeros((4, 1, *SHAPE))}, r"maps have shape \(4, 1, 12, 13\)"),
        ({"maps": np.zeros((4, *SHAPE), dtype=complex)}, "complex128: must be real"),
        ({"maps": [[[1.0, 2.0], [3.0]]]}, "not a dense array"),
        (
            {"masks": np.ones((4, 2, *SHAPE), dtype=bool), "metrics": ["idr"], "twin_maps": np.zeros((4, *SHAPE))},
            "metric 'idr' takes one mask per map: masks hold 2",
        ),
        ({"masks": np.zeros((4, 12, 12), dtype=bool)}, r"masks have shape \(4, 12, 12\) and maps \(4, 12, 13\)"),
        ({"masks": np.zeros((4, 0, *SHAPE), dtype=bool)}, r"masks have shape \(4, 0, 12, 13\)"),
        ({"masks": np.full((4, *SHAPE), np.nan)}, "masks hold the value nan"),
        ({"masks": np.full((4, *SHAPE), "a")}, "must be bool"),
        ({"valid": np.ones((3, *SHAPE), dtype=bool)}, r"valid has shape \(3, 12, 13\) and maps \(4, 12, 13\)"),
        ({"valid": np.full(SHAPE, 2)}, "valid hold the value 2"),
        ({"metrics": ["roc-acu"]}, "unknown metric 'roc-acu': did you mean 'roc-auc'"),
        ({"metrics": ["prec99:authors=true"]}, "unknown parameter of prec99"),
        ({"metrics": []}, "no metric was chosen"),
        ({"metrics": [RocAuc]}, "is not a metric"),
        ({"images": np.zeros((3, 1, *SHAPE))}, r"images are float64 of shape \(3, 1, 12, 13\): must be"),
        ({"images": np.full((4, 1, *SHAPE), np.nan, dtype=np.float32)}, "images have NaN or infinite values"),
        ({"method": 3}, "method = 3: give a call such as 'grad-cam'"),
        ({"twins": 3}, "twins must be 4 images"),
        ({"twins": ["a", None, None, None]}, "twins are <U1 of shape"),
        ({"maps": np.ma.masked_array(np.zeros((4, *SHAPE)))}, "numpy.ma hides values"),
        ({"maps": torch.zeros(4, *SHAPE).to_sparse()}, "not a dense array"),
        ({"maps": torch.zeros(4, *SHAPE) * 1j}, "maps are of type complex64: must be real numbers"),
        ({"maps": Path("maps.npy")}, r"maps are no array .*: load a file first, or run  salgen score"),
        ({"metrics": "iou,dice"}, "'iou,dice' holds several metrics: give a list"),
        ({"metrics": "ranking:threshold=0.5"}, "ranking is a group of metrics and takes no parameters"),
        ({"metrics": "faithfulness"}, "none of its group can be computed from mask, negatives"),
        ({"metrics": type("Whole", (MGt,), {"name": "whole", "needs": frozenset({"training"})})()}, "'whole' retrains"),
    ],
)
def test_faults_are_named_in_one_line(maps, masks, change, words):
    given = {"maps": maps, "masks": masks, "metrics": ["roc-auc"], **change}
    with pytest.raises(SalgenError, match=words):
        salgen.score(**given)


def test_best_of_several_masks_counts(maps, masks):
    other = np.roll(masks, 3, axis=2)
    both = np.stack([masks, other], axis=1)
    each = [salgen.score(maps, m, ["m-gt"])["m-gt"] for m in (masks, other)]
    assert np.array_equal(salgen.score(maps, both, ["m-gt"])["m-gt"], np.maximum(*each))
    maps = np.array([[[5.0, 4.0, 3.0, 0.0]]])
    masks = np.array([[[[True, False, False, True]], [[True, True, True, False]], [[False] * 4]]])
    assert salgen.score(maps, masks, ["m-gt"])["m-gt"] == [1.0]
    assert salgen.score(maps, masks[:, [0, 2]], ["m-gt"])["m-gt"] == [0.5]
    assert salgen.score(maps, masks[:, [2, 2]], ["m-gt"]).reasons["m-gt"] == ["empty_mask"]
    masks = np.array([[[[False, False]], [[True, False]]]])
    scores = salgen.score(np.array([[[np.nan, 1.0]]]), masks, ["m-gt"])
    assert scores.reasons["m-gt"] == ["non_finite_map"]
    assert scores.worst_case["m-gt"] == [0.0]
    one, two, three = (np.arange(4)[np.newaxis] < count for count in (1, 2, 3))
    for masks in ([one, three, two], [three, two, one], [two, one, three]):
        assert salgen.score(np.zeros((1, 1, 4)), np.array([masks]), Size())["size"] == [2.0]


@dataclass(frozen=True)
class Size(MGt):
    """Small masks are best, those of one pixel undefined."""

    name: ClassVar[str] = "size"
    higher_is_better: ClassVar[bool] = False

    def __call__(self, ranking):
        return (float(ranking.p), "") if ranking.p > 1 else (np.nan, "one_pixel")


def test_names_of_the_scores_and_aliases_are_unique(maps, masks):
    metrics = ["auroc", "prec99:compat=authors_exact", Prec99(compat="authors_exact"), MGt()]
    scores = salgen.score(maps, masks, metrics)
    assert list(scores) == ["auroc", "prec99:compat=authors_exact", "m-gt"]
    assert np.array_equal(scores["auroc"], salgen.score(maps, masks, RocAuc())["roc-auc"])
    named = salgen.score(maps, masks, {"a": "iou:threshold=0.3", "b": MGt()})
    assert np.array_equal(named["a"], salgen.score(maps, masks, "iou:threshold=0.3")["iou:threshold=0.3"])
    assert np.array_equal(named["b"], salgen.score(maps, masks, ["m-gt"], seed=np.int64(3))["m-gt"])
    aliases = [alias for name in METRICS.names() for alias in METRICS.load(name).aliases]
    assert len(aliases) == len({*aliases, *METRICS.names()}) - len(METRICS.names())


@dataclass(frozen=True)
class TwinDistance(MGt):
    name: ClassVar[str] = "twin-distance"
    needs: ClassVar[frozenset[str]] = frozenset({"twin", "target"})

    def __call__(self, ranking, twin, target):
        return float((ranking.saliency - twin[target]).sum()), ""


def test_a_metric_gets_what_it_needs(maps, masks):
    twins, masks = np.ones((4, 1, *SHAPE), dtype=np.float32), np.zeros_like(masks)
    scores = salgen.score(maps, masks, [TwinDistance()], twins=twins, targets=np.zeros(4, dtype=int))
    assert np.allclose(scores["twin-distance"], (maps - 1).sum(axis=(1, 2)), atol=1e-4)
    assert scores.reasons["twin-distance"] == [""] * 4  # it does not need the mask
    with pytest.raises(SalgenError, match="'twin-distance' lacks an input: twins="):
        salgen.score(maps, masks, [TwinDistance()], targets=np.zeros(4, dtype=int))


@dataclass(frozen=True)
class Zeros(ModelMetric):
    name: ClassVar[str] = "zeros"

    def measure(self, data):
        return np.zeros(len(data)), [""] * len(data)


@dataclass(frozen=True)
class Sums(DatasetMetric):
    name: ClassVar[str] = "sums"

    def partial(self, rankings):
        return np.ones(2)

    def aggregate(self, partial):
        return partial.sum(axis=1)


def wrong(which, name, result):
    return type("Wrong", (which,), {name: lambda self, given: result(given)})()


@pytest.mark.parametrize(
    ("which", "name", "result", "message"),
    [
        (Zeros, "measure", lambda given: (np.zeros(3), [""] * 3), "a value and a reason for 4 maps"),
        (Sums, "aggregate", lambda given: np.zeros((2, 2)), "one value for each of 4 maps"),
    ],
)
def test_shapes_that_a_plug_in_gets_wrong_are_named(maps, masks, which, name, result, message):
    with pytest.raises(SalgenError, match=message):
        salgen.score(maps, masks, [wrong(which, name, result)], **asked())


def test_functions_give_maps_of_the_images_size_and_one_logit_has_no_second_class(maps, masks):
    with pytest.raises(SalgenError, match=r"method gave maps of shape \(4, 6, 13\)"):
        salgen.score(maps, masks, "class-sensitivity", method=lambda m, x, t: x[:, 0, :6], **asked())
    given = asked(outputs=1)
    given["model"].multi_label = True  # its output is no logit of two classes
    with pytest.raises(SalgenError, match="the model has one logit"):
        salgen.score(maps, None, "class-sensitivity", method="gradient", **given)


def test_a_function_of_map_and_mask_is_a_metric(maps, masks):
    def darkest(values, mask):
        values[~mask] = np.nan  # its own copy
        return np.nan if mask[0].any() else np.nanmin(values)

    darkest.higher_is_better = False
    scores = salgen.score(maps, masks, {"mine": darkest, "roc-auc": "roc-auc", "area": "roc-auc"})
    assert list(scores) == ["mine", "roc-auc", "area"]
    assert equal({"roc-auc": scores["area"]}, {"roc-auc": salgen.score(maps, masks, "roc-auc")["roc-auc"]})
    usual = salgen.score(maps, masks, [darkest, "roc-auc"])
    np.testing.assert_array_equal(usual["darkest"], scores["mine"])
    for values, mask, value, why in zip(maps, masks, scores["mine"], scores.reasons["mine"], strict=True):
        np.testing.assert_equal(value, np.nan if mask[0].any() else values[mask].min())
        assert why == ("undefined" if mask[0].any() else "")
    assert scores.worst_case["mine"][0] == np.nanmax(scores["mine"]), "NaN is the map's fault"
