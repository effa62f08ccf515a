"""Controls that know nothing of the model, which any method has to beat."""

from dataclasses import dataclass
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from salgen.evaluation.attribution.attribution_context import AttributionContext, Control
from salgen.parameters import param


@dataclass(frozen=True)
class Random(Control):
    """Uniform random numbers."""

    name = "random"
    reference = "a floor"

    def attribute(self, context: AttributionContext) -> Tensor:
        """(n, 1, H, W) in [0, 1)."""
        _, _, height, width = context.pixels.shape
        uniform = np.stack([stream.uniform(height * width) for stream in context.streams(self.name)])
        return torch.from_numpy(uniform).to(context.pixels).view(-1, 1, height, width)


@dataclass(frozen=True)
class Constant(Control):
    """One value everywhere: the score of a map without information."""

    name = "constant"
    reference = "a floor"

    value: float = param(0.5, "the value", low=0.0)

    def attribute(self, context: AttributionContext) -> Tensor:
        """(n, 1, H, W), all `value`."""
        return torch.full_like(context.pixels[:, :1], self.value)


@dataclass(frozen=True)
class AllOnes(Control):
    """The mask that selects every pixel."""

    name = "all-ones"
    reference = "a floor"

    def attribute(self, context: AttributionContext) -> Tensor:
        """(n, 1, H, W), all 1."""
        return torch.ones_like(context.pixels[:, :1])


@dataclass(frozen=True)
class Center(Control):
    """A Gaussian in the middle of the image."""

    name = "center"
    reference = (
        "Fong et al. 2019, Understanding deep networks via extremal perturbations, doi:10.48550/arXiv.1910.08485"
    )

    width: float = param(0.25, "standard deviation along each axis, as a share of the image's side", low=0.001)

    def attribute(self, context: AttributionContext) -> Tensor:
        """(n, 1, H, W) in (0, 1]."""
        profiles = []
        for side in context.pixels.shape[2:]:
            place = torch.arange(side, dtype=torch.float64) - (side - 1) / 2
            profiles.append(torch.exp(-0.5 * torch.square(place / (self.width * side))).to(context.pixels))
        return torch.outer(*profiles).expand(len(context.pixels), 1, -1, -1)


@dataclass(frozen=True)
class Intensity(Control):
    """The image itself: its mean over channels."""

    name = "intensity"
    shows_image = True
    reference = "a floor"
    signed = True  # images of other models may be negative

    def attribute(self, context: AttributionContext) -> Tensor:
        """(n, 1, H, W) in the images' range."""
        return context.pixels.mean(dim=1, keepdim=True)


@dataclass(frozen=True)
class Sobel(Control):
    """The strength of the image's edges: the length of its Sobel gradient."""

    name = "sobel"
    version = "3"  # rounded otherwise
    shows_image = True
    reference = "Adebayo et al. 2018, Sanity checks for saliency maps, doi:10.48550/arXiv.1810.03292"

    def attribute(self, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, H, W), of the mean over channels, edge pixels repeated outwards."""
        grey = _grey(context)
        across = torch.tensor([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]]).to(grey)
        slopes = functional.conv2d(grey, torch.stack([across, across.T])[:, None])
        return torch.hypot(slopes[:, :1], slopes[:, 1:]).to(context.pixels)


@dataclass(frozen=True)
class Laplace(Control):
    """The strength of the image's fine detail: the size of its Laplacian."""

    name = "laplace"
    version = "2"  # rounded otherwise
    shows_image = True
    reference = "Adebayo et al. 2018, Sanity checks for saliency maps, doi:10.48550/arXiv.1810.03292"

    def attribute(self, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, H, W), of the mean over channels, edge pixels repeated outwards."""
        grey = _grey(context)
        kernel = torch.tensor([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]]).to(grey)
        return functional.conv2d(grey, kernel[None, None]).abs().to(context.pixels)


def _grey(context: AttributionContext) -> Tensor:
    """The mean over channels with its edge pixels repeated once, float64 (n, 1, H + 2, W + 2).

    In float32 the order of a sum, which depends on the batch and the processor, would break ties of equal pixels.
    """
    return functional.pad(context.pixels.double().mean(dim=1, keepdim=True), (1, 1, 1, 1), mode="replicate")
