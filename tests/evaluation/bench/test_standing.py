"""What to expect of methods in a new world: by hand from the worlds' tables, and at the command line."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp
from test_questions import METHODS, worlds
import salgen
from salgen.cli.main import main
from salgen.errors import SalgenError
from salgen.evaluation.bench.questions import Differences, WorldScores
from salgen.evaluation.bench.standing import CHOICE, Answer, choice_by_masks, headline

FLOORS = {"sobel": 0.1, "oracle": 0.9}


def test_the_headline_is_regret_and_the_share_of_worlds_ahead_of_grad_cam():
    tables, families = worlds()
    del tables["3-0"]["lime"]
    table = headline(WorldScores.of(tables, families), METHODS)
    means = {name: of.mean() for name, of in tables.items()}
    by_family = {}
    for name, of_world in means.items():
        by_family.setdefault(name[0], []).append(of_world.max() - of_world["rise"])
    expected = [np.mean(values) for values in by_family.values()]
    assert table.loc["rise", "regret"] == pytest.approx(np.mean(expected))
    interval = ttest_1samp(expected, 0.0).confidence_interval(0.95)
    assert table.loc["rise", ["regret_low", "regret_high"]].tolist() == pytest.approx(
        [max(0, interval.low), interval.high]
    )
    ahead = np.mean([of_world["gradient"] > of_world["grad-cam"] for of_world in means.values()])
    assert table.loc["gradient", "ahead"] == pytest.approx(ahead)
    assert table.loc["grad-cam", "ahead"] == 0.5
    assert table.loc["lime", "worlds"] == 9
    assert table["regret"].is_monotonic_increasing
    assert table.loc["lime", ["role", "family"]].tolist() == ["method", "perturbation"]
    tables["0-0"]["raw-attention"] = 1.0  # the best method of its only world
    assert headline(WorldScores.of(tables, families), [*METHODS, "raw-attention"]).index[-1] == "raw-attention"
    for name in list(tables)[1:4]:  # and of four out of ten, in two families
        tables[name]["raw-attention"] = 1.0
    few = headline(WorldScores.of(tables, families), [*METHODS, "raw-attention"])
    assert few["regret_high"].notna().all()
    assert few.index[-1] == "raw-attention"


def test_regret_is_against_the_best_method_even_where_a_floor_is_better():
    tables, families = worlds()
    for table in tables.values():
        table["sobel"] = 2.0
    found = headline(WorldScores.of(tables, families), METHODS)
    assert found.loc["sobel", "regret"] < 0
    assert found.loc["sobel", "role"] == "floor"
    assert found.drop("sobel")["regret"].min() >= 0


def test_choosing_by_five_masks_takes_the_method_that_is_best_on_them():
    """Of two methods that are a distance apart on every image the better one is chosen, of noise any."""
    index = pd.MultiIndex.from_product([[7], range(12)])
    clear = pd.DataFrame({"grad-cam": np.full(12, 0.2), "rise": np.full(12, 0.5)}, index)
    assert choice_by_masks(clear) == (0.0, 1.0)
    halves = pd.DataFrame({"grad-cam": np.repeat([1.0, 0.0], 6), "rise": np.repeat([0.0, 1.0], 6)}, index)
    regret, ahead = choice_by_masks(halves)  # what is best on five of twelve is the worse one on the others
    assert regret > 0.1
    assert ahead < 0.3
    assert np.isnan(choice_by_masks(clear[:5])).all()
    tables = {f"{family}-{number}": clear for family in "ab" for number in range(2)}
    scores = WorldScores.of(tables, {name: name[0] for name in tables})
    assert headline(scores, ["grad-cam", "rise"], list(tables.values())).loc[CHOICE, "regret"] == 0


def test_certified_images_answer_what_to_expect_in_a_new_world(tmp_path, capsys, scored):
    with pytest.raises(SalgenError, match="holds no worlds such as lesions-on-noise-1: salgen bench fetch copies them"):
        salgen.bench.table(tmp_path)
    scored(tmp_path, "signs-1", {"grad-cam": 0.2, "gradient": 0.5, **FLOORS})
    with pytest.raises(SalgenError, match="of one family: nothing can be said of a new world"):
        salgen.bench.table(tmp_path)
    scored(tmp_path, "mri-lesions-2", {"grad-cam": 0.6, "gradient": 0.5, **FLOORS})
    scored(tmp_path, "mri-lesions-3", {"grad-cam": 0.6, "gradient": 0.8, **FLOORS})
    found = salgen.bench.table(tmp_path)
    assert (found.worlds, found.families) == (3, 2)
    assert found.table["regret"].to_dict() == pytest.approx(
        {"gradient": 0.025, "grad-cam": 0.2, "sobel": 0.5, CHOICE: 0.0}, abs=1e-6
    )
    assert found.table["ahead"].to_dict() == pytest.approx(
        {"gradient": 0.75, "grad-cam": 0.5, "sobel": 0, CHOICE: 0.875}
    )
    assert found.table.loc["gradient", "verdict"] == "first"
    assert found.table.loc["grad-cam", "verdict"] == "not told apart"
    assert found.answers["a new world"][:2] == (0, 1), "floors are no methods"
    assert found.answers["a new world"].leading == ["gradient", "grad-cam"]
    (tmp_path / "costs.csv").write_text("method,network,passes,seconds\ngradient,scnn,3,0.1\n")
    assert salgen.bench.table(tmp_path).table["passes"].dropna().to_dict() == {"gradient": 3}
    assert main(["bench", "table", "--results", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("What to expect in a new world, by 3 worlds of 2 families.")
    assert [line.split()[0] for line in out.splitlines()[3:7]] == ["choose", "gradient", "grad-cam", "sobel"]
    assert f"{salgen.bench.table(tmp_path)}\n" == out


def test_each_question_has_its_own_first_method_as_worlds_or_families_count_alike(tmp_path, scored):
    """Grad-CAM gains .4 in one family of one world; the gradient .2 and .25 in two worlds of another one."""
    scored(tmp_path, "signs-1", {"grad-cam": 0.9, "gradient": 0.5, **FLOORS})
    scored(tmp_path, "mri-lesions-2", {"grad-cam": 0.4, "gradient": 0.6, **FLOORS})
    scored(tmp_path, "mri-lesions-3", {"grad-cam": 0.4, "gradient": 0.65, **FLOORS})
    answers = salgen.bench.table(tmp_path).answers
    assert {question: answer.leading[0] for question, answer in answers.items()} == {
        "these networks": "gradient", "another training": "gradient", "a new world": "grad-cam",
    }  # fmt: skip


def test_a_verdict_is_of_the_pair_with_the_first_method():
    z = np.full((4, 4), 9.0)  # standard errors between two methods
    z[1, 2] = z[2, 1] = 0.5
    z[1, 3] = z[3, 1] = np.nan
    found = Differences(z, np.ones((4, 4)), np.where(np.eye(4), np.nan, np.inf))
    answer = Answer.of(["a", "b", "c", "d"], np.array([3, 1, 2, np.inf]), found, false_discoveries=False)
    assert answer.verdicts.to_dict() == {"b": "first", "c": "not told apart", "a": "worse", "d": "not tested"}
    assert (answer.differ, answer.pairs, answer.leading) == (4, 5, ["b", "c"])
    assert str(answer) == "4 of 5 pairs of methods differ. First: b; not told apart from it: c"


def test_worlds_of_one_network_or_kind_of_cause_can_be_asked_alone(tmp_path, scored):
    values = {"grad-cam": 0.2, "gradient": 0.5, **FLOORS}
    for world in ("figures-2", "places-1", "people-1", "several-objects-1"):
        scored(tmp_path, world, values)
    assert salgen.bench.table(tmp_path, network="resnet18").worlds == 3
    assert salgen.bench.table(tmp_path, cause="object", network="resnet18").worlds == 2
    with pytest.raises(SalgenError, match="unknown network 'vgg16'"):
        salgen.bench.table(tmp_path, network="vgg16")
