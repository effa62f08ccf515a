"""The exact laws of methods of any library: what keeps all, and one broken method for each."""

import pytest
import torch
import salgen
from salgen.testing import check_laws
from salgen.testing.method_laws import COMPLETE, LAWS


def gradient(network, inputs, targets):
    """Input times gradient, which keeps every law on networks of ReLU without bias."""
    with torch.enable_grad():
        leaf = inputs.detach().clone(memory_format=torch.contiguous_format).requires_grad_()
        logits = network(leaf).gather(1, targets[:, None])
        return (leaf * torch.autograd.grad(logits.sum(), leaf)[0]).detach().float()


def test_input_times_gradient_keeps_all():
    found = check_laws(gradient, complete=True)
    assert found["holds"].all(), found
    assert list(found["law"]) == list(LAWS)


@pytest.mark.parametrize("method", ["gradient", "integrated-gradients:steps=8", "deep-lift", "guided-backprop"])
def test_salgens_methods_keep_all(method):
    complete = not method.startswith("g")
    found = check_laws(
        lambda network, inputs, targets: salgen.explain(network, inputs, targets, method=method, reduce=None).values,
        complete=complete,
    )
    assert found["holds"].all(), found[~found["holds"]].to_string()


def touching_network(network, inputs, targets):
    found = gradient(network, inputs, targets)
    network.head.weight.grad = torch.ones_like(network.head.weight)
    return found


def touching_inputs(network, inputs, targets):
    found = gradient(network, inputs, targets)
    inputs.add_(1)
    return found


def without_enabling_gradients(network, inputs, targets):
    leaf = inputs.detach().clone().requires_grad_()
    return torch.autograd.grad(network(leaf).gather(1, targets[:, None]).sum(), leaf)[0].float()


BROKEN = {
    0: lambda network, inputs, targets: gradient(network, inputs, targets)[:, :, ::2],
    1: lambda network, inputs, targets: gradient(network, inputs, targets) * torch.rand(()),
    2: lambda network, inputs, targets: gradient(network, inputs, targets) / len(inputs),
    3: touching_network,
    4: touching_inputs,
    5: lambda network, inputs, targets: inputs,
    6: lambda network, inputs, targets: gradient(network, inputs, torch.zeros_like(targets)),
    7: lambda network, inputs, targets: torch.nn.functional.avg_pool2d(gradient(network, inputs, targets), 3, 1, 1),
    8: lambda network, inputs, targets: gradient(network, inputs, targets).roll(1, dims=-1),
    9: lambda network, inputs, targets: gradient(network, inputs, targets) + network.head.in_features * inputs,
    10: lambda network, inputs, targets: gradient(network, inputs, targets) * (1 + network.features[1].inplace),
    11: lambda network, inputs, targets: gradient(network, inputs, targets) * inputs.stride(1),
    12: lambda network, inputs, targets: gradient(network, inputs, targets).numpy() if inputs.dtype == torch.float32
    else inputs.numpy(),
    13: without_enabling_gradients,
    14: lambda network, inputs, targets: 2 * gradient(network, inputs, targets),
}  # fmt: skip


@pytest.mark.parametrize("number", BROKEN)
def test_each_law_finds_the_method_that_breaks_it(number):
    found = check_laws(BROKEN[number], complete=number == len(LAWS) - 1).set_index("law")
    law = list(LAWS)[number]
    assert not found.loc[law, "holds"]
    assert found.loc[law, "found"]


def test_completeness_is_asked_where_it_is_promised():
    assert COMPLETE not in set(check_laws(gradient)["law"])
