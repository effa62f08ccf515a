"""What the protocol of Szczepankiewicz et al. 2023 says of the paper's claims, from grids of means."""

from math import nan
from pathlib import Path
import pytest
from hypothesis import given
from hypothesis import strategies as st
from salgen.evaluation.protocols import claims
from salgen.evaluation.protocols.szczepankiewicz2023 import CLAIMS, Szczepankiewicz2023
from salgen.evaluation.report.grid import places
from salgen.evaluation.report.study import Study, StudyCell, Variants
from salgen.evaluation.statistics.jackknife import Estimate

PAPER = Szczepankiewicz2023.methods
KEEPING = ("gradient", "smoothgrad", "guided-backprop", "guided-grad-cam", "layer-cam", "eigen-grad-cam")
WORST = ("gradient", "smoothgrad", "guided-backprop", "eigen-cam", "eigen-grad-cam")
FAST = ("fast-cam", "fast-cam++")
LAST, GTSRB, SCNN, ZINGS, LISA, GRAD_CAM, LAYER_CAM, LOWEST, OLD_AREA = range(9)
HELD, NOT_HELD, UNDECIDED, NOT_TESTABLE = "held", "not held", "undecided", "not testable here"


def said(grid, variants=None):
    """The findings of a grid of known means, and of (original, resized) means of each network in `variants`."""
    variants = variants or {}
    runs = {("original", model): first for model, (first, _) in variants.items()}
    runs |= {("resized", model): second for model, (_, second) in variants.items()}

    def means(cells, methods, metric):
        found = {(cell.dataset, cell.model): (grid | runs)[cell.dataset, cell.model] for cell in cells}
        return {place: {name: Estimate(mean) for name, mean in means.items()} for place, means in found.items()}

    pairs = [Variants(model, {"original": Path("a"), "resized": Path("b")}) for model in variants]
    cells = [StudyCell(*key, (Path("x"),)) for key in grid]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(claims, "grid_estimates", means)
        found = claims.judge(CLAIMS, Study("t", "r", "m-gt", PAPER, tuple(cells), tuple(pairs), (), ()))
    assert len(found) == 9
    return found


def ranked(*best, worst=()):
    """Means that fall from the first method to the last."""
    rest = [method for method in PAPER if method not in (*best, *worst)]
    order = [*best, *rest, *worst]
    return {method: 0.9 - 0.05 * order.index(method) for method in PAPER}


def half(means):
    return {method: mean / 2 for method, mean in means.items()}


HOLDING = {
    ("gtsrb-square", "resnet50"): ranked("eigen-grad-cam", "guided-grad-cam", worst=FAST),
    ("gtsrb-square", "vgg16"): ranked("guided-grad-cam", "eigen-grad-cam", worst=FAST[::-1]),
    ("gtsrb-square", "scnn"): half(ranked("guided-grad-cam", "eigen-grad-cam")),
    ("zings", "vgg16"): ranked("guided-backprop", "gradient", "guided-grad-cam"),
    ("lisa-lights", "vgg16"): ranked("layer-cam", "eigen-grad-cam", "guided-grad-cam"),
    ("imagenet-s50", "vgg16"): ranked("grad-cam", worst=WORST),
    ("imagenet-s50", "resnet50"): ranked("layer-cam", worst=WORST),
    ("imagenet-s50", "resnext50"): ranked("layer-cam", worst=WORST[::-1]),
}
EVEN = dict.fromkeys(PAPER, 0.4)
KEPT = half(EVEN) | dict.fromkeys(KEEPING, 0.4)


def without(*cells):
    return {cell: means for cell, means in HOLDING.items() if cell not in cells}


def test_a_grid_as_the_paper_found_it_holds_every_claim_and_the_opposite_none():
    found = said(HOLDING, {"vgg16": (EVEN, KEPT)})
    assert [finding.verdict for finding in found] == [HELD] * 9
    assert [finding.claim[:3] for finding in found] == [f"({letter})" for letter in "aabcdeeef"]
    numbers = "vgg16: 1.000 (6 named methods) against 0.500 (7 others); margin 0.500, 0.500 to 0.500"
    assert found[OLD_AREA].numbers == numbers
    opposite = {cell: {method: 1.0 - value for method, value in means.items()} for cell, means in HOLDING.items()}
    assert [finding.verdict for finding in said(opposite, {"vgg16": (KEPT, EVEN)})] == [NOT_HELD] * 9
    assert [finding.verdict for finding in said({})] == [NOT_TESTABLE] * 9


@pytest.mark.parametrize(
    ("claim", "missing", "there"),
    [
        (LAST, ("gtsrb-square", "vgg16"), "resnet50"),
        (LAST, ("gtsrb-square", "resnet50"), "vgg16"),
        (LAYER_CAM, ("imagenet-s50", "resnext50"), "resnet50"),
    ],
)
def test_a_claim_needs_every_network_that_it_names(claim, missing, there):
    finding = said(without(missing))[claim]
    assert finding.verdict == NOT_TESTABLE
    assert f"holds on {there} (" in finding.numbers
    assert f"{missing[1]} was not run" in finding.numbers
    assert missing[1] in finding.claim


def test_a_claim_fails_with_one_network_whether_the_other_was_run_or_not_and_says_which_were():
    fails = {("gtsrb-square", "vgg16"): ranked(*FAST)}
    for grid, other in (({}, "resnet50 was not run"), (HOLDING, "holds on resnet50 (")):
        finding = said(grid | fails)[LAST]
        assert finding.verdict == NOT_HELD
        assert finding.numbers.startswith(other)
        assert "; does not hold on vgg16 (" in finding.numbers
    found = said(without(("imagenet-s50", "resnext50")))
    assert found[LOWEST].verdict == HELD
    assert "on vgg16 (" in found[LOWEST].numbers
    assert "on resnet50 (" in found[LOWEST].numbers
    assert "holds on resnet50, vgg16 and scnn together (" in found[GTSRB].numbers


@pytest.mark.parametrize("gone", [nan, None])
@pytest.mark.parametrize(
    ("claim", "cell", "method"),
    [
        (LAST, ("gtsrb-square", "resnet50"), "fast-cam"),
        (GTSRB, ("gtsrb-square", "scnn"), "eigen-grad-cam"),
        (ZINGS, ("zings", "vgg16"), "gradient"),
        (LISA, ("lisa-lights", "vgg16"), "guided-grad-cam"),
        (GRAD_CAM, ("imagenet-s50", "vgg16"), "grad-cam"),
        (LAYER_CAM, ("imagenet-s50", "resnet50"), "layer-cam"),
        (LOWEST, ("imagenet-s50", "resnet50"), "eigen-cam"),
    ],
)
def test_a_named_method_without_a_score_makes_its_claim_not_testable(claim, cell, method, gone):
    means = {name: mean for name, mean in HOLDING[cell].items() if name != method}
    finding = said(HOLDING | {cell: means if gone is None else means | {method: gone}})[claim]
    assert finding.verdict == NOT_TESTABLE
    where = "resnet50, vgg16 and scnn together" if claim == GTSRB else cell[1]
    assert f"{method} has no score on {where}" in finding.numbers
    both = said(HOLDING | {("gtsrb-square", "resnet50"): EVEN | dict.fromkeys(FAST, nan)})
    assert "fast-cam and fast-cam++ have no score on resnet50" in both[LAST].numbers


def test_cells_without_means_and_named_methods_alone_prove_nothing():
    empty = {(name, "inception"): dict.fromkeys(PAPER, nan) for name, _ in HOLDING}
    assert said(HOLDING | empty) == said(HOLDING)
    for means in ({}, dict.fromkeys(PAPER, nan)):
        found = said(dict.fromkeys([*HOLDING, ("zings", "scnn")], means), {"scnn": (means, means)})
        assert [finding.verdict for finding in found] == [NOT_TESTABLE] * 9
    alone = {
        ("gtsrb-square", "vgg16"): dict.fromkeys(FAST, 0.1),
        ("lisa-lights", "vgg16"): {"guided-grad-cam": 0.5, "eigen-grad-cam": 0.4},
        ("imagenet-s50", "vgg16"): {"grad-cam": 0.5},
    }
    found = said(alone)
    for claim in (LAST, LISA, GRAD_CAM):
        assert found[claim].verdict == NOT_TESTABLE
        assert "no other method has a score on vgg16" in found[claim].numbers


@given(st.data())
def test_no_grid_is_too_sparse(data):
    scores = st.dictionaries(st.sampled_from(PAPER), st.sampled_from([nan, 0.0, 0.2, 0.3, 0.9]))
    keys = st.sampled_from([*HOLDING, ("zings", "scnn"), ("imagenet-s50", "scnn")])
    pairs = st.dictionaries(st.just("scnn"), st.tuples(scores, scores))
    said(data.draw(st.dictionaries(keys, scores)), data.draw(pairs))


@given(st.lists(st.sampled_from([0.5, 0.5004, 0.6, 0.6003, 0.7]), min_size=len(PAPER), max_size=len(PAPER)))
def test_winners_are_those_that_the_grid_marks(values):
    """Means are known for sure: a method that fewer than three are above, or level with, is among the best three."""
    means = dict(zip(PAPER, values, strict=True))
    finding = said({("lisa-lights", "scnn"): means})[LISA]
    least = min(means["guided-grad-cam"], means["eigen-grad-cam"])
    above = sum(mean > least for mean in values)
    level = sum(mean >= least for mean in values) - 1
    assert finding.verdict == (HELD if level < 3 else NOT_HELD if above >= 3 else UNDECIDED)
    for method, place in places(means, True).items():
        assert f"{method} {means[method]:.3f} at place {place}" in finding.numbers


def test_winners_are_averaged_over_networks():
    """Each is fifth on one network, and the best on the other by more."""
    one = EVEN | {"eigen-grad-cam": 0.9, "layer-cam": 0.6, "grad-cam": 0.6, "fast-cam": 0.6, "guided-grad-cam": 0.5}
    two = EVEN | {"guided-grad-cam": 0.9, "poly-cam-pm": 0.6, "gradient": 0.6, "smoothgrad": 0.6, "eigen-grad-cam": 0.5}
    finding = said({("lisa-lights", "vgg16"): one, ("lisa-lights", "scnn"): two})[LISA]
    assert finding.verdict == HELD
    assert "guided-grad-cam 0.700 at place 1" in finding.numbers
    fourth_place = ranked("layer-cam", "grad-cam", "eigen-grad-cam", "guided-grad-cam")
    fourth = said({("lisa-lights", "vgg16"): fourth_place})[LISA]
    assert fourth.verdict == NOT_HELD
    assert "guided-grad-cam 0.750 at place 4" in fourth.numbers


@pytest.mark.parametrize("order", [PAPER, PAPER[::-1]])
@pytest.mark.parametrize(("claim", "cells", "named"), [(LAST, "gtsrb-square", FAST), (LOWEST, "imagenet-s50", WORST)])
def test_a_tie_at_the_border_of_the_lowest_leaves_it_open(order, claim, cells, named):
    models = ("resnet50", "vgg16")

    def verdict(lowest):
        means = EVEN | dict.fromkeys(named, 0.1) | {"grad-cam": lowest}
        return said({(cells, model): {method: means[method] for method in order} for model in models})[claim].verdict

    assert verdict(0.1) == UNDECIDED
    assert verdict(0.1004) == HELD
    assert verdict(0.0996) == NOT_HELD


def test_scnn_is_compared_over_the_methods_that_all_networks_have():
    """Over its own methods scnn has the lower mean, over the shared ones the higher."""
    scnn = {"gradient": 0.5, "grad-cam": 0.1, "layer-cam": nan}
    finding = said({("zings", "scnn"): scnn, ("zings", "vgg16"): {"gradient": 0.4, "layer-cam": 0.9}})[SCNN]
    assert finding.verdict == NOT_HELD
    numbers = "zings (methods that all have: 1): vgg16 at 0.400, scnn 0.500; margin \N{MINUS SIGN}0.1"
    assert finding.numbers.startswith(numbers)
    finding = said({("zings", "scnn"): {"gradient": 0.5}, ("zings", "vgg16"): {"grad-cam": 0.9}})[SCNN]
    assert finding.verdict == NOT_TESTABLE
    assert finding.numbers == "scnn has no score on zings (methods that all have: 0)"
    assert said(HOLDING | {("zings", "scnn"): half(EVEN)})[SCNN].verdict == HELD
    assert said(HOLDING | {("zings", "scnn"): HOLDING["zings", "vgg16"]})[SCNN].verdict == UNDECIDED
    assert said(HOLDING | {("gtsrb-square", "resnet50"): dict.fromkeys(PAPER, 0.01)})[SCNN].verdict == NOT_HELD


def test_shares_of_nothing_are_left_out_and_the_old_area_must_be_kept_on_every_network():
    before = EVEN | {"gradient": 0.0, "smoothgrad": nan, "fast-cam": 0.0004}
    after = KEPT | {"layer-cam": nan, "fast-cam++": 0.0}
    finding = said({}, {"vgg16": (before, after)})[OLD_AREA]
    assert finding.verdict == HELD
    assert finding.numbers.startswith("vgg16: 1.000 (3 named methods) against 0.500 (6 others); margin 0.500")
    assert said({}, {"vgg16": (EVEN, KEPT), "scnn": (KEPT, EVEN)})[OLD_AREA].verdict == NOT_HELD
    finding = said({}, {"vgg16": (EVEN, KEPT), "scnn": (EVEN, dict.fromkeys(KEEPING, 0.1))})[OLD_AREA]
    assert finding.verdict == NOT_TESTABLE
    assert "scnn: methods with a share: 6 named, 0 others" in finding.numbers
    tied = said({}, {"vgg16": (EVEN, EVEN)})[OLD_AREA]
    assert tied.verdict == UNDECIDED
