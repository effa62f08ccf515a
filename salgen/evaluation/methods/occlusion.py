"""Occlusion."""

from dataclasses import dataclass
from typing import ClassVar
import torch
from torch import Tensor
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import (
    AttributionContext,
    Perturbation,
    baselines_param,
    output_param,
)
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.parameters import param

WINDOW, STRIDE = 15 / 224, 8 / 224  # shares of the image's side


@dataclass(frozen=True)
class Occlusion(Perturbation):
    """The fall of the target's probability when a window is covered, averaged over the windows on a pixel.

    Windows start at the multiples of the stride. The last one may reach beyond the image, so every pixel is covered. By
    default the window's sides are 15/224 of the image's and the strides 8/224, rounded, at least 1.
    """

    name = "occlusion"
    cost = "1 per window"
    reference = (
        "Zeiler and Fergus 2014, Visualizing and understanding convolutional networks, doi:10.1007/978-3-319-10590-1_53"
    )
    quick: ClassVar = {"window": (4, 4), "stride": 3}

    window: tuple[int, int] | None = param(
        None, "height and width of the window; by default shares of the image's", low=1
    )
    stride: int | None = param(None, "pixels from window to window; by default a share of the image's side", low=1)
    baselines: float | str = baselines_param("zero")
    output: str = output_param()

    def check(self, model: ModelView, image: Tensor) -> None:
        """Raise a SalgenError if the windows do not fit into the image, or leave pixels uncovered."""
        for length, side, stride in self._axes(image):
            if length > side:
                raise SalgenError(
                    f"occlusion: a window's side of {length} does not fit into an image's side of {side}: choose a "
                    "smaller window=height,width"
                )
            if stride > length:
                raise SalgenError(
                    f"occlusion: stride={stride} is larger than a window's side of {length}, so pixels would stay "
                    "uncovered: choose a smaller stride or a larger window"
                )

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, 1, h, w): positive where covering lowers the value."""
        rows, columns = (_spans(*axis, context.inputs.device) for axis in self._axes(context.inputs))
        images, windows = context.inputs, len(rows) * len(columns)
        covers = context.baselines_of(self.baselines)
        numbers = torch.arange(len(images) * windows, device=images.device)

        def inputs(part: slice) -> Tensor:
            image, window = numbers[part] // windows, numbers[part] % windows
            under = rows[window // len(columns), :, None] & columns[window % len(columns), None, :]
            return torch.where(under[:, None], covers if len(covers) == 1 else covers[image], images[image])

        after = context.values_of(self.output, numbers // windows, inputs).view(len(images), len(rows), len(columns))
        fall = context.values(self.output)[:, None, None] - after
        down, across = rows.to(fall), columns.to(fall)
        total = down.T @ fall @ across  # over the windows on each pixel: a window is a row span times a column span
        return (total / torch.outer(down.sum(dim=0), across.sum(dim=0)))[:, None]

    def _axes(self, images: Tensor) -> list[tuple[int, int, int]]:
        """The window's length, the image's side and the stride, for rows and for columns."""
        sides = (images.shape[2], images.shape[3])
        lengths = self.window or tuple(max(1, round(WINDOW * side)) for side in sides)
        strides = [self.stride or max(1, round(STRIDE * side)) for side in sides]
        return list(zip(lengths, sides, strides, strict=True))


def _spans(length: int, side: int, stride: int, device: torch.device) -> Tensor:
    """The rows, or columns, that each window covers: bool (windows, side)."""
    starts = torch.arange(0, side - length + stride, stride, device=device)[:, None]
    place = torch.arange(side, device=device)
    return (place >= starts) & (place < starts + length)
