"""Functions, and classes and objects of other libraries, as methods: each gives what a direct call gives."""

import pickle
import sys
from functools import partial
from importlib.metadata import version
from itertools import product
import captum.attr
import numpy as np
import pytest
import pytorch_grad_cam
import torch
import torchvision
import zennit.attribution
import zennit.canonizers
import zennit.composites
import zennit.rules
from own_modules import write_modules
from pytorch_grad_cam.utils.model_targets import ClassifierOutputSoftmaxTarget, ClassifierOutputTarget
from torch import nn
import salgen
from salgen.errors import FailedMethodError, SalgenError
from salgen.evaluation.attribution.foreign_methods import foreign_method
from salgen.evaluation.attribution.reductions import resize
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.model_view import ModelView

TARGETS = torch.tensor([2, 0, 1])
GIVEN = {"reduce": None, "targets": TARGETS}


def cnn():
    torch.manual_seed(0)
    layers = [nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 6, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2)]
    made = nn.Sequential(*layers, nn.Flatten(), nn.Linear(24, 4)).eval()
    made.cam_layer = "3"
    return made


def vit():
    torch.manual_seed(0)
    sizes = {"num_layers": 3, "num_heads": 2, "hidden_dim": 8, "mlp_dim": 16}
    made = torchvision.models.VisionTransformer(32, 8, num_classes=4, **sizes).eval()
    nn.init.normal_(made.heads.head.weight)  # they begin at 0
    made.cam_layer = "encoder.layers.encoder_layer_1"
    return made


def grid_of_tokens(tokens):
    return tokens[:, 1:].reshape(len(tokens), 4, 4, -1).movedim(3, 1)


IMAGES = torch.rand(3, 3, 32, 32, generator=torch.Generator().manual_seed(1))


@pytest.fixture(params=[cnn, vit])
def network(request):
    return request.param()


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


def close(saliency, expected):
    return np.allclose(saliency.values[:, 0], expected, atol=1e-3)


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
    expected = kind(network, **made).attribute(leaf(), target=TARGETS, **called).float()  # captum 0.7 gives float64
    text = ",".join(f"{key}={value}" for key, value in {**made, **called}.items())
    methods = {
        "class": partial(kind, **made, **called),
        "object": partial(kind(network, **made).attribute, **called),
        "text": f"captum.attr:{name}:{text}".strip(":"),
    }
    found = salgen.explain(network, IMAGES, method=methods, **GIVEN)
    assert list(found) == list(methods)
    assert all(same(maps, expected) and maps.signed for maps in found.values())


@pytest.mark.parametrize("baselines", [0.5, torch.full((1, 3, 32, 32), 0.5)])
def test_captum_takes_baselines_as_its_own(baselines, network):
    kind = captum.attr.IntegratedGradients
    expected = kind(network).attribute(leaf(), target=TARGETS, baselines=baselines, n_steps=3)
    found = salgen.explain(network, IMAGES, method=kind, baselines=baselines, n_steps=3, **GIVEN)
    assert same(found, expected)


@pytest.mark.parametrize("kind", [captum.attr.LayerGradientXActivation, captum.attr.LayerActivation])
def test_captum_of_a_layer_with_tokens_on_their_grid(kind, network):
    attribution = kind(network, network.get_submodule(network.cam_layer))
    stated = {} if kind is captum.attr.LayerActivation else {"target": TARGETS}
    expected = attribution.attribute(leaf(), **stated)
    expected = grid_of_tokens(expected) if expected.ndim == 3 else expected
    given = {"class": kind, "named": partial(kind, layer=network.cam_layer), "object": attribution}
    for maps in salgen.explain(network, IMAGES, method=given, **GIVEN).values():
        assert maps.native_resolution == tuple(expected.shape[2:])
        assert torch.equal(maps.values, resize(expected.detach(), (32, 32)))


def test_captum_of_a_cnn_alone():
    model = cnn()
    explained = partial(salgen.explain, model, IMAGES, **GIVEN)
    cam = captum.attr.LayerGradCam(model, model[3])
    expected = cam.attribute(leaf(), target=TARGETS)
    assert torch.equal(explained(method=cam).values, resize(expected.detach(), (32, 32)))
    guided = captum.attr.GuidedGradCam(model, model[3])
    expected = guided.attribute(leaf(), target=TARGETS)
    assert same(explained(method=guided), expected)
    assert same(explained(method=captum.attr.GuidedGradCam, layer="3"), expected)


OF_BOTH = ["GradCAM", "HiResCAM", "EigenCAM", "ScoreCAM", "RefineCAM", "KPCA_CAM"]
OF_A_CNN = ["AblationCAM", "FullGrad", "SESS", "ShapleyCAM"]


@pytest.mark.parametrize(("name", "make"), [*product(OF_BOTH, (cnn, vit)), *product(OF_A_CNN, (cnn,))])
def test_pytorch_grad_cam(name, make):
    network, kind = make(), getattr(pytorch_grad_cam, name)
    theirs = cam(kind, network)
    expected = theirs(leaf(), targets=goals())
    given = {"class": kind, "object": theirs, "text": f"pytorch_grad_cam:{name}:layer={network.cam_layer}"}
    found = salgen.explain(network, IMAGES, method=given, **GIVEN)
    equal = close if name == "KPCA_CAM" else same  # its solver begins at random
    assert all(equal(maps, expected) and not maps.signed for maps in found.values())
    assert equal(found["object"], theirs(leaf(), targets=goals())), "the object is as it was"


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
    found = salgen.explain(network, IMAGES, method=given, **GIVEN)
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
    of_pixels, of_inputs = captum.attr.Saliency(model), captum.attr.Saliency(model.network)
    pixels = of_pixels.attribute(leaf(), target=TARGETS)
    inputs = of_inputs.attribute(leaf(model.normalise(IMAGES)), target=TARGETS)
    of_a_layer = captum.attr.LayerActivation(model, model.network[3])
    methods = {"pixels": of_pixels, "inputs": of_inputs, "class": captum.attr.Saliency, "layer": of_a_layer}
    found = salgen.explain(model, IMAGES, method=methods, **GIVEN)
    for name, expected in {"pixels": pixels, "inputs": inputs, "class": inputs}.items():
        assert same(found[name], expected), name
    assert torch.equal(found["layer"].values, resize(of_a_layer.attribute(IMAGES).detach(), (32, 32)))
    assert not torch.equal(pixels, inputs)


# Functions --------------------------------------------------------------------------------------------


def gradient(model, inputs, targets, power=1):
    """In the form of Quantus."""
    inputs.requires_grad_()
    model(inputs).gather(1, targets[:, None]).sum().backward()
    return inputs.grad**power


def grad_cam(model, inputs, targets):
    """As many write it: no gradient is asked of the inputs, and the layer's comes by a hook."""
    with pytorch_grad_cam.GradCAM(model, [model[3]]) as method:
        return method(inputs, [ClassifierOutputTarget(int(target)) for target in targets])


def low(model, inputs, targets):
    return np.arange(len(inputs) * 16).reshape(-1, 4, 4)


low.signed = False


def noise(model, inputs, targets):
    return torch.rand(len(inputs), 1, 8, 8) * np.random.rand()  # noqa: NPY002


def test_functions(network):
    expected = salgen.explain(network, IMAGES, method="gradient", **GIVEN).values
    given = ["gradient", gradient, partial(gradient, power=2), f"{__name__}:low"]
    with pytest.raises(SalgenError, match="'gradient' is salgen's, or no name for a table: give one"):
        salgen.explain(network, IMAGES, method=given, **GIVEN)
    methods = {"gradient": "gradient", "mine": gradient, "squared": partial(gradient, power=2), "low": low}
    found = salgen.explain(network, IMAGES, method=methods, **GIVEN)
    assert list(found) == list(methods)
    assert torch.allclose(found["mine"].values, expected, atol=1e-6)
    assert torch.equal(found["squared"].values, found["mine"].values ** 2)
    maps = found["low"]
    assert (maps.signed, maps.native_resolution, maps.method) == (False, (4, 4), "low")
    assert torch.equal(maps.values, resize(torch.arange(48.0).reshape(3, 1, 4, 4), (32, 32)))
    summed = salgen.explain(network, IMAGES, TARGETS, method=low)
    assert (summed.reduction, summed.values.shape) == ("sum", (3, 32, 32))


def test_a_function_that_asks_the_layer_alone_for_gradients():
    model = cnn()
    expected = cam(pytorch_grad_cam.GradCAM, model)(IMAGES, goals())
    assert same(salgen.explain(model, IMAGES, method=grad_cam, batch_size=3, **GIVEN), expected)


def test_of_random_numbers_each_image_has_its_own():
    network, given = cnn(), {"method": noise, "reduce": None}
    states = torch.get_rng_state(), str(np.random.get_state())  # noqa: NPY002
    whole = salgen.explain(network, IMAGES, TARGETS, **given).values
    last = salgen.explain(network, IMAGES[2:], TARGETS[2:], ids=["2"], **given).values
    assert torch.equal(whole[2:], last)
    assert not torch.equal(whole[0], whole[1])
    assert not torch.equal(whole, salgen.explain(network, IMAGES, TARGETS, seed=1, **given).values)
    assert torch.equal(torch.get_rng_state(), states[0])
    assert str(np.random.get_state()) == states[1]  # noqa: NPY002


# What is recorded, and whether it is the same again ----------------------------------------------------


def test_what_can_be_imported_again_is_known_by_its_source():
    methods = [
        foreign_method(f"{__name__}:low", "a"),
        foreign_method(low, "a"),
        foreign_method(partial(gradient, power=2), "a"),
        foreign_method("captum.attr:Saliency:abs=false"),
    ]
    assert [method.only_key for method in methods] == [""] * 4
    assert methods[0] == methods[1] != methods[2]
    assert [method.import_path.rpartition(":")[2] for method in methods] == ["low", "low", "gradient", "Saliency"]
    assert methods[2].parameters == {"power": 2}
    assert methods[3].library == f"captum {version('captum')}"
    assert methods[3].call == "Saliency:abs=False"
    assert methods[3].name == "Saliency"
    assert all(pickle.loads(pickle.dumps(method)) == method for method in methods)
    for given in (lambda model, inputs, targets: inputs, captum.attr.Saliency(cnn()), partial(low, net=cnn())):
        one, other = foreign_method(given, "x"), foreign_method(given, "x")
        assert one.only_key != other.only_key
        assert one.import_path is None
        assert "not re-runnable" in one.reference
        with pytest.raises(SalgenError, match="workers cannot import"):
            pickle.dumps(one)


SOURCE = """
SCALE = 2
def helper(inputs):
    return inputs * SCALE
def unused():
    return 0
def mine(model, inputs, targets, sigma=1):
    return helper(inputs)
"""


@pytest.mark.parametrize(
    ("before", "after", "is_same"),
    [("SCALE = 2", "SCALE = 3", False), ("* SCALE", "+ SCALE", False), ("sigma=1", "sigma=2", False), ("0", "1", True)],
)
def test_the_digest_is_of_a_function_and_of_what_it_uses(before, after, is_same, tmp_path, monkeypatch):
    texts = {"first_methods": SOURCE, "other_methods": SOURCE.replace(before, after, 1)}
    write_modules(tmp_path, monkeypatch, **texts)
    first, other = (foreign_method(f"{name}:mine").sha256 for name in texts)
    assert (first == other) is is_same


# What others do wrong -----------------------------------------------------------------------------------


WRONG = {
    "raising": (lambda model, inputs, targets: model.load_state_dict({}), r"RuntimeError: Error\(s\) in loading"),
    "leaving": (lambda model, inputs, targets: sys.exit(), "SystemExit"),
    "without a message": (lambda model, inputs, targets: next(iter(())), "StopIteration$"),
    "not finite": (lambda model, inputs, targets: inputs / 0, "it returned NaN or infinite values, such as for "),
    "too large": (
        lambda model, inputs, targets: torch.zeros(len(inputs), 33, 32),
        r"it returned \(1, 33, 32\) for 1 images of 32x32: must be \(1, C, h, w\) or \(1, h, w\), of that",
    ),
    "text": (lambda model, inputs, targets: "map", "it returned str: must be a real tensor or array"),
}
CHANGES = {
    "in training": lambda model: model.train()(IMAGES),
    "heavier": lambda model: model[0].weight.data.add_(1),
    "other weights": lambda model: setattr(model[0].weight, "data", model[0].weight + 1),
    "half": lambda model: model.half(),
}


@pytest.mark.parametrize("name", WRONG)
def test_failures_are_one_line_and_leave_the_model(name):
    function, says = WRONG[name]
    model = normalised().train()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with pytest.raises(FailedMethodError, match=f"method '{name}' failed: {says}") as caught:
        salgen.explain(model, IMAGES, method={"gradient": "gradient", name: function}, **GIVEN)
    assert caught.value.call == name
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    assert all(module.training and not module._forward_hooks for module in model.modules())
    assert all(parameter.requires_grad and parameter.grad is None for parameter in model.parameters())
    assert isinstance(model.network[2], nn.ReLU)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_changes_the_weights_changes_its_own_copy(change):
    model = normalised()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    methods = {"mine": lambda model, inputs, targets: (change(model), inputs)[1], "gradient": "gradient"}
    gradient = salgen.explain(model, IMAGES, method=methods, **GIVEN)["gradient"].values
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    torch.testing.assert_close(gradient, salgen.explain(model, IMAGES, method="gradient", **GIVEN).values)


def test_an_object_is_bound_to_the_model_that_is_explained():
    model, other = cnn(), cnn()
    with torch.no_grad():
        other[0].bias += 1
    objects = captum.attr.Saliency(other), cam(pytorch_grad_cam.GradCAM, other), zennit.attribution.Gradient(other)
    for theirs in objects:
        with pytest.raises(SalgenError, match="it is bound to another model than the one that is explained, or to"):
            salgen.explain(model, IMAGES, method={"x": theirs}["x"], **GIVEN)
    with pytest.raises(SalgenError, match="it is bound to a function: bind it to the torch"):
        salgen.explain(model, IMAGES, method=captum.attr.Saliency(lambda images: model(images)), **GIVEN)


def test_objects_that_were_used_leave_their_model_alone():
    """pytorch-grad-cam keeps hooks on the model, and outputs that cannot be copied; gradients of weights add up."""
    model = cnn()
    theirs = cam(pytorch_grad_cam.GradCAM, model)
    expected = theirs(leaf(), targets=goals())
    gradients = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    view = ModelView.of(model)
    assert not any(module._forward_hooks for module in view.network.modules())
    kept = len(theirs.activations_and_grads.activations)
    assert np.allclose(salgen.explain(model, IMAGES, method=theirs, **GIVEN).values[:, 0], expected, atol=1e-6)
    assert len(theirs.activations_and_grads.activations) == kept
    assert all(torch.equal(parameter.grad, gradients[name]) for name, parameter in model.named_parameters())
    assert len(model[3]._forward_hooks) == 2


@pytest.mark.parametrize(
    ("methods", "says"),
    [
        ([lambda model, inputs, targets: inputs], "'<lambda>' is salgen's, or no name for a table: give one"),
        ({"oracle-mine": low}, "'oracle-mine' is salgen's"),
        ({3: low}, "'' is salgen's, or no name for a table"),
        ({"a:b": low}, "a: 'b': write it as key=value"),
        ([low, partial(low)], "low is the name of several methods: give each its own"),
        ({"mine": "sobel"}, "method 'mine': only single methods and no controls can be renamed, not 'sobel'"),
        (["no_such_module:mine"], "method no_such_module:mine: cannot be imported: ModuleNotFoundError"),
        (["numpy:pi"], "method 'numpy:pi' is a float object of builtins, and not of captum, pytorch-grad-cam or"),
        ([nn.ReLU], "is the class ReLU of torch.nn.modules.activation, and not of captum"),
        ({}, "no method was chosen"),
        ([5], "method 5: give a name"),
    ],
)
def test_what_is_no_method_is_said_in_one_line(methods, says):
    with pytest.raises(SalgenError, match=says):
        salgen.explain(cnn(), IMAGES, method=methods)


class Margins(nn.Module):
    """A network's logits less the best other one each, a class at a time; layers are named as the network's."""

    def __init__(self, network):
        super().__init__()
        self.network = network
        self.cam_layer = f"network.{network.cam_layer}"

    def forward(self, images):
        logits = self.network(images)
        others = [torch.cat([logits[:, :k], logits[:, k + 1 :]], 1).max(dim=1).values for k in range(logits.shape[1])]
        return logits - torch.stack(others, 1)


def test_a_margin_is_the_output_that_they_explain(network):
    """As of a module around the network, called directly; methods find the layers of the network itself."""
    around, reshape = Margins(network), grid_of_tokens if hasattr(network, "encoder") else None
    with zennit.attribution.Gradient(around, lrp()) as attributor:
        relevance = attributor(leaf(), one_hot())[1]
    layers = [network.get_submodule(network.cam_layer)]
    theirs = pytorch_grad_cam.GradCAM(around, layers, reshape)(leaf(), targets=goals())
    wanted = {
        "function": (gradient, gradient(around, leaf(), TARGETS)),
        "captum": (captum.attr.InputXGradient, captum.attr.InputXGradient(around).attribute(leaf(), target=TARGETS)),
        "lift": (captum.attr.DeepLift, captum.attr.DeepLift(around).attribute(leaf(), target=TARGETS)),
        "object": (captum.attr.Saliency(network), captum.attr.Saliency(around).attribute(leaf(), target=TARGETS)),
        "their cam": (pytorch_grad_cam.GradCAM, theirs),
        "cam object": (cam(pytorch_grad_cam.GradCAM, network), theirs),
        "zennit": (lrp(), relevance),
        "zennit object": (zennit.attribution.Gradient(network, lrp()), relevance),
    }
    methods = {name: method for name, (method, _) in wanted.items()}
    found = salgen.explain(network, IMAGES, method=methods, score="margin", **GIVEN)
    for name, (_, expected) in wanted.items():
        assert same(found[name], expected), name
    plain = salgen.explain(network, IMAGES, method={"mine": gradient}, **GIVEN)["mine"]
    assert not torch.equal(found["function"].values, plain.values)


def test_they_explain_a_model_and_a_margin_is_over_other_classes():
    lone = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 1))
    lone.multi_label = True
    for targets in (0, None):
        with pytest.raises(SalgenError, match="score='margin' needs two classes or more"):
            salgen.explain(lone, IMAGES, targets, method=low, score="margin")
    with pytest.raises(SalgenError, match="method 'low' explains a model: give one"):
        salgen.explain(None, IMAGES, method=low)
