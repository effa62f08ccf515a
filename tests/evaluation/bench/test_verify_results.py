"""Whether scores are those that the frozen weights give."""

import shutil
import numpy as np
import pandas as pd
import pytest
from salgen.errors import SalgenError
from salgen.evaluation.bench.verify_results import result_problems
from salgen.evaluation.bench.worlds import WORLDS
from salgen.evaluation.training.checkpoints import WEIGHTS

WORLD = "mri-lesions-1"


@pytest.fixture
def copy(results, tmp_path):
    return shutil.copytree(results, tmp_path / "results")


def test_sound_results_are_verified(spec, results, tmp_path):
    assert list(result_problems(spec, results, seed=1)) == []
    with pytest.raises(SalgenError, match="holds no worlds"):
        list(result_problems(spec, tmp_path, seed=1))


@pytest.mark.parametrize("by", [2e-4, np.nan])
def test_a_score_that_the_weights_do_not_give_is_found(spec, copy, by):
    path = copy / WORLDS / WORLD / "scores.parquet"
    rows = pd.read_parquet(path)
    rows.loc[rows["method"] == "gradient", "value"] += by
    rows.to_parquet(path)
    problems = list(result_problems(spec, copy, seed=1))
    assert problems
    assert all(problem.startswith(f"{WORLD}: ") and " of gradient on " in problem for problem in problems)


@pytest.mark.parametrize("flag", ["correct", "certified"])
def test_what_is_said_of_an_image_is_checked(spec, copy, flag):
    path = copy / WORLDS / WORLD / "scores.parquet"
    rows = pd.read_parquet(path)
    rows[flag] = ~rows[flag].astype(bool)
    rows.to_parquet(path)
    problems = "\n".join(result_problems(spec, copy, seed=1))
    assert f"{WORLD}: test-0" in problems
    assert "is said to be otherwise right, certified or clustered than the weights give" in problems


def test_damaged_weights_are_a_problem_and_missing_ones_cannot_be_verified(spec, copy):
    weights = [copy / WORLDS / name / "network-seed0" / WEIGHTS for name in spec.kept]
    weights[1].write_bytes(b"")
    (problem,) = result_problems(spec, copy, seed=1)
    assert problem.startswith(f"{WORLD}: ")
    for path in weights:
        shutil.rmtree(path.parent)
    with pytest.raises(SalgenError, match="holds no weights: salgen bench fetch copies them"):
        list(result_problems(spec, copy, seed=1))
