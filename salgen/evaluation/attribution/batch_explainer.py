"""The maps of several methods for a batch of images, computed with shared passes."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any
from weakref import WeakKeyDictionary
import numpy as np
import torch
from torch import Tensor, nn
from salgen.errors import FailedMethodError, SalgenError, named, warn
from salgen.evaluation.attribution.attribution_context import AttributionContext, Method
from salgen.evaluation.attribution.passes import Passes, PassRequirements
from salgen.evaluation.attribution.patterns import Patterns
from salgen.evaluation.attribution.reductions import NATIVE, SIGNED, as_saliency
from salgen.evaluation.models.inspection.batch_size import WITH_GRADIENT, MicroBatches, images_at_once, memory_budget
from salgen.evaluation.models.inspection.fresh_weights import untrained
from salgen.evaluation.models.inspection.gradient_check import check_gradient
from salgen.evaluation.models.inspection.memory import is_out_of_memory
from salgen.evaluation.models.inspection.model_view import ModelView, score_gradient
from salgen.evaluation.models.inspection.network_trace import check_model
from salgen.parameters import call_text
from salgen.types import Explained, SaliencyMap

BATCH_SIZE = 32
FORWARD_BATCH_SIZE = 128
LACKS = {
    "mask": "is made from the ground truth: give masks=, bool (N, H, W)",
    "patterns": "needs patterns: give patterns=salgen.fit_patterns(model, training_images); salgen evaluate fits them "
    "itself",
    "references": "compares with other images: give references=, such as training images",
}
FLAT = 1e-6  # a range below this share of the values is rounding in float32

_told: WeakKeyDictionary[nn.Module, set[str]] = WeakKeyDictionary()


def check_methods(view: ModelView, methods: Mapping[str, Method], pixels: Tensor) -> None:
    """Raise a SalgenError if a method is not defined for a model that takes such `pixels` (1, C, H, W)."""
    explaining = [method for method in methods.values() if "model" in method.needs]
    if not explaining:
        return
    with torch.inference_mode(False), torch.no_grad(), view.failures(pixels, "cannot be explained"):
        image = view.normalise(view.like(pixels))
        check_model(view, image)
        for method in explaining:
            _check_method(method, view, image)


def _check_method(method: Method, view: ModelView, image: Tensor) -> None:
    method.check(view, image)
    passes = method.required_passes(view, image)
    layers = sorted(passes.gradients or (passes.layers if method.reads_gradients else ()))
    if passes.input_gradient or (method.reads_gradients and not layers):
        check_gradient(method.name, view, image)
    else:
        for layer in layers:
            check_gradient(method.name, view, image, layer)


@dataclass(eq=False)
class BatchExplainer:
    """Several methods with a batch of images to explain, given as arrays or tensors; it holds copies."""

    view: ModelView
    methods: dict[str, Method]
    reduce: str | None
    score: str
    seed: int
    pixels: Any  # (N, C, H, W)
    targets: Any  # (N,), or None for the predicted classes
    ids: list[str]
    masks: Any = None  # bool (N, H, W)
    patterns: Patterns | None = None
    baselines: Any = None  # (N, C, H, W)
    references: Any = None  # (M, C, H, W)

    def __post_init__(self) -> None:
        self._untrained = cache(partial(untrained, self.view, self.seed))
        with torch.inference_mode(False):
            self.pixels = self.view.like(_copied(self.pixels).float())
            self.targets = None if self.targets is None else _copied(self.targets)
            self.masks = None if self.masks is None else _copied(self.masks).to(self.pixels.device)
            self.baselines = None if self.baselines is None else self.view.like(self.baselines)
            self.references = None if self.references is None else self.view.like(self.references)

    def explain(self, max_memory: float | None = None, most: int = BATCH_SIZE) -> Explained:
        """Every method's maps of all images, at most `most` at a time, within `max_memory` GB of the device's."""
        budget = memory_budget(self.pixels.device, max_memory)
        try:
            with (
                torch.inference_mode(False),
                torch.autocast(self.pixels.device.type, enabled=False),
                self.view.failures(self.pixels, "cannot be explained"),
            ):
                explained = self._explain(most, budget)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            raise SalgenError(
                f"explaining one image of {tuple(self.pixels.shape[1:])} needs more memory than {self.pixels.device} "
                "has: use smaller images or a smaller model, or methods that need less"
            ) from None
        self._warn_of_empty(explained)
        return explained

    def _warn_of_empty(self, explained: Explained) -> None:
        """Say once per network and method that most maps are zero, constant or not finite; controls may be."""
        told = _told.setdefault(self.view.network, set())
        for call in explained.keys() - told - {call for call, method in self.methods.items() if method.control}:
            values = explained[call].values.flatten(1)
            low, high = values.amin(dim=1), values.amax(dim=1)
            kinds = {
                "not finite": ~(low.isfinite() & high.isfinite()),
                "zero everywhere": (low == 0) & (high == 0),
                "constant": high - low <= FLAT * torch.maximum(low.abs(), high.abs()),
            }
            kind = next((kind for kind, found in kinds.items() if 2 * int(found.sum()) > len(found)), None)
            if kind:
                told.add(call)
                warn(
                    f"{call}: {int(kinds[kind].sum())} of {len(values)} maps are {kind}: does the model depend on the "
                    "images there? choose another layer or method if it does"
                )

    def _explain(self, most: int, budget: float) -> Explained:
        given = {"mask": self.masks, "patterns": self.patterns, "references": self.references}
        for method in self.methods.values():
            for need in method.needs & LACKS.keys():
                if given[need] is None:
                    raise SalgenError(f"{method.name} {LACKS[need]}")
        forward, requirements = FORWARD_BATCH_SIZE, PassRequirements()
        if self._explaining:
            darkest = int(self.pixels.flatten(1).amin(dim=1).argmin())  # on this image some methods check the batch
            with torch.no_grad():
                image = self.view.normalise(self.pixels[darkest : darkest + 1].clone())
            classes = check_model(self.view, image).classes
            stated = torch.zeros(1, dtype=torch.long) if self.targets is None else self.targets.cpu()
            score_gradient(torch.zeros(len(stated), classes), stated, self.score)  # refuses what are no targets
            required = []
            for call, method in self._explaining.items():
                with _failures(call):
                    _check_method(method, self.view, image)
                    required.append(method.required_passes(self.view, image))
            requirements = PassRequirements.together(required)
            most = images_at_once(self.view, image, most, budget, WITH_GRADIENT)
            forward = images_at_once(self.view, image, forward, budget, 1)
        inner = MicroBatches(forward)
        parts = MicroBatches(most).over(len(self.pixels), lambda part: self._explain_part(part, requirements, inner))
        return _join(parts)

    @property
    def _explaining(self) -> dict[str, Method]:
        return {call: method for call, method in self.methods.items() if "model" in method.needs}

    def _explain_part(self, part: slice, requirements: PassRequirements, batches: MicroBatches) -> Explained:
        """Every method's maps of one part of the images."""
        pixels = self.pixels[part]
        with torch.no_grad():
            inputs = self.view.normalise(pixels.clone())
        stated = None if self.targets is None else self.targets[part].to(pixels.device)
        context = AttributionContext(
            model=self.view,
            inputs=inputs,
            pixels=pixels,
            ids=self.ids[part],
            seed=self.seed,
            score=self.score,
            masks=None if self.masks is None else self.masks[part],
            passes=Passes(self.view, inputs, requirements, stated, self.score),
            batches=batches,
            untrained=self._untrained,
            patterns=self.patterns,
            baselines=None if self.baselines is None else self.baselines[part],
            references=self.references,
        )
        try:
            explained = Explained()
            explained.logits = context.passes.logits() if self._explaining else None  # a fault here is no method's
            for call, method in self.methods.items():
                explained[call] = context.cache.run(call, partial(self._maps, call, method, context))
            explained.seconds = context.cache.seconds()
            return explained
        finally:
            context.cache.release()

    def _maps(self, call: str, method: Method, context: AttributionContext) -> SaliencyMap:
        with torch.enable_grad(), _failures(call):
            raw = method.attribute(context).detach()
        count, _, *size = context.pixels.shape
        if raw.ndim != 4 or len(raw) != count or 0 in raw.shape[1:]:
            fault = f"returned {tuple(raw.shape)} for {count} images: must be (n, C, h, w), none of them 0"
            raise FailedMethodError(call, f"method {method.name!r} {fault}")
        reduction = method.reduction if self.reduce == NATIVE else self.reduce
        return SaliencyMap(
            values=as_saliency(raw.float().contiguous(), reduction, size),
            method=getattr(method, "call", None) or call_text(method),
            reduction=reduction,
            signed=method.signed and (reduction is None or reduction in SIGNED),
            native_resolution=(raw.shape[2], raw.shape[3]),
            score=self.score,
            seed=self.seed,
            ids=tuple(context.ids),
        )


@contextmanager
def _failures(call: str) -> Iterator[None]:
    """Raise a method's failure under its name; that of another package may fail in any way."""
    try:
        yield
    except Exception as error:
        if is_out_of_memory(error):
            raise
        known = isinstance(error, SalgenError)
        message = str(error) if known else f"method {call!r} failed: {named(error)}"
        raise FailedMethodError(call, message) from error


def _copied(values: Any) -> Tensor:
    return values.detach().clone() if isinstance(values, Tensor) else torch.from_numpy(np.array(values, order="C"))


def _join(parts: Sequence[Explained]) -> Explained:
    """The parts of a batch as one."""
    whole = Explained()
    for call, first in parts[0].items():
        values = torch.cat([part[call].values for part in parts])
        ids = tuple(name for part in parts for name in part[call].ids or ())
        whole[call] = dataclasses.replace(first, values=values, ids=ids)
        whole.seconds[call] = sum(part.seconds[call] for part in parts)
    logits = [part.logits for part in parts if part.logits is not None]
    whole.logits = torch.cat(logits) if logits else None
    return whole
