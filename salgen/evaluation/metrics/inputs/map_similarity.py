"""Similarities of two maps of one image: rank correlation, structural similarity, histograms of gradients."""

import math
from collections.abc import Callable, Sequence
from typing import Any
import numpy as np
from numpy.typing import NDArray
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.metric import CONSTANT_MAP
from salgen.evaluation.metrics.inputs.ranking import Ranking, Values
from salgen.types import Float64

WINDOW = 7  # window of structural similarity, in pixels; smaller maps take the largest odd one that fits
CELL = 8  # cell of a histogram of gradients, in pixels; smaller maps take a third of their side
BLOCK = 3  # cells along each axis that are normalised together


def mean_similarity(name: str, own: Values, others: Sequence[Values]) -> tuple[float, str]:
    """The mean of one of `SIMILARITIES` of a finite map with several, and the reason why it is NaN or flagged.

    Where a correlation is undefined because the map itself is constant, the map is at fault: NaN with ``constant_map``.
    Where another map is constant, nothing of the map is left in it: the similarity is 0, and the mean has a value with
    the reason ``constant_map``, so that such cases are counted.

    >>> rising = np.arange(16.0).reshape(4, 4)
    >>> mean_similarity("spearman", rising, [rising**3, -rising])
    (0.0, '')
    >>> mean_similarity("spearman", rising, [rising, np.ones((4, 4))])
    (0.5, 'constant_map')
    """
    with_itself, *values = similarities(name, own, [own, *others])
    if math.isnan(with_itself):
        return math.nan, CONSTANT_MAP
    undefined = np.isnan(values)
    return float(np.where(undefined, 0.0, values).mean()), CONSTANT_MAP if undefined.any() else ""


def similarities(name: str, own: Values, others: Sequence[Values]) -> list[float]:
    """The similarity of a map (H, W) with each of several, in [-1, 1].

    ``spearman``
        Spearman's rank correlation of the values; tied pixels share their mean rank.
    ``spearman-abs``
        The same of the absolute values: a map that only turned its sign is the same map.
    ``ssim``
        Structural similarity (Wang et al. 2004, uniform window) of both maps min-maxed to [0, 1]; a constant map is 0.
    ``hog``
        Pearson's correlation of histograms of oriented gradients (Dalal & Triggs 2005) of the min-maxed maps.
        Orientations have no sign, so a map and its negative are alike.

    All but ``ssim`` are NaN where a map is constant, and ``hog`` also where no gradient is seen.
    """
    if name == "ssim":
        return [_ssim(own, other) for other in others]
    describe = DESCRIPTIONS[name]
    mine = describe(own)
    return [pearson(mine, describe(other)) for other in others]


def pearson(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Pearson's correlation of all values, in [-1, 1]; NaN where either is constant."""
    if first.size == 0 or any(float(values.min()) == float(values.max()) for values in (first, second)):
        return math.nan
    x, y = _centred(first), _centred(second)
    squares = float(x @ x) * float(y @ y)
    return max(-1.0, min(1.0, float(x @ y) / math.sqrt(squares)))


def ranks(values: NDArray[Any]) -> Float64:
    """Ranks of all values, flat; tied ones share their mean rank."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(values, axis=None))


def _centred(values: NDArray[Any]) -> Float64:
    """The values flat, without their mean, and scaled by the largest so that no square overflows or vanishes."""
    flat = values.astype(np.float64).ravel()
    flat = flat / float(np.abs(flat).max())
    flat -= flat.mean()
    return flat / float(np.abs(flat).max())


def _ssim(first: Values, second: Values) -> float:
    from skimage.metrics import structural_similarity

    side = _check_size("ssim", first)
    window = min(WINDOW, side - 1 + side % 2)
    return float(structural_similarity(_scaled(first), _scaled(second), win_size=window, data_range=1.0))


def _gradients(values: Values) -> Float64:
    from skimage.feature import hog

    _check_size("hog", values)
    cells = tuple(min(CELL, side // BLOCK) for side in values.shape)
    return np.asarray(hog(_scaled(values), pixels_per_cell=cells, cells_per_block=(BLOCK, BLOCK)))


def _scaled(values: Values) -> Float64:
    """(S - min S) / (max S - min S); zeros for a constant map."""
    return Ranking(values, np.zeros(values.shape, dtype=bool)).scaled


def _check_size(name: str, values: Values) -> int:
    """The smaller side of a map, which must be at least 3."""
    side = int(min(values.shape))
    if side < BLOCK:
        shape = "x".join(map(str, values.shape))
        raise SalgenError(f"similarity={name} takes maps of 3x3 pixels or more: these are {shape}; take spearman")
    return side


DESCRIPTIONS: dict[str, Callable[[Values], Float64]] = {
    "spearman": ranks,
    "spearman-abs": lambda values: ranks(np.abs(values)),
    "hog": _gradients,
}
SIMILARITIES = ("spearman", "spearman-abs", "ssim", "hog")
