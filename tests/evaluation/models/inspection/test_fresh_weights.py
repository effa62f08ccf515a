"""Copies with fresh weights: layers in their order, draws that depend on nothing else, and nothing learnt is kept."""

import copy
import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, prune, spectral_norm, weight_norm
from salgen.errors import SalgenError
from salgen.evaluation.models.inspection.fresh_weights import layers_of, randomised, untrained
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.testing.methods import state_of

IMAGE = torch.rand(1, 1, 8, 8, generator=torch.Generator().manual_seed(0))
COLOURS = torch.rand(1, 3, 12, 12, generator=torch.Generator().manual_seed(0))


class Block(nn.Module):
    """Registered in another order than it runs, with parameters of its own and a part that it never calls."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.head = nn.Linear(4, 3)
        self.unused = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.norm = nn.BatchNorm2d(4)
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.plain = nn.BatchNorm2d(4, affine=False)
        self.place = nn.Parameter(torch.randn(1, 64, 4))
        for norm in (self.norm, self.plain):
            norm.running_mean += torch.randn(4)
            norm.running_var += torch.rand(4)

    def forward(self, x):
        x = self.plain(torch.relu(self.norm(self.conv(x)))).flatten(2).transpose(1, 2) + self.place
        x, _ = self.attention(x, x, x)
        return self.head(x.mean(dim=1))


@pytest.fixture
def view():
    return ModelView.of(Block())


def tensors(view):
    return {name: value.clone() for name, value in view.network.state_dict().items()}


def changed(view, other):
    before, after = tensors(view), tensors(other)
    return {name for name in before if not torch.equal(before[name], after[name])}


def test_layers_go_from_the_logits_down_in_the_order_of_execution(view):
    assert layers_of(view, IMAGE) == [
        ("head",),
        ("attention.out_proj",),
        ("attention",),
        ("conv", "norm", "plain"),
        ("",),
    ]
    model = nn.Sequential(nn.BatchNorm2d(1), nn.Conv2d(1, 2, 3), nn.PReLU(), nn.Flatten(), nn.Linear(72, 2))
    assert layers_of(ModelView.of(model), IMAGE) == [("4",), ("0", "1", "2")]

    class Blind(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.other = nn.Linear(64, 4), nn.Linear(4, 2)

        @torch.no_grad()
        def forward(self, x):
            return self.other(self.one(x.flatten(1)))

    assert layers_of(ModelView.of(copy.deepcopy(Blind())), IMAGE) == [("other",), ("one",)]
    view = ModelView.of(nn.Sequential(nn.BatchNorm2d(1), nn.Flatten()))
    for _ in range(2):
        with pytest.raises(SalgenError, match="parameter-randomization: the model has no layer with weights"):
            layers_of(view, IMAGE)


def test_each_stage_changes_its_layers_alone_which_draw_the_same_in_every_order_and_run(view):
    state = tensors(view)
    layers = layers_of(view, IMAGE)
    belongs = [{name for name in state if name.rpartition(".")[0] in layer} for layer in layers]
    for cascading in (False, True):
        for k, stage in enumerate(randomised(view, layers, cascading, range(len(layers)), 0)):
            allowed = set().union(*belongs[0 if cascading else k : k + 1]) | {"attention.out_proj.bias"}
            now = changed(view, stage)
            assert now <= allowed
            assert {name for name in allowed if name.endswith("weight") and "norm" not in name} <= now
            assert not any(p.requires_grad for p in stage.network.parameters())
            assert not any(module.training for module in stage.network.modules())
    assert not any(name.startswith("unused") for name in now)
    assert all(torch.equal(state[name], value) for name, value in tensors(view).items())
    cascade = list(randomised(view, layers, True, range(5), 3))
    alone = list(randomised(view, layers, False, range(5), 3))
    for k, own in enumerate(alone):
        for name in changed(view, own) - {"attention.out_proj.bias"}:
            for stage in cascade[k:]:
                assert torch.equal(tensors(stage)[name], tensors(own)[name])
    (last,) = randomised(view, layers, True, [4], 3)
    assert changed(last, cascade[4]) == set()
    assert changed(next(randomised(view, layers, True, [0], 4)), cascade[0]) == {"head.weight", "head.bias"}


def test_the_callers_model_and_torchs_generator_stay_as_they_were():
    model = Block().train()
    before, generator = state_of(model), torch.get_rng_state()
    view = ModelView.of(model)
    for stage in randomised(view, layers_of(view, IMAGE), True, range(5), 0):
        stage.logits(IMAGE)
    assert state_of(model) == before
    assert torch.equal(torch.get_rng_state(), generator)


def test_weights_follow_their_own_initialisation():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 300), nn.Linear(300, 2))
    model[1].weight.data *= 1000
    view = ModelView.of(model)
    (fresh,) = randomised(view, layers_of(view, IMAGE), True, [1], 0)
    bound = 1 / np.sqrt(64)
    weight = fresh.network[1].weight
    assert bound * 0.99 < float(weight.abs().max()) <= bound
    assert float(weight.std()) == pytest.approx(bound / np.sqrt(3), rel=0.05)


class FrozenNorm(nn.Module):
    """A norm whose learnt weights are buffers, as torchvision's for detection; and a table that is not learnt."""

    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.rand(8, 1, 1))
        self.register_buffer("index", torch.arange(8))
        self.register_buffer("constant", torch.linspace(0, 1, 8)[:, None, None], persistent=False)
        self.temperature = nn.Parameter(torch.tensor(3.7))

    def forward(self, x):
        return x[:, self.index] * self.weight * self.temperature + self.constant


def trained():
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3), FrozenNorm(), nn.Flatten()
    ).append(nn.Linear(800, 3))
    for tensor in (*net[1].parameters(), net[1].running_mean, net[1].running_var):
        tensor.data.uniform_(0.5, 2)
    return net.eval()


ADDED = {
    "nothing": lambda net: None,
    "weight norm": lambda net: parametrizations.weight_norm(net[0]),
    "spectral norm": lambda net: parametrizations.spectral_norm(net[3]),
    "orthogonal": lambda net: parametrizations.orthogonal(net[6]),
    "old weight norm": lambda net: weight_norm(net[0]),
    "old spectral norm": lambda net: spectral_norm(net[3]),
    "pruned": lambda net: prune.l1_unstructured(net[3], "weight", 0.3),
}


@pytest.mark.parametrize("name", ADDED)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_no_learnt_tensor_is_kept(name):
    net = trained()
    ADDED[name](net)
    net.eval()
    before = copy.deepcopy(net.state_dict())
    with torch.no_grad():
        expected = net(COLOURS)
    view = ModelView.of(net)
    with torch.no_grad():
        torch.testing.assert_close(view.network(COLOURS), expected)
    own = view.network.state_dict()
    fresh = untrained(view, 0)
    layer = next(iter(randomised(view, layers_of(view, COLOURS), True, [len(layers_of(view, COLOURS)) - 1], 0)))
    for other in (fresh.network, layer.network):
        state = other.state_dict()
        kept = {key for key in own if torch.equal(own[key], state[key])}
        assert kept <= {"1.num_batches_tracked", "4.index"}
        assert torch.equal(other[4].constant, net[4].constant)
        assert torch.isfinite(other(COLOURS)).all()
    assert all(torch.equal(value, before[key]) for key, value in net.state_dict().items())
    with torch.no_grad():  # the caller's network still runs, with its parametrisation
        torch.testing.assert_close(net(COLOURS), expected)
