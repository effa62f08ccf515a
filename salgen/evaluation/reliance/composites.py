"""Composite evidence: for photographs with masks, what their certificate would be if composites were redraws.

A photograph cannot be drawn again. So its object, cut out by its mask, is pasted on other photographs of the data set
with their own objects filled in, and its twin is the photograph with the object filled in. Networks see rims and
fillings too, so this is weaker than a certificate, and has a name and columns of its own.
"""

import math
from collections.abc import Callable, Sequence
import numpy as np
from numpy.typing import NDArray
from salgen.errors import SalgenError
from salgen.evaluation.reliance.certificate_rule import STEP, Answers, Certificate, certificate_of
from salgen.types import Float32, Float64, Mask

FILLINGS = ("blurred", "ring", "inpainted")
BACKGROUNDS = 8  # other photographs that an object is pasted on
FEWEST = 4  # with fewer, one background decides
INPAINTED = 64  # pixels of the longer side at which holes are inpainted: what fills them is smooth

Ask = Callable[[Float32], Float64]  # images (n, C, H, W) in [0, 1] to logits (n, K)


def composite_evidence(
    images: Float32,
    masks: Mask,
    clusters: Sequence[str],
    labels: NDArray[np.int64],
    targets: NDArray[np.int64],
    ask: Ask,
    *,
    shown: Mask | None = None,
) -> list[dict[str, Certificate]]:
    """The evidence about each sample: filling, in the order of `FILLINGS`, to what a certificate would say.

    Parameters
    ----------
    images, masks
        float32 (N, C, H, W) in [0, 1], and bool (N, H, W): the object of each.
    clusters
        Samples of one cluster are never each other's background.
    labels, targets
        int64 (N,): the true class, and the class that maps explain.
    ask
        The network.
    shown
        Of networks with a logit of its own for each class, bool (N,): whether a sample shows its target.

    """
    others = [_others(number, clusters) for number in range(len(images))]
    if min(map(len, others)) < FEWEST:
        raise SalgenError(f"composite evidence takes {FEWEST + 1} photographs of different clusters or more")
    found: list[dict[str, Certificate]] = [{} for _ in images]
    for filling in FILLINGS:
        filled = np.stack([fill(image, mask, filling) for image, mask in zip(images, masks, strict=True)])
        own, without = ask(images), ask(filled)
        steps = ask(images + np.float32(STEP) * (filled - images))
        for number, chosen in enumerate(others):
            image = images[number]
            composites = np.where(masks[number], image, filled[chosen])
            held = ask(composites)
            step = ask(image + np.float32(STEP) * (composites - image))
            answers = Answers(own[number], without[number], steps[number], held, without[chosen], held, step, {})
            label, target = int(labels[number]), int(targets[number])
            if shown is not None:
                answers, label, target = answers.about(target), int(shown[number]), 1
            found[number][filling] = certificate_of(answers, label, target)
    return found


def fill(image: Float32, mask: Mask, filling: str) -> Float32:
    """An image (C, H, W) whose pixels in the mask bool (H, W) are made of those around it.

    Parameters
    ----------
    image, mask
        The image in [0, 1], and its object.
    filling
        ``"blurred"``: the mean of the pixels outside, weighted by a Gaussian of their distance; ``"ring"``: the mean
        colour of a ring around the mask; ``"inpainted"``: biharmonic inpainting, by scikit-image.
    """
    from scipy.ndimage import binary_dilation, gaussian_filter

    if not mask.any() or mask.all():
        raise SalgenError("an object is filled in from the pixels around it: the mask is empty or covers all")
    ring = binary_dilation(mask, iterations=max(1, round(max(mask.shape) / 32))) & ~mask
    mean = image[:, ring].mean(axis=1)
    filled = image.copy()
    if filling == "ring":
        filled[:, mask] = mean[:, None]
    elif filling == "blurred":
        width = max(1.0, math.sqrt(mask.sum()) / 4)
        weights = gaussian_filter((~mask).astype(np.float64), width)[mask]
        for channel, level, pixels in zip(filled, mean, image, strict=True):
            sums = gaussian_filter(np.where(mask, 0.0, pixels.astype(np.float64)), width)[mask]
            channel[mask] = (sums + 1e-3 * level) / (weights + 1e-3)  # far within, no pixel outside has weight
    elif filling == "inpainted":
        filled[:, mask] = _inpainted(image, mask)[:, mask]
    else:
        raise SalgenError(f"filling {filling!r}: must be one of {', '.join(FILLINGS)}")
    return filled


def _inpainted(image: Float32, mask: Mask) -> Float32:
    """The image with its mask inpainted at a coarse grid, float32 (C, H, W) in [0, 1]."""
    from skimage.restoration import inpaint_biharmonic
    from skimage.transform import resize

    every = math.ceil(max(mask.shape) / INPAINTED)
    coarse = inpaint_biharmonic(image[:, ::every, ::every], mask[::every, ::every], channel_axis=0)
    return np.asarray(np.clip(resize(coarse, image.shape, order=1), 0, 1), dtype=np.float32)


def _others(number: int, clusters: Sequence[str]) -> NDArray[np.int64]:
    """The samples whose photographs are a sample's backgrounds."""
    others = np.flatnonzero(np.array([cluster != clusters[number] for cluster in clusters]))
    return np.asarray(np.random.default_rng([0, number]).permutation(others)[:BACKGROUNDS])
