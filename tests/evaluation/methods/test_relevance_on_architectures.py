"""The relevance methods on whole architectures: in single precision, on dead units, with norms in odd places."""

import pytest
import torch
from small_networks import Of, batch_sizes, with_statistics
from torch import nn
import salgen
from salgen.evaluation.attribution.explaining import explain
from salgen.registry import MODELS

LRP = ["lrp-z", "lrp-alpha-beta", "deep-taylor"]
METHODS = [*LRP, "excitation-backprop", "contrastive-excitation-backprop"]
ODD = (33, 47)


def built(call, channels=3):
    """A narrow network of that architecture whose batch norms do something."""
    name, _, option = call.partition(":")
    changed = dict([option.split("=")]) if option else {}
    torch.manual_seed(3)
    net = MODELS.create(name, {**MODELS.load(name).quick, **changed}).build(channels, 3, ODD).eval()
    return with_statistics(net, 0.1, dense=True)


def noise(channels=3, count=2):
    return torch.rand(count, channels, *ODD, generator=torch.Generator().manual_seed(5)) * 2 - 1


@pytest.mark.parametrize("call", ["vgg16", "resnet50"])
def test_single_precision_conserves_lrp_z(call):
    """Relevance times the logit is input times gradient, to a share of its largest value: 1e-3 in single precision."""
    net = built(call)
    found = explain(net, noise(), [0, 2], method=["lrp-z:start=logit,stabiliser=1e-9", "input-x-gradient"], reduce=None)
    relevance, expected = (maps.values for maps in found.values())
    torch.testing.assert_close(relevance, expected, rtol=0, atol=1e-3 * float(expected.abs().max()))


@pytest.mark.parametrize("stabiliser", [0.0, 1e-6])
@pytest.mark.parametrize("call", ["resnet18", "vgg16"])
def test_dead_units_and_black_images_give_finite_maps(call, stabiliser):
    net = built(call)
    convolutions = [m for m in net.modules() if isinstance(m, nn.Conv2d)]
    for layer in convolutions[1:]:
        layer.weight.data[: len(layer.weight) // 2] = 0
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)
    images = noise() / 2 + 0.5
    images[0] = 0
    calls = [f"{method}:stabiliser={stabiliser}" for method in METHODS]
    found = explain(net, images, 0, method=calls, reduce=None)
    for call_of, maps in found.items():
        assert torch.isfinite(maps.values).all(), call_of
    for z in found:
        if z.startswith("lrp"):
            assert found[z].values[0].abs().max() == 0  # nothing is shared among inputs that are all zero


def test_a_network_that_is_dead_altogether():
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2, 2)).eval()
    for parameter in net.parameters():
        nn.init.zeros_(parameter)
    calls = [f"{method}:stabiliser={stabiliser}" for method in METHODS for stabiliser in (0, 1e-6)]
    for maps in explain(net, torch.rand(2, 1, 6, 6), 1, method=calls).values():
        assert maps.values.abs().max() == 0


@pytest.mark.parametrize("call", ["resnet18", "vgg16"])
def test_all_methods_share_one_forward_pass(call):
    """One pass for the logits that every method sees, one for all that propagate relevance; checks run one or two."""
    model = built(call)
    seen = batch_sizes(model)
    images, patterns = noise(count=5), salgen.fit_patterns(model, noise())
    methods = ["deep-taylor:low=-1,high=1", *METHODS[:2], *METHODS[3:], "pattern-net", "pattern-attribution"]
    seen.clear()
    explain(model, images, "pred", method=methods, patterns=patterns)
    assert seen.count(5) == 2
    assert set(seen) == {1, 2, 5}


def test_a_batch_norm_with_no_linear_map_before_it_passes_relevance_on():
    """As a map of one input it would multiply relevance by alpha, or by -beta."""
    torch.manual_seed(0)
    norm = nn.BatchNorm2d(2)
    norm.running_mean.copy_(torch.tensor([0.2, -0.3]))
    norm.weight.data.copy_(torch.tensor([2.0, -1.5]))
    head = nn.Sequential(nn.Flatten(), nn.Linear(32, 5), nn.ReLU(), nn.Linear(5, 2))
    whole = nn.Sequential(norm, head).eval()
    images = torch.rand(3, 2, 4, 4)
    inside = norm(images).detach()
    for method in ["lrp-alpha-beta", "excitation-backprop:layer=input"]:
        found = salgen.explain(whole, images, 1, method=method, reduce=None).values
        torch.testing.assert_close(found, salgen.explain(head, inside, 1, method=method, reduce=None).values)
        assert found.abs().max() > 0
    found = salgen.explain(whole, images, 1, method="lrp-z:start=logit", stabiliser=1e-9, reduce=None).values
    expected = salgen.explain(whole, images, 1, method="input-x-gradient", reduce=None).values
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5)


def test_a_batch_norm_is_merged_only_into_a_map_with_the_same_channels():
    """As the norm of 4 tokens is not, after a linear map to 4 features of each."""
    norm, images = nn.BatchNorm1d(4), torch.rand(3, 1, 4, 4).double()
    norm.running_var.copy_(torch.tensor([0.1, 1.0, 4.0, 9.0]))
    norm.running_mean.copy_(torch.tensor([0.3, -0.2, 0.1, 0.4]))
    end = nn.ReLU(), nn.Flatten(), nn.Linear(16, 2)
    net = nn.Sequential(Of(lambda x: x.squeeze(1)), nn.Linear(4, 4), norm, *end).double().eval()
    found = salgen.explain(net, images, 1, method="lrp-z:start=logit", stabiliser=1e-12, reduce=None).values
    expected = salgen.explain(net, images, 1, method="input-x-gradient", reduce=None).values
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("beta", [0.001, 0.1, 0.7, 1 / 3, 4.035])
def test_any_beta_will_do(beta):
    """1 + beta - beta is not always 1 in floating point."""
    net = nn.Sequential(nn.Flatten(), nn.Linear(2, 1, bias=False))
    net[1].weight.data = torch.tensor([[2.0, -1.0]])
    net.multi_label = True  # its output is no logit of two classes
    found = salgen.explain(net, torch.ones(1, 1, 1, 2), 0, method="lrp-alpha-beta", alpha=1 + beta, beta=beta).values
    torch.testing.assert_close(found.flatten(), torch.tensor([1 + beta, -beta]), rtol=1e-5, atol=1e-5)
