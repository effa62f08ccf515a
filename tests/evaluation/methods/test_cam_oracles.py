"""The CAM family a second time, slowly, from the papers."""

from functools import partial
import numpy as np
import pytest
import torch
from agreement import NETWORKS, SIZE, TARGETS, images_of, network_of
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.methods.eigen_cam import principal_component
from salgen.seeding import Stream

TWO_RESOLUTIONS = [name for name in NETWORKS if name.startswith("plain")]


@pytest.fixture(params=NETWORKS)
def network(request):
    return network_of(request.param), images_of(request.param)


def activations_and_gradients(net, images, layer):
    kept = {}

    def keep(module, inputs, output):
        kept["A"] = output
        return output.clone()

    handle = net.get_submodule(layer).register_forward_hook(keep)
    logits = net(images.clone().requires_grad_())
    handle.remove()
    score = logits[torch.arange(len(images)), TARGETS[: len(images)]].sum()
    return kept["A"].detach().numpy(), torch.autograd.grad(score, kept["A"])[0].numpy()


def rectified(values):
    return np.maximum(values, 0)


def slow_grad_cam(acts, g):
    return rectified(sum(gradient.sum() / gradient.size * channel for gradient, channel in zip(g, acts, strict=True)))


def slow_plus_plus(acts, mean_g, mean_g2, mean_g3):
    total = np.zeros(acts.shape[1:])
    for channel, first, second, third in zip(acts, mean_g, mean_g2, mean_g3, strict=True):
        alpha = second / (2 * second + channel.sum() * third + 1e-6)
        total += (alpha * rectified(first)).sum() * channel
    return rectified(total)


def slow_layer_cam(acts, g):
    return rectified(sum(rectified(gradient) * channel for gradient, channel in zip(g, acts, strict=True)))


def slow_xgrad_cam(acts, g):
    weights = [sum((g[k] * acts[k]).ravel()) / (sum(acts[k].ravel()) or 1) for k in range(len(acts))]
    return rectified(sum(weight * channel for weight, channel in zip(weights, acts, strict=True)))


def slow_eigen_cam(acts):
    """By a full SVD of pixels by channels, columns centred; aligned with the sum over channels."""
    pixels = acts.reshape(len(acts), -1).T
    pixels = pixels - pixels.mean(axis=0)
    _, _, vectors = np.linalg.svd(pixels, full_matrices=True)
    projection = (pixels @ vectors[0]).reshape(acts.shape[1:])
    return rectified(projection if (projection * acts.sum(axis=0)).sum() >= 0 else -projection)


def slow_fem(acts, k=2):
    total = np.zeros(acts.shape[1:])
    for channel in acts:
        mean = channel.sum() / channel.size
        deviation = np.sqrt(((channel - mean) ** 2).sum() / channel.size)
        for i, j in np.ndindex(total.shape):
            total[i, j] += mean if channel[i, j] > mean + k * deviation else 0
    return rectified(total)


def slow_kernel_pca(acts, kernel, aligned=True):
    """By all eigenvectors of the double-centred kernel matrix; aligned with the sum over channels, or raw."""
    pixels = acts.reshape(len(acts), -1).T
    pixels = pixels - pixels.mean(axis=0)
    grams = np.array([[kernel(x, y, 1 / len(acts)) for y in pixels] for x in pixels])
    centring = np.eye(len(pixels)) - 1 / len(pixels)
    values, vectors = np.linalg.eigh(centring @ grams @ centring)
    projection = (vectors[:, -1] * np.sqrt(values[-1])).reshape(acts.shape[1:])
    sign = (projection * acts.sum(axis=0)).sum() if aligned else projection.flat[np.abs(projection).argmax()]
    return rectified(projection if sign >= 0 else -projection)


SIGMOID = lambda x, y, gamma: np.tanh(gamma * (x @ y) + 1)  # noqa: E731
RBF = lambda x, y, gamma: np.exp(-gamma * ((x - y) ** 2).sum())  # noqa: E731
SLOW = {
    "fem": lambda acts, g: slow_fem(acts),
    "fem:k=0.5": lambda acts, g: slow_fem(acts, 0.5),
    "kpca-cam": lambda acts, g: slow_kernel_pca(acts, SIGMOID, aligned=False),
    "kpca-cam:sign=align": lambda acts, g: slow_kernel_pca(acts, SIGMOID),
    "kpca-cam:sign=align,kernel=rbf": lambda acts, g: slow_kernel_pca(acts, RBF),
    "grad-cam": slow_grad_cam,
    "grad-cam++": lambda acts, g: slow_plus_plus(acts, g, g**2, g**3),
    "layer-cam": slow_layer_cam,
    "xgrad-cam": slow_xgrad_cam,
    "hires-cam": lambda acts, g: rectified(sum(a * b for a, b in zip(acts, g, strict=True))),
    "layer-cam:scale=true": lambda acts, g: np.tanh(2 * slow_layer_cam(acts, g) / (slow_layer_cam(acts, g).max() or 1)),
    "eigen-cam:sign=align": lambda acts, g: slow_eigen_cam(acts),
    "eigen-grad-cam:sign=align": lambda acts, g: slow_eigen_cam(acts * g),
}


def enlarged(maps, size):
    maps = torch.stack([torch.as_tensor(one) for one in maps])[:, None].float()
    return nn.functional.interpolate(maps, size=size, mode="bilinear", align_corners=False)


@pytest.mark.parametrize("layer", ["relu1", "layer"])
@pytest.mark.parametrize("method", SLOW)
def test_equals_the_slow_transcription(method, layer, network):
    net, images = network
    acts, g = activations_and_gradients(net, images, layer)
    expected = enlarged([SLOW[method](a, b) for a, b in zip(acts, g, strict=True)], images.shape[2:])
    found = salgen.explain(net, images, TARGETS, method=f"{method}{',' if ':' in method else ':'}layer={layer}")
    assert found.native_resolution == acts.shape[2:]
    scale = float(expected.max())
    assert scale > 0
    torch.testing.assert_close(found.values / scale, expected[:, 0] / scale, rtol=1e-3, atol=1e-5)


def test_smooth_grad_cam_plus_plus_equals_the_slow_transcription(network):
    net, images = network
    acts, _ = activations_and_gradients(net, images, "layer")
    n, noise, expected = 3, 0.2, []
    for k, image in enumerate(images):
        stream = Stream(4, "smooth-grad-cam++", f"name-{k}")
        gradients = []
        for _ in range(n):
            noisy = image + noise * torch.from_numpy(stream.normal(image.numel())).float().view_as(image)
            noisy = torch.stack([noisy] * len(images))  # so that target k is at place k
            gradients.append(activations_and_gradients(net, noisy, "layer")[1][k])
        moments = [sum(g**power for g in gradients) / n for power in (1, 2, 3)]
        expected.append(slow_plus_plus(acts[k], *moments))
    expected = enlarged(expected, images.shape[2:])[:, 0]
    names = [f"name-{k}" for k in range(len(images))]
    call = f"smooth-grad-cam++:n={n},noise={noise},layer=layer"
    found = salgen.explain(net, images, TARGETS, method=call, ids=names, seed=4).values
    assert expected.max() > 0
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5 * float(expected.max()))


def head(net, images, acts):
    """The logits if the last ReLU gives these activations."""
    handle = net.layer.register_forward_hook(lambda *_: acts)
    logits = net(images)
    handle.remove()
    return logits


def slow_shapley_cam(net, image, acts, target, share=1):
    """With the whole Hessian of the logit plus the log of its probability, or of the logit alone."""

    def utility(values):
        logits = head(net, image, values.view_as(acts))[0]
        return logits[target] + share * torch.log(torch.exp(logits[target]) / torch.exp(logits).sum())

    flat = acts.flatten()
    first = torch.autograd.functional.jacobian(utility, flat)
    second = torch.autograd.functional.hessian(utility, flat)
    weights = (first - second @ flat / 2).view_as(acts)[0]
    return sum(weight.mean() * channel for weight, channel in zip(weights, acts[0], strict=True)).clamp(min=0)


def slow_finer_cam(net, image, acts, target):
    """Against both other classes, the nearer first, though the order does not matter."""
    values = acts.clone().requires_grad_()
    logits = head(net, image, values)[0]
    shares = torch.exp(logits) / torch.exp(logits).sum()
    others = [other for other in range(3) if other != target]
    top = sum(shares[other] * (logits[target] - 0.5 * logits[other]) for other in others)
    (gradient,) = torch.autograd.grad(top / sum(shares[other] for other in others), values)
    return sum(gradient[0, k].mean() * acts[0, k] for k in range(acts.shape[1])).clamp(min=0)


def slow_recipro_cam(net, image, acts, target, ramp=(0, 1, 0)):
    _, _, height, width = acts.shape
    found = torch.zeros(height, width)
    for i in range(height):
        for j in range(width):
            kept = torch.zeros_like(acts)
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if 0 <= i + di < height and 0 <= j + dj < width:
                        kept[:, :, i + di, j + dj] = ramp[1 + di] * ramp[1 + dj] * acts[:, :, i, j]
            found[i, j] = head(net, image, kept)[0].detach().softmax(dim=0)[target]
    return found


def slow_opti_cam(net, image, acts, target, steps=3, rate=0.2):
    """Adam written out from its paper."""
    numbers, mean, square = torch.zeros(acts.shape[1]).double(), 0, 0
    for step in range(1, steps + 1):
        leaf = numbers.clone().requires_grad_()
        mixed = ((torch.exp(leaf) / torch.exp(leaf).sum())[:, None, None] * acts[0]).sum(dim=0)
        mask = nn.functional.interpolate(mixed[None, None], SIZE, mode="bilinear", align_corners=False)
        mask = (mask - mask.min()) / (mask.max() - mask.min())
        (gradient,) = torch.autograd.grad(-net(image * mask)[0, target], leaf)
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        corrected = mean / (1 - 0.9**step), square / (1 - 0.999**step)
        numbers = numbers - rate * corrected[0] / (corrected[1].sqrt() + 1e-8)
    return (numbers.softmax(dim=0)[:, None, None] * acts[0]).sum(dim=0)


def slow_score_cam(net, image, acts, target):
    """With a softmax over the logits of images that a channel each masks."""
    logits = []
    for channel in acts[0]:
        mask = nn.functional.interpolate(channel[None, None], SIZE, mode="bilinear", align_corners=True)
        mask = (mask - mask.min()) / (mask.max() - mask.min() + 1e-8)
        logits.append(net(image * mask)[0, target])
    weights = torch.exp(torch.stack(logits)) / torch.exp(torch.stack(logits)).sum()
    return sum(weight * channel for weight, channel in zip(weights, acts[0], strict=True)).clamp(min=0)


def slow_ablation_cam(net, image, acts, target):
    total = torch.zeros_like(acts[0, 0])
    for k, channel in enumerate(acts[0]):
        ablated = acts.clone()
        ablated[:, k] = 0
        total += (net(image) - head(net, image, ablated))[0, target] * channel
    return total.clamp(min=0)


WITH_PASSES = {
    "score-cam": slow_score_cam,
    "ablation-cam": slow_ablation_cam,
    "shapley-cam": slow_shapley_cam,
    "shapley-cam:utility=score": partial(slow_shapley_cam, share=0),
    "finer-cam:alpha=0.5": slow_finer_cam,
    "recipro-cam": slow_recipro_cam,
    "recipro-cam:blur=true": partial(slow_recipro_cam, ramp=(0.25, 0.5, 0.25)),
    "opti-cam:steps=3,rate=0.2": slow_opti_cam,
}


@pytest.mark.parametrize("method", WITH_PASSES)
def test_equals_the_slow_transcription_with_passes_of_its_own(method, network):
    net, images = network
    expected = []
    for image, target in zip(images.split(1), TARGETS.tolist(), strict=True):
        acts = torch.from_numpy(activations_and_gradients(net, image, "layer")[0])
        expected.append(WITH_PASSES[method](net, image, acts, target).detach())
    expected = enlarged(expected, images.shape[2:])[:, 0]
    found = salgen.explain(net, images, TARGETS, method=f"{method}{',' if ':' in method else ':'}layer=layer").values
    assert expected.max() > 0
    torch.testing.assert_close(found, expected.float(), rtol=1e-4, atol=1e-6 * float(expected.max()))


@pytest.mark.parametrize("network", TWO_RESOLUTIONS, indirect=True)
def test_refine_cam_is_the_product_of_scaled_maps(network):
    net, images = network
    expected = 1
    for layer in ("relu1", "layer"):
        acts, g = activations_and_gradients(net, images, layer)
        maps = enlarged([slow_plus_plus(a, b, b**2, b**3) for a, b in zip(acts, g, strict=True)], SIZE)[:, 0]
        low, high = maps.amin(dim=(1, 2), keepdim=True), maps.amax(dim=(1, 2), keepdim=True)
        expected = expected * (maps - low) / (high - low)
    found = salgen.explain(net, images, TARGETS, method="refine-cam").values
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("network", TWO_RESOLUTIONS, indirect=True)
@pytest.mark.parametrize("method", ["grad-cam", "fem", "score-cam"])
def test_all_layers_are_the_last_of_each_resolution(method, network):
    net, images = network
    found = salgen.explain(net, images, TARGETS, method=method, layer="all").values
    assert torch.equal(found, salgen.explain(net, images, TARGETS, method=method, layer="relu1+layer").values)


def test_all_layers_need_a_rectified_one():
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Tanh(), nn.Flatten(), nn.Linear(96, 2))
    with pytest.raises(SalgenError, match=r"grad-cam takes the last layer .* ends in a ReLU, .* name layers"):
        salgen.explain(net, torch.zeros(1, 1, 8, 10), 0, method="grad-cam", layer="all")


def test_finer_cam_needs_another_class():
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(96, 1))
    net.multi_label = True
    with pytest.raises(SalgenError, match="finer-cam compares classes, and this model has one: choose grad-cam"):
        salgen.explain(net, torch.rand(1, 1, 8, 10), 0, method="finer-cam")


LAYER_SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 20), st.integers(1, 5), st.integers(2, 5))


@given(shape=LAYER_SHAPES, seed=st.integers(0, 2**31), size=st.sampled_from([1e-25, 1e-3, 1.0, 1e25]))
def test_is_the_first_component_of_the_svd(shape, seed, size):
    """Whichever Gram matrix is smaller, and however small or large the values."""
    values = torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * size
    found = principal_component(values)
    assert found.shape == (shape[0], 1, *shape[2:])
    for ours, image in zip(found.double().flatten(1).numpy(), values.double().flatten(2).mT.numpy(), strict=True):
        left, sizes, right = np.linalg.svd(image - image.mean(axis=0), full_matrices=False)
        theirs, weights = left[:, 0] * sizes[0], right[0]
        gap = 1 - sizes[1] / sizes[0] if len(sizes) > 1 else 1
        sign = np.sign(weights[np.abs(weights).argmax()])
        tie = len(weights) > 1 and np.diff(np.sort(np.abs(weights))[-2:])[0] < 1e-4
        distance = min(np.abs(ours - s * theirs).max() for s in ((1, -1) if tie else (sign,)))
        assert distance <= 1e-4 * sizes[0] / max(gap, 1e-3)


@pytest.mark.parametrize("value", [0.0, 0.3, -7.0, 1e20])
def test_a_constant_layer_and_a_single_pixel_give_zeros(value):
    values = torch.full((2, 5, 3, 4), value) * torch.rand(1, 5, 1, 1)
    assert torch.equal(principal_component(values), torch.zeros(2, 1, 3, 4))
    assert torch.equal(principal_component(values[..., :1, :1]), torch.zeros(2, 1, 1, 1))
    rounding = values * (1 + 1e-7 * torch.rand(2, 5, 3, 4))
    assert torch.equal(principal_component(rounding), torch.zeros(2, 1, 3, 4))
