"""What a network gives at its end: probabilities, one logit, or more than its logits."""

import warnings
from collections import namedtuple
import pytest
import torch
from small_networks import Of
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
import salgen
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.model_view import ModelView

IMAGES = torch.rand(3, 3, 8, 8, generator=torch.Generator().manual_seed(0))
METHODS = ["gradient", "grad-cam:layer=body.1", "lrp-alpha-beta", "deep-lift", "full-grad"]


class Net(nn.Module):
    """A sigmoid in the middle, which has to stay, and an end of any kind."""

    def __init__(self, classes, end):
        super().__init__()
        torch.manual_seed(classes)
        self.body = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.head, self.end = nn.Linear(6, classes), end
        self.head.weight.data *= 9

    def forward(self, x):
        h = self.body(x)
        return self.end(self.head((h * torch.sigmoid(self.body[0].bias).view(1, 6, 1, 1)).mean((2, 3))))


def maps(model, method, target, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return salgen.explain(model, IMAGES, target, method=method, **how).values


SOFTMAX = {
    "module": nn.Softmax(1),
    "without dim": nn.Softmax(),
    "log module": nn.LogSoftmax(dim=-1),
    "function": lambda z: functional.softmax(z, dim=1),
    "log function": lambda z: functional.log_softmax(z, dim=1),
    "its log": lambda z: torch.log(z.softmax(1)),
    "squeezed": lambda z: z.softmax(1).squeeze(),
    "flattened": lambda z: z[:, :, None, None].softmax(1).flatten(1),
    "within a dict": lambda z: {"out": torch.softmax(z, dim=1)},
}
SIGMOID = {
    "module": nn.Sigmoid(),
    "function": torch.sigmoid,
    "method": lambda z: z.sigmoid(),
    "in place": lambda z: z.sigmoid_(),
    "log": nn.LogSigmoid(),
}


@pytest.mark.filterwarnings("ignore:Implicit dimension:UserWarning")
@pytest.mark.parametrize(
    ("end", "several"),
    [*((end, False) for end in SOFTMAX.values()), *((end, True) for end in SIGMOID.values())],
    ids=[*(f"softmax {name}" for name in SOFTMAX), *(f"sigmoid {name}" for name in SIGMOID)],
)
def test_probabilities_at_the_end_are_left_out(end, several):
    """Maps and curves are those of the logits, by every door."""
    given, wanted = Net(4, end).eval(), Net(4, nn.Identity()).eval()
    wanted.multi_label = several
    with pytest.warns(SalgenWarning, match=r"the model ends in .*: its logits, what goes into it, are explained"):
        found = salgen.explain(given, IMAGES, 2, method="gradient")
    for method in METHODS:
        expected = maps(wanted, method, 2)
        assert expected.abs().max() > 0 or method != "gradient"
        for door in (given, ModelView.of(given), Classifier(given)):
            torch.testing.assert_close(maps(door, method, 2), expected)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = [
            salgen.score(found, metrics=["insertion-auc"], model=model, images=IMAGES, targets=[2] * 3)["insertion-auc"]
            for model in (given, wanted)
        ]
    assert scores[0] == pytest.approx(scores[1])
    x = IMAGES.clone()
    raw = given(x)
    raw = raw["out"] if isinstance(raw, dict) else raw
    if bool((raw >= 0).all()):  # the network's own probabilities
        view = ModelView.of(given)
        torch.testing.assert_close(view.probabilities(view.logits(IMAGES)), raw)


@pytest.mark.parametrize(
    ("end", "rules"),
    [
        *((end, ["lrp-alpha-beta"]) for end in (nn.Identity(), nn.Sigmoid(), lambda z: torch.sigmoid(z).squeeze())),
        (lambda z: z[:, 0], []),
    ],
)
def test_one_logit_is_two_classes(end, rules):
    """The maps are those of a last layer of two outputs, the first with the negative weights, not a negated logit."""
    given, wanted = Net(1, end).eval(), Net(2, nn.Identity()).eval()
    wanted.load_state_dict(
        {name: torch.cat([-w, w]) if "head" in name else w for name, w in given.state_dict().items()}
    )
    wanted.multi_label = True
    with pytest.warns(SalgenWarning, match="the model gives one output: the negative of its logit is explained"):
        salgen.explain(given, IMAGES, 1, method="gradient")
    assert not torch.allclose(maps(wanted, "lrp-alpha-beta", 0), -maps(wanted, "lrp-alpha-beta", 1))
    for method in ("gradient", "grad-cam:layer=body.1", "deep-lift", *rules):
        for target in (0, 1):
            torch.testing.assert_close(maps(given, method, target), maps(wanted, method, target))
    view = ModelView.of(given)
    logits = view.logits(IMAGES)
    torch.testing.assert_close(logits, wanted(IMAGES))
    torch.testing.assert_close(view.probabilities(logits).sum(dim=1), torch.ones(3))
    pixels = IMAGES.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(wanted(pixels)[:, 1].sum(), pixels)
    for target, sign in ((0, -1), (1, 1)):
        torch.testing.assert_close(maps(given, "gradient", target, reduce=None), sign * gradient)


def test_probabilities_without_a_known_step_are_explained_by_their_logarithm():
    """The mean of two softmaxes, and a scripted one: the probabilities stay what they are."""
    plain = Net(3, nn.Identity()).eval()
    ensemble = nn.Sequential(plain, Of(lambda z: (z.softmax(1) + (2 * z).softmax(1)) / 2)).eval()
    scripted = torch.jit.trace(Net(3, nn.Softmax(1)).eval(), IMAGES)
    for network in (ensemble, scripted):
        with pytest.warns(SalgenWarning, match="no softmax is found at their end"):
            salgen.explain(network, IMAGES, 0, method="gradient")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            view = ModelView.of(network)
            torch.testing.assert_close(view.probabilities(view.logits(IMAGES)), network(IMAGES))

    def end(z):
        z = 1e4 * z
        return (z - z.amax(1, keepdim=True)).exp() / (z - z.amax(1, keepdim=True)).exp().sum(1, keepdim=True)

    with pytest.warns(SalgenWarning, match="positive and sum to 1,"):
        salgen.explain(Net(3, end), IMAGES, 1, method="gradient")


CHANGED = {
    "a clamp": ("positive and sum to 1,", lambda z: z.softmax(1).clamp(1e-7, 1 - 1e-7)),
    "a clamp and its log": ("log-probabilities", lambda z: torch.log(z.softmax(1).clamp(min=1e-7))),
    "percent": ("positive and sum to 100,", lambda z: z.softmax(1) * 100),
    "a sum within the log": ("log-probabilities", lambda z: torch.log(z.softmax(1) + 1e-9)),
    "without a softmax": ("log-probabilities", lambda z: z - z.logsumexp(1, keepdim=True)),
}


@pytest.mark.parametrize("change", CHANGED)
def test_a_softmax_that_is_changed_afterwards_is_no_end(change):
    said, end = CHANGED[change]
    with pytest.warns(SalgenWarning, match=said):
        values = salgen.explain(Net(3, end), IMAGES, 1, method="gradient", reduce=None).values
    pixels = IMAGES.clone().requires_grad_()
    (expected,) = torch.autograd.grad(Net(3, lambda z: z.log_softmax(1))(pixels)[:, 1].sum(), pixels)
    torch.testing.assert_close(values, expected, rtol=1e-3, atol=1e-5)


def test_the_probability_of_one_class_of_two_and_a_scripted_sigmoid_are_inverted():
    expected = maps(Net(2, lambda z: z[:, 1:] - z[:, :1]), "gradient", 1, reduce=None)
    for end in (lambda z: z.softmax(1)[:, 1], lambda z: z.softmax(1)[:, 1:]):
        torch.testing.assert_close(maps(Net(2, end), "gradient", 1, reduce=None), expected, rtol=1e-3, atol=1e-5)
    plain, scripted = Net(3, nn.Identity()).eval(), torch.jit.trace(Net(3, nn.Sigmoid()).eval(), IMAGES)
    with pytest.warns(SalgenWarning, match="ends in sigmoid"):
        found = salgen.explain(scripted, IMAGES, 0, method="gradient").values
    torch.testing.assert_close(found, maps(plain, "gradient", 0), rtol=1e-3, atol=1e-5)


WITHIN_ONE = {
    "exp": lambda z: 1 / (1 + torch.exp(-z)),
    "tanh": lambda z: (torch.tanh(z / 2) + 1) / 2,
    "softmax of two": lambda z: 1 - torch.cat([z, torch.zeros_like(z)], dim=1).softmax(1)[:, 1] * 1.0,
}


@pytest.mark.parametrize("route", WITHIN_ONE)
def test_one_output_that_stays_within_0_and_1_is_a_probability(route):
    given, logit = Net(1, WITHIN_ONE[route]).eval(), Net(1, nn.Identity()).eval()
    with pytest.warns(SalgenWarning, match=r"one output stays in \[0, 1\], but no sigmoid is found at its end"):
        values = salgen.explain(given, IMAGES, 1, method="gradient", reduce=None).values
    torch.testing.assert_close(values, maps(logit, "gradient", 1, reduce=None), rtol=1e-3, atol=1e-6)
    view = ModelView.of(given)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.testing.assert_close(view.probabilities(view.logits(IMAGES))[:, 1], given(IMAGES).flatten())


@pytest.mark.parametrize("end", [nn.ReLU(), lambda z: z.abs() / 100, torch.tanh], ids=["relu", "abs", "tanh"])
def test_one_output_that_leaves_0_and_1_somewhere_is_a_logit(end):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        salgen.explain(Net(1, end).eval(), IMAGES, 1, method="gradient")
    assert not any("stays in" in str(warning.message) for warning in told)


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("method", [*METHODS, "guided-backprop"])
def test_what_a_network_checkpoints_itself_is_explained_like_any_other(method, reentrant):
    class Checkpointed(Net):
        def forward(self, x):
            return checkpoint(super().forward, x, use_reentrant=reentrant)

    given = Checkpointed(3, nn.Identity()).eval()
    torch.testing.assert_close(maps(given, method, 1), maps(Net(3, nn.Identity()).eval(), method, 1))
    leaf = IMAGES.clone().requires_grad_()
    given(leaf).sum().backward()  # torch's own is what it was: it runs the function again
    assert leaf.grad.any()


def test_predicted_classes_are_no_logits_and_a_softmax_over_the_batch_stays():
    with pytest.raises(SalgenError, match="as of argmax: it must return logits"):
        maps(Net(3, lambda z: z.argmax(1)), "gradient", 0)
    with pytest.warns(SalgenWarning, match="depends on the other images of its batch"):
        salgen.explain(Net(3, nn.Softmax(dim=0)).eval(), IMAGES, 0, method="gradient")


def test_a_network_of_logits_stays_as_it_is():
    network = Net(3, nn.Identity()).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        view = ModelView.of(network)
        torch.testing.assert_close(view.logits(IMAGES), network(IMAGES))
    assert "forward" not in vars(view.network)
    assert "forward" not in vars(network)


Heads = namedtuple("Heads", ["logits", "aux"])


@pytest.mark.parametrize(
    "end",
    [
        lambda z: (z,),
        lambda z: [z, z[:, :, None]],
        lambda z: {"logits": z, "extra": z},
        lambda z: {"out": z, "feats": z[:, :, None, None]},
        lambda z: Heads(z, z),
    ],
)
def test_logits_are_taken_from_what_holds_them(end):
    expected = maps(Net(3, nn.Identity()).eval(), "lrp-alpha-beta", 1)
    torch.testing.assert_close(maps(Net(3, end).eval(), "lrp-alpha-beta", 1), expected)
