"""What methods have in common is computed once, and is what each would compute alone."""

from types import SimpleNamespace
import pytest
import torch
from torch import nn
import salgen
from salgen.evaluation.attribution.explaining import explain
from salgen.evaluation.attribution.passes import Passes, PassRequirements, TimedCache
from salgen.evaluation.models.inspection.model_view import ModelView

IMAGES = torch.rand(5, 2, 8, 8, generator=torch.Generator().manual_seed(0))
CAMS = ["grad-cam", "grad-cam++", "layer-cam", "eigen-cam", "eigen-grad-cam", "xgrad-cam", "hires-cam", "fast-cam"]
ONE_PASS = ["gradient", "input-x-gradient", "grad-cam:layer=relu1", *(f"{method}:layer=relu2" for method in CAMS)]


class Counted(torch.autograd.Function):
    """The identity, which counts how many images pass it forwards and backwards."""

    @staticmethod
    def forward(ctx, signal, counts):
        ctx.counts = counts
        counts["forward"].append(len(signal))
        return signal.clone()

    @staticmethod
    def backward(ctx, gradient):
        ctx.counts["backward"].append(len(gradient))
        return gradient, None


class Counts(dict):
    def __deepcopy__(self, memo):  # a private copy of the network counts in the same place
        return self


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv1, self.relu1 = nn.Conv2d(2, 4, 3), nn.ReLU(inplace=True)
        self.conv2, self.relu2 = nn.Conv2d(4, 4, 3), nn.ReLU(inplace=True)
        self.head = nn.Linear(4, 3)
        self.counts = Counts(forward=[], backward=[], graphs=[])

    def forward(self, x):
        first = self.relu1(Counted.apply(self.conv1(x), self.counts))
        logits = self.head(self.relu2(self.conv2(first)).mean(dim=(2, 3)))
        if len(x) == len(IMAGES):
            self.counts["graphs"].append((first.requires_grad, logits.requires_grad))
        return logits


def test_methods_of_one_pass_cost_one_pass_and_the_backward_pass_ends_at_the_layer():
    network = Network()
    explain(network, IMAGES, "pred", method=ONE_PASS)
    assert [network.counts[way].count(5) for way in ("forward", "backward")] == [1, 1]
    network = Network()
    explain(network, IMAGES, 0, method=["grad-cam:layer=relu1"])
    assert network.counts["backward"] == []


def test_together_they_say_what_each_says_alone():
    network = Network()
    together = explain(network, IMAGES, [0, 1, 2, 0, 1], method=[*ONE_PASS, "smoothgrad:n=2"], batch_size=2)
    assert list(together) == [*ONE_PASS, "smoothgrad:n=2"]
    for call, maps in together.items():
        alone = salgen.explain(network, IMAGES, [0, 1, 2, 0, 1], method=call)
        torch.testing.assert_close(maps.values, alone.values)
        assert maps.native_resolution == alone.native_resolution
    torch.testing.assert_close(together.logits, network(IMAGES))
    assert set(together.seconds) == set(together)
    assert all(seconds > 0 for seconds in together.seconds.values())


def test_controls_ask_no_model():
    network = Network()
    explained = explain(network, IMAGES, method=["sobel", "center"])
    assert network.counts["forward"] == []
    assert explained.logits is None


def passes(requirements, score="logit"):
    return Passes(ModelView.of(Network()), IMAGES, requirements, torch.tensor([0, 1, 2, 0, 1]), score)


@pytest.mark.parametrize("score", ["logit", "margin"])
def test_gradients_are_those_of_autograd(score):
    view = ModelView.of(Network())
    leaf = IMAGES.clone().requires_grad_()
    targets = torch.tensor([0, 1, 2, 0, 1])
    (expected,) = torch.autograd.grad(view.scores(leaf, targets, score).sum(), leaf)
    found = passes(PassRequirements(gradients=frozenset({"relu1"}), input_gradient=True), score)
    torch.testing.assert_close(found.input_gradient(), expected)
    assert found.gradient("relu1").shape == found.output("relu1").shape == (5, 4, 6, 6)


def test_what_was_not_wanted_is_had_all_the_same():
    said = passes(PassRequirements(gradients=frozenset({"relu1", "relu2"}), input_gradient=True))
    unsaid = passes(PassRequirements())
    for layer in ("relu1", "relu2"):
        torch.testing.assert_close(unsaid.output(layer), said.output(layer))
        torch.testing.assert_close(unsaid.gradient(layer), said.gradient(layer))
    torch.testing.assert_close(unsaid.input_gradient(), said.input_gradient())
    torch.testing.assert_close(unsaid.logits(), said.logits())


def test_a_layer_after_which_nothing_matters_has_zero_gradient():
    class Blind(Network):
        def forward(self, x):
            self.relu1(self.conv1(x))
            return self.head(torch.zeros(len(x), 4))

    requirements = PassRequirements(gradients=frozenset({"relu1"}), input_gradient=True)
    found = Passes(ModelView.of(Blind()), IMAGES, requirements, torch.zeros(5).long())
    assert not found.gradient("relu1").any()
    assert not found.input_gradient().any()


@pytest.mark.parametrize(
    ("methods", "graph"),
    [
        (["eigen-cam:layer=relu1", "poly-cam-plus:layers=relu1+relu2"], (False, False)),
        (["ablation-cam:layer=relu1", "score-cam:layer=relu1"], (False, False)),
        (["eigen-cam:layer=relu1", "grad-cam:layer=relu2"], (False, True)),
        (["fast-cam:layer=relu2"], (False, True)),
        (["eigen-cam:layer=relu2", "grad-cam:layer=relu1"], (True, True)),
        (["eigen-cam:layer=relu1", "smooth-grad-cam++:layer=relu1,n=1"], (False, False)),
    ],
)
def test_the_graph_begins_where_a_gradient_is_wanted(methods, graph):
    network = Network()
    explain(network, IMAGES, 0, method=methods)
    assert network.counts["graphs"][0] == graph


@pytest.mark.parametrize("order", [("relu1", "relu2"), ("relu2", "relu1")])
def test_an_output_that_is_read_beside_a_gradient(order):
    output, gradient = order
    found = passes(PassRequirements(frozenset({output}), frozenset({gradient})))
    both = passes(PassRequirements(gradients=frozenset(order)))
    for layer in order:
        assert not found.output(layer).requires_grad
        torch.testing.assert_close(found.output(layer), both.output(layer))
        torch.testing.assert_close(found.gradient(layer), both.gradient(layer))  # that of `output` by its own pass


class Clock(TimedCache):
    """Time passes only when the test says so."""

    time = 0.0

    def spend(self, seconds, result=None):
        self.time += seconds
        return result


@pytest.fixture
def once(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("salgen.evaluation.attribution.passes.now", lambda: clock.time)
    return clock


def test_shared_time_is_divided_among_those_who_asked(once):
    def needs_pass(own):
        def work():
            once.get("pass", lambda: once.spend(10))
            once.spend(own)

        return work

    once.run("one", needs_pass(1))
    once.run("two", needs_pass(2))
    once.run("alone", lambda: once.spend(4))
    assert once.seconds() == {"one": 6, "two": 7, "alone": 4}
    assert sum(once.seconds().values()) == once.time


def test_time_spent_in_an_inner_value_is_counted_once(once):
    def outer():
        once.get("inner", lambda: once.spend(3))
        return once.spend(2)

    once.run("one", lambda: once.get("outer", outer))
    once.run("two", lambda: once.get("inner", lambda: once.spend(100)))
    assert sum(once.seconds().values()) == once.time == 5


def test_an_error_leaves_nothing_behind(once):
    with pytest.raises(ZeroDivisionError):
        once.run("one", lambda: once.get("a", lambda: 1 / 0))
    once.run("one", lambda: once.get("a", lambda: once.spend(1)))
    assert once.seconds() == {"one": 1}


def test_release_lets_values_let_go():
    once, released = TimedCache(), []
    once.get("holder", lambda: SimpleNamespace(release=lambda: released.append(1)))
    once.get("number", lambda: 3)
    once.release()
    assert released == [1]
    assert once.get("number", lambda: 4) == 4
