"""Saliency maps of any classifier: ``salgen.explain``, and many methods at once: ``salgen.explain_all``."""

from __future__ import annotations

import dataclasses
from collections import UserDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import torch
from torch import Tensor, nn

from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.arguments import at_least, check_ids, check_images, check_masks, check_targets
from salgen.evaluation.memory import WITH_GRADIENT, MicroBatches, images_at_once, is_out_of_memory, memory_budget
from salgen.evaluation.model_view import SCORES, ModelView
from salgen.evaluation.once import Once
from salgen.evaluation.passes import Passes, Wanted
from salgen.evaluation.patterns import Patterns
from salgen.evaluation.reductions import SIGNED, check_reduction, reduce_channels, resize
from salgen.evaluation.request import Method, Request
from salgen.evaluation.untrained import untrained
from salgen.parameters import build, call_text, parse_call
from salgen.registry import METHODS
from salgen.types import SaliencyMap

BATCH_SIZE = 32
FORWARD_BATCH_SIZE = 128
NATIVE = "native"


class Explained(UserDict[str, SaliencyMap]):
    """The maps of several methods by their calls.

    Attributes
    ----------
    logits
        The model's output (N, K) for the images, if a method needed the model.
    seconds
        Per method: the time of its own work and its share of the passes that it had in common with others.
    """

    def __init__(self) -> None:
        super().__init__()
        self.logits: Tensor | None = None
        self.seconds: dict[str, float] = {}


def explain(
    model: nn.Module | ModelView | None,
    images: Any,
    targets: Any = None,
    *,
    method: str | Method,
    reduce: str | None = NATIVE,
    layer: str | Sequence[str] | None = None,
    score: str = "logit",
    masks: Any = None,
    ids: Sequence[str] | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    max_memory: float | None = None,
    patterns: Patterns | None = None,
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
        Dotted name of the module that the CAM family uses, or several, whose maps are summed; by
        default the model's own choice.
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
        Images per pass, at most; 32 by default.
    max_memory
        GB that may be used on the model's device; half of what is free by default.
    patterns
        What ``salgen.fit_patterns`` gave, for PatternNet and PatternAttribution.
    **parameters
        The method's parameters.

    Returns
    -------
    SaliencyMap
        `values` is a float32 tensor on the model's device.

    Raises
    ------
    SalgenError
        If an argument is wrong, the method is not defined for the network, or the model's output is
        not finite logits.

    Examples
    --------
    >>> explain(None, torch.zeros(2, 1, 8, 8), method="center").values.shape
    torch.Size([2, 8, 8])
    """
    if layer is not None:
        parameters["layer"] = layer if isinstance(layer, str) else "+".join(layer)
    chosen = _method(method, parameters)
    explained = explain_all(
        model,
        images,
        targets,
        methods=[chosen],
        reduce=reduce,
        score=score,
        masks=masks,
        ids=ids,
        seed=seed,
        batch_size=batch_size,
        max_memory=max_memory,
        patterns=patterns,
    )
    return next(iter(explained.values()))


def explain_all(
    model: nn.Module | ModelView | None,
    images: Any,
    targets: Any = None,
    *,
    methods: Sequence[str | Method],
    reduce: str | None = NATIVE,
    score: str = "logit",
    masks: Any = None,
    ids: Sequence[str] | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    max_memory: float | None = None,
    patterns: Patterns | None = None,
) -> Explained:
    """Saliency maps of a batch of images by several methods, which share what they have in common.

    Activations, gradients and predictions come from one forward and one backward pass for all
    methods that read them; so do the rewired passes of the LRP family and of guided backpropagation.

    Parameters are those of :func:`explain`. The result maps each method's call to its maps, which
    are those of :func:`explain`.

    Examples
    --------
    >>> sorted(explain_all(None, torch.zeros(2, 1, 8, 8), methods=["center", "sobel"]))
    ['center', 'sobel']
    """
    instances = [_method(method, {}) for method in methods]
    chosen = {call_text(method): method for method in instances}
    if reduce not in (NATIVE, None):
        check_reduction(str(reduce))
    if score not in SCORES:
        raise unknown_name("score", score, SCORES)
    with torch.inference_mode(False):
        view = _view(model, chosen)
        pixels = view.like(check_images(images))
        count = len(pixels)
        question = _Question(
            view=view,
            methods=chosen,
            reduce=reduce,
            score=score,
            seed=at_least(0, seed, "seed"),
            pixels=pixels,
            targets=check_targets(targets, count),
            ids=check_ids(ids, count),
            masks=None if masks is None else check_masks(masks, pixels),
            patterns=patterns,
        )
        most = at_least(1, BATCH_SIZE if batch_size is None else batch_size, "batch_size")
        return question.answer(most, memory_budget(pixels.device, max_memory))


def check_methods(view: ModelView, methods: Mapping[str, Method], pixels: Tensor) -> None:
    """Raise a SalgenError if a method is not defined for a model that takes such `pixels` (1, C, H, W)."""
    with torch.inference_mode(False), torch.no_grad():
        image = view.normalise(view.like(pixels))
        for method in methods.values():
            if "model" in method.needs:
                method.check(view, image)


@dataclass(frozen=True)
class _Question:
    """All that is asked about a batch of images."""

    view: ModelView
    methods: dict[str, Method]
    reduce: str | None
    score: str
    seed: int
    pixels: Tensor
    targets: Tensor | None
    ids: list[str]
    masks: Tensor | None
    patterns: Patterns | None

    def answer(self, most: int, budget: float) -> Explained:
        """Every method's maps of all images, at most `most` at a time."""
        try:
            return self._answer(most, budget)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            raise SalgenError(
                f"explaining one image of {tuple(self.pixels.shape[1:])} needs more memory than {self.pixels.device} "
                "has: use smaller images or a smaller model, or methods that need less"
            ) from None

    def _answer(self, most: int, budget: float) -> Explained:
        check_methods(self.view, self.methods, self.pixels[:1].clone())
        with torch.no_grad():
            image = self.view.normalise(self.pixels[:1].clone())
        wanted = Wanted.together(method.wanted(self.view, image) for method in self.methods.values())
        forward = FORWARD_BATCH_SIZE
        if self._needs_model:
            most = images_at_once(self.view, image, most, budget, WITH_GRADIENT)
            forward = images_at_once(self.view, image, forward, budget, 1)
        inner = MicroBatches(forward)
        return _joined(MicroBatches(most).over(len(self.pixels), lambda part: self._part(part, wanted, inner)))

    @cached_property
    def _untrained(self) -> Callable[[], ModelView]:
        return cache(lambda: untrained(self.view, self.seed))

    @property
    def _needs_model(self) -> bool:
        return any("model" in method.needs for method in self.methods.values())

    def _part(self, part: slice, wanted: Wanted, batches: MicroBatches) -> Explained:
        """Every method's maps of one part of the images."""
        request = self._request(part, wanted, batches)
        try:
            explained = Explained()
            for call, method in self.methods.items():
                explained[call] = request.once.run(call, lambda method=method: self._maps(method, request))  # type: ignore[misc]
            explained.logits = request.passes.logits() if self._needs_model else None
            explained.seconds = request.once.seconds()
            return explained
        finally:
            request.once.release()

    def _request(self, part: slice, wanted: Wanted, batches: MicroBatches) -> Request:
        pixels = self.pixels[part]
        with torch.no_grad():
            inputs = self.view.normalise(pixels.clone())
        stated = None if self.targets is None else self.targets[part].to(pixels.device)
        return Request(
            model=self.view,
            inputs=inputs,
            pixels=pixels,
            ids=self.ids[part],
            seed=self.seed,
            score=self.score,
            masks=None if self.masks is None else self.masks[part],
            passes=Passes(self.view, inputs, self.score, wanted, stated, Once(pixels.device)),
            batches=batches,
            untrained=self._untrained,
            patterns=self.patterns,
        )

    def _maps(self, method: Method, request: Request) -> SaliencyMap:
        with torch.enable_grad():
            raw = method.attribute(request).detach()
        count, size = len(request.pixels), (request.pixels.shape[2], request.pixels.shape[3])
        if raw.ndim != 4 or len(raw) != count or 0 in raw.shape[1:]:
            raise SalgenError(
                f"method {method.name!r} returned {tuple(raw.shape)} for {count} images: "
                "must be (n, C, h, w), none of them 0"
            )
        reduction = method.reduction if self.reduce == NATIVE else self.reduce
        return SaliencyMap(
            values=_finish(raw.float().contiguous(), reduction, size),
            method=call_text(method),
            reduction=reduction,
            signed=method.signed and (reduction is None or reduction in SIGNED),
            native_resolution=(raw.shape[2], raw.shape[3]),
        )


def _joined(parts: Sequence[Explained]) -> Explained:
    """The parts of a batch in one."""
    whole = Explained()
    for call, first in parts[0].items():
        values = torch.cat([part[call].values for part in parts])
        whole[call] = dataclasses.replace(first, values=values)
        whole.seconds[call] = sum(part.seconds[call] for part in parts)
    logits = [part.logits for part in parts if part.logits is not None]
    whole.logits = torch.cat(logits) if logits else None
    return whole


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


def _view(model: nn.Module | ModelView | None, methods: Mapping[str, Method]) -> ModelView:
    if isinstance(model, ModelView):
        return model
    explains = [method.name for method in methods.values() if "model" in method.needs]
    if isinstance(model, nn.Module):
        return ModelView.of(model if explains else nn.Identity())
    if model is not None:
        raise SalgenError(f"model is {type(model).__name__}: must be a torch.nn.Module")
    if explains:
        raise SalgenError(f"method {explains[0]!r} explains a model: give one")
    return ModelView.of(nn.Identity())
