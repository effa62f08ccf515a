"""Functions, and classes and objects of other libraries, as methods: each gives what a direct call gives."""

import pickle
from functools import partial

import captum.attr
import numpy as np
import pytorch_grad_cam
import pytest
import torch
import torchvision
import zennit.attribution
import zennit.canonizers
import zennit.composites
import zennit.rules
from pytorch_grad_cam.utils.model_targets import ClassifierOutputSoftmaxTarget, ClassifierOutputTarget
from torch import nn

import salgen
from salgen.errors import SalgenError
from salgen.evaluation.attribution.foreign_methods import ForeignMethodError, foreign_method
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.model_view import ModelView

TARGETS = torch.tensor([2, 0, 1])
GIVEN = {"reduce": None, "targets": TARGETS}


def cnn():
    torch.manual_seed(0)
    layers = [nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 6, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(24, 4)).eval()


def vit():
    torch.manual_seed(0)
    sizes = {"num_layers": 3, "num_heads": 2, "hidden_dim": 8, "mlp_dim": 16}
    made = torchvision.models.VisionTransformer(32, 8, num_classes=4, **sizes).eval()
    nn.init.normal_(made.heads.head.weight)  # they begin at 0
    return made


def grid_of_tokens(tokens):
    return tokens[:, 1:].reshape(len(tokens), 4, 4, -1).movedim(3, 1)


IMAGES = torch.rand(3, 3, 32, 32, generator=torch.Generator().manual_seed(1))
NETWORKS = {"cnn": (cnn, "3"), "vit": (vit, "encoder.layers.encoder_layer_1")}


@pytest.fixture(params=NETWORKS)
def network(request):
    make, layer = NETWORKS[request.param]
    made = make()
    made.cam_layer = layer
    return made.requires_grad_(False)  # as salgen's copies are: gradients of weights change the last digits of others


def normalised():
    """A Classifier: what is bound to it takes pixels, what is bound to its network takes normalised images."""
    return Classifier(cnn(), torchvision.transforms.Normalize([0.4, 0.5, 0.6], [0.2, 0.3, 0.4]), "3").eval()


def leaf(images=IMAGES):
    return images.clone().requires_grad_()


def one_hot():
    return torch.eye(4)[TARGETS]


def same(saliency, expected):
    values = torch.as_tensor(expected).detach()
    return torch.equal(saliency.values, values[:, None] if values.ndim == 3 else values)


def cam(kind, network, **options):
    tokens = isinstance(network, torchvision.models.VisionTransformer)
    layers = [network.get_submodule(network.cam_layer)]
    return kind(network, layers, reshape_transform=grid_of_tokens if tokens else None, **options)


def goals(kind=ClassifierOutputTarget):
    return [kind(int(target)) for target in TARGETS]


# What each library gives -------------------------------------------------------------------------------


CAPTUM = {
    "Saliency": ({}, {"abs": False}),
    "InputXGradient": ({}, {}),
    "IntegratedGradients": ({"multiply_by_inputs": False}, {"n_steps": 5}),
    "Occlusion": ({}, {"sliding_window_shapes": (3, 8, 8), "strides": (3, 8, 8)}),
}


@pytest.mark.parametrize("name", CAPTUM)
def test_captum(name, network):
    made, called = CAPTUM[name]
    kind = getattr(captum.attr, name)
    expected = kind(network, **made).attribute(leaf(), target=TARGETS, **called)
    text = ",".join(f"{key}={value}" for key, value in {**made, **called}.items())
    methods = {
        "class": partial(kind, **made, **called),
        "object": partial(kind(network, **made).attribute, **called),
        "text": f"captum.attr:{name}:{text}".strip(":"),
    }
    found = salgen.explain_all(network, IMAGES, methods=methods, **GIVEN)
    assert list(found) == list(methods)
    assert all(same(maps, expected) and maps.signed for maps in found.values())


@pytest.mark.parametrize("kind", [captum.attr.LayerGradientXActivation, captum.attr.LayerActivation])
def test_captum_of_a_layer_with_tokens_on_their_grid(kind, network):
    attribution = kind(network, network.get_submodule(network.cam_layer))
    stated = {} if kind is captum.attr.LayerActivation else {"target": TARGETS}
    expected = attribution.attribute(leaf(), **stated)
    expected = grid_of_tokens(expected) if expected.ndim == 3 else expected
    given = {"class": kind, "named": partial(kind, layer=network.cam_layer), "object": attribution}
    for maps in salgen.explain_all(network, IMAGES, methods=given, **GIVEN).values():
        assert maps.native_resolution == tuple(expected.shape[2:])
        assert torch.equal(maps.values, salgen.evaluation.attribution.reductions.resize(expected.detach(), (32, 32)))


def test_captum_of_a_cnn_alone():
    model = cnn()
    cam = captum.attr.LayerGradCam(model, model[3])
    expected = cam.attribute(leaf(), target=TARGETS)
    raw = salgen.explain(model, IMAGES, method=cam, **GIVEN)
    assert torch.equal(raw.values, salgen.evaluation.attribution.reductions.resize(expected.detach(), (32, 32)))
    guided = captum.attr.GuidedGradCam(model, model[3])
    assert same(salgen.explain(model, IMAGES, method=guided, **GIVEN), guided.attribute(leaf(), target=TARGETS))
    assert same(
        salgen.explain(model, IMAGES, method=captum.attr.GuidedGradCam, layer="3", **GIVEN),
        guided.attribute(leaf(), target=TARGETS),
    )
    noisy = captum.attr.NoiseTunnel(captum.attr.Saliency(model))
    once = salgen.explain(model, IMAGES, method=noisy, nt_samples=2, **GIVEN)
    alone = salgen.explain(model, IMAGES[1:2], TARGETS[1], method=noisy, nt_samples=2, ids=["1"], reduce=None)
    assert torch.equal(once.values[1:2], alone.values)
    assert not torch.equal(
        once.values, salgen.explain(model, IMAGES, method=noisy, nt_samples=2, seed=1, **GIVEN).values
    )


@pytest.mark.parametrize(
    "name", ["GradCAM", "HiResCAM", "EigenCAM", "ScoreCAM", "AblationCAM", "RefineCAM", "KPCA_CAM"]
)
def test_pytorch_grad_cam(name, network):
    if name == "AblationCAM" and network.cam_layer != "3":
        pytest.skip("it takes another ablation layer for tokens")
    kind = getattr(pytorch_grad_cam, name)
    theirs = cam(kind, network)
    expected = theirs(leaf(), targets=goals())
    given = {"class": kind, "object": theirs, "text": f"pytorch_grad_cam:{name}:layer={network.cam_layer}"}
    found = salgen.explain_all(network, IMAGES, methods=given, **GIVEN)
    assert all(same(maps, expected) and not maps.signed for maps in found.values())
    assert np.array_equal(theirs(leaf(), targets=goals()), expected), "the object is as it was"
    assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in network.parameters())


def test_options_and_targets_of_pytorch_grad_cam(network):
    theirs = cam(pytorch_grad_cam.GradCAM, network)
    expected = theirs(leaf(), targets=goals(ClassifierOutputSoftmaxTarget), eigen_smooth=True)
    named = "pytorch_grad_cam:GradCAM:targets=ClassifierOutputSoftmaxTarget,eigen_smooth=true"
    for method in (partial(theirs, targets=ClassifierOutputSoftmaxTarget, eigen_smooth=True), named):
        assert same(salgen.explain(network, IMAGES, method=method, **GIVEN), expected)


def test_finer_cam_compares_the_target_with_its_neighbours(network):
    theirs = cam(pytorch_grad_cam.FinerCAM, network)
    pairs = zip(IMAGES[:, None], TARGETS.tolist(), strict=True)
    expected = np.concatenate([theirs(leaf(image), target_idx=target, alpha=0.5) for image, target in pairs])
    for method in (pytorch_grad_cam.FinerCAM, theirs):
        assert same(salgen.explain(network, IMAGES, method=method, alpha=0.5, **GIVEN), expected)
    plain = salgen.explain(network, IMAGES, method=pytorch_grad_cam.GradCAM, **GIVEN)
    assert not same(plain, expected)


def lrp():
    """Merges batch normalisation into convolutions, and has a rule for what both networks have."""
    rules = [(nn.Conv2d, zennit.rules.ZPlus()), (nn.Linear, zennit.rules.Epsilon())]
    return zennit.composites.LayerMapComposite(rules, [zennit.canonizers.SequentialMergeBatchNorm()])


def test_zennit(network):
    with zennit.attribution.Gradient(network, lrp()) as attributor:
        expected = attributor(leaf(), one_hot())[1]
    given = {"composite": lrp(), "object": zennit.attribution.Gradient(network, lrp())}
    found = salgen.explain_all(network, IMAGES, methods=given, **GIVEN)
    assert all(same(maps, expected) for maps in found.values())
    integrated = zennit.attribution.IntegratedGradients
    expected = integrated(network, n_iter=3)(leaf(), one_hot())[1]
    assert same(salgen.explain(network, IMAGES, method=integrated, n_iter=3, **GIVEN), expected)


def test_composites_of_zennit_by_class():
    network = cnn()
    with zennit.attribution.Gradient(network, zennit.composites.EpsilonPlusFlat(epsilon=0.1)) as attributor:
        expected = attributor(leaf(), one_hot())[1]
    kind = partial(zennit.composites.EpsilonPlusFlat, epsilon=0.1)
    for method in (kind, "zennit.composites:EpsilonPlusFlat:epsilon=0.1"):
        assert same(salgen.explain(network, IMAGES, method=method, **GIVEN), expected)


def test_what_is_bound_to_a_classifier_takes_pixels():
    model = normalised()
    of_pixels, of_inputs = (
        captum.attr.Saliency(
            model,
        ),
        captum.attr.Saliency(model.network),
    )
    expected = [
        of_pixels.attribute(leaf(), target=TARGETS),
        of_inputs.attribute(leaf(model.normalise(IMAGES)), target=TARGETS),
    ]
    methods = {"pixels": of_pixels, "inputs": of_inputs, "class": captum.attr.Saliency}
    found = salgen.explain_all(model, IMAGES, methods=methods, **GIVEN)
    assert same(found["pixels"], expected[0])
    assert same(found["inputs"], expected[1])
    assert same(found["class"], expected[1])
    assert not torch.equal(*expected)


# Functions --------------------------------------------------------------------------------------------


def gradient(model, inputs, targets, power=1):
    """In the form of Quantus."""
    inputs.requires_grad_()
    model(inputs).gather(1, targets[:, None]).sum().backward()
    return inputs.grad**power


def low(model, inputs, targets):
    return np.arange(len(inputs) * 16).reshape(-1, 4, 4)


low.signed = False


def noise(model, inputs, targets):
    return torch.rand(len(inputs), 1, 8, 8) * np.random.rand()  # noqa: NPY002


def test_functions(network):
    expected = salgen.explain(network, IMAGES, method="gradient", **GIVEN).values
    methods = ["gradient", {"mine": gradient}, low]
    found = salgen.explain_all(
        network, IMAGES, methods=["gradient", gradient, partial(gradient, power=2), low], **GIVEN
    )
    assert list(found) == ["gradient", "gradient_", "gradient:power=2", "low"]


def test_of_random_numbers_each_image_has_its_own():
    state = torch.get_rng_state()
    given = {"method": noise, "reduce": None}
    whole = salgen.explain(cnn(), IMAGES, TARGETS, **given).values
    parts = [
        salgen.explain(cnn(), IMAGES[i : i + 1], TARGETS[i : i + 1], ids=[str(i)], **given).values for i in range(3)
    ]
    assert torch.equal(whole, torch.cat(parts))
    assert not torch.equal(whole[0], whole[1])
    assert not torch.equal(whole, salgen.explain(cnn(), IMAGES, TARGETS, seed=1, **given).values)
    assert torch.equal(torch.get_rng_state(), state)
