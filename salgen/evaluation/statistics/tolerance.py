"""Equality of scores up to rounding: such scores tie, in ranks, wins and tests alike."""

import numpy as np
from salgen.types import Float64

RELATIVE = 1e-12  # share of the larger of the two: no other scores matter
ABSOLUTE = 1e-15  # rounding that remains where numbers of about 1 cancel


def differences(first: Float64, second: Float64) -> Float64:
    """The first less the other, and 0 where that is no more than rounding.

    Examples
    --------
    >>> differences(np.array([0.1 + 0.2, 1e12, 2.0]), np.array([0.3, 1.0, 1.5])).tolist()
    [0.0, 999999999999.0, 0.5]
    """
    away: Float64 = first - second
    rounding = np.maximum(RELATIVE * np.maximum(np.abs(first), np.abs(second)), ABSOLUTE)
    return np.where(np.abs(away) <= rounding, 0.0, away)


def levels(values: Float64) -> Float64:
    """float64 (N, K): each score's place among the different scores of its row, from 0 for the lowest.

    Examples
    --------
    >>> levels(np.array([[0.1 + 0.2, 5.0, 0.3, 0.2]])).tolist()
    [[1.0, 2.0, 1.0, 0.0]]
    """
    order = np.argsort(values, axis=1, kind="stable")
    ascending = np.take_along_axis(values, order, axis=1)
    places = np.zeros(values.shape)
    steps = np.cumsum(differences(ascending[:, 1:], ascending[:, :-1]) > 0, axis=1, dtype=np.float64)
    np.put_along_axis(places, order[:, 1:], steps, axis=1)
    return places
