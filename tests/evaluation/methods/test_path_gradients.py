"""Methods on a path to the image, written slowly from the papers and the authors' rules."""

from itertools import pairwise
import captum.attr
import numpy as np
import pytest
import torch
from scipy.ndimage import binary_dilation, gaussian_filter
from small_networks import with_statistics
import salgen
from salgen.evaluation.methods.xrai import grown, regions
from salgen.evaluation.models.lesion_cnn import LesionCNN
from salgen.seeding import Stream

TARGETS = [0, 1, 2]


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(2)
    return with_statistics(LesionCNN(widths=(4, 8), hidden=8).build(2, 3, (16, 20)), 0.2, dense=True).double().eval()


@pytest.fixture(scope="module")
def images():
    return torch.rand(3, 2, 16, 20, generator=torch.Generator().manual_seed(0)).double()


def explained(network, images, method, **options):
    return salgen.explain(network, images, TARGETS, method=method, reduce=None, **options).values.double().numpy()


def score(network, target, point):
    return float(network(torch.from_numpy(point)[None]).detach()[0, target])


def gradient(network, target, point):
    leaf = torch.from_numpy(point)[None].requires_grad_()
    return torch.autograd.grad(network(leaf)[0, target], leaf)[0][0].numpy()


def slow_blur(image, sigma):
    return gaussian_filter(image, (0, sigma, sigma), mode="constant") if sigma else image


def slow_idgi(network, target, points):
    total = np.zeros_like(points[0])
    for here, there in pairwise(points):
        squares = gradient(network, target, here) ** 2
        total += squares / squares.sum() * (score(network, target, there) - score(network, target, here))
    return total


def slow_blur_ig(network, target, image, steps, sigma):
    total = np.zeros_like(image)
    for step in range(steps):
        here = slow_blur(image, step * sigma / steps)
        change = (slow_blur(image, step * sigma / steps + 0.01) - here) / 0.01
        total -= sigma / steps * change * gradient(network, target, here)
    return total


def slow_guided_ig(network, target, image, steps, fraction, distance):
    """Pixel by pixel: who lags is brought on; then the least gradients go as far as they may, group by group."""
    point, total, size = np.zeros(image.size), np.zeros(image.size), image.size
    end = image.ravel()
    for step in range(1, steps + 1):
        share = step / steps
        slope = gradient(network, target, point.reshape(image.shape)).ravel()
        least, most = max(share - distance, 0), min(share + distance, 1)
        before, done = point.copy(), set()
        for k in range(size):
            if point[k] < least * end[k]:
                point[k] = least * end[k]
        while sum(end - point) > (1 - share) * sum(end) + 1e-9:
            done |= {k for k in range(size) if point[k] == most * end[k]}
            order = sorted(set(range(size)) - done, key=lambda k: abs(slope[k]))
            group = order[: int(fraction * (size - 1)) + 1]
            reach = sum(most * end[k] - point[k] for k in group)
            ratio = min(1, (sum(end - point) - (1 - share) * sum(end)) / reach)
            for k in group:
                point[k] = most * end[k] if ratio == 1 else point[k] + ratio * (most * end[k] - point[k])
        total += (point - before) * slope
    return total.reshape(image.shape)


SLOW = {
    "idgi:steps=5": lambda net, k, x: slow_idgi(net, k, [x * step / 5 for step in range(6)]),
    "idgi:steps=5,path=blur": lambda net, k, x: slow_idgi(
        net, k, [slow_blur(x, 50 / 224 * 20 * (1 - step / 5)) for step in range(6)]
    ),
    "blur-ig:steps=6": lambda net, k, x: slow_blur_ig(net, k, x, 6, 50 / 224 * 20),
    "blur-ig:steps=6,sigma=2": lambda net, k, x: slow_blur_ig(net, k, x, 6, 2),
    "guided-ig:steps=5,distance=0.1": lambda net, k, x: slow_guided_ig(net, k, x, 5, 0.25, 0.1),
    "guided-ig:steps=4,distance=0": lambda net, k, x: slow_guided_ig(net, k, x, 4, 0.25, 0.0),
    "guided-ig:steps=5,distance=1,fraction=0.1": lambda net, k, x: slow_guided_ig(net, k, x, 5, 0.1, 1),
}


@pytest.mark.parametrize("method", SLOW)
def test_equals_the_slow_transcription(method, network, images):
    expected = np.stack([SLOW[method](network, k, x) for k, x in zip(TARGETS, images.numpy(), strict=True)])
    found = explained(network, images, method)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())


def test_of_an_image_like_the_baseline_nothing_is_attributed(network):
    for method in ("idgi:steps=3", "guided-ig:steps=3"):
        assert not explained(network, torch.zeros(3, 2, 16, 20).double(), method).any()


@pytest.mark.parametrize("average", ["square", "variance"])
def test_squares_and_variances_of_smoothgrad_are_captums(average, network, images):
    """Of other noise of the same size: means of many draws agree."""
    kind = {"square": "smoothgrad_sq", "variance": "vargrad"}[average]
    noise = 0.1 * float(images[0].max() - images[0].min())
    torch.manual_seed(0)
    tunnel = captum.attr.NoiseTunnel(captum.attr.Saliency(network))
    options = {"nt_type": kind, "nt_samples": 2000, "nt_samples_batch_size": 500, "stdevs": noise}
    theirs = tunnel.attribute(images[:1], target=0, abs=False, **options).numpy()
    ours = salgen.explain(
        network, images[:1], 0, method=f"smoothgrad:n=2000,noise=0.1,average={average}", reduce=None
    ).values.numpy()
    assert ours.min() >= 0
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=0.08 * theirs.max())


def slow_growth(values, segments, least):
    """The authors' loop, with sets of pixels."""
    remaining = [{tuple(place) for place in np.argwhere(segment)} for segment in segments]
    covered, found = set(), np.full(values.shape, np.nan)
    while True:
        remaining = [segment for segment in remaining if len(segment - covered) >= least]
        if not remaining:
            break
        means = [np.mean([values[place] for place in segment - covered]) for segment in remaining]
        best = remaining[int(np.argmax(means))]
        for place in best - covered:
            found[place] = max(means)
        covered |= best
    found[np.isnan(found)] = values[np.isnan(found)].mean() if np.isnan(found).any() else 0
    return found


def test_xrai_adds_regions_as_the_slow_loop_does():
    draws = np.random.default_rng(0)
    values = draws.normal(size=(30, 40))
    segments = np.stack([binary_dilation(draws.random((30, 40)) < 0.004, iterations=4) for _ in range(12)])
    np.testing.assert_allclose(grown(values, segments), slow_growth(values, segments, 50 * 1200 / 224**2), rtol=1e-9)
    assert len(np.unique(grown(values, segments))) > 5


def test_xrai_is_made_of_integrated_gradients_from_black_and_white(network, images):
    found = explained(network, images, "xrai:steps=20")[:, 0]
    both = [explained(network, images, f"integrated-gradients:steps=20,baselines={start}") for start in (0.0, 1.0)]
    for map_, values, image in zip(found, np.max((both[0] + both[1]) / 2, axis=1), images.numpy(), strict=True):
        expected = slow_growth(values, regions(np.moveaxis(image, 0, -1)), 50 * 320 / 224**2)
        np.testing.assert_allclose(map_, expected, rtol=1e-4, atol=1e-7)


def test_regions_cover_the_image_and_a_constant_one_is_a_region():
    image = np.zeros((224, 224, 3))
    image[60:160, 60:160] = 1
    found = regions(image)
    assert found.any(axis=0).all()
    assert any(part[100, 100] and not part[10, 10] and part[58, 100] for part in found)  # a square of 94, dilated by 5
    assert regions(np.ones((30, 30, 1))).all()


def test_expected_gradients_average_over_lines_from_other_images(network, images):
    others = torch.rand(4, 2, 16, 20, generator=torch.Generator().manual_seed(1)).double()
    found = explained(network, images, "expected-gradients:n=5", references=others, seed=3)
    for name, (image, target) in enumerate(zip(images.numpy(), TARGETS, strict=True)):
        stream, total = Stream(3, "expected-gradients", str(name)), 0
        for _ in range(5):
            other = others.numpy()[stream.integers(4, 1)[0]]
            point = other + stream.uniform(1)[0] * (image - other)
            total += (image - other) * gradient(network, target, point)
        np.testing.assert_allclose(found[name], total / 5, rtol=1e-3, atol=1e-6)
