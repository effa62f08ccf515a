import numpy as np
import pytest
import torch
from small_networks import pooled_grid
import salgen
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
