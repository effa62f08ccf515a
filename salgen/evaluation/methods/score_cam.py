"""Maps of forward passes alone: each channel of a layer masks the image or is removed, or one pixel of it is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
import torch
from torch import Tensor, nn
from torch.nn import functional
from salgen.evaluation.attribution.attribution_context import AttributionContext, output_param
from salgen.evaluation.attribution.class_activation import ClassActivation, weighted
from salgen.evaluation.models.inspection.layers import find_layer, layer_grid
from salgen.evaluation.models.inspection.network_trace import hooked
from salgen.parameters import param


@dataclass(frozen=True)
class ForwardActivation(ClassActivation):
    """A class activation map without gradients: one forward pass for each channel."""

    shares = None
    reads_gradients = False


@dataclass(frozen=True)
class ScoreCam(ForwardActivation):
    """A layer's channels, each weighted by the score of the image that it masks, summed and rectified.

    As in pytorch-grad-cam, a channel is resized to the image (corners aligned) and scaled to [0, 1]. The normalised
    image times it is scored. Weights are the softmax of the scores over channels, so the paper's baseline score would
    change nothing.
    """

    name = "score-cam"
    cost = "1 per channel"
    reference = "Wang et al. 2020, Score-CAM: score-weighted visual explanations, doi:10.1109/CVPRW50498.2020.00020"

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        activations, images = context.activations(layer), context.inputs
        owners, channels = _every_channel(activations)

        def inputs(part: slice) -> Tensor:
            masks = _masks(activations[owners[part], channels[part], None], images)
            return images[owners[part]] * masks

        scores = context.values_of("score", owners, inputs).view(activations.shape[:2])
        weights = scores.softmax(dim=1).to(activations)
        return weighted(weights[:, :, None, None], activations).clamp(min=0)


@dataclass(frozen=True)
class AblationCam(ForwardActivation):
    """A layer's channels, each weighted by how far the score falls without it, summed and rectified.

    A channel is set to zero where the layer runs last. The paper divides a fall by the score, which turns the map over
    where the score is negative. Here it is not divided.
    """

    name = "ablation-cam"
    cost = "1 per channel"
    reference = "Desai and Ramaswamy 2020, Ablation-CAM, doi:10.1109/WACV45572.2020.9093360"

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        activations = context.activations(layer)
        owners, channels = _every_channel(activations)
        axis = layer_grid(context.model, context.inputs, layer).channel_axis
        last = LastOutput.of(layer, context)

        def inputs(part: slice) -> Tensor:
            def ablate(output: Tensor) -> Tensor:
                """The output without the channels, of a class token too."""
                ablated = output.clone()
                ablated.movedim(axis, 1)[torch.arange(len(output), device=output.device), channels[part]] = 0
                return ablated

            last.begin(ablate)
            return context.inputs[owners[part]]

        with hooked([(find_layer(context.model, layer), last)]):
            after = context.values_of("score", owners, inputs).view(activations.shape[:2])
        falls = (context.values("score")[:, None] - after).to(activations)
        return weighted(falls[:, :, None, None], activations).clamp(min=0)


@dataclass(frozen=True)
class ReciproCam(ForwardActivation):
    """The target's probability where a layer keeps one pixel alone, for each pixel.

    A layer's other pixels are set to zero where it runs last; class tokens stay. With ``blur=true`` the pixel's
    channels also stand at its eight neighbours, times 1/8 and 1/16, and at itself times 1/4. That is the spatial mask
    of the paper's text; the authors' code leaves it out. It costs one forward pass for each pixel of the layer.
    """

    name = "recipro-cam"
    cost = "1 per layer pixel"
    reference = (
        "Byun and Lee 2024, ReciproCAM: lightweight gradient-free class activation map for post-hoc explanations, "
        "doi:10.48550/arXiv.2209.14074"
    )
    signed = True
    in_all = False

    blur: bool = param(False, "spread the kept pixel over its neighbours by a Gaussian of 3 x 3")
    output: str = output_param()

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """(n, 1, h, w): probabilities, or signed scores."""
        grid, (n, _, height, width) = layer_grid(context.model, context.inputs, layer), context.activations(layer).shape
        pixels, numbers = height * width, torch.arange(n * height * width, device=context.inputs.device)
        spots = torch.eye(pixels).view(pixels, 1, height, width).to(context.activations(layer))
        if self.blur:
            ramp = torch.tensor([0.25, 0.5, 0.25]).to(spots)
            spots = functional.conv2d(spots, torch.outer(ramp, ramp)[None, None], padding=1)
        last = LastOutput.of(layer, context)

        def inputs(part: slice) -> Tensor:
            pixel = numbers[part] % pixels

            def keep(output: Tensor) -> Tensor:
                """The output with one pixel of each image."""
                places = torch.arange(output[0].numel(), device=output.device).view(1, *output.shape[1:])
                channels, kept = grid.channels(output), output.flatten(1).clone()
                own = channels.flatten(2)[torch.arange(len(output), device=output.device), :, pixel]
                kept[:, grid.channels(places).flatten()] = (own[:, :, None, None] * spots[pixel].to(own)).flatten(1)
                return kept.view(output.shape)

            last.begin(keep)
            return context.inputs[numbers[part] // pixels]

        with hooked([(find_layer(context.model, layer), last)]):
            return context.values_of(self.output, numbers // pixels, inputs).view(n, 1, height, width)


@dataclass
class LastOutput:
    """A forward hook that changes the output of a layer's last call in each pass."""

    calls: int  # number of calls in a pass
    call: int = 0
    change: Callable[[Tensor], Tensor] = Tensor.clone

    @classmethod
    def of(cls, layer: str, context: AttributionContext) -> LastOutput:
        """The hook for a layer, which does not change anything yet."""
        seen: list[None] = []
        with hooked([(find_layer(context.model, layer), lambda *_: seen.append(None))]), torch.no_grad():
            context.model.logits(context.inputs[:1])
        return cls(len(seen))

    def begin(self, change: Callable[[Tensor], Tensor]) -> None:
        """Change the next pass."""
        self.call, self.change = 0, change

    def __call__(self, _module: nn.Module, _inputs: Any, output: Tensor) -> Tensor | None:
        """The changed output of the last call; None leaves an output as it is."""
        self.call += 1
        return self.change(output) if self.call == self.calls else None


def _masks(channels: Tensor, images: Tensor) -> Tensor:
    """Channels (m, 1, h, w) as masks of the images' size in [0, 1]; zero where a channel is constant."""
    enlarged = functional.interpolate(channels, images.shape[2:], mode="bilinear", align_corners=True)
    low, high = enlarged.amin(dim=(2, 3), keepdim=True), enlarged.amax(dim=(2, 3), keepdim=True)
    flat = channels.amin(dim=(2, 3), keepdim=True) == channels.amax(dim=(2, 3), keepdim=True)
    return ((enlarged - low) / (high - low + 1e-8)).masked_fill(flat, 0).to(images)  # enlarging leaves rounding errors


def _every_channel(activations: Tensor) -> tuple[Tensor, Tensor]:
    """The image and the channel of each of n * K channels, image by image: int64 (n * K,) each."""
    owners, channels = torch.ones(activations.shape[:2], device=activations.device).nonzero(as_tuple=True)
    return owners, channels
