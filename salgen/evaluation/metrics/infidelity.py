"""Infidelity and sensitivity-n: does the map's sum over removed pixels tell how far the probability falls?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
import numpy as np
from salgen.evaluation.metrics.inputs.metric import CONSTANT_MAP, Measured, ModelMetric
from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.evaluation.metrics.insertion import DELETED, IMAGES, reference_images
from salgen.parameters import param
from salgen.seeding import Stream
from salgen.types import Float64, Mask

if TYPE_CHECKING:
    from torch import Tensor

SIDE = 1 / 4  # side of a square, as a share of the image's shorter one


@dataclass(frozen=True)
class Removal(ModelMetric):
    """A comparison of the map's sum over random sets of pixels with the fall of the probability without them."""

    in_all = False

    draws: int = param(100, "random sets of pixels", low=2)
    baseline: str = param(DELETED, "what pixels become; by default zero after normalisation", choices=IMAGES)

    def _sums_and_falls(
        self, data: MetricInputs, key: Any, removed: Callable[[Stream], Mask]
    ) -> tuple[Float64, Float64]:
        """For each draw the map's sum over the pixels, and the fall of the probability: float64 (N, draws) each.

        `removed` draws the pixels, bool (H, W), by the sample's own stream. Masks are kept for one sample at a time.
        """

        def compute() -> tuple[Float64, Float64]:
            from salgen.evaluation.metrics.inputs.changed_images import original_probabilities

            before = original_probabilities(data)
            sums, falls = np.empty((len(data), self.draws)), np.empty((len(data), self.draws))
            for sample, stream in enumerate(data.streams(self.name)):
                masks = np.stack([removed(stream) for _ in range(self.draws)])
                sums[sample] = [data.maps[sample][mask].sum(dtype=np.float64) for mask in masks]
                falls[sample] = before[sample] - self._without(data, sample, masks)
            return sums, falls

        return data.cached((self.name, self.draws, self.baseline, key), compute)

    def _without(self, data: MetricInputs, sample: int, masks: Mask) -> Float64:
        """The class's probability without each set of pixels, bool (m, H, W), of one sample: float64 (m,)."""
        import torch
        from salgen.evaluation.metrics.inputs.changed_images import probabilities_of

        image, empty = (images[sample] for images in (data.predictor.inputs, reference_images(data, self.baseline)))
        gone = torch.from_numpy(masks).to(image.device)[:, None]
        if gone.shape[2:] != image.shape[1:]:
            gone = torch.nn.functional.interpolate(gone.float(), image.shape[1:], mode="nearest-exact") > 0.5

        def inputs(part: slice) -> Tensor:
            return torch.where(gone[part], empty, image)

        return probabilities_of(data, torch.full((len(gone),), sample, device=image.device), inputs)


@dataclass(frozen=True)
class Infidelity(Removal):
    """Mean squared error by which the map's sum over a square tells how far the probability falls without it.

    min over b of the mean over squares Q of (b sum of S over Q - (f(x) - f(x without Q)))². The map's scale is free, as
    in the authors' code, so that maps of any unit compare. So is its sign: a map and its negative have the same value.
    Squares have a side of a quarter of the image's shorter one, and stand anywhere within the image. It costs `draws`
    passes for each image.

    Ties: no order of pixels counts.
    Undefined: never. A map without sum over any square has the mean squared fall.
    """

    name = "infidelity"
    higher_is_better = False
    reference = (
        "Yeh et al. 2019, On the (in)fidelity and sensitivity of explanations, square removal, "
        "doi:10.48550/arXiv.1901.09392"
    )

    side: int | None = param(None, "side of a square in pixels; by default a quarter of the shorter side", low=1)

    def measure(self, data: MetricInputs) -> Measured:
        """In [0, 1]."""
        height, width = data.maps.shape[1:]
        side = min(self.side or max(1, round(SIDE * min(height, width))), height, width)

        def square(stream: Stream) -> Mask:
            top, left = (int(stream.integers(length - side + 1, 1)[0]) for length in (height, width))
            chosen = np.zeros((height, width), dtype=bool)
            chosen[top : top + side, left : left + side] = True
            return chosen

        sums, falls = self._sums_and_falls(data, side, square)
        squares = (sums**2).sum(axis=1, keepdims=True)
        scale = (sums * falls).sum(axis=1, keepdims=True) / np.where(squares > 0, squares, 1.0)
        return np.minimum(((scale * sums - falls) ** 2).mean(axis=1), 1.0), [""] * len(data)


@dataclass(frozen=True)
class SensitivityN(Removal):
    """Pearson's correlation between the map's sum over random pixels and the fall of the probability without them.

    The pixels are `share` of the image, drawn without replacement. A run takes several shares, as the paper does from
    one pixel to 80 %. It costs `draws` passes for each image and share.

    Ties: no order of pixels counts.
    Undefined: ``constant_map`` where the sums are all equal. Where the probability never changes the value is 0.
    """

    name = "sensitivity-n"
    bounds = (-1.0, 1.0)
    sweep: ClassVar = {"share": (0.01, 0.1, 0.5)}
    reference = (
        "Ancona et al. 2018, Towards better understanding of gradient-based attribution methods for deep neural "
        "networks, doi:10.48550/arXiv.1711.06104"
    )

    share: float = param(0.1, "share of the pixels that are removed together", low=0.0, high=1.0)

    def measure(self, data: MetricInputs) -> Measured:
        """In [-1, 1]."""
        size = data.maps.shape[1:]
        count = min(max(1, round(self.share * data.maps[0].size)), data.maps[0].size)

        def pixels(stream: Stream) -> Mask:
            chosen = np.zeros(data.maps[0].size, dtype=bool)
            chosen[stream.permutation(chosen.size)[:count]] = True
            return chosen.reshape(size)

        sums, falls = (
            values - values.mean(axis=1, keepdims=True) for values in self._sums_and_falls(data, count, pixels)
        )
        spread = np.abs(data.maps).reshape(len(data), -1).sum(axis=1)
        flat = np.abs(sums).max(axis=1) <= 1e-12 * spread
        sizes = np.linalg.norm(sums, axis=1) * np.linalg.norm(falls, axis=1)
        values = (sums * falls).sum(axis=1) / np.where(sizes > 0, sizes, 1.0)
        return np.where(flat, np.nan, np.clip(values, -1.0, 1.0)), [CONSTANT_MAP if one else "" for one in flat]
