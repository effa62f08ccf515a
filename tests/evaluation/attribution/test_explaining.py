import gc
import threading
import warnings
from dataclasses import replace
from functools import partial
import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from small_networks import Normalise, Of, batch_sizes
from torch import nn
import salgen
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.batch_explainer import BatchExplainer
from salgen.evaluation.attribution.reductions import REDUCTIONS, resize
from salgen.evaluation.methods.gradient import Gradient
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_trace import check_deterministic, forward_pass
from salgen.registry import METHODS
from salgen.testing.methods import state_of


@pytest.fixture
def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(3 * 6 * 8, 3))


IMAGES = np.random.default_rng(0).random((5, 2, 6, 8)).astype(np.float32)


def test_what_comes_back(network):
    found = salgen.explain(network, IMAGES, 0, method="lrp-alpha-beta", alpha=1, beta=0)
    assert (found.values.shape, found.values.dtype) == ((5, 6, 8), torch.float32)
    assert found.method == "lrp-alpha-beta:alpha=1,beta=0"
    assert (found.reduction, found.signed, found.native_resolution) == ("sum", True, (6, 8))
    raw = salgen.explain(network, IMAGES, 0, method="gradient", reduce=None)
    assert (raw.values.shape, raw.reduction, raw.signed) == ((5, 2, 6, 8), None, True)
    assert (raw.values < 0).any()


def test_what_explained_a_batch_is_freed_with_it(network):
    gc.collect()
    gc.disable()
    try:
        salgen.explain(network, IMAGES, 0, method=["gradient", "untrained"])
        assert not [found for found in gc.get_objects() if isinstance(found, BatchExplainer | AttributionContext)]
    finally:
        gc.enable()


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_a_reduction_is_applied_to_the_raw_map(network, reduction):
    raw = salgen.explain(network, IMAGES, 0, method="gradient", reduce=None).values
    found = salgen.explain(network, IMAGES, 0, method="gradient", reduce=reduction)
    assert torch.equal(found.values, REDUCTIONS[reduction](raw))
    assert found.reduction == reduction
    assert found.signed == bool((found.values < 0).any())


def test_reductions_by_hand():
    raw = torch.tensor([3.0, -4.0]).view(1, 2, 1, 1)
    expected = {"max_abs": 4, "sum_abs": 7, "sum": -1, "sum_pos": 3, "l2": 5, "abs": 1}
    assert {name: float(reduce(raw)) for name, reduce in REDUCTIONS.items()} == expected


SIDES = st.integers(1, 40)


@given(SIDES, SIDES, SIDES, SIDES, st.integers(0, 2**31), st.sampled_from([torch.float32, torch.float64]))
def test_resizing_is_bilinear(height, width, to_height, to_width, seed, dtype):
    maps = torch.randn(2, 3, height, width, generator=torch.Generator().manual_seed(seed)).to(dtype)
    size = (to_height, to_width)
    expected = nn.functional.interpolate(maps.double(), size, mode="bilinear", align_corners=False)
    found = resize(maps, size)
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=1e-5 if dtype == torch.float32 else 1e-13)
    assert bool((found.amin(dim=(2, 3)) >= maps.amin(dim=(2, 3))).all())
    assert bool((found.amax(dim=(2, 3)) <= maps.amax(dim=(2, 3))).all())


@given(SIDES, SIDES, st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=12))
@example(33, 47, [0.1] * 7).via("torch's own resizing is off by a rounding")
def test_resizing_keeps_the_order_and_plateaus(height, width, values):
    """A row that never falls gives one that never falls; equal rows stay exactly equal."""
    row = torch.tensor(sorted(values))
    found = resize(row.expand(1, 1, 3, -1), (height, width))[0, 0]
    assert bool((found.diff(dim=1) >= 0).all())
    assert torch.equal(found, found[:1].expand_as(found))
    assert row[0] <= found.min()
    assert found.max() <= row[-1]
    column = resize(row.expand(1, 1, 3, -1).mT, (width, height))[0, 0]
    assert torch.equal(column, found.mT)


TWO = [2, np.int64(2), [2] * 5, np.full(5, 2), np.full(5, 2, np.uint8), torch.full((5,), 2), torch.tensor(2)]


@pytest.mark.parametrize("targets", [None, "pred", *TWO])
def test_targets_may_be_written_in_many_ways_and_are_predicted_by_default(network, targets):
    predicted = targets is None or isinstance(targets, str)
    classes = network(torch.from_numpy(IMAGES)).argmax(dim=1) if predicted else [2, 2, 2, 2, 2]
    expected = salgen.explain(network, IMAGES, classes, method="gradient").values
    assert torch.equal(salgen.explain(network, IMAGES, targets, method="gradient").values, expected)


OTHER_FORMS = [IMAGES.astype(np.float64), IMAGES[..., ::-1][..., ::-1], torch.tensor(IMAGES).requires_grad_()]


@pytest.mark.parametrize("images", OTHER_FORMS)
def test_images_may_be_any_floating_array(network, images):
    expected = salgen.explain(network, IMAGES, 0, method="gradient").values
    torch.testing.assert_close(salgen.explain(network, images, 0, method="gradient").values, expected)


def test_a_method_may_be_a_name_a_call_or_an_instance(network):
    expected = salgen.explain(network, IMAGES, 0, method="smoothgrad", n=2, noise=0.3)
    instance = METHODS.create("smoothgrad", {"n": 2, "noise": 0.3})
    for method, parameters in [("smoothgrad:n=2,noise=0.3", {}), ("smoothgrad:n=2", {"noise": 0.3}), (instance, {})]:
        found = salgen.explain(network, IMAGES, 0, method=method, **parameters)
        assert torch.equal(found.values, expected.values)
        assert found.method == expected.method == "smoothgrad:n=2,noise=0.3"
    changed = salgen.explain(network, IMAGES, 0, method=instance, n=3)
    assert changed.method == "smoothgrad:n=3,noise=0.3"


def test_the_input_space_is_the_normalised_one(network):
    inputs, model = (torch.from_numpy(IMAGES) - 0.5) / 0.25, Classifier(network, Normalise(0.5, 0.25))
    for method in ("gradient", "input-x-gradient", "lrp-z", "guided-backprop"):
        wrapped = salgen.explain(model, IMAGES, 0, method=method, reduce=None).values
        bare = salgen.explain(network, inputs, 0, method=method, reduce=None).values
        torch.testing.assert_close(wrapped, bare)


def test_a_normalisation_may_resize(network):
    model = Classifier(network, nn.Upsample(size=(6, 8)))
    found = salgen.explain(model, np.ones((2, 2, 12, 20), np.float32), 0, method="gradient")
    assert found.values.shape == (2, 12, 20)
    assert found.native_resolution == (6, 8)


# State ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
@pytest.mark.parametrize("method", ["gradient", "lrp-z", "grad-cam", "integrated-gradients", "untrained"])
def test_any_gradient_mode_gives_the_same_map_and_stays(network, mode, method):
    expected = salgen.explain(network, IMAGES, 0, method=method).values
    with mode():
        images = torch.from_numpy(IMAGES) * 1.0
        before = torch.is_grad_enabled(), torch.is_inference_mode_enabled(), state_of(network)
        assert torch.equal(salgen.explain(network, images, 0, method=method).values, expected)
        assert (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), state_of(network)) == before


# Faults -----------------------------------------------------------------------------------------


NO_NAMES = ([], "", ["0", ""])
FAULTS = [
    ({"method": "gradeint"}, "unknown method 'gradeint': did you mean 'gradient'"),
    ({"method": "lrp-z", "epsilon": 1}, "unknown parameter of lrp-z 'epsilon'"),
    ({"method": object()}, "method <object.*: give a name, .* an instance of a registered method"),
    *(({"method": "grad-cam", "layer": layer}, "layer = .*: give the dotted name of a module") for layer in NO_NAMES),
    ({"reduce": "mean"}, "unknown reduction 'mean'"),
    ({"model": None}, "'gradient' explains a model"),
    ({"model": "resnet18"}, "model is str: must be a torch.nn.Module"),
    ({"images": (IMAGES * 255).astype(np.uint8)}, "images are uint8: must be float32.*divide by 255"),
    ({"images": IMAGES[0]}, r"images have shape \(2, 6, 8\): must be \(N, C, H, W\)"),
    ({"images": IMAGES[:0]}, r"images have shape \(0, 2, 6, 8\)"),
    ({"images": np.where(IMAGES[3, 0, 0, 0] == IMAGES, np.nan, IMAGES)}, "image 3 has NaN or infinite values"),
    ({"images": IMAGES - 2, "preprocess": ((0, 0), (1, 1))}, "images reach -.*: give them before normalisation"),
    ({"images": IMAGES * 255, "preprocess": ((0, 0), (1, 1))}, "images reach 25.*: divide them by 255"),
    ({"images": "cat.png"}, "images are not an array"),
    ({"targets": [0, 1]}, r"targets are int64 \(2,\): must be integers \(5,\), one class per image, or 'pred'"),
    ({"targets": [0, 0, -1, 0, 0]}, "target -1: the model has 3 classes"),
    ({"targets": 1.0}, "targets are float64 .*: must be integers"),
    ({"targets": "label"}, "targets are not an array|must be integers"),
    ({"masks": np.ones((5, 6, 8))}, r"masks are float64 \(5, 6, 8\): must be bool \(5, 6, 8\)"),
    ({"ids": ["a"]}, "1 ids for 5 images"),
    ({"seed": -1}, "seed = -1: must be an integer of 0 or more"),
    ({"batch_size": 0}, "batch_size = 0"),
]


@pytest.mark.parametrize(("changes", "words"), FAULTS)
def test_faults_in_one_line(network, changes, words):
    with pytest.raises(SalgenError, match=words):
        salgen.explain(**{"model": network, "images": IMAGES, "targets": 0, "method": "gradient", **changes})


class Odd(nn.Module):
    """A linear network, with something done to its signal or its logits."""

    def __init__(self, before=lambda x: x, after=lambda logits: logits):
        super().__init__()
        torch.manual_seed(0)
        self.dense, self.before, self.after = nn.Linear(96, 2), before, after

    def forward(self, x):
        return self.after(self.dense(self.before(x).flatten(1)))


def one_infinite(logits):
    return logits / (torch.arange(len(logits)) != 4)[:, None]


OUTPUTS = [
    (one_infinite, r"NaN or infinite \(image 4"),
    (lambda logits: logits / 0, "NaN or infinite"),
    (lambda logits: logits[:, :, None].expand(-1, -1, 2), r"shape \(1, 2, 2\): must be logits \(1, K\)"),
    (lambda logits: logits[:1], r"shape \(1, 2\): must be logits \(2, K\)"),
    (lambda logits: {"cat": logits, "dog": logits}, r"returns dict of cat: \(1, 2\), dog: \(1, 2\): it must return"),
    (lambda logits: (logits, logits), r"returns tuple of 0: \(1, 2\), 1: \(1, 2\): it must return logits"),
    (lambda logits: None, "returns NoneType: it must return logits"),
]


@pytest.mark.parametrize(("change", "words"), OUTPUTS)
@pytest.mark.parametrize("method", ["gradient", "integrated-gradients", "guided-backprop"])
@pytest.mark.parametrize("targets", [None, 0])
def test_models_that_return_no_logits(change, words, method, targets):
    with pytest.raises(SalgenError, match=words):
        salgen.explain(Odd(after=change), IMAGES, targets, method=method)


def test_a_model_that_cannot_be_copied_says_why():
    model = Odd()
    model.lock = threading.Lock()
    with pytest.raises(SalgenError, match=r"cannot be copied: .*lock"):
        salgen.explain(model, IMAGES, 0, method="gradient")


def test_a_method_of_the_wrong_shape_is_named(network, monkeypatch):
    monkeypatch.setattr(Gradient, "attribute", lambda self, context: context.inputs[:, 0])
    with pytest.raises(SalgenError, match=r"method 'gradient' returned \(5, 6, 8\) for 5 images"):
        salgen.explain(network, IMAGES, 0, method="gradient")


# What is wrong with a call is said before any work -------------------------------------------------


@pytest.mark.parametrize(
    ("method", "arguments", "says"),
    [
        ("pattern-net", {}, "pattern-net needs patterns: give patterns=salgen.fit_patterns"),
        ("expected-gradients", {}, "expected-gradients compares with other images: give references="),
        ("expected-gradients", {"references": torch.zeros(1, 1, 5, 5)}, r"references have shape \(1, 1, 5, 5\) and"),
        ("oracle", {}, "oracle is made from the ground truth: give masks="),
        ("eigen-cam", {"targets": 99}, "target 99: the model has 3 classes"),
        ("gradient", {"score": None}, "unknown score 'None'"),
    ],
)
def test_nothing_runs_before_the_call_is_right(network, method, arguments, says):
    seen = batch_sizes(network)
    with pytest.raises(SalgenError, match=says):
        salgen.explain(network, IMAGES, method=["rise:n=50", method], **arguments)
    assert set(seen) <= {1, 2}  # a first look, before the five


@pytest.mark.parametrize("method", ["gradient", "rise:n=2", "lrp-z", "grad-cam"])
def test_images_that_the_model_does_not_take_are_one_line(network, method):
    for shape, says in [
        ((2, 3, 6, 8), "the network takes 2 channels, the images have 3: give images of 2"),
        ((2, 1, 6, 8), r"network takes 2 channels, the images have 1: repeat the channel, images.repeat\(1, 2, 1, 1\)"),
        ((2, 2, 2, 2), r"the model \(.*\) fails on an image of .*does it take this many channels"),
    ]:
        with pytest.raises(SalgenError, match=says):
            salgen.explain(network, np.zeros(shape, np.float32), 0, method=method)


def test_images_that_look_like_bytes_are_doubted(network):
    with pytest.warns(SalgenWarning, match=r"images reach 25.*: divide them by 255 if the model takes pixels in"):
        salgen.explain(network, IMAGES * 255, 0, method="gradient")


def test_several_methods_take_the_parameters_and_give_the_maps_of_one(network):
    found = salgen.explain(network, IMAGES, 0, method=["smoothgrad", "smooth-grad-cam++"], n=2)
    assert list(found) == ["smoothgrad:n=2", "smooth-grad-cam++:n=2"]
    for call, maps in found.items():
        assert torch.equal(maps.values, salgen.explain(network, IMAGES, 0, method=call).values)
    for chosen in (["smoothgrad:n=2", "gradient"], ["smoothgrad:n=2"]):
        assert list(salgen.explain(network, IMAGES, 0, method=[c.partition(":")[0] for c in chosen], n=2)) == chosen
    with pytest.raises(SalgenError, match="no method of the list has the parameter n"):
        salgen.explain(network, IMAGES, 0, method=["gradient", "grad-cam"], n=2)
    assert repr(found).startswith("Explained(SaliencyMap('smoothgrad:n=2', values (5, 6, 8)), ")


@pytest.mark.parametrize("given", ["plain", "behind another", "view"])
def test_images_are_prepared_as_preprocess_says(network, given):
    model = {
        "plain": network, "behind another": Classifier(network, Normalise(0.1, 3.0)), "view": ModelView.of(network)
    }[given]  # fmt: skip
    for method in ("gradient", "input-x-gradient", "occlusion:baselines=black"):
        expected = salgen.explain(Classifier(network, Normalise(0.5, 0.25)), IMAGES, 0, method=method).values
        found = salgen.explain(model, IMAGES, 0, method=method, preprocess=((0.5, 0.5), (0.25, 0.25))).values
        torch.testing.assert_close(found, expected)
    with pytest.raises(SalgenError, match="preprocess is str: give a "):
        salgen.explain(model, IMAGES, 0, method="gradient", preprocess="imagenet")


# Baselines ----------------------------------------------------------------------------------------

COMPARING = [
    *("integrated-gradients:steps=3", "gradient-shap:n=2,noise=0", "deep-lift", "occlusion:stride=1"),
    *("kernel-shap:cells=2,n=40,output=score", "lime:cells=2,n=9"),
]
OTHERS = np.random.default_rng(1).random(IMAGES.shape).astype(np.float32)


@pytest.mark.parametrize("method", COMPARING)
def test_baselines_are_pixels_in_any_form(network, method):
    model = Classifier(network, Normalise(0.5, 0.25))
    explain = partial(salgen.explain, model, targets=0, method=method, batch_size=2)
    grey = explain(IMAGES, baselines=0.5)
    assert "baselines=0.5" in grey.method
    usual = grey if method.startswith("occlusion") else explain(IMAGES, baselines=0.0)  # zero or black
    torch.testing.assert_close(explain(IMAGES).values, usual.values)
    for same in ("0.5", "zero", np.full((2, 6, 8), 0.5), torch.full((2, 1, 1), 0.5), np.full(IMAGES.shape, 0.5)):
        torch.testing.assert_close(explain(IMAGES, baselines=same).values, grey.values)
    each = explain(IMAGES, baselines=OTHERS)
    assert "baselines=given" in each.method
    for place in (0, 4):
        alone = explain(IMAGES[place : place + 1], baselines=OTHERS[place], ids=[str(place)]).values[0]
        torch.testing.assert_close(each.values[place], alone)
    assert not torch.allclose(each.values, grey.values)


@pytest.mark.parametrize(
    ("method", "score"),
    [
        ("deep-lift", "logit"),
        ("integrated-gradients:steps=300,quadrature=midpoint", "logit"),
        ("integrated-gradients:steps=300", "margin"),
    ],
)
def test_a_map_that_sums_to_the_difference_from_its_baseline(network, method, score):
    first, other = (network(torch.from_numpy(images)).detach() for images in (IMAGES, OTHERS))
    values = [logits[:, 0] - (score == "margin") * logits[:, 1:].amax(dim=1) for logits in (first, other)]
    found = salgen.explain(network, IMAGES, 0, method=method, baselines=OTHERS, score=score).values
    torch.testing.assert_close(found.sum(dim=(1, 2)), values[0] - values[1], rtol=1e-2, atol=3e-3)


@pytest.mark.parametrize(
    ("method", "baselines", "says"),
    [
        ("gradient", 0, "unknown parameter of gradient 'baselines'"),
        (["grad-cam", "gradient"], 0, "no method of the list has the parameter baselines"),
        ("lime", "grey", "lime: baselines = 'grey': must be one of black, zero, float, given"),
        ("lime", IMAGES[:2], r"baselines have shape \(2, 2, 6, 8\) and images \(5, 2, 6, 8\): must be \(C, H, W\)"),
        ("lime:baselines=given", None, "baselines=given stands for an array: give it as baselines="),
    ],
)
def test_baselines_that_are_none(network, method, baselines, says):
    with pytest.raises(SalgenError, match=says):
        salgen.explain(network, IMAGES, 0, method=method, baselines=baselines)


# Plots --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_a_plot_has_a_row_for_each_image_beside_its_maps(channels):
    images = torch.rand(3, channels, 6, 8) * 4 - 2
    network = nn.Sequential(nn.Conv2d(channels, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 2))
    maps = salgen.explain(network, images, 0, method=["gradient", "grad-cam:layer=0"], reduce="sum", ids=[*"abc"])
    figure = maps.plot()
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == ["image", "gradient", "grad-cam:layer=0", *[""] * 6]
    assert [ax.get_ylabel() for ax in figure.axes[::3]] == ["a", "b", "c"]
    signed = figure.axes[4].images[0]
    np.testing.assert_array_equal(signed.get_array(), maps["gradient"].values[1])
    assert signed.norm.vcenter == 0
    assert signed.cmap.name == "RdBu_r"
    cam = figure.axes[5].images[0]
    assert (cam.cmap.name, cam.norm.vmin) == ("viridis", float(maps["grad-cam:layer=0"].values[1].min()))
    shown = figure.axes[3].images[0].get_array()
    assert shown.shape == ((6, 8, 3) if channels == 3 else (6, 8))
    assert 0 <= shown.min() < shown.max() <= 1


def test_a_plot_of_one_method_and_of_raw_attributions(network):
    raw = salgen.explain(network, IMAGES, 0, method="gradient", reduce=None)
    figure = raw.plot(max_images=2)
    assert len(figure.axes) == 4
    np.testing.assert_allclose(figure.axes[3].images[0].get_array(), raw.values[1].sum(dim=0), rtol=1e-5, atol=1e-7)
    assert len(replace(raw, images=None).plot().axes) == 5


# Models whose maps would mean nothing --------------------------------------------------------------


@pytest.mark.parametrize("method", ["gradient", "grad-cam:layer=dense", "occlusion", "lrp-z"])
def test_a_model_that_takes_one_image_but_not_two_is_refused(method):
    with pytest.raises(SalgenError, match=r"takes one image of \(2, 6, 8\) but not two"):
        salgen.explain(Odd(lambda x: x.view(1, 2, 6, 8)), IMAGES[:1], 0, method=method)


def without_backward(x):
    if x.requires_grad:
        x.register_hook(lambda _: {}["no gradient"])
    return x


def bright_only(x):
    assert float(x.detach().max()) < 2, "too bright\nfor this sensor"
    return x


MAPS = np.ones((5, 6, 8))


@pytest.mark.parametrize("method", ["gradient", "occlusion", "lrp-z"])
@pytest.mark.parametrize(
    ("model", "says"),
    [
        (Odd(lambda x: {"images": x}["logits"]), "the model .Odd. fails on an image of .2, 6, 8.*KeyError: 'logits'"),
        (Odd(lambda x: bright_only(x + 2)), "the model .Odd. .*AssertionError: too bright for this sensor"),
        (Odd().to("meta"), "the model .Odd. is on the device meta"),
    ],
)
def test_whatever_a_model_raises_is_one_line_that_names_it(model, says, method):
    calls = [
        lambda: salgen.explain(model, IMAGES, 0, method=method),
        lambda: salgen.fit_patterns(model, IMAGES),
        lambda: salgen.score(MAPS, MAPS > 0, ["insertion-auc"], model=model, images=IMAGES, targets=[0] * 5),
    ]
    for call in calls:
        with pytest.raises(SalgenError, match=says):
            call()


def test_a_model_that_fails_on_a_later_image_is_one_line():
    images = IMAGES.copy()
    images[4] += 3
    for call in (
        lambda: salgen.explain(Odd(bright_only), images, 0, method="gradient"),
        lambda: salgen.fit_patterns(Odd(bright_only), images),
    ):
        with pytest.raises(SalgenError, match=r"the model \(Odd\) .*AssertionError: too bright"):
            call()


def test_an_error_of_the_backward_pass_is_one_line():
    with pytest.raises(SalgenError, match=r"\(Odd\) has no gradient on .*KeyError: 'no gradient'"):
        salgen.explain(Odd(lambda x: without_backward(1 * x)), IMAGES, 0, method="gradient")


def test_an_interrupt_is_no_error_of_the_model():
    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        salgen.explain(Odd(interrupt), IMAGES, 0, method="gradient")


@pytest.mark.parametrize("method", ["gradient", "occlusion", "lrp-z", "grad-cam"])
def test_a_network_that_flattens_by_view_takes_images_in_any_memory_format(method):
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), Of(lambda x: x.view(-1, 72)), nn.Linear(72, 2))
    images = torch.from_numpy(IMAGES)
    strided = images.to(memory_format=torch.channels_last)
    with pytest.raises(RuntimeError, match="view size"):
        model(strided)
    expected = salgen.explain(model, images, 0, method=method).values
    assert torch.equal(salgen.explain(model, strided, 0, method=method).values, expected)


def test_random_numbers_in_the_forward_pass_are_refused_and_leave_no_trace():
    model, before = Odd(lambda x: x + torch.rand_like(x)), torch.get_rng_state()
    with pytest.raises(SalgenError, match="draws random numbers"):
        salgen.explain(model, IMAGES, 0, method="gradient")
    assert torch.equal(torch.get_rng_state(), before)


def test_a_model_that_looks_at_its_batch_is_said():
    with pytest.warns(SalgenWarning, match="depends on the other images of its batch"):
        salgen.explain(Odd(lambda x: x - x.mean()), IMAGES, 0, method="gradient")


def test_the_answer_beside_others_is_compared_with_that_of_the_same_image():
    view = ModelView.of(Odd())
    first, second = torch.rand(2, 1, 3, 4, 8)
    forward_pass(view, first)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_deterministic(view, 3 * second)


@pytest.mark.parametrize("method", ["gradient", "input-x-gradient"])
def test_an_output_without_gradient_is_refused_unless_it_is_constant(method):
    with pytest.raises(SalgenError, match="has no gradient"):
        salgen.explain(Odd(after=torch.detach), IMAGES, 0, method=method)
    constant = salgen.explain(Odd(after=lambda logits: torch.ones(len(logits), 2)), IMAGES, 0, method=method)
    assert not constant.values.any()


GREY = torch.rand(3, 1, 8, 8, generator=torch.Generator().manual_seed(0)) + 0.1


def dead(bias):
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(72, 2))
    nn.init.constant_(net[0].bias, bias)
    return net


def said(view, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        salgen.explain(view, GREY, 0, **options)
    return [str(warning.message) for warning in caught if warning.category is SalgenWarning]


def test_maps_of_nothing_are_said_once():
    view = ModelView.of(dead(-100.0))
    (text,) = said(view, method=["gradient", "center"])
    assert text.startswith("gradient: 3 of 3 maps are zero everywhere")
    assert said(view, method=["gradient"]) == []
    assert said(ModelView.of(dead(0.0)), method=["gradient", "oracle"], masks=GREY[:, 0] > 5) == []


@pytest.mark.parametrize(("value", "kind"), [(2.0, "constant"), (torch.inf, "not finite"), (0.0, "zero everywhere")])
def test_each_kind_is_named(value, kind, monkeypatch):
    monkeypatch.setattr(Gradient, "attribute", lambda self, context: torch.full_like(context.inputs, value))
    assert any(f"3 of 3 maps are {kind}" in text for text in said(ModelView.of(dead(0.0)), method=["gradient"]))


def test_gradients_are_single_precision_within_autocast():
    view = ModelView.of(dead(0.0))
    maps = [salgen.explain(view, GREY, 0, method="gradient").values]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        maps.append(salgen.explain(view, GREY, 0, method="gradient").values)
    assert torch.equal(*maps)
