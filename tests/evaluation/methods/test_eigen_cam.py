import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
import salgen
from salgen.evaluation.methods.eigen_cam import aligned, principal_component


def by_svd(values):
    pixels = values.double().flatten(1).T.numpy()
    pixels = pixels - pixels.mean(axis=0)
    left, sizes, right = np.linalg.svd(pixels, full_matrices=False)
    return left[:, 0] * sizes[0], right[0], sizes


SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 20), st.integers(1, 5), st.integers(2, 5))


@given(shape=SHAPES, seed=st.integers(0, 2**31), size=st.sampled_from([1e-25, 1e-3, 1.0, 1e25]))
def test_is_the_first_component_of_the_svd(shape, seed, size):
    """Whichever Gram matrix is smaller, and however small or large the values."""
    values = torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * size
    found = principal_component(values)
    assert found.shape == (shape[0], 1, *shape[2:])
    for ours, image in zip(found.double().flatten(1).numpy(), values, strict=True):
        theirs, weights, sizes = by_svd(image)
        gap = 1 - sizes[1] / sizes[0] if len(sizes) > 1 else 1
        sign = np.sign(weights[np.abs(weights).argmax()])
        tie = len(weights) > 1 and np.diff(np.sort(np.abs(weights))[-2:])[0] < 1e-4
        distance = min(np.abs(ours - s * theirs).max() for s in ((1, -1) if tie else (sign,)))
        assert distance <= 1e-4 * sizes[0] / max(gap, 1e-3)


@given(shape=SHAPES, seed=st.integers(0, 2**31))
def test_aligned_correlates_with_the_sum_of_channels(shape, seed):
    values = torch.rand(shape, generator=torch.Generator().manual_seed(seed))
    component = principal_component(values)
    found = aligned(component, values)
    assert torch.equal(found.abs(), component.abs())
    total = values.double().sum(dim=1) - values.double().sum(dim=1).mean(dim=(1, 2), keepdim=True)
    assert float((found[:, 0] * total).sum(dim=(1, 2)).min()) >= -1e-5 * float(values.sum())
    assert torch.equal(aligned(-component, values), found) or float((found * values).sum()) < 1e-3


@pytest.mark.parametrize("value", [0.0, 0.3, -7.0, 1e20])
def test_a_constant_layer_and_a_single_pixel_give_zeros(value):
    values = torch.full((2, 5, 3, 4), value) * torch.rand(1, 5, 1, 1)
    assert torch.equal(principal_component(values), torch.zeros(2, 1, 3, 4))
    assert torch.equal(principal_component(values[..., :1, :1]), torch.zeros(2, 1, 1, 1))
    rounding = values * (1 + 1e-7 * torch.rand(2, 5, 3, 4))
    assert torch.equal(principal_component(rounding), torch.zeros(2, 1, 3, 4))


def test_does_not_depend_on_the_batch_or_the_order_of_its_memory():
    values = torch.rand(6, 40, 5, 6).relu()
    together = principal_component(values)
    for k in range(len(values)):
        torch.testing.assert_close(principal_component(values[k : k + 1])[0], together[k], rtol=1e-4, atol=1e-5)
    channels_last = values.contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(principal_component(channels_last), together, rtol=1e-4, atol=1e-5)


class Opposed(nn.Module):
    """The image at full weight, and its negative three times at slightly less: sums of channels are negative."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 4, 1, bias=False)
        self.stem.weight.data = torch.tensor([1.0, -0.9, -0.9, -0.9]).view(4, 1, 1, 1)
        self.head = nn.Linear(4, 2, bias=False)
        self.head.weight.data = torch.tensor([[1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 2.0, 2.0]])

    def forward(self, x):
        return self.head(self.stem(x).mean(dim=(2, 3)))


IMAGE = torch.tensor([[1.0, -2.0], [0.0, 3.0]]).view(1, 1, 2, 2)


@pytest.mark.parametrize(("sign", "factor"), [("raw", 1), ("align", -1)])
def test_signs_by_hand(sign, factor):
    """The one component is (1, -.9, -.9, -.9) over its length; its largest weight is the first."""
    length = (1 + 3 * 0.81) ** 0.5
    found = salgen.explain(Opposed(), IMAGE, 0, method="eigen-cam", sign=sign, layer="stem").values
    expected = (factor * length * (IMAGE - IMAGE.mean())).clamp(min=0)[0]
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


def test_eigen_grad_cam_aligns_with_what_it_decomposes():
    """For the second class activations times gradients are (1, -1.8, -1.8, -1.8) times the image."""
    found = salgen.explain(Opposed(), IMAGE, 1, method="eigen-grad-cam:sign=align", layer="stem").values
    length = (1 + 3 * 1.8**2) ** 0.5 / 4
    torch.testing.assert_close(found, (-length * (IMAGE - IMAGE.mean())).clamp(min=0)[0], rtol=1e-5, atol=1e-6)
