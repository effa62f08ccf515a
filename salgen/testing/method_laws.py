"""What any saliency method owes its users: exact laws on small networks, for methods of any library."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from copy import deepcopy
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from salgen.errors import reason
from salgen.testing.methods import state_of
from salgen.types import Float64

Explain = Callable[[nn.Module, Tensor, Tensor], Tensor | NDArray[np.floating]]
SIDE, COUNT, CLASSES = 12, 3, 3
CLOSE = 1e-4  # as a share of the largest value


def small_network(width: int = 4, *, stride: int = 1, inplace: bool = False) -> nn.Module:
    """Two convolutions with ReLU (`features`), a pool, and a linear `head`; no bias, so an empty image has logits 0."""
    generator = torch.Generator().manual_seed(0)
    features = nn.Sequential(
        nn.Conv2d(1, width, 1 if stride > 1 else 3, stride, 0 if stride > 1 else 1, bias=False),
        nn.ReLU(inplace),
        nn.Conv2d(width, width, 3, padding=1, bias=False),
        nn.ReLU(inplace),
    )
    head = nn.Linear(width, CLASSES, bias=False)
    pool = nn.AdaptiveAvgPool2d(1)
    network = nn.Sequential(OrderedDict(features=features, pool=pool, flatten=nn.Flatten(), head=head))
    for weight in network.parameters():
        weight.data = torch.randn(weight.shape, generator=generator) / weight[0].numel() ** 0.5
    return network.eval()


def images() -> Tensor:
    """Three images (N, 1, H, W) of noise in [0, 1]."""
    return torch.rand(COUNT, 1, SIDE, SIDE, generator=torch.Generator().manual_seed(1))


def check_laws(explain: Explain, *, complete: bool = False) -> pd.DataFrame:
    """Which exact laws a saliency method of any library keeps.

    Parameters
    ----------
    explain
        Takes a network, inputs float32 (N, 1, H, W), and targets int64 (N,), and returns maps (N, H, W) or
        (N, C, H, W). Channels are summed. The network has the children `features`, whose last layer is a ReLU, `pool`,
        `flatten` and `head`.
    complete
        Whether the method promises that a map sums to the logit's difference from that of an empty image.

    Returns
    -------
    pandas.DataFrame
        A row for each law: ``law``, ``holds``, and ``found``, which says what was wrong, or is empty.
    """
    rows = []
    for law, check in LAWS.items():
        if law == COMPLETE and not complete:
            continue
        try:
            found = next(check(explain), "")
        except Exception as error:  # a method of another library may fail in any way
            found = f"{type(error).__name__}: {reason(error)}"
        rows.append((law, not found, found))
    return pd.DataFrame(rows, columns=["law", "holds", "found"])


def maps_of(explain: Explain, network: nn.Module, inputs: Tensor, targets: Tensor | None = None) -> Float64:
    """Maps float64 (N, H, W)."""
    classes = torch.arange(len(inputs)) % CLASSES if targets is None else targets
    found = explain(network, inputs, classes)
    values = found.detach().cpu().double().numpy() if isinstance(found, Tensor) else np.asarray(found, dtype=float)
    return values.sum(axis=1) if values.ndim == 4 else values


def _different(one: Float64, other: Float64) -> Iterator[str]:
    scale = max(float(np.abs(one).max()), 1e-12)
    error = float(np.abs(one - other).max()) / scale
    if not error <= CLOSE:
        yield f"values differ by {error:.1%} of the largest"


def _one_finite_map_each(explain: Explain) -> Iterator[str]:
    maps = maps_of(explain, small_network(), images())
    if maps.shape != (COUNT, SIDE, SIDE):
        yield f"maps of shape {maps.shape} for {COUNT} images of {SIDE} x {SIDE}"
    if not np.isfinite(maps).all():
        yield "values that are not finite"


def _same_again(explain: Explain) -> Iterator[str]:
    network = small_network()
    yield from _different(*(maps_of(explain, network, images()) for _ in range(2)))


def _alone_as_in_a_batch(explain: Explain) -> Iterator[str]:
    network, targets = small_network(), torch.tensor([2, 1, 0])
    alone = [maps_of(explain, network, images()[k : k + 1], targets[k : k + 1])[0] for k in range(COUNT)]
    yield from _different(maps_of(explain, network, images(), targets), np.stack(alone))


def _network_untouched(explain: Explain) -> Iterator[str]:
    network = small_network()
    before = state_of(network)
    maps_of(explain, network, images())
    if state_of(network) != before:
        yield "weights, gradients, modes, hooks or the random state changed"


def _inputs_untouched(explain: Explain) -> Iterator[str]:
    inputs = images()
    maps_of(explain, small_network(), inputs)
    if not torch.equal(inputs, images()) or inputs.requires_grad or inputs.grad is not None:
        yield "values, requires_grad or grad of the inputs changed"


def _weights_matter(explain: Explain) -> Iterator[str]:
    network = small_network()
    drawn = deepcopy(network)
    for weight in drawn.parameters():
        weight.data = torch.randn(weight.shape, generator=torch.Generator().manual_seed(2)) / weight[0].numel() ** 0.5
    if not list(_different(*(maps_of(explain, of, images()) for of in (network, drawn)))):
        yield "a network with other weights has the same maps"


def _class_matters(explain: Explain) -> Iterator[str]:
    network = small_network()
    maps = [maps_of(explain, network, images(), torch.full((COUNT,), target)) for target in (0, 1)]
    if not list(_different(*maps)):
        yield "the maps of two classes are the same"


def _unread_pixels_have_nothing(explain: Explain) -> Iterator[str]:
    """The first layer reads every second pixel along each axis."""
    maps = np.abs(maps_of(explain, small_network(stride=2), images()))
    share = 1 - maps[:, ::2, ::2].sum() / max(maps.sum(), 1e-12)
    if share > CLOSE:
        yield f"{share:.0%} of the map lies on pixels that the network does not read"


def _mirrored_image_mirrored_map(explain: Explain) -> Iterator[str]:
    """The network is as it was if its kernels are mirrored."""
    network = small_network()
    for layer in network.features:  # type: ignore[union-attr]
        if isinstance(layer, nn.Conv2d):
            layer.weight.data = (layer.weight.data + layer.weight.data.flip(-1)) / 2
    maps, mirrored = (maps_of(explain, network, inputs) for inputs in (images(), images().flip(-1)))
    yield from _different(maps, mirrored[..., ::-1])


def _dead_units_change_nothing(explain: Explain) -> Iterator[str]:
    """Units that nothing reads are added to both convolutions."""
    network, wider = small_network(4), small_network(6)
    for own, other in zip(network.parameters(), wider.parameters(), strict=True):
        slices = tuple(slice(size) for size in own.shape)
        if own.ndim == 2 or own.shape[1] > 1:
            other.data[:, own.shape[1] :] = 0  # nothing reads the new units
        other.data[slices] = own.data
    yield from _different(*(maps_of(explain, of, images()) for of in (network, wider)))


def _in_place_layers_change_nothing(explain: Explain) -> Iterator[str]:
    yield from _different(*(maps_of(explain, small_network(inplace=flag), images()) for flag in (False, True)))


def _channels_last_changes_nothing(explain: Explain) -> Iterator[str]:
    network, inputs = small_network(), images()
    expected = maps_of(explain, network, inputs)
    kept = deepcopy(network).to(memory_format=torch.channels_last)
    yield from _different(expected, maps_of(explain, kept, inputs.to(memory_format=torch.channels_last)))


def _half_precision_is_near(explain: Explain) -> Iterator[str]:
    network = small_network()
    expected = maps_of(explain, network, images())
    found = maps_of(explain, deepcopy(network).bfloat16(), images().bfloat16())
    if not np.isfinite(found).all() or np.corrcoef(found.ravel(), expected.ravel())[0, 1] < 0.95:
        yield "bfloat16 gives values that are not finite, or correlate by less than 0.95 with float32"


def _works_under_no_grad(explain: Explain) -> Iterator[str]:
    network = small_network()
    expected = maps_of(explain, network, images())
    with torch.no_grad():
        yield from _different(expected, maps_of(explain, network, images()))


def _sums_to_the_logit(explain: Explain) -> Iterator[str]:
    """An empty image has logits of 0."""
    network, targets = small_network(), torch.arange(COUNT) % CLASSES
    with torch.no_grad():
        logits = network(images()).gather(1, targets[:, None])[:, 0].double().numpy()
    error = np.abs(maps_of(explain, network, images()).sum(axis=(1, 2)) - logits).max() / np.abs(logits).max()
    if not error <= 0.01:
        yield f"sums are off by {error:.1%} of the largest logit"


COMPLETE = "sums to the logit's difference from an empty image"
LAWS: dict[str, Callable[[Explain], Iterator[str]]] = {
    "one finite map for each image, of its size": _one_finite_map_each,
    "the same call gives the same maps": _same_again,
    "an image alone has the map that it has in a batch": _alone_as_in_a_batch,
    "the network stays as it was": _network_untouched,
    "the inputs stay as they were": _inputs_untouched,
    "other weights give another map": _weights_matter,
    "another class has another map": _class_matters,
    "pixels that the network does not read have nothing": _unread_pixels_have_nothing,
    "a mirrored image has a mirrored map, if the network is symmetric": _mirrored_image_mirrored_map,
    "units that nothing reads change nothing": _dead_units_change_nothing,
    "in-place layers change nothing": _in_place_layers_change_nothing,
    "channels-last layout changes nothing": _channels_last_changes_nothing,
    "half precision gives nearly the same map": _half_precision_is_near,
    "works under torch.no_grad": _works_under_no_grad,
    COMPLETE: _sums_to_the_logit,
}
