"""Psychometric functions against a regression, a grid and bisection written slowly, and their laws."""

import math
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from salgen.evaluation.sweeps import psychometric
from salgen.evaluation.sweeps.psychometric import SHAPES, Axis, Curves, fit

DOSES = np.geomspace(0.02, 0.7, 8)
PLACES = np.log(DOSES)
SIGMOIDS = {
    "logistic": lambda t: 1 / (1 + math.exp(-t)),
    "weibull": lambda t: 1 - math.exp(-math.exp(t)),
    "normal": lambda t: (1 + math.erf(t / math.sqrt(2))) / 2,
}


def observed(seed, steepness=4.0, centre=0.15, ceiling=0.95, chance=0.5, images=300):
    """Shares of right answers of a log-logistic observer at each dose."""
    psi = chance + (ceiling - chance) / (1 + (DOSES / centre) ** -steepness)
    return np.random.default_rng(seed).binomial(images, psi) / images


def cross_entropy(shape, means, centre, steepness, ceiling, chance=0.5):
    """The formula, dose by dose."""
    total = 0.0
    for place, y in zip(PLACES, means, strict=True):
        psi = chance + (ceiling - chance) * SIGMOIDS[shape](steepness * (place - centre))
        psi = min(max(psi, 1e-12), 1 - 1e-12)
        total -= y * math.log(psi) + (1 - y) * math.log(1 - psi)
    return total / len(means)


def entropy_of(curve, shape, means):
    return cross_entropy(shape, means, curve.centre[0], curve.steepness[0], curve.ceiling[0])


def fit_one(means, shape="logistic", places=PLACES, chance=0.5):
    return fit(places, np.asarray(means)[None], np.full((1, len(places)), 300.0), chance, shape)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "means",
    [
        observed(0),
        observed(1, 2.0, 0.3, 0.8),
        [0.4, 0.5, 0.48, 0.55, 0.7, 0.69, 0.72, 0.9],
        [0.83, 0.88, 0.87, 0.87, 0.83, 0.88, 0.82, 0.83],
    ],
)
def test_no_point_of_a_grid_is_more_likely(shape, means):
    curve = fit_one(means, shape)
    found = entropy_of(curve, shape, means)
    for centre in np.linspace(PLACES[0], PLACES[-1], 30):
        for steepness in np.geomspace(0.3, 20, 20):
            for ceiling in np.linspace(0.5, 1.0, 26):
                assert found <= cross_entropy(shape, means, centre, steepness, ceiling) + 1e-9


TWO_MAXIMA = [0.78, 0.72, 0.85, 0.75, 0.77, 0.85, 0.67, 0.80]  # of a slow rise to 1, and of a step below all doses


def test_of_several_maxima_the_most_likely_is_found(monkeypatch):
    """The best point of the whole grid leads to the lesser one, which has another outcome."""
    starts, curve = psychometric._starts, fit_one(TWO_MAXIMA)

    def only_the_best(unit, means, shares, bounds, chance, shape):
        three = starts(unit, means, shares, bounds, chance, shape)
        likely = [psychometric._quasi_likelihood(one, unit, means, shares, chance, shape)[0][0] for one in three]
        return three[[int(np.argmax(likely))]]

    monkeypatch.setattr(psychometric, "_starts", only_the_best)
    lesser = fit_one(TWO_MAXIMA)
    entropies = [entropy_of(one, "logistic", TWO_MAXIMA) for one in (curve, lesser)]
    assert entropies[1] - entropies[0] > 5e-4
    assert lesser.thresholds[0] != curve.thresholds[0]


def test_rows_are_fitted_as_if_alone_and_doses_count_by_their_images():
    rows = np.stack([observed(seed) for seed in range(20)])
    together = fit(PLACES, rows, np.full(rows.shape, 300.0))
    assert together.thresholds == pytest.approx([fit_one(row).thresholds[0] for row in rows], abs=1e-7)
    means, extra = observed(0), observed(0)
    extra[3] = 0.95
    weights = np.full((1, 8), 300.0)
    weights[0, 3] = 0.0
    assert fit(PLACES, extra[None], weights).thresholds == pytest.approx(fit(PLACES, means[None], weights).thresholds)
    weights = np.stack([np.zeros(8), np.full(8, 300.0)])
    alone = fit_one(observed(0)).thresholds[0]
    found = fit(PLACES, np.stack([np.full(8, 0.5), observed(0)]), weights).thresholds
    assert found[0] == np.inf
    assert found[1] == pytest.approx(alone, abs=1e-7)


CURVES = {
    "centre": st.floats(-3.5, -0.5),
    "steepness": st.floats(0.5, 30),
    "ceiling": st.floats(0.55, 1.0),
    "shape": st.sampled_from(sorted(SHAPES)),
    "chance": st.sampled_from([0.0, 0.1, 0.5]),
}


@given(**CURVES)
def test_the_threshold_is_where_bisection_finds_halfway(centre, steepness, ceiling, shape, chance):
    curve = Curves(np.array([centre]), np.array([steepness]), np.array([ceiling]), PLACES, chance, shape)
    halfway, (low, high) = (1 + chance) / 2, curve.at(PLACES[[0, -1]])[0]
    threshold = curve.thresholds[0]
    if low >= halfway + 1e-9:
        assert threshold == -np.inf
    elif high <= halfway - 1e-9:
        assert threshold == np.inf
    elif low < halfway - 1e-9 and high > halfway + 1e-9:
        psi = lambda place: curve.at(np.array([place]))[0, 0]  # noqa: E731
        assert threshold == pytest.approx(brentq(lambda place: psi(place) - halfway, *PLACES[[0, -1]]), abs=1e-6)
        step = 1e-5
        slope = (psi(threshold + step) - psi(threshold - step)) / (2 * step)
        assert curve.slopes[0] == pytest.approx(slope, rel=1e-2, abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.floats(0.01, 100), st.permutations(range(8)), st.sampled_from(sorted(SHAPES)))
def test_scaling_the_dose_scales_the_threshold_and_the_order_of_doses_does_not_matter(seed, factor, order, shape):
    means = observed(seed)
    for axis in (Axis(), Axis(log=False)):
        one, scaled = (fit_one(means, shape, axis.places(doses)) for doses in (DOSES, factor * DOSES))
        assert axis.doses(scaled.thresholds) == pytest.approx(factor * axis.doses(one.thresholds), rel=1e-5)
    assert fit_one(means[order], shape, PLACES[order]).thresholds[0] == fit_one(means, shape).thresholds[0]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_dose_that_makes_it_harder_is_the_mirror(shape):
    means, falling = observed(0), Axis(falling=True)
    curve = fit_one(means, shape, falling.places(1 / DOSES))
    assert falling.doses(curve.thresholds) == pytest.approx(1 / Axis().doses(fit_one(means, shape).thresholds))


@pytest.mark.parametrize(
    ("level", "threshold"), [(0.5, np.inf), (0.3, np.inf), (0.7, np.inf), (0.9, -np.inf), (1.0, -np.inf)]
)
def test_what_does_not_depend_on_the_dose_has_no_threshold(level, threshold):
    assert fit_one(np.full(8, level)).thresholds[0] == threshold


def test_a_step_lies_anywhere_between_two_doses_and_its_ceiling_is_the_mean_above_it():
    rising = fit_one(np.linspace(0.5, 0.72, 8))  # on its way to 0.75
    assert rising.thresholds[0] == np.inf
    assert np.isnan(rising.slopes[0])
    curve = fit_one([0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0])
    (low,), (high,) = curve.bounds
    assert (low, high) == (PLACES[3], PLACES[4])
    assert low < curve.thresholds[0] < high
    sloping = fit_one(observed(0))
    assert sloping.bounds[0][0] == sloping.bounds[1][0] == sloping.thresholds[0]
    means = [0.267, 0.967, 0.95, 0.967, 0.95, 0.9]
    curve = fit_one(means, "weibull", np.log([2, 4, 6, 10, 14, 20]))
    assert curve.ceiling[0] == pytest.approx(np.mean(means[1:]), abs=1e-6)


@pytest.mark.parametrize("axis", [Axis(), Axis(falling=True), Axis(log=False), Axis(log=False, falling=True)])
def test_places_and_doses_are_inverse(axis):
    assert axis.doses(axis.places(DOSES)) == pytest.approx(DOSES)
    assert axis.doses(np.array([np.inf]))[0] == (-np.inf if axis.falling else np.inf)
