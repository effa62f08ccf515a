"""Extremal perturbations: smooth masks of given areas under which the score stays highest."""

from dataclasses import dataclass
from typing import ClassVar
import torch
from torch import Tensor
from torch.nn import functional
from salgen.evaluation.attribution.attribution_context import AttributionContext, Perturbation
from salgen.evaluation.methods.path_gradients import blurred
from salgen.parameters import param

CELLS, REACH = 32, 4  # cells of a mask along the shorter side; cells to each side that reach a pixel
BLUR, LEVELS = 20 / 224, 8  # the strongest blur, as a share of the shorter side; number of blurs
SMOOTHING = 0.09  # standard deviation that masks are smoothed with, as a share of the shorter side
COLDNESS = 20.0  # makes the soft maximum hard
RATE, MOMENTUM, GROWTH = 0.01, 0.9, 1.0035


@dataclass(frozen=True)
class ExtremalPerturbation(Perturbation):
    """Smooth masks, one of each area, under which the blurred image has the highest score; smoothed and added up.

    Each pixel is blurred the more, the smaller its mask. A mask is the soft maximum of a grid's cells, each of which
    reaches three cells far. From ones on, gradient steps with momentum raise the score minus the area term. That is
    `weight` times the mean squared difference of the mask's sorted values from ones on its area and zeros elsewhere.
    The weight grows by 0.35 % a step. Lengths are the authors' shares of an image of 224 pixels. Their code also flips
    every other image and counts a margin around it, which is not done here. Without flips TorchRay's maps of six MRI
    slices correlate with these by .92 to .98 (Spearman). It costs `steps` forward and backward passes for each area.
    """

    name = "extremal-perturbation"
    cost = "3200"
    reads_gradients = True
    reference = (
        "Fong et al. 2019, Understanding deep networks via extremal perturbations and smooth masks, "
        "doi:10.48550/arXiv.1910.08485"
    )
    signed = False
    in_all = False
    quick: ClassVar = {"steps": 3, "areas": (0.1,)}
    scales: ClassVar = {"demo": {"steps": 100}, "small": {"steps": 200}}

    areas: tuple[float, ...] = param((0.025, 0.05, 0.1, 0.2), "shares of the image that masks keep", low=0.0, high=1.0)
    steps: int = param(800, "steps of the optimisation", low=1)
    weight: float = param(300.0, "weight of the area term in the first step", low=0.0)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        side = min(context.inputs.shape[2:])
        masks = torch.stack([self._masks(context, sample) for sample in range(len(context.inputs))])
        return blurred(masks, SMOOTHING * side).sum(dim=1, keepdim=True)

    def _masks(self, context: AttributionContext, sample: int) -> Tensor:
        """The masks of one image, in [0, 1]: (areas, h, w)."""
        given, targets = context.inputs[sample : sample + 1], context.targets[sample].expand(len(self.areas))
        image = given.to(torch.promote_types(given.dtype, torch.float32))
        size, side = image.shape[2:], min(image.shape[2:])
        blurs = [BLUR * side * (1 - level / (LEVELS - 1)) for level in range(LEVELS)]
        pyramid = torch.cat([blurred(image, sigma) for sigma in blurs])
        spacing = max(1, round(side / CELLS))
        weights, pixels = _reach(size, spacing).to(image), size.numel()
        empty = torch.tensor([int(pixels * (1 - area)) for area in self.areas])[:, None]
        ideal = (torch.arange(pixels) >= empty).to(image)  # the sorted values of a mask of each area
        cells = image.new_ones(len(self.areas), 1, *(-(-length // spacing) for length in size)).requires_grad_()
        optimizer = torch.optim.SGD([cells], lr=RATE, momentum=MOMENTUM, dampening=MOMENTUM)
        for step in range(self.steps):
            mask = _mask_of(cells, weights, spacing)
            scores = context.scores_of(_perturbed(pyramid, mask).to(given), targets)
            excess = (mask.flatten(1).sort(dim=1).values - ideal).square().mean(dim=1)
            loss = self.weight * GROWTH**step * excess.sum() - scores.sum()
            (cells.grad,) = torch.autograd.grad(loss, cells)
            optimizer.step()
            cells.data.clamp_(0, 1)
        return _mask_of(cells.detach(), weights, spacing)[:, 0]


def _reach(size: torch.Size, spacing: int) -> Tensor:
    """What each pixel takes of the cells about it, (cells, h, w): all within a cell and a half, then ever less."""
    cells = torch.arange(-REACH, REACH + 1)[:, None] * spacing
    down, across = (torch.arange(length) % spacing - cells for length in size)
    distance = torch.hypot(down[:, None, :, None].float(), across[None, :, None, :].float()).flatten(0, 1)
    return (-2 * (distance / (3 * spacing) - 0.5).clamp(min=0).square()).exp()


def _mask_of(cells: Tensor, weights: Tensor, spacing: int) -> Tensor:
    """The soft maximum of the cells (n, 1, rows, columns) about each pixel: (n, 1, h, w)."""
    around = functional.unfold(cells, 2 * REACH + 1, padding=REACH).view(len(cells), -1, *cells.shape[2:])
    enlarged = around.repeat_interleave(spacing, dim=2).repeat_interleave(spacing, dim=3)
    values = weights * enlarged[:, :, : weights.shape[1], : weights.shape[2]]
    return (values * (COLDNESS * values).softmax(dim=1)).sum(dim=1, keepdim=True).clamp(0, 1)


def _perturbed(pyramid: Tensor, mask: Tensor) -> Tensor:
    """Images between the levels (levels, C, h, w), by the mask (n, 1, h, w): the first level at 0, the last at 1."""
    place = mask * (len(pyramid) - 1)
    lower = place.detach().long().clamp(max=len(pyramid) - 2)
    index = lower.expand(-1, pyramid.shape[1], -1, -1)
    part = place - lower
    return (1 - part) * pyramid.gather(0, index) + part * pyramid.gather(0, index + 1)
