"""Psychometric functions: performance as a sigmoid of a dose, fitted by maximum likelihood."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, ndtri
from salgen.types import Float64

Function = Callable[[Float64], Float64]
SPAN = 0.0025  # a step at most as steep as this: F from it to 1 less it between the two nearest doses
FLATTEST = 0.5  # steepness over the range of all doses
ON_SLOPE = 0.05
TINY = 1e-12
STEPS, SETTLED, STUCK = 200, 1e-9, 1e9  # steps at most; it stops with this gradient, or with no step left to try


class Shape(NamedTuple):
    """A sigmoid F, its derivative, and its inverse."""

    cdf: Function
    pdf: Function
    inverse: Function


def _gumbel(t: Float64) -> Float64:
    return np.exp(np.minimum(t, 50.0))


SHAPES: Mapping[str, Shape] = {
    "logistic": Shape(expit, lambda t: expit(t) * expit(-t), logit),
    "weibull": Shape(
        lambda t: -np.expm1(-_gumbel(t)), lambda t: _gumbel(t) * np.exp(-_gumbel(t)), lambda p: np.log(-np.log1p(-p))
    ),
    "normal": Shape(ndtr, lambda t: np.exp(-(t**2) / 2) / np.sqrt(2 * np.pi), ndtri),
}


@dataclass(frozen=True)
class Axis:
    """The places of doses on the axis of a fit: larger places are easier."""

    log: bool = True  # places are logarithms of doses, else doses
    falling: bool = False  # a larger dose makes the task harder, as noise does: places are then negative

    def places(self, doses: Float64) -> Float64:
        """The places of doses; these are positive on a logarithmic axis."""
        places = np.log(doses) if self.log else np.asarray(doses, dtype=np.float64)
        return -places if self.falling else places

    def doses(self, places: Float64) -> Float64:
        """The doses at places; infinite ones stay infinite, and change their sign on a falling axis."""
        signed = np.asarray(-places if self.falling else places, dtype=np.float64)
        return np.where(np.isinf(signed), signed, np.exp(signed)) if self.log else signed


@dataclass(frozen=True)
class Curves:
    """Fitted functions ψ = chance + (ceiling - chance) F(steepness (place - centre)), one for each of B fitted rows."""

    centre: Float64  # (B,)
    steepness: Float64
    ceiling: Float64  # 1 - λ, with the lapse rate λ
    places: Float64  # (D,), ascending; nothing is said about what lies beyond them
    chance: float  # the level of guessing, which is known
    shape: str

    def at(self, places: Float64) -> Float64:
        """float64 (B, D'): ψ at each of the places (D',)."""
        return self.chance + (self.ceiling - self.chance)[:, np.newaxis] * self._cdf(places)

    @property
    def thresholds(self) -> Float64:
        """float64 (B,): where ψ is halfway from chance to 1; infinite if at no dose, minus infinite if at every one."""
        reached = self._share < 1.0
        inside = SHAPES[self.shape].inverse(np.where(reached, self._share, 0.5))
        found = np.where(reached, self.centre + inside / self.steepness, np.inf)
        return np.where(found > self.places[-1], np.inf, np.where(found < self.places[0], -np.inf, found))

    @property
    def slopes(self) -> Float64:
        """float64 (B,): the derivative of ψ by the place, at the threshold; NaN where there is none."""
        found = np.isfinite(self.thresholds)
        inside = np.where(found, self._share, 0.5)
        steep = SHAPES[self.shape].pdf(SHAPES[self.shape].inverse(inside)) * self.steepness
        return np.where(found, (self.ceiling - self.chance) * steep, np.nan)

    @property
    def on_slope(self) -> NDArray[np.int64]:
        """int64 (B,): the number of doses that tell where the threshold is, with F between 5 and 95 %."""
        shares = self._cdf(self.places)
        return np.asarray(((shares > ON_SLOPE) & (shares < 1 - ON_SLOPE)).sum(axis=1))

    @property
    def bounds(self) -> tuple[Float64, Float64]:
        """Both float64 (B,): the threshold, or the two doses around it where no dose lies on the slope."""
        thresholds = self.thresholds
        step = (self.on_slope == 0) & np.isfinite(thresholds)
        above = np.clip(np.searchsorted(self.places, thresholds), 1, len(self.places) - 1)
        return np.where(step, self.places[above - 1], thresholds), np.where(step, self.places[above], thresholds)

    @property
    def _share(self) -> Float64:
        """F at the threshold: of 1 and more there is none."""
        with np.errstate(divide="ignore"):
            return (1 - self.chance) / 2 / (self.ceiling - self.chance)

    def _cdf(self, places: Float64) -> Float64:
        return SHAPES[self.shape].cdf(self.steepness[:, np.newaxis] * (places - self.centre[:, np.newaxis]))


def fit(places: Float64, means: Float64, weights: Float64, chance: float = 0.5, shape: str = "logistic") -> Curves:
    """Fit a psychometric function to the mean performance at each dose, a curve for each row of means (B, D).

    `places` are distinct, in any order, see :class:`Axis`; `weights` say how many images each mean is of, and rows of
    zeros never reach a threshold. The parameters maximise Σ n (y log ψ + (1 - y) log(1 - ψ)), a binomial likelihood or
    a quasi-likelihood. The ceiling is from chance to 1. The centre lies at most one range of the doses beyond them.
    The slope is no steeper than doses can tell. Fisher scoring starts from the best points of three grids, with flat,
    middle and steep slopes. Scaling all doses scales the threshold. References are in docs/thresholds.md.
    """
    order = np.argsort(places)
    places, means, weights = places[order], means[:, order], weights[:, order]
    width = places[-1] - places[0]
    unit, sigmoid = (places - places[0]) / width, SHAPES[shape]
    steepest = np.diff(sigmoid.inverse(np.array([SPAN, 1 - SPAN])))[0] / np.diff(unit).min()
    bounds = ((-1.0, 2.0), (np.log(FLATTEST), np.log(steepest)), (chance, 1.0))
    shares = weights / np.maximum(weights.sum(axis=1, keepdims=True), TINY)
    starts, count = _starts(unit, means, shares, bounds, chance, sigmoid), len(means)
    ends, likelihood = _maximised(
        starts.reshape(-1, 3),
        np.array(bounds),
        lambda of, rows: _quasi_likelihood(of, unit, means[rows % count], shares[rows % count], chance, sigmoid),
    )
    found = ends.reshape(starts.shape)[likelihood.reshape(-1, count).argmax(axis=0), np.arange(count)]
    centre, steepness = places[0] + width * found[:, 0], np.exp(found[:, 1]) / width
    return Curves(centre, steepness, found[:, 2], places, chance, shape)


def _starts(
    unit: Float64, means: Float64, shares: Float64, bounds: tuple[tuple[float, float], ...], chance: float, shape: Shape
) -> Float64:
    """The best points of three grids, with the flattest to the steepest slopes, for each row: float64 (3, B, 3)."""
    ranges = (
        np.linspace(*bounds[1], 9),
        np.linspace(*bounds[0], 49),
        chance + (1 - chance) * np.linspace(0.1, 1, 10) ** 2,
    )
    grid = np.stack(np.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, 3)[:, [1, 0, 2]]
    centre, steepness, ceiling = grid.T[:, :, np.newaxis]
    values = chance + (ceiling - chance) * shape.cdf(np.exp(steepness) * (unit - centre))
    values = np.clip(values, TINY, 1 - TINY)
    losses = -(shares * means) @ np.log(values).T - (shares * (1 - means)) @ np.log1p(-values).T
    best = losses.reshape(len(means), 3, -1).argmin(axis=2).T
    return np.asarray(grid.reshape(3, -1, 3)[np.arange(3)[:, np.newaxis], best])


def _quasi_likelihood(
    parameters: Float64, unit: Float64, means: Float64, shares: Float64, chance: float, shape: Shape
) -> tuple[Float64, Float64, Float64]:
    """Of centres, log steepnesses and ceilings (B, 3): log quasi-likelihood, gradient and Fisher information."""
    centre, steepness, ceiling = parameters.T[:, :, np.newaxis]
    steepness = np.exp(steepness)
    t = steepness * (unit - centre)
    height, slope = shape.cdf(t), (ceiling - chance) * shape.pdf(t)
    values = np.clip(chance + (ceiling - chance) * height, TINY, 1 - TINY)
    likelihood = (shares * (means * np.log(values) + (1 - means) * np.log1p(-values))).sum(axis=1)
    jacobian = np.stack([-steepness * slope, t * slope, height], axis=-1)
    precision = shares / (values * (1 - values))
    gradient = np.einsum("bd,bdi->bi", precision * (means - values), jacobian)
    return likelihood, gradient, np.einsum("bd,bdi,bdj->bij", precision, jacobian, jacobian)


def _maximised(
    starts: Float64, bounds: Float64, function: Callable[[Float64, NDArray[np.int64]], tuple[Float64, Float64, Float64]]
) -> tuple[Float64, Float64]:
    """Where each row's likelihood is largest within bounds (K, 2), and it: Fisher scoring with Levenberg's damping."""
    low, high = bounds.T
    found, rows, damping = starts.copy(), np.arange(len(starts)), np.full(len(starts), 1e-3)
    likelihood, gradient, information = function(found, rows)
    for _ in range(STEPS):
        here = found[rows]
        held = ((here <= low) & (gradient[rows] < 0)) | ((here >= high) & (gradient[rows] > 0))
        pull = np.where(held, 0.0, gradient[rows])
        moving = (np.abs(pull).max(axis=1) > SETTLED) & (damping[rows] < STUCK)
        rows, here, held, pull = rows[moving], here[moving], held[moving], pull[moving]
        if not len(rows):
            break
        system = np.where(held[:, :, np.newaxis] | held[:, np.newaxis], 0.0, information[rows])
        place = np.arange(len(low))
        system[:, place, place] += damping[rows, np.newaxis] + held
        tried = np.clip(here + np.linalg.solve(system, pull[:, :, np.newaxis])[:, :, 0], low, high)
        there = function(tried, rows)
        better = there[0] > likelihood[rows]
        damping[rows] = np.where(better, np.maximum(damping[rows] / 5, 1e-12), damping[rows] * 5)
        taken = rows[better]
        found[taken] = tried[better]
        for kept, new in zip((likelihood, gradient, information), there, strict=True):
            kept[taken] = new[better]
    return found, likelihood
