"""Backward methods against a second implementation: explicit matrices, loops and the papers' formulas."""

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


def conv_matrix(weight, stride, side):
    """The matrix (outputs, inputs) of a convolution with padding 1."""
    outs, ins = weight.shape[:2]
    after = (side - 1) // stride + 1
    matrix = np.zeros((outs, after, after, ins, side, side))
    for y in range(after):
        for x in range(after):
            for dy in range(3):
                for dx in range(3):
                    row, column = y * stride + dy - 1, x * stride + dx - 1
                    if 0 <= row < side and 0 <= column < side:
                        matrix[:, y, x, :, row, column] = weight[:, :, dy, dx]
    return matrix.reshape(outs * after * after, -1)


def average_matrix(channels, side):
    matrix = np.zeros((channels, side // 2, side // 2, channels, side, side))
    for k in range(channels):
        for y in range(side):
            for x in range(side):
                matrix[k, y // 2, x // 2, k, y, x] = 0.25
    return matrix.reshape(channels * (side // 2) ** 2, -1)


def layers_of(network):
    """(kind, matrix, bias) in order, the batch norm merged by hand."""
    first, norm, second = network[0], network[1], network[4].weight.detach().numpy()
    scale = (norm.weight / torch.sqrt(norm.running_var + norm.eps)).detach().numpy()
    bias = (first.bias - norm.running_mean).detach().numpy() * scale + norm.bias.detach().numpy()
    merged = first.weight.detach().numpy() * scale[:, None, None, None]
    dense = [(layer.weight.detach().numpy(), layer.bias.detach().numpy()) for layer in (network[8], network[10])]
    return [
        ("linear", conv_matrix(merged, 1, SIZE), np.repeat(bias, SIZE**2)),
        ("relu", None, None),
        ("max", (3, SIZE), None),
        ("linear", conv_matrix(second, 2, SIZE // 2), np.zeros(4 * (SIZE // 4) ** 2)),
        ("relu", None, None),
        ("average", average_matrix(4, SIZE // 4), np.zeros(4)),
        ("linear", *dense[0]),
        ("relu", None, None),
        ("linear", *dense[1]),
    ]


def winners(values, shape):
    """The index of the largest input of each 2x2 block."""
    channels, side = shape
    grid = np.arange(channels * side * side).reshape(channels, side, side)
    found = []
    for k in range(channels):
        for y in range(0, side, 2):
            for x in range(0, side, 2):
                block = grid[k, y : y + 2, x : x + 2].ravel()
                found.append(block[np.argmax(values[block])])
    return np.array(found)


def forward(layers, x):
    """The input of every layer, and the logits."""
    inputs = []
    for kind, matrix, bias in layers:
        inputs.append(x)
        if kind == "relu":
            x = np.maximum(x, 0)
        elif kind == "max":
            x = x[winners(x, matrix)]
        else:
            x = matrix @ x + bias
    return inputs, x


def backward(layers, inputs, signal, linear, relu, average):
    for number in reversed(range(len(layers))):
        kind, matrix, bias = layers[number]
        x = inputs[number]
        if kind == "relu":
            signal = relu(x, signal)
        elif kind == "max":
            below = np.zeros_like(x)
            np.add.at(below, winners(x, matrix), signal)
            signal = below
        else:
            signal = (average if kind == "average" else linear)(number, matrix, bias, x, signal)
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


def rule_deep_taylor(low, high):
    def rule(number, matrix, bias, x, signal):
        if number == 8:
            return share(matrix**2, 0, signal)
        if number == 0 and low is not None:
            return share(matrix * x - np.maximum(matrix, 0) * low - np.minimum(matrix, 0) * high, 0, signal)
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


@pytest.mark.parametrize("method", CASES)
@pytest.mark.parametrize("target", [0, 2])
def test_equals_the_formula(model, images, method, target):
    layers = layers_of(model.network)
    raw = salgen.explain(model, images, target, method=method, reduce=None).values.numpy()
    for image, attribution in zip(images, raw, strict=True):
        inputs, _ = forward(layers, ((image.astype(np.float64) - 0.4) / 0.3).ravel())
        linear, relu, average = CASES[method]
        slow = backward(layers, inputs, np.eye(3)[target], linear, relu, average).reshape(image.shape)
        np.testing.assert_allclose(attribution, slow, rtol=1e-4, atol=1e-5 * np.abs(slow).max())
    assert {-1.0, 1.0} <= {float(s) for s in np.sign(raw).ravel()} or "deep-taylor" in method or "beta=0" in method


def test_the_slow_forward_pass_is_the_models(model, images):
    layers = layers_of(model.network)
    expected = model.eval()(torch.from_numpy(images).double()).detach().numpy()
    found = [forward(layers, ((image.astype(np.float64) - 0.4) / 0.3).ravel())[1] for image in images]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert (expected < 0).any()  # negative logits are among the cases


@pytest.mark.parametrize("method", ["pattern-net", "pattern-attribution"])
def test_patterns_equal_the_formula(model, images, method):
    """The backward pass with other weights; what it gives is then scaled by each image's largest value."""
    layers, patterns = layers_of(model.network), salgen.fit_patterns(model, images)
    first, second, *dense = (pattern.numpy() for pattern in patterns.by_map)
    others = {0: conv_matrix(first, 1, SIZE), 3: conv_matrix(second, 2, SIZE // 2), 6: dense[0], 8: dense[1]}

    def rule(number, matrix, _bias, _x, signal):
        return (others[number] * (matrix if method == "pattern-attribution" else 1)).T @ signal

    asked = {"method": method, "patterns": patterns, "reduce": None}
    plain, scaled = (salgen.explain(model, images, 2, project=project, **asked).values for project in (False, True))
    for image, found, share in zip(images, plain.numpy(), scaled.numpy(), strict=True):
        inputs, _ = forward(layers, ((image.astype(np.float64) - 0.4) / 0.3).ravel())
        slow = backward(layers, inputs, np.eye(3)[2], rule, gate, transpose).reshape(image.shape)
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
    layers, methods = layers_of(model.network), ("excitation-backprop", "contrastive-excitation-backprop")
    plain, contrastive = (
        salgen.explain(model, images, target, method=m, layer="input", stabiliser=1e-12, reduce=None).values.numpy()
        for m in methods
    )
    for image, excitation, contrast in zip(images, plain, contrastive, strict=True):
        inputs, _ = forward(layers, ((image.astype(np.float64) - 0.4) / 0.3).ravel())
        start = np.eye(3)[target]
        above = [
            backward(layers[8:], inputs[8:], start, lambda _, *rest, rule=rule: rule(8, *rest), pass_on, rule_z)
            for rule in (rule_excitation, rule_excitation_of_the_dual)
        ]
        for signal, found in ((above[0], excitation), (above[0] - above[1], contrast)):
            slow = backward(layers[:8], inputs[:8], signal, rule_excitation, pass_on, rule_z)
            slow = np.maximum(slow.reshape(image.shape).sum(axis=0, keepdims=True), 0)
            np.testing.assert_allclose(found, slow, rtol=1e-4, atol=1e-5 * max(np.abs(slow).max(), 1e-3))
    assert plain.max() > 0
    assert contrastive.max() > 0
    assert not np.allclose(plain, contrastive)


@pytest.fixture
def hand_network():
    return by_hand()


IMAGE = torch.tensor([1.0, 2.0]).view(1, 1, 1, 2)

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
]


@pytest.mark.parametrize(("method", "target", "options", "expected"), BY_HAND)
def test_attributions_by_hand(hand_network, method, target, options, expected):
    raw = salgen.explain(hand_network, IMAGE, target, method=method, reduce=None, **options)
    torch.testing.assert_close(raw.values.flatten(), torch.tensor(expected).float(), rtol=1e-4, atol=1e-5)


FAULTS = [
    ("lrp-alpha-beta:alpha=3", r"alpha - beta must be 1.*alpha=3, beta=1.*try alpha=2"),
    ("deep-taylor", "needs their bounds: give low= and high="),
    ("deep-taylor:low=-1", "give both, low below high, or neither"),
    ("deep-taylor:low=1,high=0", "low=1.0, high=0.0: give both, low below high, or neither"),
]


@pytest.mark.parametrize(("method", "words"), FAULTS)
def test_parameters_that_give_no_relevance_of_signed_inputs_are_refused(hand_network, method, words):
    with pytest.raises(SalgenError, match=words):
        salgen.explain(hand_network, -IMAGE, 0, method=method)
