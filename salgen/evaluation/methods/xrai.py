"""XRAI: regions in the order in which they add most integrated gradients per pixel."""

from dataclasses import dataclass
from typing import Any, ClassVar
import numpy as np
import torch
from torch import Tensor
from salgen.evaluation.attribution.attribution_context import AttributionContext, PathMethod
from salgen.evaluation.methods.path_gradients import IntegratedGradients
from salgen.parameters import param
from salgen.types import Float64

SIDE = 224  # pixels at which images are segmented; the next two are for these
RADIUS = 5  # by which a segment is dilated
LEAST = 50  # pixels that a segment has to add
SCALES = (50, 100, 150, 250, 500, 1200)  # one for each segmentation
SMOOTHING, SMALLEST = 0.8, 150  # for each segmentation


@dataclass(frozen=True)
class Xrai(PathMethod):
    """Each pixel's mean integrated gradients over what its region added, when regions were added by that mean.

    Integrated gradients from black and from white are averaged, and of the channels the largest counts. Regions are
    Felzenszwalb segments of six scales, each dilated. Step by step the region with the highest mean over its new pixels
    is added, until none adds enough. The pixels that are left get their mean. Radius and least number of pixels are the
    authors', for a side of 224, and shrink with the image. It costs twice `steps` forward and backward passes.
    """

    name = "xrai"
    cost = "200"
    reference = "Kapishnikov et al. 2019, XRAI: better attributions through regions, doi:10.48550/arXiv.1906.02825"
    shows_image = True
    resolution = "the regions'"
    in_all = False
    quick: ClassVar = {"steps": 4}

    steps: int = param(100, "points of each quadrature", low=1)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, 1, h, w), the same over what each region added."""
        black, white = (
            IntegratedGradients(steps=self.steps, baselines=corner).attribute(context) for corner in ("black", 1.0)
        )
        attributions = ((black + white) / 2).amax(dim=1).double().cpu().numpy()
        images = context.inputs.double().cpu().movedim(1, -1).numpy()
        maps = [grown(values, regions(image)) for values, image in zip(attributions, images, strict=True)]
        return torch.from_numpy(np.stack(maps))[:, None].to(context.inputs)


def regions(image: Float64) -> Any:
    """The dilated segments of an image (h, w, C), all scales together: bool (r, h, w)."""
    from skimage.morphology import dilation, disk
    from skimage.segmentation import felzenszwalb
    from skimage.transform import resize

    size = image.shape[:2]
    low, high = image.min(), image.max()
    scaled = 2 * (image - low) / ((high - low) or 1) - 1
    scaled = resize(scaled, (SIDE, SIDE), order=3, mode="constant", preserve_range=True, anti_aliasing=True)
    segments = []
    for scale in SCALES:
        labels = felzenszwalb(scaled, scale=scale, sigma=SMOOTHING, min_size=SMALLEST, channel_axis=-1)
        labels = resize(labels, size, order=0, mode="constant", preserve_range=True, anti_aliasing=False).astype(int)
        segments += [labels == label for label in np.unique(labels)]
    disc = disk(round(RADIUS * max(size) / SIDE))
    return np.stack([dilation(segment, disc) for segment in segments])


def grown(values: Float64, segments: Any) -> Float64:
    """Values (h, w) averaged over what each of the segments, bool (r, h, w), adds when it is the best to add."""
    flat, masks = values.ravel(), segments.reshape(len(segments), -1)
    counts, sums = masks.sum(axis=1), masks @ flat
    left, found = np.ones(flat.size, dtype=bool), np.empty_like(flat)
    least = max(1.0, LEAST * flat.size / SIDE**2)
    while (enough := counts >= least).any():
        best = np.where(enough, sums / np.maximum(counts, 1), -np.inf).argmax()
        added = left & masks[best]
        found[added] = flat[added].mean()
        left &= ~added
        counts, sums = counts - masks[:, added].sum(axis=1), sums - masks[:, added] @ flat[added]
    found[left] = flat[left].mean() if left.any() else 0
    return found.reshape(values.shape)
