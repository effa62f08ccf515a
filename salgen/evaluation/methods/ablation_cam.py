"""Ablation-CAM."""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.channels import every_channel
from salgen.evaluation.attribution.class_activation import ClassActivation, activations_at
from salgen.evaluation.attribution.forward_values import value_of, values_of
from salgen.evaluation.methods.grad_cam import weighted
from salgen.evaluation.models.inspection.layers import find_layer, layer_grid
from salgen.evaluation.models.inspection.network_trace import hooked

NAMES = ("ablation-cam",)


@dataclass(frozen=True)
class AblationCam(ClassActivation):
    """A layer's channels, each weighted by how far the score falls without it, summed and rectified.

    A channel is set to zero where the layer runs last. The paper divides a fall by the score, which
    only scales the map, but turns it over where the score is negative; here it is not divided.
    """

    name: ClassVar[str] = "ablation-cam"
    reference: ClassVar[str] = "Desai and Ramaswamy 2020, Ablation-CAM"
    shares: ClassVar[str | None] = None
    reads_gradients: ClassVar[bool] = False

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        activations = activations_at(layer, context)
        owners, channels = every_channel(activations)
        before = value_of(context, context.passes.logits(), context.targets, "score")
        axis = layer_grid(context.model, context.inputs, layer).channel_axis
        ablation = _Ablation(_calls(context, layer), axis)

        def inputs(part: slice) -> Tensor:
            ablation.begin(channels[part])
            return context.inputs[owners[part]]

        with hooked([(find_layer(context.model, layer), ablation.hook)]):
            after = values_of(context, "score", owners, inputs).view(activations.shape[:2])
        falls = (before[:, None] - after).to(activations)
        return weighted(falls[:, :, None, None], activations).clamp(min=0)


class _Ablation:
    """Sets one channel per image to zero where a layer runs for the last time in a forward pass.

    Parameters
    ----------
    calls
        Number of times that the layer runs in a forward pass.
    axis
        The axis of its output that counts channels.
    """

    def __init__(self, calls: int, axis: int) -> None:
        self._calls = self._left = calls
        self._axis = axis
        self._channels = torch.empty(0)

    def begin(self, channels: Tensor) -> None:
        """Prepare for a forward pass whose images each lose one of `channels`, int64 (m,)."""
        self._left, self._channels = self._calls, channels

    def hook(self, _module: nn.Module, _inputs: Any, output: Tensor) -> Tensor | None:
        """The layer's output for m images without the channels, of a class token too."""
        self._left -= 1
        if self._left:
            return None
        ablated = output.clone()
        each = torch.arange(len(output), device=output.device)
        ablated.movedim(self._axis, 1)[each, self._channels] = 0
        return ablated


def _calls(context: AttributionContext, layer: str) -> int:
    """Number of times that the layer runs in one forward pass."""
    calls: list[None] = []
    with hooked([(find_layer(context.model, layer), lambda *_: calls.append(None))]), torch.no_grad():
        context.model.logits(context.inputs[:1])
    return len(calls)
