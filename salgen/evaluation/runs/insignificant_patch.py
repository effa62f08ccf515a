"""Functionally insignificant patches: visible in an image, yet without effect on the model's logits.

Shown a twin x (the image without its feature), a model gives logits z(x). A patch in the feature's place starts as
the feature itself, and its pixels alone are moved, within [0, 1], towards the least of

    mean over classes of ((z(x + patch) - z(x)) / spread)^2 + `STAY` * mean over the patch of (pixels - feature)^2,

where the spread is the distance of the largest logit of x from the smallest. The first term takes the patch's
effect away, the second keeps it looking like the feature. Steps are Adam's with one size for all pixels of a patch, so
that they go along the gradient and change pixels of no consequence least. Nothing is random.

References
----------
Yang and Kim 2019, *Benchmarking attribution methods with relative feature importance*, input independence rate.
"""

from dataclasses import dataclass
from math import cos, pi
from typing import Any
import numpy as np
import torch
from torch import Tensor
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.metric import PATCH_MATTERS, PATCH_VANISHED
from salgen.evaluation.models.inspection.batch_size import WITH_GRADIENT, MicroBatches, images_at_once, memory_budget
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.runs.artifacts.predictions import Classes, predicted_classes
from salgen.types import Float32, Float64, Mask

VERSION = "1"  # changes whenever a patch does

STEPS = 100
RATE = 0.02  # the first step's, root mean square over the patch's pixels; it falls to 0 as half a cosine
MOMENTUM = (0.9, 0.9)  # the gradient's, and that of its mean square over the patch
STAY = 0.05  # weight of looking like the feature
MOST_CHANGE = 0.01  # largest change of a logit that a valid patch may cause, in spreads of the twin's logits
LEAST_SEEN = 0.5  # smallest mean difference of a visible patch from the twin, in that of the feature
AT_ONCE = 64  # images


@dataclass(frozen=True, eq=False)
class Patched:
    """Images with a patch, and measures of how well each patch works."""

    images: Float32  # float32 (N, C, H, W) in [0, 1]: the twins, with a patch inside the mask
    # float64 (N,): the largest difference of a logit from the twin's, in spreads of the twin's logits
    change: Float64
    # float64 (N,): the patch's mean absolute difference from the twin, in that of the feature; 0 where the feature
    # cannot be seen itself
    seen: Float64
    # for each "" where the patch holds: the predicted class is the twin's, `change` is at most `MOST_CHANGE`, and
    # `seen` is at least `LEAST_SEEN`. Otherwise ``patch_matters``, or else ``patch_vanished``
    faults: list[str]


def insignificant_patches(
    view: ModelView, images: Float32, twins: Float32, masks: Mask, labels: Classes, max_memory: float | None = None
) -> Patched:
    """Patches that look like each image's feature and leave the model's logits as they are without it.

    Each is a function of its own sample, but for rounding. Images and twins are float32 (N, C, H, W) in [0, 1]. Masks,
    bool (N, H, W), are the feature's place; labels, int64 (N,), the samples' classes.
    """
    if not len(images):
        return Patched(twins, np.zeros(0), np.zeros(0), [])
    budget = memory_budget(view.like(torch.zeros(1)).device, max_memory)
    with torch.inference_mode(False):
        first = view.normalise(view.like(torch.from_numpy(images[:1].copy())))
        parts = MicroBatches(images_at_once(view, first.detach(), AT_ONCE, budget, WITH_GRADIENT))
        patched = parts.over(
            len(images), lambda part: _patched(view, images[part], twins[part], masks[part], labels[part])
        )
    return Patched(
        np.concatenate([part.images for part in patched]),
        np.concatenate([part.change for part in patched]),
        np.concatenate([part.seen for part in patched]),
        [fault for part in patched for fault in part.faults],
    )


def _patched(view: ModelView, images: Float32, twins: Float32, masks: Mask, labels: Classes) -> Patched:
    """The patches of as many images as fit into memory."""
    device = view.like(torch.zeros(1)).device
    feature, plain, place = (torch.tensor(values, device=device) for values in (images, twins, masks[:, np.newaxis]))
    with torch.no_grad():
        aim = _logits(view, plain)
    pixels = _moved(view, torch.where(place, feature, plain), place, aim)
    with torch.no_grad():
        logits = _logits(view, pixels)
    change = ((logits - aim).abs().amax(dim=1) / _spread(view, aim)).double().cpu().numpy()
    seen = _seen(pixels, feature, plain, place)
    before, after = (
        predicted_classes(view.probabilities(output).float().cpu().numpy(), labels, view.multi_label)
        for output in (aim, logits)
    )
    ignored = (before == after) & (change <= MOST_CHANGE)
    faults = [
        PATCH_MATTERS if not is_ignored else "" if visibility >= LEAST_SEEN else PATCH_VANISHED
        for is_ignored, visibility in zip(ignored, seen, strict=True)
    ]
    return Patched(pixels.cpu().numpy(), change, seen, faults)


def _moved(view: ModelView, start: Tensor, place: Tensor, aim: Tensor) -> Tensor:
    """The pixels (n, C, H, W) after all steps; those outside the place are as they were."""
    pixels, mean, square = start.clone(), torch.zeros_like(start), start.new_zeros(len(start), 1, 1, 1)
    count = (place.sum(dim=(1, 2, 3), keepdim=True) * start.shape[1]).clamp(min=1)
    for step in range(STEPS):
        gradient = _gradient(view, pixels, start, aim, count) * place
        mean.lerp_(gradient, 1 - MOMENTUM[0])
        square.lerp_(gradient.square().sum(dim=(1, 2, 3), keepdim=True) / count, 1 - MOMENTUM[1])
        rate = RATE * (1 + cos(pi * step / STEPS)) / 2
        size = (square / (1 - MOMENTUM[1] ** (step + 1))).sqrt().clamp(min=torch.finfo(start.dtype).tiny)
        pixels = (pixels - rate / (1 - MOMENTUM[0] ** (step + 1)) * mean / size).clamp(0.0, 1.0)
    return pixels


def _gradient(view: ModelView, pixels: Tensor, start: Tensor, aim: Tensor, count: Tensor) -> Tensor:
    """Gradient of the objective at the pixels (n, C, H, W)."""
    with torch.enable_grad():
        leaf = pixels.detach().requires_grad_()
        logits = _logits(view, leaf)
        if not logits.requires_grad and not torch.equal(logits, aim):
            raise SalgenError("metric 'iir' takes gradients, and the output has none: remove detach() or no_grad()")
        effect = ((logits - aim) / _spread(view, aim)[:, None]).square().mean(dim=1)
        away = ((leaf - start).square() / count).sum(dim=(1, 2, 3))
        (gradient,) = torch.autograd.grad((effect + STAY * away).sum(), leaf)
    return gradient


def _logits(view: ModelView, pixels: Tensor) -> Tensor:
    """Logits (n, K), in single precision or better."""
    logits = view.logits(view.normalise(view.like(pixels.clone())))
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def _spread(view: ModelView, logits: Tensor) -> Tensor:
    """Largest minus smallest of the logits (n, K), (n,); with 0 among them if classes are independent."""
    compared = torch.cat([logits, torch.zeros_like(logits[:, :1])], dim=1) if view.independent else logits
    spread: Tensor = compared.amax(dim=1) - compared.amin(dim=1)
    return spread.clamp(min=torch.finfo(logits.dtype).tiny)


def _seen(pixels: Tensor, feature: Tensor, plain: Tensor, place: Tensor) -> Float64:
    """The patch's mean difference from the twin in that of the feature, float64 (n,); 0 where there is no feature."""
    of_feature, of_patch = (((x - plain).abs() * place).double().sum(dim=(1, 2, 3)) for x in (feature, pixels))
    floor = torch.finfo(of_feature.dtype).tiny
    share: Any = torch.where(of_feature > 0, of_patch / of_feature.clamp(min=floor), 0.0).cpu().numpy()
    return np.asarray(share)
