"""The first image through a network: whether it takes such images at all, before any work."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor

from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_cache import NetworkCache
from salgen.evaluation.models.inspection.network_trace import NetworkTrace
from salgen.evaluation.models.inspection.out_of_memory import is_out_of_memory
from salgen.evaluation.models.inspection.random_state import random_state


def check_model(view: ModelView, image: Tensor) -> NetworkTrace:
    """The layout of a network for one normalised image (1, C, h, w) and those like it.

    Raises
    ------
    SalgenError
        If the network fails on it, returns anything but finite logits (1, K), or draws random numbers.
    """
    try:
        check_deterministic(view, image)
        layout = NetworkTrace.of(view, image)
    except (RuntimeError, ValueError, IndexError, TypeError) as error:
        if is_out_of_memory(error):
            raise
        reason = " ".join(str(error).split())
        raise SalgenError(
            f"the model fails on an image of {tuple(image.shape[1:])}; does it take this many channels, and this size? "
            f"{reason[:300]}"
        ) from error
    return layout


def check_deterministic(view: ModelView, image: Tensor) -> None:
    """Refuse a model that draws random numbers, and warn of one whose answer depends on its batch.

    It is run on one normalised image (1, C, h, w), alone and beside another, once per network and
    size; torch's random state stays what it was.

    Raises
    ------
    SalgenError
        If it draws random numbers, or takes one image but not two.
    """
    if not _alone_as_together.of("", view, image):
        warnings.warn(
            "the model's answer for an image depends on the other images of its batch, and so do its maps: "
            "use batch_size=1, or make it independent of them",
            SalgenWarning,
            stacklevel=3,
        )


def _compare(_name: str, view: ModelView, image: Tensor) -> bool:
    """Whether an image's logits are the same beside another image."""
    with torch.no_grad(), random_state("first look"):
        before = _generators(image)
        alone = view.logits(image)
        try:
            together = view.logits(torch.cat([image, image.flip(3) / 2]))
        except (RuntimeError, ValueError) as error:
            if is_out_of_memory(error):
                return True  # one image at a time is all there is room for
            reason = " ".join(str(error).split())
            raise SalgenError(
                f"the model takes one image of {tuple(image.shape[1:])} but not two: {reason[:300]}"
            ) from None
        drawn = any(not torch.equal(old, new) for old, new in zip(before, _generators(image), strict=True))
    if drawn:
        raise SalgenError(
            "the model draws random numbers: does dropout stay on (pass training=self.training to it), or is noise "
            "added in evaluation mode?"
        )
    slack = max(1e-3, 8 * torch.finfo(alone.dtype).eps)
    return torch.allclose(alone, together[:1], rtol=slack, atol=slack * float(alone.abs().max()))


def _generators(image: Tensor) -> list[Tensor]:
    """The states of torch's random generators that the model may use."""
    on_device = [torch.cuda.get_rng_state(image.device)] if image.is_cuda else []
    return [torch.get_rng_state(), *on_device]


_alone_as_together = NetworkCache(_compare)
