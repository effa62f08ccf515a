"""A new method among those that have results."""

import pandas as pd
import pytest
import torch
import salgen
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.bench.rank_method import rank_method
from salgen.evaluation.bench.worlds import WORLDS


def slope(network, inputs, targets):
    inputs.requires_grad_(True)
    score = network(inputs).gather(1, targets[:, None]).sum()
    return torch.autograd.grad(score, inputs)[0].abs()


def flat(network, inputs, targets):
    return torch.ones_like(inputs)


@pytest.mark.usefixtures("believed")
def test_methods_are_ranked_in_one_folder_by_all_worlds_or_quickly_by_one_of_each_family(spec, results, tmp_path):
    for method in ("flat", "slope"):
        call, found = rank_method(spec, f"test_rank_method:{method}", results, tmp_path)
        assert call == method
        assert set(found.table.index[found.table["role"] == "method"]) == {*spec.methods, method}
        assert (found.worlds, found.table.loc[method, "family"]) == (2, "yours")
    columns = ["regret", "ahead"]
    assert found.table.loc["slope", columns].tolist() == pytest.approx(found.table.loc["gradient", columns].tolist())
    assert ">  " in next(line for line in found.text(call).splitlines() if line.startswith("slope"))
    written = pd.read_parquet(tmp_path / "slope" / WORLDS / "mri-lesions-1" / "scores.parquet")
    stated = pd.read_parquet(results / WORLDS / "mri-lesions-1" / "scores.parquet").query("training_seed == 7")
    both = [rows.query(f"method == '{name}'").set_index(["metric", "sample_id"])["value"].sort_index()
            for name, rows in (("slope", written), ("gradient", stated))]  # fmt: skip
    pd.testing.assert_series_equal(*both)
    read = salgen.bench.table(tmp_path / "slope")  # results like the published ones
    pd.testing.assert_frame_equal(read.table, found.table)
    both = rank_method(spec, "gradient", results, tmp_path, quick=True)[1]
    rank_method(spec, "gradient", results, tmp_path)  # goes on with the other metrics
    rows = pd.read_parquet(tmp_path / "gradient" / WORLDS / "mri-lesions-1" / "scores.parquet")
    assert set(rows.loc[rows["method"] == "gradient", "metric"]) == set(spec.metrics)
    assert (both.worlds, both.families) == (2, 2)
    assert {path.name for path in (tmp_path / "gradient" / WORLDS).iterdir()} == {"lesions-on-noise-1", "mri-lesions-1"}


def test_a_method_that_takes_none_of_the_networks_is_refused(spec, results, tmp_path):
    with (
        pytest.warns(SalgenWarning, match="mri-lesions-1 is left out: raw-attention: the network has no attention"),
        pytest.raises(SalgenError, match="raw-attention could explain none of the networks"),
    ):
        rank_method(spec, "raw-attention", results, tmp_path)


@pytest.mark.parametrize(
    ("method", "message"), [("all", "a group of methods"), ("li2020", "a group of methods"), ("sobel", "a control")]
)
def test_what_has_no_rank_is_refused(spec, results, tmp_path, method, message):
    with pytest.raises(SalgenError, match=f"{method} is {message}"):
        rank_method(spec, method, results, tmp_path)
