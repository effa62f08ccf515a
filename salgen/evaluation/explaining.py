"""Saliency maps of any classifier: ``salgen.explain``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.arguments import at_least, check_ids, check_images, check_masks, check_targets
from salgen.evaluation.model_view import SCORES, ModelView
from salgen.evaluation.reductions import SIGNED, check_reduction, reduce_channels, resize
from salgen.evaluation.request import Method, Request
from salgen.evaluation.untrained import untrained
from salgen.parameters import build, call_text, parse_call
from salgen.registry import METHODS
from salgen.types import SaliencyMap

BATCH_SIZE = 32
NATIVE = "native"


def explain(
    model: nn.Module | ModelView | None,
    images: Any,
    targets: Any = None,
    *,
    method: str | Method,
    reduce: str | None = NATIVE,
    layer: str | None = None,
    score: str = "logit",
    masks: Any = None,
    ids: Sequence[str] | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    **parameters: Any,
) -> SaliencyMap:
    """Saliency maps of a batch of images.

    The model is never changed: methods work on a private copy in evaluation mode that shares its
    weights. A map depends on its own image, id and seed, and on no other image of the call.

    Parameters
    ----------
    model
        Images to logits (N, K), on any device. A :class:`~salgen.evaluation.classifier.Classifier`
        is explained at its normalised images, any other module at the images themselves. Controls
        that need no model take None; a :class:`ModelView` saves the copy where a model is
        explained many times.
    images
        Floating-point array or tensor (N, C, H, W); in [0, 1] for a `Classifier`.
    targets
        The class of each map: integers (N,), one integer for all, or ``"pred"`` (also None) for the
        predicted class.
    method
        A name, a call such as ``"lrp-alpha-beta:alpha=1,beta=0"``, or an instance.
    reduce
        ``"native"``, another channel reduction, or None for raw attributions (N, C, H, W).
    layer
        Dotted name of the module that the CAM family uses; by default the model's own choice.
    score
        ``"logit"`` of the target, or its ``"margin"`` over the best other class.
    masks
        Ground truth, bool (N, H, W), for the oracles.
    ids
        The samples' names, which key the randomness of stochastic methods; ``"0"``, ``"1"``, ... by
        default.
    seed
        Any non-negative integer.
    batch_size
        Images per pass; 32 by default.
    **parameters
        The method's parameters.

    Returns
    -------
    SaliencyMap
        `values` is a float32 tensor on the model's device.

    Raises
    ------
    SalgenError
        If an argument is wrong, the method has no rule for the network, or the model's output is
        not finite logits.

    Examples
    --------
    >>> explain(None, torch.zeros(2, 1, 8, 8), method="center").values.shape
    torch.Size([2, 8, 8])
    """
    chosen = _method(method, parameters)
    reduction = chosen.reduction if reduce == NATIVE else reduce if reduce is None else check_reduction(reduce)
    if score not in SCORES:
        raise unknown_name("score", score, SCORES)
    with torch.inference_mode(False):
        view = _view(model, chosen)
        pixels = view.like(check_images(images))
        stated = check_targets(targets, len(pixels))
        whole = Request(
            model=view,
            inputs=pixels,
            pixels=pixels,
            targets=torch.zeros(len(pixels), dtype=torch.long) if stated is None else stated,
            ids=check_ids(ids, len(pixels)),
            seed=at_least(0, seed, "seed"),
            score=score,
            layer=layer,
            masks=None if masks is None else check_masks(masks, pixels),
            untrained=cache(lambda: untrained(view, seed)),
        )
        step = at_least(1, BATCH_SIZE if batch_size is None else batch_size, "batch_size")
        parts = [slice(start, start + step) for start in range(0, len(pixels), step)]
        raw = [_attribute(chosen, whole, part, predict=stated is None) for part in parts]
        size = (pixels.shape[2], pixels.shape[3])
        values = torch.cat([_finish(part, reduction, size) for part in raw])
    return SaliencyMap(
        values=values,
        method=call_text(chosen),
        reduction=reduction,
        signed=chosen.signed and (reduction is None or reduction in SIGNED),
        native_resolution=(raw[0].shape[2], raw[0].shape[3]),
    )


def _attribute(method: Method, whole: Request, part: slice, *, predict: bool) -> Tensor:
    """Raw attributions of one part of the images, float32 (n, C, h, w)."""
    pixels, targets = whole.pixels[part], whole.targets[part].to(whole.pixels.device)
    with torch.no_grad():
        inputs = whole.model.normalise(pixels.clone())
        if predict and method.class_dependent and "model" in method.needs:
            targets = whole.model.logits(inputs).argmax(dim=1)
    request = dataclasses.replace(
        whole,
        inputs=inputs,
        pixels=pixels,
        targets=targets,
        ids=whole.ids[part],
        masks=None if whole.masks is None else whole.masks[part],
    )
    with torch.enable_grad():
        raw = method.attribute(request).detach()
    if raw.ndim != 4 or len(raw) != len(pixels) or 0 in raw.shape[1:]:
        raise SalgenError(
            f"method {method.name!r} returned {tuple(raw.shape)} for {len(pixels)} images: "
            "must be (n, C, h, w), none of them 0"
        )
    return raw.float().contiguous()


def _finish(raw: Tensor, reduction: str | None, size: tuple[int, int]) -> Tensor:
    if reduction is None:
        return resize(raw, size)
    return resize(reduce_channels(raw, reduction)[:, None], size)[:, 0]


def _method(method: str | Method, parameters: dict[str, Any]) -> Method:
    if isinstance(method, str):
        name, given = parse_call(method)
        created: Method = METHODS.create(name, {**given, **parameters})
        return created
    if not callable(getattr(method, "attribute", None)) or isinstance(method, type):
        raise SalgenError(f"method {method!r}: give a name, 'name:key=value', or an instance with attribute()")
    if not parameters:
        return method
    fields = {f.name: getattr(method, f.name) for f in dataclasses.fields(method)}  # type: ignore[arg-type]
    return build(type(method), {**fields, **parameters})


def _view(model: nn.Module | ModelView | None, method: Method) -> ModelView:
    if isinstance(model, ModelView):
        return model
    if isinstance(model, nn.Module):
        return ModelView.of(model if "model" in method.needs else nn.Identity())
    if model is not None:
        raise SalgenError(f"model is {type(model).__name__}: must be a torch.nn.Module")
    if "model" in method.needs:
        raise SalgenError(f"method {method.name!r} explains a model: give one")
    return ModelView.of(nn.Identity())
