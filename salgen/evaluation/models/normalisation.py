"""From images in [0, 1] to what a network was trained to take."""

import copy
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import isfunction
from typing import Any, cast
import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn
from salgen.errors import SalgenError, reason, warn

# Of the colours red, green and blue, over ImageNet's training images.
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)

HOW_TO_NORMALISE = (
    "give a torch.nn.Module of images in [0, 1], (mean, std), or what has a mean and std: torchvision's Normalize or "
    "weights.transforms(), timm's data config, a Hugging Face image processor"
)
_OF_TRAINING = re.compile("Random|Jitter|Augment|Blur|Noise|Erasing|Dropout|Mix")  # in names of a pipeline's steps
_OTHER_KEYS = re.compile("rgb|bgr|scale|pixel|do_|offset|include|image_mean")  # beside a mean and std
# A pipeline is for one of these, made from a picture (H, W, C), uint8.
_INPUTS: tuple[Callable[[Any, NDArray[np.uint8]], Any], ...] = (
    lambda step, picture: step(Image.fromarray(picture.squeeze())),
    lambda step, picture: step(image=picture),  # albumentations
    lambda step, picture: step(torch.from_numpy(picture).permute(2, 0, 1) / 255),
    lambda step, picture: step(torch.from_numpy(picture).permute(2, 0, 1)),
    lambda step, picture: step(picture),
)


class Normalisation(nn.Module):
    """Each channel less its mean, over its deviation; `order`, such as (2, 1, 0) for BGR, has the channels taken."""

    mean: Tensor
    std: Tensor

    def __init__(self, mean: Sequence[float], std: Sequence[float], order: Sequence[int] | None = None) -> None:
        super().__init__()
        self.order = order
        self.register_buffer("mean", torch.tensor(mean).view(-1, 1, 1))
        self.register_buffer("std", torch.tensor(std).view(-1, 1, 1))

    def forward(self, images: Tensor) -> Tensor:
        """(N, C, H, W) in [0, 1] to the same shape."""
        return ((images if self.order is None else images[:, self.order]) - self.mean) / self.std


def imagenet_normalisation(channels: int) -> Normalisation:
    """The normalisation of torchvision's networks; a single channel takes the means over the colours."""
    if channels == 3:
        return Normalisation(IMAGENET_MEAN, IMAGENET_STD)
    if channels == 1:
        return Normalisation([sum(IMAGENET_MEAN) / 3], [sum(IMAGENET_STD) / 3])
    raise SalgenError(f"torchvision's networks take images of 1 or 3 channels, not {channels}: choose another model")


def normalisation(preprocess: Any, channels: int = 3) -> nn.Module:
    """A module that prepares images in [0, 1] as `preprocess` does, except for resizing and cropping.

    Pipelines and image processors are measured with pictures, so that every step counts. Refused are those that are
    for pixels of 0 to 255, and that do more than scale and shift each channel and reorder them.
    """
    if callable(getattr(preprocess, "transforms", None)):
        preprocess = preprocess.transforms()  # torchvision's weights hold them
    preprocess = getattr(preprocess, "image_processor", preprocess)  # a processor of texts and images holds one
    values = preprocess if isinstance(preprocess, Mapping) else getattr(preprocess, "__dict__", {})
    kind = type(preprocess)
    if isinstance(preprocess, (tuple, list)) and len(preprocess) == 2:
        values = dict(zip(("mean", "std"), preprocess, strict=True))
    elif isinstance(preprocess, nn.Module) and not kind.__module__.startswith("torchvision.transforms."):
        return copy.deepcopy(preprocess)  # the user's own keeps its mode and its device
    elif callable(preprocess):
        return _measured(preprocess, channels)
    if "mean" not in values or "std" not in values:
        raise SalgenError(f"preprocess is {kind.__name__}: {HOW_TO_NORMALISE}")
    if others := [key for key in values if _OTHER_KEYS.search(key)]:
        raise SalgenError(f"preprocess states {others[0]} beside mean and std: give the object that applies it")
    return stated_normalisation(values["mean"], values["std"])


def set_apart(network: nn.Module) -> nn.Module | None:
    """The Normalize that a Sequential begins with, if it does, in whose place it then has the identity."""
    if not isinstance(network, nn.Sequential) or len(network) < 2 or type(network[0]).__name__ != "Normalize":
        return None
    first: Any = network[0]
    if type(first).__module__.startswith("torchvision."):
        first = stated_normalisation(first.mean, first.std)
        first = first.to(next((weight.device for weight in network.parameters()), first.mean.device))
    network[0] = nn.Identity()
    return cast(nn.Module, first)


def stated_normalisation(mean: Any, std: Any) -> Normalisation:
    """The normalisation with a mean and a standard deviation for each channel of images in [0, 1]."""
    try:
        means, stds = (torch.as_tensor(values, dtype=torch.float32).flatten().tolist() for values in (mean, std))
    except (TypeError, ValueError, RuntimeError):
        raise SalgenError(f"preprocess has mean {mean!r} and std {std!r}: give a number for each channel") from None
    if not _is_for_unit_pixels(means, stds):
        raise SalgenError(
            f"preprocess has mean {mean} and std {std}, but images are in [0, 1]: if they are for pixels of 0 to 255, "
            "divide both by 255"
        )
    return Normalisation(means, stds)


def _is_for_unit_pixels(means: Sequence[float], stds: Sequence[float]) -> bool:
    """True unless images in [0, 1] would become nearly constant or lie far from 0."""
    return all(-1 <= mean <= 2 for mean in means) and all(0 < abs(std) <= 10 for std in stds)


def _measured(preprocess: Any, channels: int) -> Normalisation:
    """What a pipeline does to the colour in the middle of pictures, where neither resizing nor cropping changes it."""
    steps = list(_step_names(preprocess))
    if random := [name for name in steps if _OF_TRAINING.search(name)]:
        raise SalgenError(f"preprocess has {random[0]}, a step of training: give the pipeline of evaluation")
    colours = np.random.default_rng(0).integers(256, size=(2, 16, channels), dtype=np.uint8)
    inside, around = colours[0], colours[1]
    inside[: channels + 1] = 255 * np.eye(channels + 1, channels, -1, dtype=np.uint8)  # black, and each channel alone
    pictures = np.broadcast_to(around[:, None, None], (16, 64, 64, channels)).copy()
    pictures[:, 16:48, 16:48] = inside[:, None, None]
    fault, inputs = "", _INPUTS
    if hasattr(preprocess, "preprocess"):
        inputs = _INPUTS[:1]  # an image processor
    elif isfunction(preprocess) or (isinstance(preprocess, nn.Module) and len(steps) == 1):
        inputs = _INPUTS[2:] + _INPUTS[:2]  # tensors rather than pictures
    for shown in inputs:
        try:
            found = np.stack([_middle(shown(preprocess, picture)) for picture in pictures])
        except Exception as error:  # a pipeline that is for something else may fail in any way
            fault = fault or f"fails on a picture of {channels} channels: {reason(error)}"
            continue
        slopes = found[1 : channels + 1] - found[0]
        slack = 1e-3 * np.abs(slopes).max()
        is_affine = np.abs(found[0] + inside / 255 @ slopes - found).max() <= slack
        order = np.abs(slopes).argmax(axis=0)
        if not is_affine or not ((np.abs(slopes) > slack).sum(axis=0) == 1).all():
            fault = "does more to colours than scale and shift each channel and reorder them: leave that out"
            continue
        scale = slopes[order, np.arange(len(order))]
        mean, std = (-found[0] / scale).tolist(), (1 / scale).tolist()
        if _is_for_unit_pixels(mean, std):
            if np.abs(found).max() > 256:
                low, high = found.min(), found.max()
                warn(f"preprocess makes values of {low:.3g} to {high:.3g}: does it lack the step from 0..255 to 0..1?")
            in_order = channels == 1 or order.tolist() == list(range(channels))
            return Normalisation(mean, std, None if in_order else order.tolist())
        fault = f"has mean {mean[0]:.4g} and std {std[0]:.4g} for images in [0, 1]: divide by 255 if it is for 0 to 255"
    if channels == 1:  # grey images for a network that takes colours
        grey = _measured(preprocess, 3)
        return Normalisation(grey.mean.flatten().tolist(), grey.std.flatten().tolist())
    raise SalgenError(f"preprocess ({', '.join(steps)}) {fault}")


def _step_names(preprocess: Any) -> Iterator[str]:
    yield getattr(preprocess, "__name__", type(preprocess).__name__)
    for step in getattr(preprocess, "transforms", ()):
        yield from _step_names(step)


def _middle(output: Any) -> NDArray[np.float64]:
    """The pixel in the middle of a pipeline's output."""
    if isinstance(output, Mapping):
        output = output["pixel_values"][0] if "pixel_values" in output else output["image"]
    if not isinstance(output, (Tensor, np.ndarray)) or output.ndim != 3:
        raise TypeError(f"it gives {type(output).__name__}, and must give an array (C, H, W)")
    values = np.asarray(output.double() if isinstance(output, Tensor) else output, dtype=np.float64)
    maps = values if len(values) in (1, 3) else np.moveaxis(values, -1, 0)
    return np.asarray(maps[:, maps.shape[1] // 2, maps.shape[2] // 2])
