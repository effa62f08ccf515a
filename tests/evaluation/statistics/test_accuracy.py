"""Intervals of accuracies against closed forms, and models near chance."""

import pytest
from scipy.stats import binom
from salgen.evaluation.statistics.accuracy import accuracy_interval, near_chance, too_few_to_tell


def test_accuracy_interval_leaves_the_stated_tails():
    low, high = accuracy_interval(1.0, 50)
    assert low == pytest.approx(0.025 ** (1 / 50))
    assert high == 1.0
    low, high = accuracy_interval(0.8, 40)
    assert binom.sf(31, 40, low) == pytest.approx(0.025)
    assert binom.cdf(32, 40, high) == pytest.approx(0.025)


@pytest.mark.parametrize(
    ("accuracy", "count", "chance", "near", "few"),
    [
        (0.5, 400, 0.5, True, False),
        (0.99, 400, 0.5, False, False),
        (0.60, 400, 0.5, True, False),  # far above chance by the test, but it learnt a fifth of the way
        (0.80, 5, 0.5, False, True),  # far from chance, but by the test it may be luck
        (1.0, 4, 0.5, False, True),
        (0.5, 4, 0.5, True, False),
        (1.0, 6, 0.5, False, True),  # by luck once in 64 times
        (1.0, 7, 0.5, False, False),  # by luck once in 128 times
        (0.76, 400, 0.5, False, False),
        (0.60, 400, 0.1, False, False),
        (0.0, 400, 0.5, True, False),
        (1.0, 4, 1.0, True, False),  # all images are of one class
    ],
)
def test_near_chance_or_too_few_to_tell(accuracy, count, chance, near, few):
    assert near_chance(accuracy, chance) is near
    assert too_few_to_tell(accuracy, count, chance) is few
