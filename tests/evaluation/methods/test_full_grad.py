"""FullGrad counts every bias once for each call, wherever it is applied."""

import copy
import pytest
import torch
from torch import nn
from torch.nn import functional
import salgen
from salgen.errors import SalgenError

IMAGES = torch.rand(2, 3, 16, 16, generator=torch.Generator().manual_seed(0))


class Repeated(nn.Module):
    def __init__(self, apart):
        super().__init__()
        torch.manual_seed(0)
        first = nn.Conv2d(3, 3, 3, padding=1)
        self.convs = nn.ModuleList(copy.deepcopy(first) if apart else first for _ in range(3))
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        for conv in self.convs:
            x = conv(x).relu()
        return self.head(x.mean((2, 3)))


def test_a_convolution_that_is_called_again_counts_again():
    maps = [salgen.explain(Repeated(apart), IMAGES, 1, method="full-grad").values for apart in (False, True)]
    torch.testing.assert_close(*maps)


class Activated(nn.BatchNorm2d):
    """As timm's BatchNormAct2d: an identity or dropout, then the activation, within the norm."""

    def __init__(self, channels):
        super().__init__(channels)
        self.drop, self.act = nn.Identity(), nn.ReLU(inplace=True)
        nn.init.uniform_(self.running_mean)
        nn.init.uniform_(self.bias)

    def forward(self, x):
        return self.act(self.drop(super().forward(x)))


def test_the_bias_of_a_norm_that_applies_its_activation_stands_before_it():
    torch.manual_seed(0)
    norm, head = Activated(4).eval(), nn.Sequential(nn.Flatten(), nn.Linear(1024, 2))
    plain = nn.BatchNorm2d(4).eval()
    plain.load_state_dict(norm.state_dict())
    conv = nn.Conv2d(3, 4, 3, padding=1)
    networks = nn.Sequential(conv, norm, head), nn.Sequential(conv, plain, nn.ReLU(), head)
    maps = [salgen.explain(network, IMAGES, 1, method="full-grad").values for network in networks]
    torch.testing.assert_close(*maps)


class Function(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(2, 3, 3, 3)), nn.Parameter(torch.randn(2))

    def forward(self, x):
        return functional.conv2d(x, self.weight, self.bias).mean((2, 3))


HIDDEN = {
    "own": lambda network: Function(),
    "traced": lambda network: torch.jit.trace(network, IMAGES),
    "frozen": lambda network: torch.jit.freeze(torch.jit.script(network)),
    "exported": lambda network: torch.export.export(
        network, (IMAGES,), dynamic_shapes=({0: torch.export.Dim.AUTO},)
    ).module(),
}


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("hide", HIDDEN.values(), ids=HIDDEN)
def test_biases_that_no_known_module_holds_are_refused(hide):
    torch.manual_seed(0)
    norm = nn.BatchNorm2d(4)  # its shift alone is a bias
    norm.running_mean.normal_()
    layers = nn.Conv2d(3, 4, 3, bias=False), norm, nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    network = nn.Sequential(*layers, nn.Linear(4, 2)).eval()
    with pytest.raises(SalgenError, match=r"full-grad: biases are hidden, perhaps in .* do not add up to the logit"):
        salgen.explain(hide(network), IMAGES, 1, method="full-grad")


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("hide", [hide for name, hide in HIDDEN.items() if name != "own"])
def test_hidden_code_without_biases_is_explained(hide):
    torch.manual_seed(0)
    layers = nn.Conv2d(3, 4, 3, bias=False), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    network = nn.Sequential(*layers, nn.Linear(4, 2, bias=False)).eval()
    expected = salgen.explain(network, IMAGES, 1, method="full-grad").values
    torch.testing.assert_close(salgen.explain(hide(network), IMAGES, 1, method="full-grad").values, expected)
