"""Ties by loops over pairs: rounding is a share of the two values, whatever else there is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from salgen.evaluation.statistics.tolerance import differences, levels


@pytest.mark.parametrize("size", [1.0, 1e6, 1e12, -1e12])
def test_rounding_is_a_share_of_the_values(size):
    one = np.array([size, size, size])
    other = size * np.array([1 + 1e-13, 1 + 1e-11, 1.5])
    assert (differences(one, other) == 0).tolist() == [True, False, False]


def test_what_cancels_is_zero():
    assert differences(np.array([0.1 + 0.2 - 0.3]), np.zeros(1)) == 0


@given(arrays(float, (5, 6), elements=st.integers(-3, 3).map(float)), st.sampled_from([1e-3, 0.1, 1e9]))
def test_levels_equal_slow_loop(whole, size):
    noise = 1 + 1e-15 * np.random.default_rng(0).integers(-2, 3, whole.shape)
    found = levels(whole * size * noise)
    for row, places in zip(whole, found, strict=True):
        assert places.tolist() == [sorted(set(row)).index(value) for value in row]
