"""The first image through a network: whether it takes such images at all, before any work."""

from __future__ import annotations

from torch import Tensor

from salgen.errors import SalgenError
from salgen.evaluation.models.inspection.model_view import ModelView, check_deterministic
from salgen.evaluation.models.inspection.network_trace import NetworkTrace
from salgen.evaluation.models.inspection.out_of_memory import is_out_of_memory


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
