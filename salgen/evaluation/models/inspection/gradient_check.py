"""Whether gradients see all of a network: what it computes from the image without a gradient is found and weighed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from salgen.errors import SalgenError, reason, warn
from salgen.evaluation.models.inspection.gradient_loss import Loss, Losses
from salgen.evaluation.models.inspection.layers import find_layer
from salgen.evaluation.models.inspection.model_view import ModelView, NetworkCache
from salgen.evaluation.models.inspection.network_trace import hooked

TOLD, REFUSED = 0.02, 0.25  # shares of the logits' change; a detached norm's mean and deviation take .1 or so
DRAWS = 3

_ADVICE = (
    "explain the network without it (in float32, without torch.no_grad, detach() and rounding), or choose a method "
    "that reads no gradient, such as occlusion, rise or lime"
)


def check_gradient(method: str, view: ModelView, image: Tensor, layer: str | None = None) -> None:
    """Refuse a network in which the score's gradient misses values that the logits depend on.

    Values lose their gradient by ``torch.no_grad``, ``detach``, a cast to integers, or an operation without derivative.
    One image is run with noise, free and with these values held: the difference is what the gradient misses.
    Straight-through estimators, masks and the like pass.

    Parameters
    ----------
    method
        The method's name, for the error.
    image
        One normalised image (1, C, h, w); the network is run once per size and layer.
    layer
        The module at whose output the gradient is read; None for the network's input.
    """
    _checks(layer).of(method, view, image)


@dataclass
class _Pass:
    """A forward pass of one image, with noise on the values at which the gradient is read."""

    logits: Tensor
    place: Tensor
    losses: list[Loss]

    @classmethod
    def of(
        cls, view: ModelView, image: Tensor, layer: str | None, noise: float, seed: int, held: Sequence[Loss | None]
    ) -> _Pass:
        places: list[Tensor] = []

        def begin(output: Any) -> Tensor:
            if not isinstance(output, Tensor) or not output.is_floating_point():
                kind = output.dtype if isinstance(output, Tensor) else type(output).__name__
                raise SalgenError(f"layer {layer!r} gives {kind}, which has no gradient: {_ADVICE}")
            with torch._C.DisableTorchFunction():
                place: Tensor = output if output.requires_grad else output.detach().requires_grad_()
                places.append(place)
                size = float(place.detach().std()) if place.numel() > 1 else 0.0
                random = torch.randn(place.shape, generator=torch.Generator().manual_seed(seed)).to(place)
                with torch.enable_grad():
                    return place + noise * (size or 1.0) * random

        mode = Losses(view.network, held)
        hooks = [] if layer is None else [(find_layer(view, layer), lambda _module, _inputs, output: begin(output))]
        with torch.enable_grad(), hooked(hooks):
            inputs = begin(image.detach()) if layer is None else image.detach()
            with mode:
                logits = view.network(inputs.clone())
        return cls(logits, places[-1], mode.found)


def _check(layer: str | None, name: str, view: ModelView, image: Tensor) -> None:
    def run(noise: float, seed: int = 0, held: Sequence[Loss | None] = ()) -> _Pass:
        return _Pass.of(view, image, layer, noise, seed, held)

    first = run(0.0)
    if not first.losses and first.logits.requires_grad:
        return
    if _is_zero(first):
        changed = next((found for found in map(partial(run, 1.0), range(DRAWS)) if _differ(found, first)), None)
        if changed is not None and (first.losses or not first.logits.requires_grad):
            where = _first_changed(first, changed, ("value", "cast", "step"))
            raise SalgenError(f"{name}: the score's gradient is zero, as it is lost at {where}: {_ADVICE}")
        return
    for kind, noise in (("value", 0.01), ("cast", 0.3)):
        held = [loss if loss.kind == kind else None for loss in first.losses]
        if not any(held):
            continue
        missed = total = 0.0
        for seed in range(DRAWS):
            free = run(noise, seed)
            missed += float((run(noise, seed, held).logits - free.logits).detach().double().square().sum())
            total += float((free.logits - first.logits).detach().double().square().sum())
        share = min(1.0, (missed / total) ** 0.5) if missed else 0.0
        if share > TOLD:
            text = (
                f"the score's gradient misses a part of the network: it is lost at {_first_changed(first, free, (kind,))}, "
                f"and {share:.0%} of the logits' change goes through it"
            )
            if share > REFUSED:
                raise SalgenError(f"{name}: {text}: {_ADVICE}")
            warn(f"{text}: maps that read gradients leave this out")


def _is_zero(first: _Pass) -> bool:
    if not first.logits.requires_grad:
        return True
    score = (first.logits * torch.linspace(1, 2, first.logits.shape[1]).to(first.logits)).sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own of operations without derivative
        try:
            (gradient,) = torch.autograd.grad(score, first.place, allow_unused=True)
        except RuntimeError as error:
            raise SalgenError(f"the network has no gradient ({reason(error)}): {_ADVICE}") from None
    return gradient is None or not bool(gradient.any())


def _differ(one: _Pass, other: _Pass) -> bool:
    return not torch.equal(one.logits, other.logits)


def _first_changed(one: _Pass, other: _Pass, kinds: Sequence[str]) -> str:
    """The first place at which values differ between two passes."""
    for loss, again in zip(one.losses, other.losses, strict=False):
        if loss.kind in kinds and not all(map(torch.equal, loss.values, again.values)):
            return loss.where
    return "code that torch does not see"


@cache
def _checks(layer: str | None) -> NetworkCache[None]:
    return NetworkCache(partial(_check, layer))
