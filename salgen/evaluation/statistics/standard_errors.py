"""Standard errors of means over samples, and over training seeds where these are random too."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from salgen.types import Float64


def standard_error(values: Float64, crossed: bool) -> tuple[Float64, Float64]:
    """Standard errors of the means over seeds and samples, and their degrees of freedom.

    Parameters
    ----------
    values
        float64 (S, N, K), NaN where undefined; each sample is defined under some seed.
    crossed
        Whether other training seeds could have been drawn too.

    Returns
    -------
    error, freedom
        float64 (K,).

    Notes
    -----
    With `Vs` and `Vn` the variances of the seeds' and of the samples' means over S and over N, and `Ve` that of the
    residual over SN: V = Vs + Vn - Ve, at least the larger of Vs and Vn, since both hold the noise of
    single scores once; v is Satterthwaite's. Where seeds are given, V = Vn and v = N - 1.
    """
    defined = np.isfinite(values)
    count = defined.sum(axis=(0, 1))
    away = np.where(defined, values - np.nanmean(values, axis=(0, 1)), 0.0)
    of_samples, of_seeds = _variance_of_mean(away, defined, 0), _variance_of_mean(away, defined, 1)
    samples, seeds = values.shape[1] - 1, np.maximum(defined.any(axis=1).sum(axis=0) - 1, 0)
    if not crossed:
        return np.sqrt(of_samples), np.full(len(count), float(samples))
    residual = (away**2).sum(axis=(0, 1)) - _explained(away, defined, 0) - _explained(away, defined, 1)
    noise = np.maximum(residual, 0) / np.maximum(seeds * samples, 1) / count
    noise = np.minimum(noise, np.minimum(of_samples, of_seeds))
    variance = of_samples + of_seeds - noise
    spread = of_samples**2 / samples + (of_seeds**2 + noise**2 / samples) / np.maximum(seeds, 1)
    freedom = np.divide(variance**2, spread, out=np.full(len(count), float(samples)), where=spread > 0)
    return np.sqrt(variance), freedom


def _variance_of_mean(away: Float64, defined: NDArray[np.bool_], axis: int) -> Float64:
    """float64 (K,): variance of the mean if only what is along the other axis were drawn."""
    groups = defined.any(axis=axis).sum(axis=0)
    squares = (away.sum(axis=axis) ** 2).sum(axis=0) / defined.sum(axis=(0, 1)) ** 2
    return np.asarray(squares * groups / np.maximum(groups - 1, 1))


def _explained(away: Float64, defined: NDArray[np.bool_], axis: int) -> Float64:
    """float64 (K,): sum of squares between the means along an axis."""
    sums, counts = away.sum(axis=axis), defined.sum(axis=axis)
    return np.asarray((sums**2 / np.maximum(counts, 1)).sum(axis=0))
