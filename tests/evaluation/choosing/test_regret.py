"""Regret of a choice: draws around the means, and their covariance."""

import numpy as np
import pandas as pd
import pytest
from salgen.errors import SalgenError
from salgen.evaluation.choosing.regret import TABLE, chances_of_best, covariance_of, draw_means, regret_of

TABLES = pd.read_csv(TABLE, index_col="method")


def test_draws_have_the_means_and_covariances_of_nested_clusters_and_regret_what_the_best_has_more():
    """The mean over k clusters and that over the first l of them have covariance C / max(k, l)."""
    covariance = np.array([[0.04, 0.01, -0.01], [0.01, 0.02, 0.0], [-0.01, 0.0, 0.03]])
    means, counts = np.array([0.2, 0.5, 0.9]), np.array([1, 5, 2])
    draws = draw_means(means, counts, covariance, draws=200_000)
    np.testing.assert_allclose(draws.mean(axis=0), means, atol=2e-3)
    random = np.random.default_rng(0).multivariate_normal(np.zeros(3), covariance, (200_000, 5))
    slow = np.stack([random[:, :count, m].mean(axis=1) for m, count in enumerate(counts)], axis=1)
    np.testing.assert_allclose(np.cov(draws.T), np.cov(slow.T), atol=5e-4)
    draws = np.array([[0.1, 0.2], [0.5, 0.1], [0.3, 0.3], [0.2, 0.6]])
    found = regret_of(draws, 0)
    lost = [max(row) - row[0] for row in draws.tolist()]
    assert found.expected == pytest.approx(sum(lost) / 4)
    assert found.bound == pytest.approx(np.quantile(lost, 0.95))
    assert chances_of_best(draws).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("metric", TABLES["metric"].unique())
def test_the_table_is_a_covariance(metric):
    names = list(TABLES.index[TABLES["metric"] == metric])
    found = covariance_of(metric, names)
    np.testing.assert_array_equal(found, TABLES[TABLES["metric"] == metric][names].to_numpy())
    np.testing.assert_allclose(found, found.T, rtol=1e-2, atol=1e-6)
    assert np.linalg.eigvalsh(found).min() > -0.01 * np.linalg.eigvalsh(found).max()


def test_an_unknown_method_counts_as_the_average_one_and_an_unknown_metric_is_said():
    known = covariance_of("average-precision", list(TABLES.columns[1:]))
    found = covariance_of("average-precision", ["mine", "grad-cam", "yours"])
    apart = known[~np.eye(len(known), dtype=bool)].mean()
    np.testing.assert_allclose(found.diagonal()[[0, 2]], known.diagonal().mean())
    np.testing.assert_allclose([found[0, 1], found[1, 2], found[0, 2]], apart)
    assert found[1, 1] == TABLES[TABLES["metric"] == "average-precision"].loc["grad-cam", "grad-cam"]
    with pytest.raises(SalgenError, match="unknown metric to choose by 'average-precison': did you mean"):
        covariance_of("average-precison", [])
