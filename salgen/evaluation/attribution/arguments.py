"""The arguments of ``salgen.explain``, as tensors or as one clear error."""

from collections.abc import Sequence
from typing import Any
import numpy as np
import torch
from torch import Tensor
from salgen.errors import SalgenError, warn

FAR_ABOVE_ONE = 16  # images in [0, 1] may exceed 1 a little, by noise or resampling
FAR_BELOW_ZERO = -0.5  # noise on pixels does not reach it


def check_images(images: Any) -> Tensor:
    """float32 (N, C, H, W), finite; it may share memory with `images`."""
    tensor = _tensor(images, "images")
    if not tensor.is_floating_point():
        raise SalgenError(
            f"images are {str(tensor.dtype).removeprefix('torch.')}: must be float32; scale them to what the model "
            "takes, e.g. divide by 255"
        )
    if tensor.ndim != 4 or 0 in tensor.shape:
        raise SalgenError(f"images have shape {tuple(tensor.shape)}: must be (N, C, H, W) with no empty axis")
    finite = torch.isfinite(tensor).flatten(1).all(dim=1)
    if not bool(finite.all()):
        raise SalgenError(f"image {int((~finite).nonzero()[0])} has NaN or infinite values")
    return tensor.detach().float()


def check_range(pixels: Tensor, unit_pixels: bool) -> None:
    """Refuse images (N, C, H, W) far outside [0, 1] if they should be `unit_pixels`; else warn of bytes."""
    low, high = float(pixels.min()), float(pixels.max())
    if unit_pixels and low < FAR_BELOW_ZERO:
        raise SalgenError(f"images reach {low:g}, and the model takes pixels in [0, 1]: give them before normalisation")
    if high <= FAR_ABOVE_ONE:
        return
    if unit_pixels:
        raise SalgenError(f"images reach {high:g}, and the model takes pixels in [0, 1]: divide them by 255")
    if low >= 0:
        warn(f"images reach {high:g}: divide them by 255 if the model takes pixels in [0, 1]")


def check_baselines(baselines: Any, pixels: Tensor) -> Tensor:
    """float32 (N, C, H, W) of one image, colour or image each."""
    tensor = _tensor(baselines, "baselines").detach().float()
    try:
        return tensor.to(pixels.device).expand_as(pixels)
    except RuntimeError:
        raise SalgenError(
            f"baselines have shape {tuple(tensor.shape)} and images {tuple(pixels.shape)}: must be (C, H, W), or "
            "(N, C, H, W) with one for each image"
        ) from None


def check_references(references: Any, pixels: Tensor) -> Tensor:
    """float32 (M, C, H, W): images of the size of those that are explained."""
    tensor = _tensor(references, "references").detach().float()
    if tensor.ndim != 4 or not len(tensor) or tensor.shape[1:] != pixels.shape[1:]:
        raise SalgenError(
            f"references have shape {tuple(tensor.shape)} and images {tuple(pixels.shape)}: must be (M, C, H, W) with "
            "the same C, H and W"
        )
    return tensor


def check_targets(targets: Any, count: int) -> Tensor | None:
    """int64 (N,), or None for the predicted class."""
    if targets is None or (isinstance(targets, str) and targets == "pred"):
        return None
    tensor = _tensor(targets, "targets").detach()
    if tensor.is_floating_point() or tensor.dtype == torch.bool or tuple(tensor.shape) not in ((), (count,)):
        given = f"{str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}"
        raise SalgenError(f"targets are {given}: must be integers ({count},), one class per image, or 'pred'")
    return tensor.to(torch.long).expand(count)


def check_masks(masks: Any, pixels: Tensor) -> Tensor:
    """Ground truth, bool (N, H, W), of the images' size."""
    tensor = _tensor(masks, "masks")
    expected = (len(pixels), *pixels.shape[2:])
    if tensor.dtype != torch.bool or tuple(tensor.shape) != expected:
        raise SalgenError(
            f"masks are {str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}: must be bool {expected}"
        )
    return tensor


def check_layers(layers: str | Sequence[str]) -> str:
    """One layer's name, or several as one text."""
    names = [layers] if isinstance(layers, str) else layers
    if not all(names) or not names:
        raise SalgenError(f"layer = {layers!r}: give the dotted name of a module, or a list of such names")
    return "+".join(names)


def check_ids(ids: Sequence[str] | None, count: int) -> list[str]:
    """One name per image; ``"0"``, ``"1"``, ... by default."""
    names = [str(number) for number in range(count)] if ids is None else [str(name) for name in ids]
    if len(names) != count:
        raise SalgenError(f"{len(names)} ids for {count} images: give one each")
    return names


def _tensor(values: Any, name: str) -> Tensor:
    try:
        return values if isinstance(values, Tensor) else torch.from_numpy(np.array(values, order="C"))
    except (TypeError, ValueError) as error:
        raise SalgenError(f"{name} are not an array or tensor of numbers: {error}") from None
