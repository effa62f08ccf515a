import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr
from salgen.evaluation.diagnostics.metric_correlation import correlation_table, correlations


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=3, max_size=9))
def test_is_pearsons(pairs):
    one, other = np.array(pairs).T
    (found,) = correlations({"a": one, "b": other})
    if one.std() > 1e-3 and other.std() > 1e-3:
        assert found.pearson == pytest.approx(pearsonr(one, other).statistic, abs=1e-9)
        assert found.n == len(pairs)


def test_data_sets_without_a_mean_and_constant_metrics():
    means = {"a": np.array([1.0, 2.0, np.nan, 4.0]), "b": np.array([1.0, 2.0, 9.0, 4.0]), "c": np.ones(4)}
    found = {(c.first, c.second): c for c in correlations(means)}
    assert found["a", "b"].n == 3
    assert found["a", "b"].pearson == pytest.approx(1.0)
    assert np.isnan(found["a", "c"].pearson)
    lines = correlation_table(list(found.values())).splitlines()
    assert lines[3].split("|")[-2].strip() == "–"  # a and c  # noqa: RUF001
    assert len({len(line) for line in lines}) == 1
    table = correlation_table(correlations(means | {"c": np.array([4, 3, 1, 2.0])}))
    assert "1.0000 (n = 3)" in table
    assert table.count("(n = 3)") == 2, "a with b and c"
