"""Maps that weight each channel of a layer by a forward pass: Score-CAM masks with it, Ablation-CAM removes it."""

from dataclasses import dataclass
from typing import Any, ClassVar
import torch
from torch import Tensor, nn
from torch.nn import functional
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.class_activation import ClassActivation, weighted
from salgen.evaluation.models.inspection.layers import find_layer, layer_grid
from salgen.evaluation.models.inspection.network_trace import hooked

NAMES = ("score-cam", "ablation-cam")


@dataclass(frozen=True)
class ForwardActivation(ClassActivation):
    """A class activation map without gradients: one forward pass for each channel."""

    shares: ClassVar[str | None] = None
    reads_gradients: ClassVar[bool] = False


@dataclass(frozen=True)
class ScoreCam(ForwardActivation):
    """A layer's channels, each weighted by the score of the image that it masks, summed and rectified.

    As in pytorch-grad-cam, a channel is resized to the image (corners aligned) and scaled to [0, 1]. The normalised
    image times it is scored. Weights are the softmax of the scores over channels, so the paper's baseline score would
    change nothing.
    """

    name: ClassVar[str] = "score-cam"
    reference: ClassVar[str] = (
        "Wang et al. 2020, Score-CAM: score-weighted visual explanations, doi:10.1109/CVPRW50498.2020.00020"
    )

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

    name: ClassVar[str] = "ablation-cam"
    reference: ClassVar[str] = "Desai and Ramaswamy 2020, Ablation-CAM, doi:10.1109/WACV45572.2020.9093360"

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        activations = context.activations(layer)
        owners, channels = _every_channel(activations)
        module, axis = find_layer(context.model, layer), layer_grid(context.model, context.inputs, layer).channel_axis
        seen: list[None] = []
        with hooked([(module, lambda *_: seen.append(None))]), torch.no_grad():
            context.model.logits(context.inputs[:1])
        calls, call, removed = len(seen), 0, channels

        def inputs(part: slice) -> Tensor:
            nonlocal call, removed
            call, removed = 0, channels[part]
            return context.inputs[owners[part]]

        def ablate(_module: nn.Module, _inputs: Any, output: Tensor) -> Tensor | None:
            """In the last call, the output without the channels, of a class token too."""
            nonlocal call
            call += 1
            if call < calls:
                return None
            ablated = output.clone()
            ablated.movedim(axis, 1)[torch.arange(len(output), device=output.device), removed] = 0
            return ablated

        with hooked([(module, ablate)]):
            after = context.values_of("score", owners, inputs).view(activations.shape[:2])
        falls = (context.values("score")[:, None] - after).to(activations)
        return weighted(falls[:, :, None, None], activations).clamp(min=0)


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
