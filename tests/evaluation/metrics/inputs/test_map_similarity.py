import math
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import pearsonr, rankdata, spearmanr
from skimage.feature import hog
from skimage.metrics import structural_similarity
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.map_similarity import SIMILARITIES, mean_similarity, pearson, ranks, similarities

VALUES = st.one_of(st.integers(-2, 2).map(float), st.floats(-1e3, 1e3, width=32))


def maps(shape=(8, 9)):
    return arrays(np.float32, shape, elements=VALUES)


def similarity(name, first, second):
    return similarities(name, first, [second])[0]


def unit(values):
    values = values.astype(float)
    spread = values.max() - values.min()
    return (values - values.min()) / spread if spread else np.zeros(values.shape)


def constant(values):
    return values.min() == values.max()


@given(maps((4, 5)), maps((4, 5)))
def test_spearman_is_scipys(first, second):
    found = similarity("spearman", first, second)
    if constant(first) or constant(second):
        assert math.isnan(found)
    else:
        assert found == pytest.approx(spearmanr(first.ravel(), second.ravel()).statistic, abs=1e-12)
        assert similarity("spearman-abs", first, second) == pytest.approx(
            similarity("spearman", np.abs(first), np.abs(second)), abs=1e-12, nan_ok=True
        )


@given(maps(), maps())
def test_ssim_is_scikit_images(first, second):
    expected = structural_similarity(unit(first), unit(second), win_size=7, data_range=1.0)
    assert similarity("ssim", first, second) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("shape", "window"), [((3, 9), 3), ((4, 4), 3), ((9, 5), 5), ((7, 7), 7), ((20, 30), 7)])
def test_small_maps_take_the_largest_odd_window(shape, window):
    first, second = np.random.default_rng(5).normal(size=(2, *shape))
    expected = structural_similarity(unit(first), unit(second), win_size=window, data_range=1.0)
    assert similarity("ssim", first, second) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("shape", "cells"), [((24, 30), (8, 8)), ((32, 13), (8, 4)), ((3, 5), (1, 1))])
def test_hog_is_pearsons_correlation_of_scikit_images(shape, cells):
    first, second = np.random.default_rng(1).normal(size=(2, *shape)).astype(np.float32)
    features = [hog(unit(values), pixels_per_cell=cells, cells_per_block=(3, 3)) for values in (first, second)]
    assert similarity("hog", first, second) == pytest.approx(pearsonr(*features).statistic, abs=1e-9)


@pytest.mark.parametrize("name", SIMILARITIES)
@given(maps(), maps())
def test_laws(name, first, second):
    there, back = similarity(name, first, second), similarity(name, second, first)
    assert there == pytest.approx(back, abs=1e-9, nan_ok=True)
    assert math.isnan(there) or -1 <= there <= 1
    itself = similarity(name, first, first)
    assert math.isnan(itself) or itself == pytest.approx(1, abs=1e-12)
    assert math.isnan(itself) <= (name == "hog" or constant(first) or constant(np.abs(first)))
    scaled = similarity(name, first * 4, second)  # a power of two rounds nothing
    assert scaled == pytest.approx(there, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1.0, 1e308])
def test_pearson_at_the_ends_of_the_number_range(scale):
    values = np.array([1.0, -1.0, 0.0, 1.0]) * scale
    assert pearson(values, values) == 1.0
    assert pearson(values, -values) == -1.0
    assert pearson(values, np.array([1.0, 1.0, 0.0, 2.0])) == pytest.approx(
        pearsonr([1, -1, 0, 1], [1, 1, 0, 2]).statistic
    )
    assert abs(similarity("ssim", np.resize(values, (4, 4)), np.resize(values, (4, 4))) - 1) < 1e-12


def test_pearson_where_all_values_are_nearly_the_same():
    values = 1.0 + np.array([0.0, 1.0, 2.0, 4.0]) * 2.0**-52
    assert pearson(values, np.array([0.0, 1.0, 2.0, 4.0])) == pytest.approx(1.0, abs=0.1)
    assert math.isnan(pearson(np.full(7, 0.1), np.arange(7)))
    assert math.isnan(pearson(np.zeros(0), np.zeros(0)))


def test_tied_ranks_are_shared():
    assert ranks(np.array([[3.0, 1.0], [3.0, -0.0]])).tolist() == [3.5, 2.0, 3.5, 1.0]
    assert ranks(np.array([0.0, -0.0])).tolist() == [1.5, 1.5]
    assert np.array_equal(ranks(np.eye(3)), rankdata(np.eye(3)))


@pytest.mark.parametrize("name", SIMILARITIES)
def test_mean_over_others_and_who_is_at_fault(name):
    rng = np.random.default_rng(2)
    own, one, other = rng.normal(size=(3, 12, 12))
    each = similarities(name, own, [one, other])
    assert mean_similarity(name, own, [one, other]) == (pytest.approx(np.mean(each)), "")
    flat = np.full((12, 12), 0.5)
    if name == "ssim":
        assert mean_similarity(name, flat, [flat]) == (1.0, "")
    else:
        found, reason = mean_similarity(name, flat, [one, flat])
        assert math.isnan(found)
        assert reason == "constant_map"
        assert mean_similarity(name, own, [one, flat]) == (pytest.approx(each[0] / 2), "constant_map")


@pytest.mark.parametrize("name", ["ssim", "hog"])
def test_maps_may_be_too_small(name):
    with pytest.raises(SalgenError, match=f"similarity={name} takes maps of 3x3 pixels or more: these are 2x9"):
        similarity(name, np.eye(2, 9), np.eye(2, 9))
    assert similarity("spearman", np.eye(1, 2), np.eye(1, 2)) == 1.0
