"""A new method among those that have results."""

import dataclasses
import shutil
import pytest
import torch
from salgen.datasets.making import make
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.bench.rank_method import rank_method
from salgen.evaluation.bench.run_entry import RESULTS, run_entry
from salgen.evaluation.bench.versions import BenchData

ENTRY = "perlin-lesions-lesion-cnn-reliance"


def slope(network, inputs, targets):
    inputs.requires_grad_(True)
    score = network(inputs).gather(1, targets[:, None]).sum()
    return torch.autograd.grad(score, inputs)[0].abs()


def flat(network, inputs, targets):
    return torch.ones_like(inputs)


@pytest.fixture(scope="module")
def wider(spec, out, tmp_path_factory):
    """A benchmark of two data sets, one of a network with weights in closed form, and its results."""
    folder, splits = tmp_path_factory.mktemp("wider"), {"train": 4, "val": 2, "test": 8}
    made = make("coloured-cells", folder / "fingerprinted", splits=splits, recipes_only=True)
    cells = BenchData("coloured-cells", open_dataset(made).fingerprint, splits, designed="colour-counter")
    both = dataclasses.replace(spec, data=[*spec.data, cells])
    shutil.copytree(out / RESULTS, folder / RESULTS)
    run_entry(both, both.entry("coloured-cells-colour-counter"), folder, methods=["gradient"])
    return both, folder / RESULTS


def test_two_methods_are_ranked_in_one_folder(spec, out, tmp_path):
    assert "flat" in rank_method(spec, "test_rank_method:flat", out / RESULTS, tmp_path).methods
    found = rank_method(spec, "test_rank_method:slope", out / RESULTS, tmp_path)
    assert sorted(found.methods) == ["grad-cam", "gradient", "input-x-gradient", "slope"]
    place, same = (found.places[found.methods.index(name)] for name in ("slope", "gradient"))
    assert place == pytest.approx(same), "both are the absolute gradient"


def test_a_method_that_is_not_defined_on_a_network_is_ranked_on_the_others(wider, tmp_path):
    with pytest.warns(SalgenWarning, match=f"{ENTRY} is left out: cam is not defined for this network"):
        found = rank_method(wider[0], "cam", wider[1], tmp_path)
    assert found.datasets[found.methods.index("cam")] == 1


@pytest.mark.parametrize(
    ("method", "message"), [("all", "a group of methods"), ("li2020", "a group of methods"), ("sobel", "a control")]
)
def test_what_has_no_rank_is_refused(spec, out, tmp_path, method, message):
    with pytest.raises(SalgenError, match=f"{method} is {message}"):
        rank_method(spec, method, out / RESULTS, tmp_path)
