"""Networks lent to code of other packages, which must leave them as they were: `ForeignMethod` runs within."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from salgen.errors import SalgenError
from salgen.evaluation.models.inspection.model_view import margins, private_copy

HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def copy_to_lend(network: nn.Module) -> nn.Module:
    """A copy that shares its weights, which ask for gradients as a trained network's do: others may need these."""
    copy = private_copy(network, network)
    for weight in copy.parameters():
        weight.requires_grad_(weight.is_floating_point())
    return copy


def explain_score(network: nn.Module, score: str) -> None:
    """Let a copy's outputs be the scores that are explained; its modules stay, so that layers are found by name."""
    if score == "margin":
        network.register_forward_hook(lambda _module, _inputs, logits: margins(logits))


@contextmanager
def lent(network: nn.Module) -> Iterator[None]:
    """Restore a network's weights in the end, whatever happens.

    Parameters
    ----------
    network
        A copy of modules that shares its weights with others, and is not used afterwards.
    """
    state, weights = _state(network), {name: (t.detach(), t.detach().clone()) for name, t in _weights(network).items()}
    differ = []
    try:
        yield
    finally:
        now = _weights(network)
        for name, (shared, own) in weights.items():
            if not torch.equal(shared, own):
                shared.copy_(own)
                differ.append(name)
            elif not _equal(now.get(name), own):  # the copy alone was given others
                differ.append(name)
    after = _state(network)
    changed = [kind for kind, before in state.items() if before != after[kind]] + ["weights"] * bool(differ)
    if changed:
        raise SalgenError(f"it changed the model's {', '.join(changed)}: put back what it changes, or work on a copy")


def _weights(network: nn.Module) -> dict[str, Tensor]:
    return {**dict(network.named_parameters()), **dict(network.named_buffers())}


def _equal(tensor: Tensor | None, own: Tensor) -> bool:
    kinds = [(t.shape, t.dtype, t.device) for t in (tensor, own) if t is not None]
    return tensor is not None and kinds[0] == kinds[1] and torch.equal(tensor, own)


def _state(network: nn.Module) -> dict[str, dict[str, Any]]:
    modules = dict(network.named_modules())
    return {
        "training mode": {name: module.training for name, module in modules.items()},
        "requires_grad": {name: weight.requires_grad for name, weight in network.named_parameters()},
        "hooks": {name: [list(getattr(module, kind)) for kind in HOOKS] for name, module in modules.items()},
        "modules": modules,
    }
