"""The spread of means between trainings, beyond what the samples' noise gives."""

from dataclasses import dataclass
import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtri
from salgen.evaluation.statistics.clusters import cluster_sums
from salgen.types import Float64

OUTLYING = 0.05  # share of families of like methods in which one is found to vary more than the others


def training_variances(values: Float64, clusters: NDArray[np.int64]) -> Float64:
    """The variance of means that is due to S trainings, float64 (K,), of (S, N, K): less the clusters' part, or 0."""
    trained = np.isfinite(values).any(axis=1)
    variances = np.zeros(values.shape[2])
    for seeds in np.unique(trained, axis=1).T:
        if seeds.sum() > 1:
            columns = (trained == seeds[:, np.newaxis]).all(axis=0)
            means, residuals = _parts(values[seeds][:, :, columns], clusters)
            between = means.var(axis=0, ddof=1) / len(means)
            variances[columns] = between - _interaction((residuals**2).sum(axis=(0, 1)), residuals)
    return np.maximum(variances, 0.0)


@dataclass(frozen=True)
class TrainingNoise:
    """What trainings add to the differences between methods, for each pair of them."""

    error: Float64  # float64 (K, K): the standard error of the mean difference that is due to trainings
    freedom: Float64  # float64 (K, K): its degrees of freedom


def training_noise(values: Float64, clusters: NDArray[np.int64]) -> TrainingNoise:
    """The noise of trainings in the mean differences between methods.

    Scores are float64 (S, N, K) of two trainings or more, NaN where undefined for any method.

    Notes
    -----
    Three trainings say too little about one pair. So the variance is pooled over the family: a two-way analysis of
    variance of the seeds' means (S x methods) gives the variance of the interaction. It has (S - 1)(m - 1) degrees of
    freedom for the m methods whose scores depend on the training. The variance of one method against what does not
    depend on it has Satterthwaite's. A pair that differs more than that between its own trainings keeps its own
    variance. It also keeps its own S - 1 degrees of freedom if one of its methods varies significantly more between
    trainings. An F test of each says so, at 5 % for all. The part that is noise of the samples, which the test counts
    anyway, is taken off.

    References
    ----------
    Satterthwaite 1946, *An approximate distribution of estimates of variance components*, Biometrics Bulletin 2(6).
    """
    seeds, _, methods = values.shape
    means, residuals = _parts(values, clusters)
    centred = means - means.mean(axis=0)
    spread = _of_pairs(centred.T @ centred) / (seeds - 1) / seeds
    flat = residuals.reshape(-1, methods)
    sampled = _interaction(_of_pairs(flat.T @ flat), residuals)
    varies = (centred**2).sum(axis=0) > 1e-24
    kinds = varies[:, np.newaxis].astype(int) + varies
    variance, freedom = np.zeros((methods, methods)), np.full((methods, methods), float(seeds - 1))
    others = ~np.eye(methods, dtype=bool)
    outlying = np.zeros(methods, dtype=bool)
    outlying[varies] = _outlying(centred[:, varies])
    shared = ~(outlying[:, np.newaxis] | outlying)
    for kind, (pooled, degrees) in _pooled(centred[:, varies]).items():
        pairs = (kinds == kind) & others
        if pairs.any():
            variance[pairs] = np.maximum(np.maximum(spread[pairs], pooled / seeds) - sampled[pairs].mean(), 0.0)
            freedom[pairs & shared] = degrees
    return TrainingNoise(np.sqrt(variance), freedom)


def _pooled(centred: Float64) -> dict[int, tuple[float, float]]:
    """Pooled variance and its degrees of freedom for pairs with one and with two methods of these, centred (S, m)."""
    seeds, methods = centred.shape
    if methods == 0:
        return {}
    common = centred.mean(axis=1)
    of_seed = methods * (common**2).sum() / (seeds - 1)
    if methods == 1:
        return {1: (of_seed, seeds - 1.0)}
    degrees = (seeds - 1.0) * (methods - 1.0)
    interaction = ((centred - common[:, np.newaxis]) ** 2).sum() / degrees
    parts = np.array([of_seed / methods, (1 - 1 / methods) * interaction])
    effective = parts.sum() ** 2 / (parts**2 / np.array([seeds - 1.0, degrees])).sum()
    return {1: (parts.sum(), effective), 2: (2 * interaction, degrees)}


def _outlying(centred: Float64) -> NDArray[np.bool_]:
    """Which methods' means (S, m) vary between seeds more than the others', bool (m,), by an F test of each."""
    seeds, methods = centred.shape
    if methods < 3:
        return np.zeros(methods, dtype=bool)
    squares = ((centred - centred.mean(axis=1, keepdims=True)) ** 2).sum(axis=0)
    own = squares * methods / (methods - 1)  # the method's, less the mean of the others
    rest = (squares.sum() - own) / (methods - 2)
    return np.asarray(own > fdtri(seeds - 1, (seeds - 1) * (methods - 2), 1 - OUTLYING / methods) * rest)


def _parts(values: Float64, clusters: NDArray[np.int64]) -> tuple[Float64, Float64]:
    """The seeds' means (S, K), and the interaction of seeds and clusters (S, G, K) in what makes them up."""
    defined = np.isfinite(values)
    counts = np.maximum(defined.sum(axis=1), 1)
    means = np.where(defined, values, 0.0).sum(axis=1) / counts
    away = np.where(defined, values - means[:, np.newaxis], 0.0) / counts[:, np.newaxis]
    shares = np.stack([cluster_sums(of_seed, clusters) for of_seed in away])
    residuals = shares - shares.mean(axis=0) - shares.mean(axis=1, keepdims=True) + shares.mean(axis=(0, 1))
    return means, residuals


def _interaction(squares: Float64, residuals: Float64) -> Float64:
    """The variance of the mean over seeds that the interaction makes, from its sums of squares."""
    seeds, clusters, _ = residuals.shape
    return np.asarray(squares / ((seeds - 1) * max(clusters - 1, 1)) * clusters / seeds)


def _of_pairs(products: Float64) -> Float64:
    """Sums of squares of all differences (K, K) from the sums of products of the columns."""
    squares = np.diag(products)
    return np.maximum(squares[:, np.newaxis] + squares - 2 * products, 0.0)
