import math
from functools import partial
from itertools import pairwise
import numpy as np
import pytest
import small_classifiers
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.ndimage import correlate1d
from torch import nn
import salgen
from salgen.evaluation.metrics.inputs.changed_images import pixel_ranks
from salgen.evaluation.metrics.insertion import (
    REFERENCES,
    DeletionAuc,
    InsertionAuc,
    blurred,
    deletion_curve,
    insertion_curve,
)
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.scoring.scoring import metric_inputs_of
from salgen.seeding import Stream

SIZE = (5, 7)
BOTH = ["insertion-auc", "deletion-auc"]


classifier = partial(small_classifiers.classifier, SIZE)


def case(size=SIZE, **changes):
    twins = small_classifiers.case(size, seed=1, **changes)["images"]
    return {**small_classifiers.case(size, **changes), "twins": list(twins)}


def data(model, maps, images, targets, twins=None, ids=None, seed=0):
    return metric_inputs_of(maps, model=model, images=images, targets=targets, twins=twins, ids=ids, seed=seed)


def blurred_by_scipy(images, axes):
    weights = np.exp(-(np.arange(-5, 6) ** 2) / 50.0)
    for axis in axes:
        images = correlate1d(images, weights / weights.sum(), axis=axis, mode="mirror")
    return images


def references_by_hand(model, image, twin):
    """Each reference of one normalised image (C, H, W)."""
    inputs = model.normalise(image)
    return {
        "blur": torch.from_numpy(blurred_by_scipy(inputs.numpy(), (1, 2))),
        "black": model.normalise(torch.zeros_like(image)),
        "mean": torch.stack([torch.full_like(channel, channel.mean()) for channel in inputs]),
        "zero": torch.zeros_like(inputs),
        "twin": model.normalise(twin),
    }


def curve_by_hand(model, saliency, start, end, target, step):
    """One image, one pixel and one step at a time; the map has no ties."""
    pixels = [(row, column) for row in range(saliency.shape[0]) for column in range(saliency.shape[1])]
    pixels.sort(key=lambda place: -saliency[place])
    image, curve, place = start.clone(), [], 0
    while True:
        with torch.no_grad():
            curve.append(model.network(image[None]).softmax(dim=1)[0, target].item())
        if place >= len(pixels):
            return curve
        for row, column in pixels[place : place + step]:
            image[:, row, column] = end[:, row, column]
        place += step


def trapezoid(curve):
    return sum((a + b) / 2 for a, b in pairwise(curve)) / (len(curve) - 1)


@pytest.mark.parametrize("step", [None, 1, 4, 35, 1000])
@pytest.mark.parametrize("kind", REFERENCES)
def test_curves_are_those_of_one_step_at_a_time(kind, step):
    model, given_ = classifier(), case()
    known = data(model, **given_)
    inserted, deleted = insertion_curve(known, kind, step), deletion_curve(known, kind, step)
    for i, saliency in enumerate(given_["maps"]):
        image, twin = (torch.from_numpy(given_[name][i]).double() for name in ("images", "twins"))
        empty, full, target = references_by_hand(model, image, twin)[kind], model.normalise(image), given_["targets"][i]
        expected = curve_by_hand(model, saliency, empty, full, target, step or SIZE[1])
        assert inserted[i] == pytest.approx(expected, abs=2e-7)
        expected = curve_by_hand(model, saliency, full, empty, target, step or SIZE[1])
        assert deleted[i] == pytest.approx(expected, abs=2e-7)
    assert inserted.shape[1] == math.ceil(35 / (step or 7)) + 1


@pytest.mark.parametrize(
    ("size", "pixels", "steps"), [((5, 7), 7, 5), ((223, 300), 300, 223), ((224, 224), 1004, 50), ((500, 1), 10, 50)]
)
def test_large_images_change_in_fifty_steps_and_others_row_by_row(size, pixels, steps):
    maps = np.random.default_rng(0).random((1, *size), dtype=np.float32)
    given_ = {"maps": maps, "images": np.ones((1, 1, *size), dtype=np.float32), "targets": np.zeros(1, dtype=np.int64)}
    share = Classifier(nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1, 2)))
    nn.init.eye_(share.network[2].weight), nn.init.zeros_(share.network[2].bias)
    curve = insertion_curve(data(share.eval(), **given_), "zero")[0]
    inserted = np.minimum(np.arange(steps + 1) * pixels / maps.size, 1)
    assert curve == pytest.approx(1 / (1 + np.exp(-inserted)), abs=1e-6)


@pytest.mark.parametrize("metric", BOTH)
@pytest.mark.parametrize("tolerance", [0.1, 0.02, 0.001])
@pytest.mark.parametrize("sharpness", [4.0, 60.0])
def test_a_tolerance_leaves_steps_out_and_bounds_the_error_of_monotone_curves(metric, tolerance, sharpness):
    """A share of the image that rises, or falls, through a threshold which differs between samples."""
    ramps = np.linspace(0, 1, 64).reshape(1, 8, 8).repeat(6, axis=0)
    given_ = {"maps": ramps + np.arange(6)[:, None, None], "images": np.ones((6, 1, 8, 8)), "targets": np.zeros(6, int)}
    given_["images"] *= np.geomspace(0.3, 20, 6)[:, None, None, None]
    share = Classifier(nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1, 2))).double().eval()
    with torch.no_grad():
        share.network[2].weight[:], share.network[2].bias[:] = torch.tensor([[sharpness], [0]]), torch.tensor([-2.0, 0])
    passed, scores = [], []
    share.network[0].register_forward_hook(lambda _m, inputs, _o: passed.append(len(inputs[0])))
    for call in (f"{metric}:step=1,baseline=zero", f"{metric}:step=1,baseline=zero,tolerance={tolerance}"):
        passed.clear()
        scores.append(salgen.score(metrics=call, model=share, **given_)[call])
        passes = sum(passed)
    assert np.abs(scores[1] - scores[0]).max() <= tolerance
    assert passes < 6 * 64 * (0.3 if tolerance > 0.01 else 0.75)
    alone = [
        salgen.score(metrics=call, model=share, **{key: value[i : i + 1] for key, value in given_.items()})[call][0]
        for i in range(6)
    ]
    assert scores[1] == pytest.approx(alone, abs=1e-7)  # an image's steps do not depend on the others


def test_a_tiny_tolerance_takes_every_step_where_the_curve_moves():
    model, given_ = classifier(), case()
    known = data(model, **given_)
    for curve in (insertion_curve, deletion_curve):
        assert curve(known, "zero", 1, 1e-9) == pytest.approx(curve(known, "zero", 1), abs=1e-7)


def test_variants_are_their_formulas_on_their_references():
    model, given_ = classifier(), case()
    known = data(model, **given_)
    blur, black = insertion_curve(known, "blur", 3), insertion_curve(known, "black", 3)
    calls = {variant: f"insertion-auc:step=3,variant={variant}" for variant in ("petsiuk", "li2020", "saliency-bench")}
    given_.pop("twins")
    scores = salgen.score(metrics=[*calls.values(), "deletion-auc:step=3"], model=model, **given_)
    assert scores[calls["petsiuk"]] == pytest.approx([trapezoid(curve) for curve in blur], abs=1e-12)
    assert scores[calls["saliency-bench"]] == pytest.approx([trapezoid(curve) for curve in black], abs=1e-12)
    subtracted = [sum(value - curve[0] for value in curve) / len(curve) for curve in blur.tolist()]
    assert scores[calls["li2020"]] == pytest.approx(subtracted, abs=1e-12)
    assert min(subtracted) < 0 < max(subtracted)
    gone = [trapezoid(curve) for curve in deletion_curve(known, "zero", 3)]
    assert scores["deletion-auc:step=3"] == pytest.approx(gone, abs=1e-12)


def test_ties_depend_on_the_seed_and_the_id_alone():
    model, given_ = classifier(), case()
    maps = np.zeros_like(given_["maps"])
    maps[:, 2] = 1
    given_ |= {"maps": maps}
    del given_["twins"]
    ids = ["a", "b", "c", "d"]
    scores = salgen.score(metrics=BOTH, model=model, ids=ids, **given_)
    alone = salgen.score(metrics=BOTH, model=model, ids=["c"], **{key: value[2:3] for key, value in given_.items()})
    other_seed = salgen.score(metrics=BOTH, model=model, ids=ids, seed=1, **given_)
    other_ids = salgen.score(metrics=BOTH, model=model, ids=list("wxyz"), **given_)
    for name in BOTH:
        assert alone[name] == pytest.approx(scores[name][2:3], abs=1e-7)
        assert (other_seed[name] != scores[name]).all()
        assert (other_ids[name] != scores[name]).all()


def test_tied_pixels_are_in_no_order_of_their_places():
    """Over many samples every pixel of a plateau is as likely to be early; sorting by place would never mix them."""
    maps = np.zeros((400, 4, 4), dtype=np.float32)
    maps[:, 1:3] = 1
    ranks = pixel_ranks(maps, [Stream(0, "test", str(i)) for i in range(400)])
    assert (np.sort(ranks.reshape(400, -1), axis=1) == np.arange(16)).all()
    assert (ranks[:, 1:3] < 8).all()
    assert (ranks[:, [0, 3]] >= 8).all()
    mean = ranks.mean(axis=0)
    assert np.abs(mean[1:3] - 3.5).max() < 5 * np.sqrt((8**2 - 1) / 12 / 400)
    assert np.abs(mean[[0, 3]] - 11.5).max() < 5 * np.sqrt((8**2 - 1) / 12 / 400)


@given(arrays(np.float32, (3, 4), elements=st.floats(-10, 10, width=32)))
def test_ranks_descend_and_zero_equals_minus_zero(saliency):
    ranks = pixel_ranks(saliency[None], [Stream(0, "test")])[0].ravel()
    ordered = saliency.ravel()[np.argsort(ranks)]
    assert (ordered[:-1] >= ordered[1:]).all()
    signed = np.where(saliency == 0, -saliency, saliency)
    assert np.array_equal(pixel_ranks(signed[None], [Stream(0, "test")])[0].ravel(), ranks)


def test_both_share_the_order_of_ties():
    """From the twin to the image by a constant map: what insertion puts in first, deletion takes out first."""
    model, given_ = classifier(), case()
    given_["maps"] = np.zeros_like(given_["maps"])
    forward = insertion_curve(data(model, **given_), "twin", 6)
    swapped = {**given_, "images": np.stack(given_["twins"]), "twins": list(given_["images"])}
    assert deletion_curve(data(model, **swapped), "twin", 6) == pytest.approx(forward, abs=1e-6)


@pytest.mark.parametrize("size", [(1, 1), (1, 4), (3, 2), (12, 20)])
def test_blur_is_scipys_at_any_size_and_leaves_uniform_images(size):
    images = torch.randn(2, 3, *size, dtype=torch.float64)
    assert blurred(images).numpy() == pytest.approx(blurred_by_scipy(images.numpy(), (2, 3)), abs=1e-12)
    uniform = torch.full((1, 1, *size), 0.3, dtype=torch.float64)
    assert blurred(uniform).numpy() == pytest.approx(uniform.numpy(), abs=1e-12)


def test_a_sample_without_a_twin_has_no_value_and_others_keep_theirs():
    model, given_ = classifier(), case()
    names = [f"{name}:baseline=twin" for name in BOTH]
    every = salgen.score(metrics=names, model=model, **given_)
    given_["twins"][1] = None
    some = salgen.score(metrics=names, model=model, **given_)
    for name in names:
        assert some.reasons[name] == ["", "no_twin", "", ""]
        assert np.isnan([some[name][1], some.worst_case[name][1]]).all()
        assert np.delete(some[name], 1) == pytest.approx(np.delete(every[name], 1), abs=1e-7)
    none = salgen.score(metrics=names, model=model, **{**given_, "twins": [None] * 4})
    assert np.isnan(none[names[0]]).all()
    assert none.reasons[names[1]] == ["no_twin"] * 4


def test_twins_are_needed_only_where_they_are_the_reference():
    given_ = case()
    del given_["twins"]
    with pytest.raises(salgen.errors.SalgenError, match="twins="):
        salgen.score(metrics="insertion-auc:baseline=twin", model=classifier(), **given_)
    assert set(BOTH) <= set(salgen.score(metrics="faithfulness", model=classifier(), **given_))
    assert InsertionAuc(baseline="twin").needs == InsertionAuc().needs | {"twin"} == DeletionAuc(baseline="twin").needs


def test_a_model_that_resizes_is_changed_at_the_nearest_pixels():
    network = small_classifiers.classifier((10, 14)).network
    model = Classifier(network, nn.Upsample(scale_factor=2, mode="nearest")).double().eval()
    given_ = case()
    found = insertion_curve(data(model, **given_), "black", 4)
    for i, saliency in enumerate(given_["maps"]):
        image = torch.from_numpy(given_["images"][i]).double()
        pixelwise = Classifier(nn.Sequential(model.normalise, network))
        pixelwise.network.forward = lambda x: network(model.normalise(x))
        empty = torch.zeros_like(image)
        assert found[i] == pytest.approx(
            curve_by_hand(pixelwise, saliency, empty, image, given_["targets"][i], 4), abs=2e-7
        )


def test_two_variants_on_one_reference_and_parts_of_any_size_give_the_same():
    given_ = case()
    view = ModelView.of(classifier())
    calls = []
    view.network[0].register_forward_hook(lambda _m, inputs, _o: calls.append(len(inputs[0])))
    given_.pop("twins")
    salgen.score(metrics=["insertion-auc", "insertion-auc:variant=li2020"], model=view, **given_)
    assert sum(calls) == 4 * (5 + 1) + 2  # four images, their five steps, and two to see what it gives and takes
    small = data(view, **given_)
    small.predictor.batches.size = 3  # parts that straddle two images
    assert insertion_curve(small, "blur") == pytest.approx(insertion_curve(data(view, **given_), "blur"), abs=1e-7)
