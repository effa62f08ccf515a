import numpy as np
import pytest
import torch
from small_networks import pooled_grid
from torch import nn
import salgen
from salgen.errors import SalgenError
from salgen.seeding import Stream


@pytest.fixture(scope="module")
def network():
    return pooled_grid()


@pytest.fixture(scope="module")
def images():
    return torch.rand(3, 2, 10, 13, generator=torch.Generator().manual_seed(1)) * 2 - 1


TARGETS = torch.tensor([0, 2, 1])


def slow(value, image, window, stride, cover):
    """Window by window, pixel by pixel."""
    _, height, width = image.shape
    total, count = np.zeros((height, width)), np.zeros((height, width))
    down, across = np.broadcast_to(stride, 2).tolist()
    rows = [y for y in range(0, height, down) if y < down or y - down + window[0] < height]
    columns = [x for x in range(0, width, across) if x < across or x - across + window[1] < width]
    for top in rows:
        for left in columns:
            place = (slice(top, top + window[0]), slice(left, left + window[1]))
            covered = image.clone()
            covered[:, *place] = cover[:, None, None]
            total[place] += value(image) - value(covered)
            count[place] += 1
    return total / count


@pytest.mark.parametrize("output", ["probability", "score"])
@pytest.mark.parametrize(("window", "stride"), [((4, 4), 3), ((3, 5), 2), ((10, 13), 4), ((1, 1), 1)])
def test_equals_the_loops(network, images, window, stride, output):
    found = salgen.explain(
        network, images, TARGETS, method="occlusion", window=window, stride=stride, output=output, reduce=None
    )
    assert found.native_resolution == (10, 13)
    assert found.values.shape == (3, 1, 10, 13)
    for image, target, attribution in zip(images, TARGETS, found.values, strict=True):

        def value(changed, target=target):
            logits = network(changed[None])[0].detach().double()
            return float((logits if output == "score" else logits.softmax(dim=0))[target])

        expected = slow(value, image, window, stride, torch.zeros(2))
        np.testing.assert_allclose(attribution[0], expected, rtol=1e-4, atol=1e-6)


def test_the_default_windows_are_shares_of_the_sides():
    net = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1, 2))
    pixels = torch.rand(1, 1, 60, 30, generator=torch.Generator().manual_seed(0))
    probability = lambda changed: float(net(changed[None])[0].detach().double().softmax(dim=0)[0])  # noqa: E731
    found = salgen.explain(net, pixels, 0, method="occlusion").values
    expected = slow(probability, pixels[0], (4, 2), (2, 1), torch.zeros(1))
    np.testing.assert_allclose(found[0], expected, rtol=1e-2, atol=1e-7)


def test_faults_say_what_fits(network, images):
    with pytest.raises(SalgenError, match="window's side of 11 does not fit into an image's side of 10"):
        salgen.explain(network, images, 0, method="occlusion:window=11x3")
    with pytest.raises(SalgenError, match="stride=5 is larger than a window's side of 4"):
        salgen.explain(network, images, 0, method="occlusion:window=6x4,stride=5")


def rise_masks(stream, count, cells, share, size):
    """Grids, enlarged bilinearly to one cell more than they cover, from where a draw says."""
    cell = [-(-side // cells) for side in size]
    grids = torch.from_numpy(stream.uniform(count * cells * cells) < share).view(count, 1, cells, cells).double()
    whole = nn.functional.interpolate(grids, [(cells + 1) * side for side in cell], mode="bilinear")[:, 0].numpy()
    places = zip(whole, *(stream.integers(side, count) for side in cell), strict=True)
    return [mask[down : down + size[0], right : right + size[1]] for mask, down, right in places]


@pytest.mark.parametrize(("cells", "share"), [(3, 0.5), (4, 0.3), (14, 0.5)])
def test_rise_equals_the_loops(network, images, cells, share):
    count = 9
    found = salgen.explain(
        network, images, TARGETS, method="rise", n=count, grid=cells, share=share, seed=5, ids=["a", "b", "c"]
    )
    for name, image, target, attribution in zip("abc", images, TARGETS, found.values, strict=True):
        total = np.zeros((10, 13))
        for mask in rise_masks(Stream(5, "rise", name), count, cells, share, (10, 13)):
            masked = image * torch.from_numpy(mask).float()
            total += float(network(masked[None])[0].softmax(dim=0)[target].detach()) * mask
        np.testing.assert_allclose(attribution, total / (count * share), rtol=1e-4, atol=1e-6)
    assert float(found.values.std(dim=(1, 2)).min()) > 0
