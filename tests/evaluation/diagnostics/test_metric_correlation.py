import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr
from salgen.errors import SalgenError
from salgen.evaluation.diagnostics.metric_correlation import correlation_table, correlations, run_correlations

# Zhang et al. 2025, Table 2: mIoU, pointing game and iAUC on Gender, Environment, Disease, Cancer, Security, Pet,
# Action and Object, for each network and method.
METHODS = ("Grad-CAM", "Grad-CAM++", "IG", "IxG", "Occlusion", "RISE")
TABLE_2 = {
    "ResNet-18": """
        .1304 .3077 .6880 .1417 .2906 .6625 .3441 .2138 .3628 .3403 .2911 .4011 .1301 .2618 .6787 .3416 .3307 .8454
        .3656 .4777 .6911 .3632 .4224 .7009 .5356 .2810 .5114 .4566 .3010 .5722 .3812 .4596 .6778 .5428 .3624 .9230
        .0967 .2354 .6017 .1028 .2501 .6154 .1254 .1714 .5297 .1389 .2802 .4365 .1497 .2901 .6401 .1260 .2705 .6334
        .0620 .2105 .5523 .0654 .2207 .5645 .0913 .1385 .4732 .1049 .2325 .4806 .1107 .2394 .5892 .1153 .2451 .5901
        .1243 .6984 .6136 .1292 .6120 .6258 .1420 .6225 .5322 .1552 .6305 .4350 .1667 .6420 .6424 .1503 .6301 .6398
        .1564 .3215 .7596 .1631 .3352 .7694 .1752 .2465 .5799 .1790 .3583 .5451 .1820 .3675 .7894 .1855 .3738 .7924
        .4009 .3982 .6341 .4136 .3989 .6462 .4214 .3068 .6578 .4300 .4143 .6702 .4351 .4202 .6750 .4406 .4295 .6853
        .4960 .2156 .6620 .5084 .2224 .6722 .5153 .3303 .7210 .5265 .2406 .6894 .5350 .2502 .6985 .5430 .2551 .7070""",
    "VGG-19": """
        .1194 .2823 .6102 .1311 .2859 .5823 .2920 .1986 .3776 .1814 .2607 .3890 .1235 .2450 .5323 .2961 .3031 .8089
        .3295 .4174 .6305 .3160 .3871 .6412 .4683 .2629 .4810 .4025 .2897 .5604 .3322 .4219 .6215 .4792 .3497 .8852
        .0789 .2150 .5801 .0870 .2255 .5452 .1105 .1493 .3570 .1350 .2595 .3678 .1223 .2656 .6279 .1289 .2662 .6120
        .0513 .1855 .4701 .0560 .1937 .4851 .0803 .2079 .3340 .0901 .2253 .4524 .1280 .2242 .5600 .1023 .2721 .5807
        .1139 .6765 .5720 .1190 .6876 .5850 .1313 .6470 .4955 .1410 .5058 .4632 .1505 .6153 .6120 .1448 .6184 .6284
        .1509 .2767 .7302 .1486 .2853 .6920 .1675 .2642 .5010 .1615 .3050 .5298 .1670 .3193 .6450 .1720 .3242 .7110
        .3548 .3642 .5947 .3561 .3755 .5896 .3674 .2742 .5924 .3739 .3802 .6604 .3793 .3850 .7189 .3855 .3951 .6591
        .4319 .2030 .5892 .4812 .2113 .5985 .4526 .4110 .7081 .4631 .2302 .6436 .4730 .2294 .7258 .4831 .2192 .6553""",
}
TABLE_3_IOU_IAUC = {
    "ResNet-18": (0.2822, 0.3328, 0.3630, 0.7246, 0.2592, 0.5932),
    "VGG-19": (0.2416, 0.3692, 0.6722, 0.8287, 0.8177, 0.5840),
}
IOU_PG_FROM_TABLE_2 = (-0.0101, -0.0182, 0.0543, -0.2264, 0.0248, -0.1330)  # the paper prints other values


def from_table_2(network, method):
    numbers = np.array(TABLE_2[network].split(), dtype=float).reshape(8, 6, 3)[:, METHODS.index(method)]
    return dict(zip(("iou", "pointing-game", "insertion-auc"), numbers.T, strict=True))


@pytest.mark.parametrize("network", TABLE_2)
@pytest.mark.parametrize("method", METHODS)
def test_gives_back_the_papers_cells_of_iou_and_iauc(network, method):
    found = {(c.first, c.second): c.pearson for c in correlations(from_table_2(network, method))}
    expected = TABLE_3_IOU_IAUC[network][METHODS.index(method)]
    assert found["iou", "insertion-auc"] == pytest.approx(expected, abs=5.1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_iou_and_pointing_game_follow_from_table_2_with_other_values_than_printed(method):
    found = {(c.first, c.second): c.pearson for c in correlations(from_table_2("ResNet-18", method))}
    assert found["iou", "pointing-game"] == pytest.approx(IOU_PG_FROM_TABLE_2[METHODS.index(method)], abs=5.1e-5)


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


def test_two_runs_are_too_few(tmp_path):
    with pytest.raises(SalgenError, match="2 runs: a correlation over data sets takes 3 or more"):
        run_correlations([tmp_path, tmp_path])
    with pytest.raises(SalgenError, match=r"^1 run: "):
        run_correlations([tmp_path])


def test_a_value_of_fewer_data_sets_says_so():
    means = {"a": np.array([1.0, 2.0, np.nan, 4.0]), "b": np.array([1.0, 2.0, 9.0, 4.0]), "c": np.array([4, 3, 1, 2.0])}
    table = correlation_table(correlations(means))
    assert "1.0000 (n = 3)" in table
    assert table.count("(n = 3)") == 2  # a with b and c
