"""The choice of a method for a network, from images with masks."""

import re
import time
import numpy as np
import pytest
import torch
from browsers import check_page
from torch import nn
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.choosing import choice as choice_module
from salgen.evaluation.choosing import race
from salgen.evaluation.choosing.choice import WITHOUT_MASKS, most_disputed
from salgen.registry import METHODS as REGISTERED
from salgen.types import Explained, SaliencyMap

SIDE, COUNT = 16, 6


def network():
    """Two logits: the sum of what is above one half in green, and its negative."""
    first, last = nn.Conv2d(3, 1, 1), nn.Conv2d(1, 2, 1, bias=False)
    first.weight.data.copy_(torch.tensor([0.0, 1.0, 0.0]).view(1, 3, 1, 1))
    first.bias.data.fill_(-0.5)
    last.weight.data.copy_(torch.tensor([1.0, -1.0]).view(2, 1, 1, 1))
    return nn.Sequential(first, nn.ReLU(), last, nn.AdaptiveAvgPool2d(1), nn.Flatten()).eval()


@pytest.fixture(scope="module")
def given():
    """Images with a green square at a random place, among noise in red and blue, and its mask."""
    random = np.random.default_rng(0)
    images = random.uniform(0, 1, (COUNT, 3, SIDE, SIDE)).astype(np.float32)
    images[:, 1] *= 0.4
    masks = np.zeros((COUNT, SIDE, SIDE), bool)
    for mask in masks:
        top, left = random.integers(0, SIDE - 5, 2)
        mask[top : top + 5, left : left + 5] = True
    images[:, 1][masks] = 0.9
    return images, masks


def inverse(_model, inputs, _targets):
    return -inputs[:, 1]


def bright(_model, inputs, _targets):
    return inputs[:, 1]


def shifted(_model, inputs, _targets):
    return inputs[:, 1].roll(1, dims=-1)


METHODS = {"inverse": inverse, "bright": bright, "shifted": shifted}


def test_the_best_method_is_chosen_and_the_worst_given_up(given):
    calls = []

    def watched(model, inputs, targets):
        calls.append(len(inputs))
        return inverse(model, inputs, targets)

    best = "input-x-gradient"  # computed before functions, which take longer
    choice = salgen.choose(network(), *given, methods={best: best, "shifted": shifted, "inverse": watched})
    assert choice.method == best
    assert choice.table["mean"][best] == 1
    assert choice.table["images"][best] == COUNT
    assert choice.table["images"]["inverse"] < COUNT
    assert "inverse" in choice.avoid
    assert best not in choice.avoid
    assert set(choice.probability) == {best, "shifted", "inverse"}
    assert sum(choice.probability.values()) == pytest.approx(1)
    assert 0 <= choice.regret.bound < 0.01
    table = choice.table
    spent, whole = (float((table["seconds"] * images).sum()) for images in (table["images"], COUNT))
    assert f"The maps took {spent:.0f} s, {spent / whole:.0%} of what all methods take" in str(choice)
    scores = salgen.score(salgen.explain(network(), given[0], method=shifted), given[1], ["average-precision"])
    known = scores["average-precision"][: choice.table["images"]["shifted"]]
    assert choice.table["mean"]["shifted"] == pytest.approx(known.mean())
    more = choice.explain(given[0][:2]).values
    torch.testing.assert_close(more, salgen.explain(network(), given[0][:2], method=best).values)


@pytest.fixture(scope="module")
def answers(given):
    """Choices by what there is to say of their limits."""
    images, masks = given
    return {
        "plain": salgen.choose(network(), images, masks, methods=METHODS),
        "one image": salgen.choose(network(), images[:1], masks[:1], methods=METHODS),
        "two images": salgen.choose(network(), images[:2], masks[:2], methods=METHODS),
        "wrong": salgen.choose(network(), images, masks, targets=[1, 1, 0, 0, 0, 0], methods=METHODS),
        "useless": salgen.choose(network(), images, masks, methods={"inverse": inverse}),
    }


def test_the_answer_is_a_sentence(answers):
    answer = str(answers["plain"]).splitlines()[0]
    assert answer.startswith(f"For this network take bright: average-precision 1.00 on your {COUNT} images; about 0.0")
    assert "below the best of 3 methods, at most" in answer
    assert "Surely no better than a map that ignores the network: inverse" in answer
    assert "on your 1 image;" in str(answers["one image"])


@pytest.mark.parametrize(
    ("limit", "case"),
    [
        ("A mask marks the object, and nobody knows whether the network uses that", None),
        ("One independent image is too few", "one image"),
        ("Two independent images are too few", "two images"),
        ("The network predicts another class on 2 of 6 images", "wrong"),
        ("inverse is not surely better than", "useless"),
    ],
)
def test_each_limit_has_its_sentence_where_it_holds_on_the_terminal_and_on_the_page(answers, limit, case, tmp_path):
    for name, choice in answers.items():
        assert (limit in str(choice)) == (limit in choice.report(tmp_path / "page.html").read_text())
        assert (limit in str(choice)) == (case in (None, name))


def test_predictions_are_those_of_normalised_images(given):
    """Without the ReLU the network gives class 0 where green is above one half on average: here if normalised alone."""
    without_relu = nn.Sequential(*(layer for layer in network() if not isinstance(layer, nn.ReLU)))
    brighter = ([-1.0] * 3, [1.0] * 3)
    choice = salgen.choose(without_relu, *given, preprocess=brighter, methods=METHODS, targets=[0] * COUNT)
    assert "predicts another class" not in str(choice)


def test_the_habit_is_shown_though_it_can_hardly_be_best(given, monkeypatch):
    for module in (choice_module, race):
        monkeypatch.setattr(module, "HABIT", "inverse")
    choice = salgen.choose(network(), *given, methods={"best": "input-x-gradient", "inverse": inverse})
    assert list(choice.maps) == ["best", "inverse"]
    assert choice.table["images"]["inverse"] == COUNT
    assert "inverse" in choice.avoid


def test_images_of_a_group_count_as_one(given):
    together_at_each_image = ["gradient", "input-x-gradient"]  # so that neither is given up before the other is known
    apart = salgen.choose(network(), *given, methods=together_at_each_image)
    one = salgen.choose(network(), *given, methods=together_at_each_image, groups=["one"] * COUNT)
    assert one.regret.expected > 2 * apart.regret.expected
    pairs = salgen.choose(network(), *given, methods={"shifted": shifted}, groups=[0, 1, 0, 1, 2, 2])
    expected = salgen.explain(network(), given[0], method=shifted)
    torch.testing.assert_close(pairs.maps["shifted"].values, expected.values)
    scores = salgen.score(expected, given[1], ["average-precision"])["average-precision"]
    assert pairs.table["mean"]["shifted"] == pytest.approx(scores.mean())


def test_all_methods_that_the_network_takes_are_tried(given):
    choice = salgen.choose(network(), *given)
    assert {"gradient", "grad-cam", "occlusion", "rise:n=500", "lrp-z"} <= set(choice.table.index)
    assert {"random", "sobel"} <= set(choice.table.index[choice.table["floor"]])
    assert "fitted to training images" in choice.left_out["pattern-net"]
    assert choice.table["mean"][choice.method] == choice.table[~choice.table["floor"]]["mean"].max()


def test_a_method_without_time_counts_in_the_whole_cost(given):
    def slow(model, inputs, targets):
        time.sleep(0.2 * len(inputs))
        return bright(model, inputs, targets)

    found = []
    for budget in (0.0, 240.0):
        choice = salgen.choose(network(), *given, methods={"gradient": "gradient", "slow": slow}, budget=budget)
        found.append(int(str(choice).partition(" s, ")[2].partition("%")[0]))
    assert found[0] < 30
    assert found[1] > 90


def test_the_progress_says_what_may_be_the_best_and_what_is_ahead(given, capsys):
    salgen.choose(network(), *given, methods={"best": "input-x-gradient", "inverse": inverse})
    assert "choose a method, 1 may be the best, best is ahead: " in capsys.readouterr().err


def test_ahead_is_the_best_of_the_methods_with_the_most_images():
    running = race.Race(None, None, None, [], None, 1.0)
    running.scores = {"one image": [0.9], "worse": [0.6, 0.3], "better": [0.4, 0.6], "given up": [0.9, 0.9]}
    running.methods = dict.fromkeys(running.scores, REGISTERED.create("gradient"))
    running.rivals = {"one image", "worse", "better"}
    assert running.standing() == "choose a method, 3 may be the best, better is ahead"


def test_no_time_goes_into_a_method_that_cannot_finish(given):
    calls = []

    def slow(model, inputs, targets):
        calls.append(len(inputs))
        time.sleep(0.5)
        return inverse(model, inputs, targets)

    choice = salgen.choose(network(), *given, methods={"gradient": "gradient", "slow": slow}, budget=2.0)
    assert re.match(r"takes about \d+ s for these images", choice.left_out["slow"])
    assert calls == [1]  # that its time was measured by


def test_the_page_has_the_answer_the_pictures_and_every_method(given, tmp_path, watched):
    choice = salgen.choose(network(), *given, methods=METHODS)
    place = choice.report(tmp_path / "page.html")
    text = place.read_text()
    assert str(choice).splitlines()[0] in text
    assert "data:image/png;base64," in text
    assert all(f'<th scope="row">{call}</th>' in text for call in choice.table.index)
    assert [ax.get_title() for ax in choice.plot().axes[:2]] == ["image and mask", "bright"]
    watched[0].goto(place.as_uri())
    check_page(watched[0])


CHEAP = ["gradient", "grad-cam", "eigen-cam", "guided-backprop"]


@pytest.fixture(scope="module")
def unmarked(given):
    return salgen.choose(network(), given[0], methods=[*CHEAP, "rise"])


def test_without_masks_a_choice_by_road_says_what_it_is_worth_and_what_to_mark(given, unmarked, tmp_path):
    images, classes = given[0], [0] * COUNT
    expected = {}
    for call, maps in salgen.explain(network(), images, classes, method=CHEAP).items():
        found = salgen.score(maps, None, ["road"], model=network(), images=images, targets=classes)
        expected[call] = found["road"].mean()
    assert unmarked.method == max(expected, key=expected.get)
    assert unmarked.table["mean"][CHEAP].to_dict() == pytest.approx(expected)
    assert "takes many passes" in unmarked.left_out["rise:n=500"]
    worth, answer, *_, ask = str(unmarked).splitlines()
    assert worth.startswith(f"Without masks a choice lies about {WITHOUT_MASKS.expected:.2f} average precision below")
    assert f"take {unmarked.method}, the best of {len(CHEAP)} methods by ROAD" in answer
    assert f"on your {COUNT} images" in answer
    assert ask.startswith(f"Draw masks on the images {', '.join(map(str, unmarked.to_mark))} (counted from 0)")
    assert len(set(unmarked.to_mark)) == 5
    assert "A mask marks the object" not in str(unmarked)
    text = unmarked.report(tmp_path / "page.html").read_text()
    assert all(line in text for line in (worth, answer, ask))


def test_images_on_which_methods_disagree_come_first():
    """The more of an image's rows the second method turns round, the less the two agree there."""
    maps = torch.rand(4, 28, 28, generator=torch.Generator().manual_seed(0))
    other = maps.clone()
    for image, rows in ((2, 28), (0, 14), (3, 7)):
        other[image, :rows] *= -1
    both = {name: SaliencyMap(of, name, None, True, (28, 28)) for name, of in {"a": maps, "b": other}.items()}
    assert most_disputed(Explained(both)) == (2, 0, 3, 1)


NO_MARK = "a mask is empty or covers its whole image"


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"metric": "insertion-auc"}, "unknown metric to choose by 'insertion-auc'"),
        ({"groups": [1]}, "groups has 1 entries for 6 images"),
        ({"targets": [0]}, "targets"),
        ({"metric": "roc-auc", "masks": None}, "metric 'roc-auc' needs masks: give masks, or leave metric out"),
        *(({"masks": np.full((COUNT, SIDE, SIDE), fill)}, NO_MARK) for fill in (True, False)),
        ({"methods": ["rise"], "masks": None}, "no method can be chosen: rise:n=500 takes many passes, and without"),
        ({"methods": ["rise"], "budget": 0.0}, "no method can be chosen: rise:n=500 takes about .* a longer budget"),
    ],
)
def test_wrong_arguments_and_why_no_method_can_be_chosen_are_said(given, how, says):
    with pytest.raises(SalgenError, match=says):
        salgen.choose(network(), given[0], **{"masks": given[1], "methods": METHODS, **how})


@pytest.mark.parametrize(("channel", "relied_on"), [(1, COUNT), (0, 0)])
def test_composite_evidence_says_whether_the_network_relies_on_the_masked_object(given, channel, relied_on):
    sees = network()
    weights = torch.zeros(3)
    weights[channel] = 1.0  # of green, which the square alone has much of, or of red, which is everywhere
    sees[0].weight.data.copy_(weights.view(1, 3, 1, 1))
    found = salgen.choose(sees, *given, methods=METHODS, preprocess=nn.Identity())
    assert f"relies on the masked object on {relied_on} of {COUNT} images. Do not rely on this" in str(found)


@pytest.mark.parametrize("groups", [[0, 0, 1, 1, 2, 2], None])
def test_composite_evidence_takes_five_independent_images_in_unit_range(given, groups):
    preprocess = None if groups is None else nn.Identity()
    found = salgen.choose(network(), *given, methods=METHODS, groups=groups, preprocess=preprocess)
    assert "omposite" not in str(found)
