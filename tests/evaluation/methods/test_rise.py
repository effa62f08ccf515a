import numpy as np
import pytest
import torch
from small_networks import pooled_grid
from torch import nn
import salgen
from salgen.evaluation.methods.rise import Masks
from salgen.seeding import Stream


@pytest.fixture(scope="module")
def network():
    return pooled_grid()


@pytest.fixture(scope="module")
def images():
    return torch.rand(3, 2, 10, 13, generator=torch.Generator().manual_seed(1)) * 4 - 2


TARGETS = torch.tensor([0, 2, 1])


def enlarged(grid, y, x, cell):
    """The value of a grid, enlarged bilinearly to one cell more than it covers, at a pixel."""
    value = 0.0
    cells = len(grid)
    whole = [(cells + 1) * c for c in cell]
    row, column = ((p + 0.5) * cells / side - 0.5 for p, side in zip((y, x), whole, strict=True))
    row, column = (min(max(place, 0), cells - 1) for place in (row, column))
    for i in range(cells):
        for j in range(cells):
            value += max(0, 1 - abs(i - row)) * max(0, 1 - abs(j - column)) * grid[i, j]
    return value


def slow_masks(stream, count, cells, share, size):
    cell = [-(-side // cells) for side in size]
    grids = (stream.uniform(count * cells * cells) < share).reshape(count, cells, cells)
    down, right = (stream.integers(c, count) for c in cell)
    masks = np.zeros((count, *size))
    for number in range(count):
        for y in range(size[0]):
            for x in range(size[1]):
                masks[number, y, x] = enlarged(grids[number], y + down[number], x + right[number], cell)
    return masks


@pytest.mark.parametrize(("cells", "share"), [(3, 0.5), (4, 0.3), (14, 0.5)])
def test_equals_the_loops(network, images, cells, share):
    count = 9
    found = salgen.explain(
        network, images, TARGETS, method="rise", n=count, grid=cells, share=share, seed=5, ids=["a", "b", "c"]
    )
    for name, image, target, attribution in zip("abc", images, TARGETS, found.values, strict=True):
        total = np.zeros((10, 13))
        for mask in slow_masks(Stream(5, "rise", name), count, cells, share, (10, 13)):
            masked = image * torch.from_numpy(mask).float()
            total += float(network(masked[None])[0].softmax(dim=0)[target].detach()) * mask
        np.testing.assert_allclose(attribution, total / (count * share), rtol=1e-4, atol=1e-6)
    assert float(found.values.std(dim=(1, 2)).min()) > 0


def test_a_network_that_sees_nothing_gives_its_probability_times_the_masks(images):
    net = nn.Sequential(nn.Flatten(), nn.Linear(260, 3))
    nn.init.zeros_(net[1].weight)
    probability = net[1].bias.detach().softmax(dim=0)
    found = salgen.explain(net, images, TARGETS, method="rise:n=8,grid=3").values
    for number in range(3):
        masks = slow_masks(Stream(0, "rise", str(number)), 8, 3, 0.5, (10, 13))
        expected = float(probability[TARGETS[number]]) * masks.sum(axis=0) / 4
        np.testing.assert_allclose(found[number], expected, rtol=1e-5)
    many = salgen.explain(net, images, TARGETS, method="rise:n=3000,grid=3").values
    expected = probability[TARGETS].view(3, 1, 1).expand_as(many)
    torch.testing.assert_close(many, expected, rtol=0.08, atol=0)  # constant in expectation


def test_the_part_that_counts_stands_out():
    """The class is the brightness of one corner; what covers it lowers the probability."""
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 2, bias=False))
    nn.init.zeros_(net[1].weight)
    net[1].weight.data.view(2, 8, 8)[0, :2, :2] = 0.5
    found = salgen.explain(net, torch.ones(1, 1, 8, 8), 0, method="rise:n=400,grid=4").values[0]
    assert int(found.argmax()) in (0, 1, 8, 9)
    assert found[0, 0] > 1.1 * found[5:, 5:].mean()


def test_a_map_does_not_depend_on_its_batch_or_the_memory(network, images):
    whole = salgen.explain(network, images, TARGETS, method="rise:n=40").values
    tight = salgen.explain(network, images, TARGETS, method="rise:n=40", max_memory=1e-6).values
    torch.testing.assert_close(tight, whole, rtol=1e-5, atol=1e-7)
    alone = salgen.explain(network, images[2:], TARGETS[2:], method="rise:n=40", ids=["2"]).values
    torch.testing.assert_close(alone, whole[2:], rtol=1e-5, atol=1e-7)
    named = salgen.explain(network, images[2:], TARGETS[2:], method="rise:n=40", ids=["other"]).values
    assert not torch.allclose(named, whole[2:], rtol=1e-2)


def test_masks_are_in_range_and_keep_their_share():
    masks = Masks.draw([Stream(0, "masks")], 4000, 7, 0.3, torch.zeros(1, 1, 24, 32)).make(torch.arange(4000))
    assert masks.shape == (4000, 24, 32)
    assert float(masks.min()) >= 0
    assert float(masks.max()) <= 1 + 1e-6
    assert float((masks.mean(dim=0) - 0.3).abs().max()) < 0.04


def test_the_sum_of_masks_is_that_of_the_masks_made():
    images = torch.zeros(2, 1, 11, 9)
    masks = Masks.draw([Stream(0, "a"), Stream(0, "b")], 50, 4, 0.5, images)
    weights = torch.rand(2, 50, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    made = masks.make(torch.arange(100)).view(2, 50, 11, 9).double()
    expected = (weights[:, :, None, None] * made).sum(dim=1)
    torch.testing.assert_close(masks.weighted_sum(weights), expected, rtol=1e-5, atol=1e-5)
