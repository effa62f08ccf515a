"""What any saliency method owes its users: exact laws on small networks, for methods of any library."""

from collections import OrderedDict
from collections.abc import Callable
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


def small_network(width: int = 4, *, stride: int = 1, inplace: bool = False, seed: int = 0) -> nn.Module:
    """Two convolutions with ReLU (`features`), a pool, and a linear `head`; no bias, so an empty image has logits 0."""
    generator = torch.Generator().manual_seed(seed)
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
            found = check(explain)
        except Exception as error:  # a method of another library may fail in any way
            found = f"{type(error).__name__}: {reason(error)}"
        rows.append((law, not found, found))
    return pd.DataFrame(rows, columns=["law", "holds", "found"])


def maps_of(
    explain: Explain, network: nn.Module | None = None, inputs: Tensor | None = None, targets: Tensor | None = None
) -> Float64:
    """Maps float64 (N, H, W), by default of the small network, the images and a class each."""
    inputs = images() if inputs is None else inputs
    classes = torch.arange(len(inputs)) % CLASSES if targets is None else targets
    found = explain(small_network() if network is None else network, inputs, classes)
    values = found.detach().cpu().double().numpy() if isinstance(found, Tensor) else np.asarray(found, dtype=float)
    return values.sum(axis=1) if values.ndim == 4 else values


def _different(one: Float64, other: Float64) -> str:
    scale = max(float(np.abs(one).max()), 1e-12)
    error = float(np.abs(one - other).max()) / scale
    return "" if error <= CLOSE else f"values differ by {error:.1%} of the largest"


def _one_finite_map_each(explain: Explain) -> str:
    maps = maps_of(explain)
    if maps.shape != (COUNT, SIDE, SIDE):
        return f"maps of shape {maps.shape} for {COUNT} images of {SIDE} x {SIDE}"
    return "" if np.isfinite(maps).all() else "values that are not finite"


def _alone_as_in_a_batch(explain: Explain) -> str:
    network, targets = small_network(), torch.tensor([2, 1, 0])
    alone = [maps_of(explain, network, images()[k : k + 1], targets[k : k + 1])[0] for k in range(COUNT)]
    return _different(maps_of(explain, network, images(), targets), np.stack(alone))


def _network_untouched(explain: Explain) -> str:
    network = small_network()
    before = state_of(network)
    maps_of(explain, network)
    return "" if state_of(network) == before else "weights, gradients, modes, hooks or the random state changed"


def _inputs_untouched(explain: Explain) -> str:
    inputs = images()
    maps_of(explain, inputs=inputs)
    same = torch.equal(inputs, images()) and not inputs.requires_grad and inputs.grad is None
    return "" if same else "values, requires_grad or grad of the inputs changed"


def _weights_matter(explain: Explain) -> str:
    different = _different(maps_of(explain), maps_of(explain, small_network(seed=2)))
    return "" if different else "a network with other weights has the same maps"


def _class_matters(explain: Explain) -> str:
    different = _different(*(maps_of(explain, targets=torch.full((COUNT,), target)) for target in (0, 1)))
    return "" if different else "the maps of two classes are the same"


def _unread_pixels_have_nothing(explain: Explain) -> str:
    """The first layer reads every second pixel along each axis."""
    maps = np.abs(maps_of(explain, small_network(stride=2)))
    share = 1 - maps[:, ::2, ::2].sum() / max(maps.sum(), 1e-12)
    return f"{share:.0%} of the map lies on pixels that the network does not read" if share > CLOSE else ""


def _mirrored_image_mirrored_map(explain: Explain) -> str:
    """The network is as it was if its kernels are mirrored."""
    network = small_network()
    for layer in network.features:  # type: ignore[union-attr]
        if isinstance(layer, nn.Conv2d):
            layer.weight.data = (layer.weight.data + layer.weight.data.flip(-1)) / 2
    maps, mirrored = (maps_of(explain, network, inputs) for inputs in (images(), images().flip(-1)))
    return _different(maps, mirrored[..., ::-1])


def _dead_units_change_nothing(explain: Explain) -> str:
    """Units that nothing reads are added to both convolutions."""
    network, wider = small_network(4), small_network(6)
    for own, other in zip(network.parameters(), wider.parameters(), strict=True):
        slices = tuple(slice(size) for size in own.shape)
        if own.ndim == 2 or own.shape[1] > 1:
            other.data[:, own.shape[1] :] = 0  # nothing reads the new units
        other.data[slices] = own.data
    return _different(*(maps_of(explain, of) for of in (network, wider)))


def _channels_last_changes_nothing(explain: Explain) -> str:
    layout = torch.channels_last
    found = maps_of(explain, small_network().to(memory_format=layout), images().to(memory_format=layout))
    return _different(maps_of(explain), found)


def _half_precision_is_near(explain: Explain) -> str:
    found, expected = maps_of(explain, small_network().bfloat16(), images().bfloat16()), maps_of(explain)
    near = np.isfinite(found).all() and np.corrcoef(found.ravel(), expected.ravel())[0, 1] >= 0.95
    return "" if near else "bfloat16 gives values that are not finite, or correlate by less than 0.95 with float32"


def _works_under_no_grad(explain: Explain) -> str:
    expected = maps_of(explain)
    with torch.no_grad():
        return _different(expected, maps_of(explain))


def _sums_to_the_logit(explain: Explain) -> str:
    """An empty image has logits of 0."""
    with torch.no_grad():
        logits = small_network()(images()).gather(1, torch.arange(COUNT)[:, None] % CLASSES)[:, 0].double().numpy()
    error = np.abs(maps_of(explain).sum(axis=(1, 2)) - logits).max() / np.abs(logits).max()
    return "" if error <= 0.01 else f"sums are off by {error:.1%} of the largest logit"


COMPLETE = "sums to the logit's difference from an empty image"
LAWS: dict[str, Callable[[Explain], str]] = {
    "one finite map for each image, of its size": _one_finite_map_each,
    "the same call gives the same maps": lambda explain: _different(maps_of(explain), maps_of(explain)),
    "an image alone has the map that it has in a batch": _alone_as_in_a_batch,
    "the network stays as it was": _network_untouched,
    "the inputs stay as they were": _inputs_untouched,
    "other weights give another map": _weights_matter,
    "another class has another map": _class_matters,
    "pixels that the network does not read have nothing": _unread_pixels_have_nothing,
    "a mirrored image has a mirrored map, if the network is symmetric": _mirrored_image_mirrored_map,
    "units that nothing reads change nothing": _dead_units_change_nothing,
    "in-place layers change nothing": lambda explain: _different(
        maps_of(explain), maps_of(explain, small_network(inplace=True))
    ),
    "channels-last layout changes nothing": _channels_last_changes_nothing,
    "half precision gives nearly the same map": _half_precision_is_near,
    "works under torch.no_grad": _works_under_no_grad,
    COMPLETE: _sums_to_the_logit,
}
