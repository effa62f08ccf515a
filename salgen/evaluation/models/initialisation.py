"""Initial weights of layers that no library initialises."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import nn


def he_uniform(module: nn.Module) -> None:
    """He-uniform weights and zero biases; batch norm starts as the identity anyway."""
    from torch import nn

    if isinstance(module, nn.Conv2d | nn.Linear):
        nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
        if module.bias is not None:
            nn.init.zeros_(module.bias)
