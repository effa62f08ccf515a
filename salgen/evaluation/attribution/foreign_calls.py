"""Calls of code that is not salgen's, on a copy of the network and with its own random numbers; maps are checked."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
import numpy as np
import torch
from torch import Tensor
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.library_methods import Question, bound_copy, library_of
from salgen.evaluation.models.inspection.model_view import margins, private_copy
from salgen.evaluation.models.inspection.random_state import random_state
from salgen.seeding import Stream

Arguments = Mapping[str, Any]


def foreign_maps(method: Any, arguments: Arguments, context: AttributionContext, name: str) -> Tensor:
    """The raw maps (n, C, h, w) of a function, or of a class or an object of a library.

    The first image is explained alone: if that draws random numbers, so is each other, with numbers of its own, which
    depend on seed, `name` and sample. Otherwise all are explained together, as the code may be faster so.
    """
    count = len(context.pixels)

    def maps(part: slice) -> tuple[Tensor, bool]:
        with _own_numbers(context.seed, name, context.ids[part][0]):
            before = _generators()
            raw = _checked(_called(method, arguments, context, part), context, part)
            return raw, _generators() != before

    first, draws = maps(slice(0, 1))
    if count == 1:
        return first
    if draws:
        return torch.cat([first, *(maps(slice(i, i + 1))[0] for i in range(1, count))])
    return maps(slice(None))[0]


def _called(method: Any, arguments: Arguments, context: AttributionContext, part: slice) -> Any:
    """What the code returns for some of the images."""
    view, library, images = context.model, library_of(method), context.inputs
    model = None if library is None or isinstance(method, type) else library.model_of(method)
    if model is None:
        network = private_copy(view.network, view.network)
        for weight in network.parameters():  # they ask for gradients as a trained network's do: others may need these
            weight.requires_grad_(weight.is_floating_point())
    else:
        method, network, takes_pixels = bound_copy(method, model, view)
        images = context.pixels if takes_pixels else images
    if context.score == "margin":  # the copy's outputs are what is explained; its modules stay
        network.register_forward_hook(lambda _module, _inputs, logits: margins(logits))
    images, targets = images[part].clone(), context.targets[part].clone()
    for shared in (*network.parameters(), *network.buffers()):
        shared.data = shared.data.clone()  # so that what changes it changes no other copy
    if library is None:
        return method(network, images, targets, **arguments)
    question = Question(view, network, images.requires_grad_(), context.inputs[:1].clone(), targets)
    if isinstance(method, type):
        method, arguments = library.make(method, question, arguments)
    return library.maps(method, question, arguments)


def _checked(found: Any, context: AttributionContext, part: slice) -> Tensor:
    """What was returned, as finite maps float32 (n, C, h, w) on the images' device."""
    pixels = context.pixels[part]
    raw = torch.from_numpy(found) if isinstance(found, np.ndarray) else found
    if not isinstance(raw, Tensor) or raw.is_complex():
        raise SalgenError(f"it returned {type(found).__name__}: must be a real tensor or array (n, C, h, w)")
    raw = raw.detach().to(pixels.device, torch.float32)
    raw = raw[:, None] if raw.ndim == 3 else raw
    shape, (height, width) = tuple(raw.shape), pixels.shape[2:]
    if len(shape) != 4 or shape[0] != len(pixels) or 0 in shape or shape[2] > height or shape[3] > width:
        raise SalgenError(
            f"it returned {tuple(found.shape)} for {len(pixels)} images of {height}x{width}: must be "
            f"({len(pixels)}, C, h, w) or ({len(pixels)}, h, w), of that size or smaller"
        )
    finite = torch.isfinite(raw).flatten(1).all(dim=1)
    if not bool(finite.all()):
        name = context.ids[part][int((~finite).nonzero()[0])]
        raise SalgenError(f"it returned NaN or infinite values, such as for {name}")
    return raw


@contextmanager
def _own_numbers(*names: str | int) -> Iterator[None]:
    """Draw torch's and numpy's global numbers from a state that depends on `names` alone, and restore them."""
    before = np.random.get_state()  # noqa: NPY002  # others' code draws from it
    try:
        with random_state(*names):
            np.random.seed(Stream(*names).key() % 2**32)  # noqa: NPY002
            yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


def _generators() -> tuple[Any, ...]:
    """The states of the generators that :func:`_own_numbers` sets."""
    states = [torch.get_rng_state(), *(torch.cuda.get_rng_state_all() if torch.cuda.is_available() else ())]
    numpys = np.random.get_state(legacy=False)  # noqa: NPY002
    return (*(state.numpy().tobytes() for state in states), numpys["state"]["key"].tobytes(), numpys["state"]["pos"])
