"""Trials, answers and their agreement."""

from itertools import permutations
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kept_runs import make_data
from salgen.cli.main import main
from salgen.errors import SalgenError
from salgen.evaluation.rating.ratings import Ratings, agreement_of, means
from salgen.evaluation.rating.trials import RatingTrials

ANSWERS = st.lists(st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=3, max_size=3), min_size=1, max_size=6)


def slow_alpha(units):
    """1 - D_o / D_e of ordinal data with missing values (Krippendorff 2011, part D), by ordered pairs of values."""
    units = [[value for value in unit if value is not None] for unit in units]
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    count = {value: values.count(value) for value in range(1, 6)}

    def distance(a, b):
        low, high = min(a, b), max(a, b)
        return (sum(count[value] for value in range(low, high + 1)) - (count[a] + count[b]) / 2) ** 2

    observed = sum(sum(distance(*pair) for pair in permutations(unit, 2)) / (len(unit) - 1) for unit in units)
    expected = sum(distance(*pair) for pair in permutations(values, 2)) / max(1, len(values) - 1)
    return 1 - observed / expected if expected else None


@given(ANSWERS)
def test_alpha_is_its_formula(units):
    pytest.importorskip("krippendorff")
    rows = [
        {"rater": f"r{rater}", "sample_id": str(unit), "method": "m", "trust": value}
        for unit, values in enumerate(units)
        for rater, value in enumerate(values)
    ]
    found, slow = agreement_of(rows, "trust"), slow_alpha(units)
    assert found["alpha"] == slow if slow is None else found["alpha"] == pytest.approx(slow)
    assert found["explanations"] == sum(sum(value is not None for value in unit) > 1 for unit in units)


def test_orders_are_seeded_and_each_raters_own_and_pictures_are_in_them(run, data):
    trials, again, other = (RatingTrials.of(run, data, seed=seed) for seed in (0, 0, 1))
    assert sorted(trials.maps) == ["grad-cam", "gradient", "guided-backprop", "input-x-gradient", "smoothgrad:n=2"]
    assert trials.sample_ids == again.sample_ids != other.sample_ids
    assert sorted(trials.sample_ids) == sorted(other.sample_ids)
    orders = {name: [tuple(trials.order(name, image)) for image in range(6)] for name in ("anna", "ben")}
    assert orders["anna"] == [tuple(again.order("anna", image)) for image in range(6)]
    assert orders["anna"] != orders["ben"]
    assert len(set(orders["anna"])) > 1
    assert all(sorted(order) == sorted(trials.maps) for order in orders["anna"])
    assert len(RatingTrials.of(run, data, images=3).sample_ids) == 3
    shown = trials.map_pictures("anna", 2)
    by_method = dict(zip(trials.order("anna", 2), shown, strict=True))
    other = dict(zip(trials.order("ben", 2), trials.map_pictures("ben", 2), strict=True))
    assert by_method == other
    assert len(set(shown)) == len(shown)


def test_answers_are_kept_and_written(run, data, tmp_path):
    pytest.importorskip("krippendorff")
    trials = RatingTrials.of(run, data)
    ratings = Ratings(trials, tmp_path / "ratings")
    with pytest.raises(SalgenError, match="nobody answered yet"):
        ratings.finish()
    ratings.answer("anna", 1, 0, "covers", 2)
    ratings.answer("anna", 1, 0, "covers", 4)
    ratings.answer("anna", 0, 3, "trust", 5)
    again = Ratings(trials, tmp_path / "ratings")
    assert again.answers("anna") == {(1, 0): {"covers": 4}, (0, 3): {"trust": 5}}
    place = trials.order("ben", 1).index(trials.order("anna", 1)[0])
    again.answer("ben", 1, place, "covers", 4)
    agreement = again.finish()
    assert agreement[0] == {"question": "covers", "raters": ["anna", "ben"], "explanations": 1, "alpha": None}
    rows = pq.read_table(tmp_path / "ratings" / "ratings.parquet").to_pylist()
    assert rows[1] == {
        "rater": "anna", "seed": 0, "model": trials.model, "sample_id": trials.sample_ids[1],
        "method": trials.order("anna", 1)[0], "position": 0, "covers": 4, "excludes": None, "trust": None,
    }  # fmt: skip
    assert means(rows)[trials.order("anna", 1)[0]]["covers"] == 4
    assert pq.read_table(tmp_path / "ratings" / "agreement.parquet").to_pylist() == agreement
    for bad in (("covers", 0), ("covers", 6), ("other", 3)):
        with pytest.raises(SalgenError, match="by 1 to 5"):
            again.answer("anna", 0, 0, *bad)
    for other in (RatingTrials.of(run, data, seed=1), RatingTrials.of(run, data, ["gradient", "deconvnet"])):
        with pytest.raises(SalgenError, match="has answers to other images or methods"):
            Ratings(other, tmp_path / "ratings")


def test_the_command_prints_means_and_refuses_another_method_or_data_set(run, data, tmp_path, capsys):
    pytest.importorskip("krippendorff")
    trials = RatingTrials.of(run, data)
    ratings = Ratings(trials, tmp_path / "out")
    for rater, values in {"anna": (1, 5), "ben": (2, 4)}.items():
        for image, value in enumerate(values):
            ratings.answer(rater, image, trials.order(rater, image).index("gradient"), "covers", value)
    assert main(["rate", f"{run}", str(tmp_path / "out"), "--dataset", str(data), "--finish"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["gradient", "3.00", "-", "-"]
    assert lines[2].split() == ["alpha", f"{slow_alpha([(1, 2), (5, 4)]):.3f}", "-", "-"]
    with pytest.raises(SalgenError, match="unknown method of"):
        RatingTrials.of(run, data, ["lrp-z"])
    other = make_data(tmp_path, seed=1)
    assert main(["rate", f"{run}", "--dataset", str(other), "--finish"]) == 2
    assert f"error: {other} is not the data set of {run}" in capsys.readouterr().err
