import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr
from salgen.errors import SalgenError
from salgen.evaluation.diagnostics.metric_correlation import correlation_table, correlations, run_correlations
from salgen.evaluation.protocols.saliency_bench import CNNS, DATASETS, IAUC, METHODS, MIOU, PG, TABLE_3, printed

IOU_PG_FROM_TABLE_2 = (-0.0101, -0.0182, 0.0543, -0.2264, 0.0248, -0.1330)  # the paper prints other values


@pytest.mark.parametrize("network", CNNS)
@pytest.mark.parametrize("place", range(len(METHODS)))
def test_table_2_of_saliency_bench_gives_its_cells_of_iou_and_iauc_but_not_of_iou_and_pointing_game(network, place):
    means = {measure: np.array([float(printed(network, data, measure)[place]) for data in DATASETS])
             for measure in (MIOU, PG, IAUC)}  # fmt: skip
    found = {(pair.first, pair.second): pair.pearson for pair in correlations(means)}
    assert found[MIOU, IAUC] == pytest.approx(float(TABLE_3[network][MIOU, IAUC].split()[place]), abs=5.1e-5)
    if network == "resnet18":
        assert found[MIOU, PG] == pytest.approx(IOU_PG_FROM_TABLE_2[place], abs=5.1e-5)


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


def test_two_runs_are_too_few(tmp_path):
    with pytest.raises(SalgenError, match="2 runs: a correlation over data sets takes 3 or more"):
        run_correlations([tmp_path, tmp_path])
    with pytest.raises(SalgenError, match=r"^1 run: "):
        run_correlations([tmp_path])
