"""Score-CAM."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor
from torch.nn import functional

from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.channels import every_channel
from salgen.evaluation.attribution.class_activation import ClassActivation, activations_at
from salgen.evaluation.attribution.forward_values import values_of
from salgen.evaluation.methods.grad_cam import weighted

NAMES = ("score-cam",)


@dataclass(frozen=True)
class ScoreCam(ClassActivation):
    """A layer's channels, each weighted by the score of the image that it masks, summed and rectified.

    As in pytorch-grad-cam: a channel is resized to the image (corners aligned) and scaled to [0, 1];
    the normalised image times it is scored; weights are the softmax of the scores over channels.
    Subtracting a baseline's score from all of them would change nothing.
    """

    name: ClassVar[str] = "score-cam"
    reference: ClassVar[str] = "Wang et al. 2020, Score-CAM: score-weighted visual explanations"
    shares: ClassVar[str | None] = None
    reads_gradients: ClassVar[bool] = False

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        activations, images = activations_at(layer, context), context.inputs
        owners, channels = every_channel(activations)

        def inputs(part: slice) -> Tensor:
            masks = _masks(activations[owners[part], channels[part], None], images)
            return images[owners[part]] * masks

        scores = values_of(context, "score", owners, inputs).view(activations.shape[:2])
        weights = scores.softmax(dim=1).to(activations)
        return weighted(weights[:, :, None, None], activations).clamp(min=0)


def _masks(channels: Tensor, images: Tensor) -> Tensor:
    """Channels (m, 1, h, w) as masks of the images' size in [0, 1]; zero where a channel is constant."""
    enlarged = functional.interpolate(channels, images.shape[2:], mode="bilinear", align_corners=True)
    low, high = enlarged.amin(dim=(2, 3), keepdim=True), enlarged.amax(dim=(2, 3), keepdim=True)
    flat = channels.amin(dim=(2, 3), keepdim=True) == channels.amax(dim=(2, 3), keepdim=True)
    return ((enlarged - low) / (high - low + 1e-8)).masked_fill(flat, 0).to(images)  # enlarging leaves rounding errors
