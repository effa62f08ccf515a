"""Networks compiled by `torch.compile`, for passes without gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from salgen.errors import SalgenError, reason


def compiled(network: nn.Module) -> Callable[[Tensor], Any]:
    """The network's forward pass, compiled when it first runs, for batches of any size and without gradient.

    While a module of the network has a hook the network itself runs, since compiled code does not call hooks.
    """
    fast = torch.compile(network, dynamic=True)

    def forward(inputs: Tensor) -> Any:
        hooked = any(module._forward_hooks or module._forward_pre_hooks for module in network.modules())
        return network(inputs) if hooked else fast(inputs)

    return forward


def check_compiler(network: nn.Module) -> None:
    """Raise a SalgenError if `torch.compile` does not work on a network's device, as without a C++ compiler."""
    device = next((weight.device for weight in network.parameters()), None)
    try:
        torch.compile(torch.relu)(torch.zeros(2, device=device))
    except Exception as error:  # PyTorch has many errors for what may be missing
        why = reason(error).partition("\n")[0]
        raise SalgenError(
            f"compile: torch.compile does not work here ({why}): install what it needs, on processors a C++ compiler, "
            "or leave compile out"
        ) from None
