"""Backward methods against a second implementation: matrices of the layers and the papers' formulas."""

import copy
import numpy as np
import pytest
import torch
from small_networks import Normalise, by_hand
from torch import nn
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.models.classifier import Classifier

SIZE = 8


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    network = nn.Sequential(
        *(nn.Conv2d(2, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(3, 4, 3, padding=1, stride=2, bias=False), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten()),
        *(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3)),
    ).double()
    for layer in (network[0], network[8], network[10]):
        nn.init.normal_(layer.bias, std=0.3)
    norm = network[1]
    for values, low, high in ((norm.running_mean, -0.3, 0.3), (norm.running_var, 0.5, 2), (norm.weight.data, -1, 2)):
        values.uniform_(low, high)
    nn.init.normal_(norm.bias, std=0.3)
    return Classifier(network, Normalise(0.4, 0.3))


@pytest.fixture(scope="module")
def images():
    return np.random.default_rng(1).random((4, 2, SIZE, SIZE)).astype(np.float32)


def layers_of(network, image):
    """Kind, input, matrix and bias of each layer for one image; the batch norm is part of the convolution before it."""
    first, norm, *rest = network.eval()
    found, x = [], (torch.from_numpy(image)[None].double() - 0.4) / 0.3
    for layer in (nn.Sequential(first, norm), *rest):
        after = layer(x).detach()
        if not isinstance(layer, nn.Flatten):
            matrix = torch.autograd.functional.jacobian(layer, x).view(after.numel(), x.numel())
            bias = layer(torch.zeros_like(x)).detach()
            found.append((type(layer), *(part.numpy() for part in (x.flatten(), matrix, bias.flatten()))))
        x = after
    return found


def backward(layers, signal, linear, relu, average):
    for number, (kind, x, matrix, bias) in reversed([*enumerate(layers)]):
        if kind is nn.ReLU:
            signal = relu(x, signal)
        elif kind is nn.MaxPool2d:
            signal = matrix.T @ signal  # to the largest of each block
        else:
            signal = (average if kind is nn.AvgPool2d else linear)(number, matrix, bias, x, signal)
    return signal


def share(contributions, rest, signal):
    """Each input's share of a unit's relevance."""
    total = contributions.sum(axis=1) + rest
    safe = np.where(total == 0, 1, total)
    return (contributions * (np.where(total == 0, 0, signal) / safe)[:, None]).sum(axis=0)


def rule_z(_, matrix, bias, x, signal):
    return share(matrix * x, bias, signal)


def rule_alpha_beta(alpha, beta, keep):
    def rule(_, matrix, bias, x, signal):
        parts, bias = matrix * x, bias * keep
        positive = share(np.maximum(parts, 0), np.maximum(bias, 0), signal)
        return alpha * positive - beta * share(np.minimum(parts, 0), np.minimum(bias, 0), signal)

    return rule


def rule_box(low, high):
    def rule(_, matrix, bias, x, signal):
        return share(matrix * x - np.maximum(matrix, 0) * low - np.minimum(matrix, 0) * high, 0, signal)

    return rule


def rule_flat(_, matrix, bias, x, signal):
    return share((matrix != 0).astype(float), 0, signal)


def rule_gamma(favour):
    """The generalised rule: positive outputs by positive contributions more, negative ones by negative ones."""

    def rule(_, matrix, bias, x, signal):
        parts = np.column_stack([matrix * x, bias])
        positive = parts.sum(axis=1, keepdims=True) > 0
        parts += favour * np.where(positive, np.maximum(parts, 0), np.minimum(parts, 0))
        return share(parts[:, :-1], parts[:, -1], signal)

    return rule


def composite(first, second, dense):
    """Rules of the first convolution, the second, and dense layers."""
    return lambda number, *rest: {0: first, 3: second}.get(number, dense)(number, *rest)


def rule_deep_taylor(low, high):
    def rule(number, matrix, bias, x, signal):
        if number == 8:
            return share(matrix**2, 0, signal)
        if number == 0 and low is not None:
            return rule_box(low, high)(number, matrix, bias, x, signal)
        return share(np.maximum(matrix * x, 0), 0, signal)

    return rule


def transpose(_, matrix, bias, x, signal):
    return matrix.T @ signal


def pass_on(x, signal):
    return signal


def gate(x, signal):
    return signal * (x > 0)


def positive(x, signal):
    return np.maximum(signal, 0)


def guided(x, signal):
    return positive(x, gate(x, signal))


BLACK, WHITE = (0 - 0.4) / 0.3, (1 - 0.4) / 0.3

CASES = {
    "gradient": (transpose, gate, transpose),
    "guided-backprop": (transpose, guided, transpose),
    "deconvnet": (transpose, positive, transpose),
    "lrp-z:stabiliser=1e-12": (rule_z, pass_on, rule_z),
    "lrp-alpha-beta:stabiliser=1e-12": (rule_alpha_beta(2, 1, 0), pass_on, rule_z),
    "lrp-alpha-beta:bias=yes,stabiliser=1e-12": (rule_alpha_beta(2, 1, 1), pass_on, rule_z),
    "lrp-alpha-beta:alpha=1,beta=0,stabiliser=1e-12": (rule_alpha_beta(1, 0, 0), pass_on, rule_z),
    "deep-taylor:stabiliser=1e-12": (rule_deep_taylor(BLACK, WHITE), pass_on, rule_z),
    "deep-taylor:first=alpha1beta0,stabiliser=1e-12": (rule_deep_taylor(None, None), pass_on, rule_z),
}
COMPOSITES = {
    "epsilon-gamma-box": composite(rule_box(BLACK, WHITE), rule_gamma(0.25), rule_z),
    "epsilon-gamma-box:low=-1,high=1.5": composite(rule_box(-1, 1.5), rule_gamma(0.25), rule_z),
    "epsilon-plus-flat": composite(rule_flat, rule_alpha_beta(1, 0, 1), rule_z),
    "epsilon-alpha2-beta1-flat": composite(rule_flat, rule_alpha_beta(2, 1, 1), rule_z),
    "attn-lrp:gamma=0.5,dense_gamma=0.1": composite(rule_gamma(0.5), rule_gamma(0.5), rule_gamma(0.1)),
}
EXACT = "stabiliser=1e-12,epsilon=1e-12"
CASES |= {f"{call}{',' if ':' in call else ':'}{EXACT}": (rule, pass_on, rule_z) for call, rule in COMPOSITES.items()}


@pytest.mark.parametrize("method", CASES)
@pytest.mark.parametrize("target", [0, 2])
def test_equals_the_formula(model, images, method, target):
    raw = salgen.explain(model, images, target, method=method, reduce=None).values.numpy()
    for image, attribution in zip(images, raw, strict=True):
        slow = backward(layers_of(model.network, image), np.eye(3)[target], *CASES[method]).reshape(image.shape)
        np.testing.assert_allclose(attribution, slow, rtol=1e-4, atol=1e-5 * np.abs(slow).max())
    one_sign = any(name in method for name in ("deep-taylor", "beta=0", "plus-flat"))
    assert {-1.0, 1.0} <= {float(s) for s in np.sign(raw).ravel()} or one_sign
    assert (model(torch.from_numpy(images).double()) < 0).any()  # negative logits are among the cases


@pytest.mark.parametrize("method", ["pattern-net", "pattern-attribution"])
def test_patterns_equal_the_formula(model, images, method):
    """The backward pass with other weights; what it gives is then scaled by each image's largest value."""
    patterns, others = salgen.fit_patterns(model, images), copy.deepcopy(model.network)
    others[1] = nn.BatchNorm2d(3, eps=0)
    for place, pattern in zip((0, 4, 8, 10), patterns.by_map, strict=True):
        others[place].weight.data = pattern

    def rule(number, matrix, _bias, _x, signal):
        return (other[number][2] * (matrix if method == "pattern-attribution" else 1)).T @ signal

    asked = {"method": method, "patterns": patterns, "reduce": None}
    plain, scaled = (salgen.explain(model, images, 2, project=project, **asked).values for project in (False, True))
    for image, found, share in zip(images, plain.numpy(), scaled.numpy(), strict=True):
        other = layers_of(others.double(), image)
        slow = backward(layers_of(model.network, image), np.eye(3)[2], rule, gate, transpose).reshape(image.shape)
        assert np.abs(slow).max() > 0
        np.testing.assert_allclose(found, slow, rtol=1e-4, atol=1e-5 * np.abs(slow).max())
        np.testing.assert_allclose(share, slow / np.abs(slow).max(), atol=1e-5)


def rule_excitation(_, matrix, bias, x, signal):
    return share(np.maximum(matrix, 0) * np.maximum(x, 0), 0, signal)


def rule_excitation_of_the_dual(number, matrix, bias, x, signal):
    return rule_excitation(number, -matrix if number == 8 else matrix, bias, x, signal)


@pytest.mark.parametrize("target", [0, 1, 2])
def test_excitation_equals_the_formula(model, images, target):
    """The dual is subtracted at the input of the last layer; all units there are on, so that both excite some."""
    model = copy.deepcopy(model)
    model.network[8].bias.data += 2
    methods = ("excitation-backprop", "contrastive-excitation-backprop")
    plain, contrastive = (
        salgen.explain(model, images, target, method=m, layer="input", stabiliser=1e-12, reduce=None).values.numpy()
        for m in methods
    )
    for image, excitation, contrast in zip(images, plain, contrastive, strict=True):
        layers = layers_of(model.network, image)
        above = [
            backward(layers[8:], np.eye(3)[target], lambda _, *rest, rule=rule: rule(8, *rest), pass_on, rule_z)
            for rule in (rule_excitation, rule_excitation_of_the_dual)
        ]
        for signal, found in ((above[0], excitation), (above[0] - above[1], contrast)):
            slow = backward(layers[:8], signal, rule_excitation, pass_on, rule_z)
            slow = np.maximum(slow.reshape(image.shape).sum(axis=0, keepdims=True), 0)
            np.testing.assert_allclose(found, slow, rtol=1e-4, atol=1e-5 * max(np.abs(slow).max(), 1e-3))
    assert plain.max() > 0
    assert contrastive.max() > 0
    assert not np.allclose(plain, contrastive)


IMAGE = torch.tensor([1.0, 2.0]).view(1, 1, 1, 2)

EXCITATION, CONTRASTIVE = "excitation-backprop:layer=input", "contrastive-excitation-backprop:layer=input"
BY_HAND = [
    ("gradient", 1, {}, (-3, 3)),  # from +1, although the logit is negative
    ("gradient", 0, {"score": "margin"}, (8, -7)),
    ("gradient", 1, {"score": "margin"}, (-8, 7)),
    ("input-x-gradient", 0, {}, (5, -8)),
    ("deconvnet", 0, {}, (2, -3)),  # the third unit is off, and passes all the same
    ("deconvnet", 0, {"score": "margin"}, (6, -5)),
    ("lrp-z", 1, {"start": "logit"}, (-3, 6)),
    ("deep-taylor", 1, {}, (4 / 5 + 1 / 15, 2 / 15)),
    ("deep-taylor", 1, {"start": "logit"}, (0, 0)),
    ("deep-taylor", 0, {"first": "box", "low": -3, "high": 3}, (220 / 234, 14 / 234)),
    # Class 0 excites the hidden units as (1, 0, 0), its dual as (0, 1, 0); class 1 the other way round.
    # The first hidden unit excites the input as (1, 0), the second as (1/3, 2/3).
    (EXCITATION, 0, {"bias": True}, (2 / 3, 0)),  # the first unit owes a third to its bias
    (EXCITATION, 0, {"score": "margin"}, (2 / 3, 0)),
    (CONTRASTIVE, 0, {"contrast": "input"}, (2 / 3, 0)),
    (CONTRASTIVE, 0, {"contrast": "1"}, (2 / 3, 0)),
    (CONTRASTIVE, 1, {}, (0, 2 / 3)),
    (CONTRASTIVE, 0, {"score": "margin"}, (4 / 3, 0)),
]


@pytest.mark.parametrize(("method", "target", "options", "expected"), BY_HAND)
def test_attributions_by_hand(method, target, options, expected):
    raw = salgen.explain(by_hand(), IMAGE, target, method=method, reduce=None, **options)
    torch.testing.assert_close(raw.values.flatten(), torch.tensor(expected).float(), rtol=1e-4, atol=1e-5)


FAULTS = [
    ("lrp-alpha-beta:alpha=3", r"alpha - beta must be 1.*alpha=3, beta=1.*try alpha=2"),
    ("deep-taylor", "needs their bounds: give low= and high="),
    ("deep-taylor:low=-1", "give both, low below high, or neither"),
    ("deep-taylor:low=1,high=0", "low=1.0, high=0.0: give both, low below high, or neither"),
    ("epsilon-gamma-box", r"epsilon-gamma-box needs the bounds .* low= and high=.* epsilon-plus-flat"),
    ("epsilon-gamma-box:low=0.5", r"low=0\.5, high=None: give both, low below high, or neither"),
]


@pytest.mark.parametrize(("method", "words"), FAULTS)
def test_parameters_that_give_no_relevance_of_signed_inputs_are_refused(method, words):
    with pytest.raises(SalgenError, match=words):
        salgen.explain(by_hand(), -IMAGE, 0, method=method)
