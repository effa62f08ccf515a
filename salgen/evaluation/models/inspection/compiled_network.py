"""Networks compiled by `torch.compile`, for passes without gradient."""

from collections.abc import Callable
from typing import Any
import torch
from torch import Tensor, nn
from salgen.errors import SalgenError, reason
from salgen.evaluation.models.logits import learn


def compiled(network: nn.Module) -> Callable[[Tensor], Any]:
    """The network's forward pass, compiled when it first runs, for passes without gradient.

    Code for one size of batch is faster than code for any. So the network itself runs for a smaller batch than the
    largest so far, such as the last one. It does so too while one of its modules has a hook, which compiled code would
    not call.
    """
    largest, fast = 1, None

    def forward(inputs: Tensor) -> Any:
        nonlocal largest, fast
        learn(network, inputs)  # before it is compiled, since this may replace the network's forward
        if fast is None:
            fast = torch.compile(network, dynamic=False)
        hooked = any(module._forward_hooks or module._forward_pre_hooks for module in network.modules())
        if hooked or len(inputs) < max(largest, 2):
            return network(inputs)
        largest = len(inputs)
        return fast(inputs)

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
