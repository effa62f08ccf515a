import pytest
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.metric import FAMILIES
from salgen.evaluation.scoring.metric_selection import (
    DEFAULT,
    HOW_TO_GIVE,
    bounds,
    by_reading,
    canonical,
    choose_metrics,
    higher_is_better,
    ranking_metrics,
)
from salgen.parameters import call_text
from salgen.registry import METRICS


def test_alternatives_are_every_combination_and_sweep_and_scale_set_what_the_call_does_not():
    chosen = choose_metrics("energy-pointing-game:within=box|mask,relative=true|false")
    ends = (":relative=true", "", ":within=mask,relative=true", ":within=mask")
    assert list(chosen) == [f"energy-pointing-game{end}" for end in ends]
    ends = (":fraction=0.1", ":fraction=0.3", "", ":fraction=0.7", ":fraction=0.9")
    assert list(choose_metrics(["roar"], scale="full")) == [f"roar{end}" for end in ends]
    assert list(choose_metrics(["roar:fraction=0.2"], scale="full")) == ["roar:fraction=0.2"]
    assert list(choose_metrics(["roar:fraction=0.2|0.4"], scale="full")) == ["roar:fraction=0.2", "roar:fraction=0.4"]
    assert list(choose_metrics("roar")) == ["roar"]
    assert list(choose_metrics(["max-sensitivity:norm=l2"], scale="demo")) == ["max-sensitivity:samples=5"]
    assert list(choose_metrics(["max-sensitivity:norm=l2"], scale="full")) == ["max-sensitivity"]
    assert list(choose_metrics(["max-sensitivity:norm=l2,samples=7"], scale="demo")) == ["max-sensitivity:samples=7"]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_stands_for_its_metrics(family):
    chosen = choose_metrics(family, HOW_TO_GIVE)
    assert chosen
    assert {metric.family for metric in chosen.values()} == {family}


def test_groups_hold_what_can_be_computed():
    everything = choose_metrics("all", {*HOW_TO_GIVE, "training"})
    assert set(everything) == {name for name in METRICS.names() if METRICS.load(name).in_all} < set(METRICS.names())
    assert set(everything) - set(choose_metrics("all", HOW_TO_GIVE)) == {"roar", "kar"}
    assert set(choose_metrics("all", ["mask", "negatives"])) >= set(DEFAULT)
    assert all(metric.needs <= {"mask"} for metric in choose_metrics("localization", ["mask"]).values())


def test_every_call_gives_its_metric_back_and_an_unknown_name_the_nearest():
    for metric in choose_metrics(["all"], {*HOW_TO_GIVE, "training"}, "full").values():
        assert choose_metrics(call_text(metric)) == {call_text(metric): metric}
    with pytest.raises(SalgenError, match="did you mean 'iou'"):
        choose_metrics("iuo")
    with pytest.raises(SalgenError, match="did you mean 'faithfulness'"):
        choose_metrics("faithfullness")


def test_deviating_readings_stand_apart():
    calls = ["prec99:compat=authors_exact", "roc-auc", "prec99"]
    assert by_reading(calls) == {None: ["roc-auc", "prec99"], "authors_exact": calls[:1]}
    assert next(iter(by_reading(calls))) is None
    assert canonical(calls) == ["roc-auc", "prec99"]
    # where there is no canonical metric there is no such group
    assert by_reading(["prec99:compat=authors_exact"]) == {"authors_exact": ["prec99:compat=authors_exact"]}
    assert canonical(["prec99:compat=authors_exact"]) == []
    assert by_reading([]) == {}


@pytest.mark.parametrize("call", ["roc-auc", "auroc"])
def test_declarations_by_call(call):
    assert higher_is_better(call) is True
    assert bounds(call) == (0.0, 1.0)
    assert ranking_metrics([call]) == [call]
