"""Networks lent to code of other packages, which must leave them as they were: `ForeignMethod` runs within."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from salgen.errors import SalgenError

HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


@contextmanager
def lent(network: nn.Module) -> Iterator[None]:
    """Restore a network's weights in the end, whatever happens.

    Parameters
    ----------
    network
        A copy of modules that shares its weights with others, and is not used afterwards.

    Raises
    ------
    SalgenError
        If weights, training mode, ``requires_grad``, hooks or modules are not what they were.
    """
    state, weights = _state(network), _weights(network)
    shared = {name: (tensor.detach(), tensor.detach().clone()) for name, tensor in weights.items()}
    changed: list[str] = []
    try:
        yield
        after = _state(network)
        changed += [kind for kind, before in state.items() if before != after[kind]]
        now = _weights(network)
        changed += ["weights"] if any(not _equal(now.get(name), own) for name, (_, own) in shared.items()) else []
    finally:
        with torch.no_grad():
            for tensor, own in shared.values():
                if not torch.equal(tensor, own):
                    tensor.copy_(own)
                    changed = list(dict.fromkeys([*changed, "weights"]))
    if changed:
        raise SalgenError(f"it changed the model's {', '.join(changed)}: put back what it changes, or work on a copy")


def _weights(network: nn.Module) -> dict[str, Tensor]:
    return {**dict(network.named_parameters()), **dict(network.named_buffers())}


def _equal(tensor: Tensor | None, own: Tensor) -> bool:
    return tensor is not None and tensor.shape == own.shape and torch.equal(tensor, own)


def _state(network: nn.Module) -> dict[str, dict[str, Any]]:
    modules = dict(network.named_modules())
    return {
        "training mode": {name: module.training for name, module in modules.items()},
        "requires_grad": {name: weight.requires_grad for name, weight in network.named_parameters()},
        "hooks": {name: [list(getattr(module, kind)) for kind in HOOKS] for name, module in modules.items()},
        "modules": modules,
    }
