"""The SMOE scale of activations, and its squashing to [0, 1].

References
----------
Mundhenk, Chen and Friedland 2020, *Efficient saliency maps for explainable AI*; Choi and Wette 1969
for the fit of the gamma distribution.
"""

import torch
from torch import Tensor

_OFFSET = 1e-7  # the authors', against the logarithm of zero
_STEPS = 10
SPREAD = 1e-6  # a range below this share of the values is rounding in float32


def smoe_scale(activations: Tensor) -> Tensor:
    """The mean over channels times the log of its ratio to the geometric mean.

    Parameters
    ----------
    activations
        Non-negative (n, K, h, w).

    Returns
    -------
    Tensor
        Non-negative float64 (n, 1, h, w): m · (log2 m - mean log2 x) with m = mean x.
    """
    values = activations.double() + _OFFSET
    mean = values.mean(dim=1, keepdim=True)
    scale: Tensor = mean * (mean.log2() - values.log2().mean(dim=1, keepdim=True))
    return scale


def squashed(maps: Tensor) -> Tensor:
    """Maps through the distribution function of the gamma distribution that is fitted to each.

    Each map is first shifted to a minimum of 1e-7.

    Parameters
    ----------
    maps
        float64 (n, 1, h, w).

    Returns
    -------
    Tensor
        In [0, 1], as `maps`; zeros for a map that is constant.
    """
    values = maps.flatten(1)
    low, high = values.amin(dim=1, keepdim=True), values.amax(dim=1, keepdim=True)
    flat = high - low <= SPREAD * values.abs().amax(dim=1, keepdim=True)
    shifted = values - low + _OFFSET
    shape, scale = gamma_fit(shifted + _OFFSET)
    share: Tensor = torch.special.gammainc(shape.where(~flat, 1), shifted / scale)
    return share.masked_fill(flat, 0).view_as(maps)


def gamma_fit(values: Tensor) -> tuple[Tensor, Tensor]:
    """Shape and scale, each (n, 1), of the gamma distribution most likely to have given positive values (n, m).

    Ten steps of Newton's method from a closed form that is within 1.5 %.
    """
    mean = values.mean(dim=1, keepdim=True)
    s = mean.log() - values.log().mean(dim=1, keepdim=True)
    shape = (3 - s + ((s - 3) ** 2 + 24 * s).sqrt()) / (12 * s)
    for _ in range(_STEPS):
        shape = shape - (shape.log() - shape.digamma() - s) / (1 / shape - torch.special.polygamma(1, shape))
    return shape, mean / shape
