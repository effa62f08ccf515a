import re
from pathlib import Path
import pandas
import pytest
import torch
from torch import nn
from salgen.errors import SalgenError, UndefinedMethodError
from salgen.evaluation.attribution.method_selection import (
    DEAR,
    DEMO_METHODS,
    all_methods,
    check_some_work,
    select_methods,
)
from salgen.evaluation.methods.gradient import Gradient
from salgen.evaluation.runs.artifacts.run_record import in_groups
from salgen.registry import METHODS, PROTOCOLS

PIXELS = torch.rand(1, 1, 16, 16, generator=torch.Generator().manual_seed(0))


CONTROLS = {name for name in METHODS.names() if METHODS.load(name).control}


def convolutional():
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(784, 2))


def test_controls_come_with_every_selection_and_last():
    calls = list(select_methods(["oracle", "gradient"]).methods)
    assert calls[0] == "gradient"
    assert set(calls) == CONTROLS | {"gradient"}


IN_ALL = {name for name in METHODS.names() if METHODS.load(name).in_all}


def test_all_leaves_out_methods_that_say_so_until_they_are_named():
    assert set(select_methods(None).methods) == set(select_methods(["all"]).methods) == IN_ALL
    assert set(select_methods(["all", "fem"]).methods) == IN_ALL | {"fem"} != IN_ALL


def test_all_is_what_the_benchmark_holds():
    stored = (Path(__file__).parents[3] / "results").glob("*/summary.csv")
    calls = pandas.concat([pandas.read_csv(path, usecols=["method"]) for path in stored])["method"].unique()
    assert {call.partition(":")[0] for call in calls} == IN_ALL


def test_scale_demo_takes_a_dozen_by_default_and_all_on_demand():
    default = select_methods(None, "demo")
    assert {method.name for method in default.others.values()} == CONTROLS | set(DEMO_METHODS)
    assert default.named == {}
    assert len(DEMO_METHODS) == len(set(DEMO_METHODS) - CONTROLS) == 13  # of which one needs attention
    assert {method.name for method in select_methods(["all"], "demo").methods.values()} == IN_ALL
    assert {method.name for method in select_methods(None, "small").methods.values()} == IN_ALL
    methods, left_out = default.defined_for(convolutional(), PIXELS)
    assert "attention-rollout" in left_out
    assert [method.name for method in methods.values() if not method.control] == list(DEMO_METHODS[:-1])


def test_quick_is_all_but_those_of_hundreds_of_passes():
    assert set(select_methods(["quick"]).methods) == set(all_methods()) - set(DEAR)
    assert "rise" in select_methods(["quick", "rise"]).named
    assert set(select_methods(["quick", "all"]).methods) == set(all_methods()) > set(DEAR)


def test_the_page_names_the_methods_of_scale_demo():
    page = (Path(__file__).parents[3] / "docs" / "methods.md").read_text(encoding="utf-8")
    listed = page.partition("takes a dozen methods by default")[2].partition("`-m all`")[0]
    assert tuple(re.findall(r"`([a-z0-9+-]+)`", listed)) == DEMO_METHODS


@pytest.mark.parametrize("protocol", PROTOCOLS.names())
def test_a_protocol_stands_for_its_methods(protocol):
    assert list(select_methods([protocol]).named) == list(PROTOCOLS.load(protocol).methods)


def test_a_scale_sets_what_a_call_does_not():
    scaled = next(name for name in METHODS.names() if METHODS.load(name).scales)
    values = METHODS.load(scaled).scales["small"]
    small = next(iter(select_methods([scaled], "small").named.values()))
    assert {key: getattr(small, key) for key in values} == values
    key, value = next(iter(values.items()))
    given = next(iter(select_methods([f"{scaled}:{key}={value + 1}"], "small").named.values()))
    assert getattr(given, key) == value + 1
    assert list(select_methods([scaled]).named) == [scaled]


def test_what_is_refused_is_left_out_unless_nothing_else_works():
    with pytest.raises(UndefinedMethodError, match="raw-attention: the network has no attention"):
        select_methods(["raw-attention", "random"]).defined_for(convolutional(), PIXELS)
    methods, left_out = select_methods(["cam", "gradient"]).defined_for(convolutional(), PIXELS)
    assert "gradient" in methods
    assert "cam" in left_out
    assert select_methods(["random"]).defined_for(convolutional(), PIXELS)[1] == {}
    with pytest.raises(UndefinedMethodError, match="; and 2 more reasons"):
        check_some_work({}, dict.fromkeys("abcde", Gradient()), {call: f"{call} cannot" for call in "abcde"})


def test_reasons_are_said_once_for_all_that_share_them():
    left_out = {
        "a:n=1": "a has no rule for gelu: it knows relu; choose another",
        "b": "b has no rule for gelu: it knows max; choose another",
        "c": "c: no attention: for transformers",
        "d": "method 'd' failed: no",
    }
    assert in_groups(left_out) == "a:n=1, b (has no rule for gelu); c (no attention); d (method 'd' failed: no)"


def test_an_unknown_name_is_said_before_what_stands_behind_it():
    with pytest.raises(SalgenError, match="unknown method 'my_methods'"):
        select_methods(["my_methods:mine"])
