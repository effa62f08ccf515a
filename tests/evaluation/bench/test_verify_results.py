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


OTHERWISE = "is said to be otherwise right, certified or clustered than the weights give"


@pytest.mark.parametrize(
    ("column", "change", "says"),
    [
        *(("value", lambda of, by=by: of + by, "of gradient: the weights do not give ") for by in (3e-3, np.nan)),
        *((flag, lambda of: ~of.astype(bool), OTHERWISE) for flag in ("correct", "certified")),
    ],
)
def test_what_the_weights_do_not_give_is_found(spec, copy, column, change, says):
    path = copy / WORLDS / WORLD / "scores.parquet"
    rows = pd.read_parquet(path)
    chosen = (rows["method"] == "gradient") | (column != "value")
    rows[column] = rows[column].where(~chosen, change(rows[column]))
    rows.to_parquet(path)
    problems = list(result_problems(spec, copy, seed=1))
    assert any(says in problem for problem in problems)
    assert all(problem.startswith(f"{WORLD}: ") for problem in problems)


def test_damaged_weights_are_a_problem_and_missing_ones_cannot_be_verified(spec, copy):
    weights = [copy / WORLDS / name / "network-seed0" / WEIGHTS for name in spec.kept]
    weights[1].write_bytes(b"")
    (problem,) = result_problems(spec, copy, seed=1)
    assert problem.startswith(f"{WORLD}: ")
    for path in weights:
        shutil.rmtree(path.parent)
    for folder, says in ((copy, "holds no weights: salgen bench fetch copies them"), (copy.parent, "holds no worlds")):
        with pytest.raises(SalgenError, match=says):
            list(result_problems(spec, folder, seed=1))
