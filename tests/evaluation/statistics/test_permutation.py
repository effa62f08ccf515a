"""Sign-flip tests against all sign patterns by loops, under the null, and with ties."""

from itertools import combinations, product
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from salgen.evaluation.statistics import permutation
from salgen.evaluation.statistics.comparisons import holm
from salgen.evaluation.statistics.permutation import permutations_for, sign_flip_p_values
from salgen.seeding import Stream

SCORES = arrays(float, (7, 3), elements=st.integers(-3, 3).map(lambda whole: whole / 10))


def slow_exact(values):
    """The share of all sign patterns with a mean difference as far from 0, for each pair of columns."""
    found = []
    for a, b in combinations(range(values.shape[1]), 2):
        away = values[:, a] - values[:, b]
        sums = [
            abs(sum(s * d for s, d in zip(signs, away, strict=True))) for signs in product((1, -1), repeat=len(away))
        ]
        found.append(np.mean([total >= abs(away.sum()) - 1e-9 for total in sums]))
    return found


@given(SCORES)
def test_few_samples_are_tested_exactly(values):
    np.testing.assert_allclose(sign_flip_p_values([values])[0], slow_exact(values))


@pytest.mark.parametrize("clusters", [1, 5])
def test_fewer_than_six_clusters_say_nothing(clusters):
    values = np.random.default_rng(0).random((clusters, 3))
    np.testing.assert_array_equal(sign_flip_p_values([values])[0], [np.nan] * 3)


def test_random_signs_equal_slow_loop():
    values = np.random.default_rng(0).integers(0, 4, (40, 4)) / 5
    (found,) = sign_flip_p_values([values], permutations=300)
    hits = np.zeros(6)
    for word in Stream(0, "sign-flip").words(300).tolist():
        signs = [1 if word >> i & 1 else -1 for i in range(40)]
        for pair, (a, b) in enumerate(combinations(range(4), 2)):
            away = values[:, a] - values[:, b]
            hits[pair] += abs(np.dot(signs, away)) >= abs(away.sum()) - 1e-9
    np.testing.assert_allclose(found, (1 + hits) / 301)


def test_rounding_breaks_no_tie_and_makes_no_difference():
    """0.1 + 0.2 - 0.3 is not quite 0: a shuffled sum of such differences must count as equal."""
    tenths = np.array([0.1, 0.2, 0.3, 0.4, 0.7, 0.6])
    values = np.stack([np.tile(tenths, 5), np.tile(tenths[::-1], 5)], axis=1)
    (p,) = sign_flip_p_values([values])  # the mean difference is 0 up to rounding
    assert p[0] == 1.0
    column = np.random.default_rng(10).random((50, 1)) + 1
    (found,) = sign_flip_p_values([np.hstack([column, column * (1 + 1e-14), column + 1e-7])], permutations=999)
    np.testing.assert_array_equal(found, [1.0, 0.001, 0.001])
    np.testing.assert_array_equal(sign_flip_p_values([np.repeat(column, 3, axis=1)])[0], [1, 1, 1])


EXPLODING = {
    "all": lambda rng: 1e12 * rng.uniform(0.5, 1, 60),
    "one": lambda rng: np.where(np.arange(60) == 0, 1e12, rng.normal(1.5, 0.1, 60)),
    "two signs": lambda rng: rng.choice([-1e15, 1e15], 60),
    "below": lambda rng: np.full(60, 1e-9),
}


@pytest.mark.parametrize("explode", EXPLODING.values(), ids=EXPLODING)
@pytest.mark.parametrize("away", [0.02, 1.0])
def test_a_pair_is_tested_by_itself_whatever_explodes_beside_it(explode, away):
    rng = np.random.default_rng(8)
    pair = rng.normal([1.0, 1.0 + away], 0.1, (60, 2))
    huge = explode(rng)[:, None]
    alone = sign_flip_p_values([pair], permutations=999)[0][0]
    assert alone < 0.6
    assert sign_flip_p_values([np.hstack([pair, huge])], permutations=999)[0][0] == alone
    most = sign_flip_p_values([np.hstack([huge, pair, 3 * huge, 2 * huge])], permutations=999)[0]
    assert most[4] == alone  # the pair (1, 2), where the median explodes as well
    few = sign_flip_p_values([np.hstack([pair, huge])[:8]])[0][0]  # all patterns
    assert few == pytest.approx(slow_exact(pair[:8])[0])


def test_one_exploding_score_decides_its_own_pairs():
    """Above the other on every sample, or on one against all others: the least and the largest p value."""
    rng = np.random.default_rng(9)
    values = rng.normal([1.0, 2.0, 1.5], 0.05, (60, 3))
    values[0, 2] = 1e12
    np.testing.assert_allclose(sign_flip_p_values([values], permutations=999)[0], [0.001, 0.001, 1.0])


def test_a_table_is_tested_alone_and_undefined_samples_do_not_count():
    rng = np.random.default_rng(3)
    tables = [rng.normal(size=(40, 5)), rng.normal(size=(40, 5)), rng.normal(size=(40, 3)), rng.normal(size=(30, 5))]
    tables[1][5:9] = np.nan
    tables[3][6:] = np.nan  # few enough for all patterns
    together = sign_flip_p_values(tables, permutations=999)
    for table, found in zip(tables, together, strict=True):
        np.testing.assert_array_equal(sign_flip_p_values([table], permutations=999)[0], found)
    np.testing.assert_allclose(together[3], slow_exact(tables[3][:6]))


def test_blocks_do_not_change_the_numbers(monkeypatch):
    values = np.random.default_rng(4).normal(size=(70, 4))
    whole = sign_flip_p_values([values], permutations=500)[0]
    monkeypatch.setattr(permutation, "_BLOCK", 70 * 33)
    np.testing.assert_array_equal(sign_flip_p_values([values], permutations=500)[0], whole)


def test_a_true_difference_survives_the_correction_whatever_the_number_of_pairs():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(40, 40))
    values[:, 0] += 5
    corrected = holm(sign_flip_p_values([values])[0])
    assert corrected[:39].max() <= 0.05
    assert permutations_for(40) + 1 >= 2 * (40 * 39 / 2) / 0.05
    assert permutations_for(2) == 9_999


REPEATS, METHODS = 400, 10


@pytest.fixture(scope="module")
def under_the_null():
    """p values of all pairs of exchangeable methods, in many studies with skewed scores of 30 samples."""
    rng = np.random.default_rng(6)
    difficulty = rng.normal(size=(REPEATS, 30, 1))
    studies = np.exp(difficulty + rng.normal(size=(REPEATS, 30, METHODS)))
    return np.stack(sign_flip_p_values(list(studies)))


def test_false_findings_in_a_family_are_as_rare_as_stated(under_the_null):
    found = np.mean([holm(p).min() <= 0.05 for p in under_the_null])
    assert found < 0.05 + 3 * np.sqrt(0.05 * 0.95 / REPEATS)
