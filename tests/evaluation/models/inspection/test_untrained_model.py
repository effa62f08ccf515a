"""An untrained copy keeps nothing that was learnt."""

import copy

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, prune, spectral_norm, weight_norm

from salgen.evaluation.models.inspection.fresh_weights import layers_of, randomised, untrained
from salgen.evaluation.models.inspection.model_view import ModelView

IMAGE = torch.rand(1, 3, 12, 12, generator=torch.Generator().manual_seed(0))


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
        expected = net(IMAGE)
    view = ModelView.of(net)
    with torch.no_grad():
        torch.testing.assert_close(view.network(IMAGE), expected)
    own = view.network.state_dict()
    fresh = untrained(view, 0)
    layer = next(iter(randomised(view, layers_of(view, IMAGE), True, [len(layers_of(view, IMAGE)) - 1], 0)))
    for other in (fresh.network, layer.network):
        state = other.state_dict()
        kept = {key for key in own if torch.equal(own[key], state[key])}
        assert kept <= {"1.num_batches_tracked", "4.index"}
        assert torch.equal(other[4].constant, net[4].constant)
        assert torch.isfinite(other(IMAGE)).all()
    assert all(torch.equal(value, before[key]) for key, value in net.state_dict().items())
    with torch.no_grad():  # the caller's network still runs, with its parametrisation
        torch.testing.assert_close(net(IMAGE), expected)
