"""The arguments of `score`, checked and brought into one form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.metric_inputs import Counterpart, Explain, MetricInputs
from salgen.evaluation.metrics.inputs.ranking import Values
from salgen.evaluation.scoring.score_arrays import (
    as_attributions,
    as_correct,
    as_ids,
    as_images,
    as_maps,
    as_masks,
    as_scored_maps,
    as_seed,
    as_targets,
    as_twins,
    as_valid,
)
from salgen.parameters import parse_call
from salgen.registry import METHODS
from salgen.types import Mask, SaliencyMap


def metric_inputs_of(
    maps: Any,
    *,
    masks: Any = None,
    valid: Any = None,
    twins: Any = None,
    model: Any = None,
    images: Any = None,
    targets: Any = None,
    method: Any = None,
    second_maps: Mapping[str, Any] | None = None,
    correct: Any = None,
    attributions: Any = None,
    patterns: Any = None,
    ids: Any = None,
    seed: Any = None,
    max_memory: Any = None,
) -> MetricInputs:
    """The inputs of metrics from one call of :func:`salgen.score`, whose parameters these are."""
    values = as_scored_maps(maps)
    count, shape = len(values), values.shape
    right = np.ones(count, dtype=bool) if correct is None else as_correct(correct, count)
    pictures = None if images is None else as_images(images, shape)
    classes = None if targets is None else as_targets(targets, count)
    view = None if model is None else _as_view(model)
    if method is not None and not isinstance(method, str) and not callable(method) and not hasattr(method, "attribute"):
        raise SalgenError(f"method = {method!r}: give a call such as 'grad-cam', an instance, or a function")
    origin = (
        _Origin(method, "native", "logit", 0, None) if not isinstance(maps, SaliencyMap) else _Origin.of(maps, method)
    )
    seed = origin.seed if seed is None else as_seed(seed)
    can_explain = view is not None and pictures is not None and classes is not None
    return MetricInputs(
        saliency=values,
        masks=None if masks is None else as_masks(masks, shape),
        valid=as_valid(valid, shape),
        images=pictures,
        targets=classes,
        twins=None if twins is None else as_twins(twins, pictures, count),
        correct=None if correct is None else right,
        attributions=None if attributions is None else as_attributions(attributions, shape),
        counterparts={
            name: _counterpart(name, values, shape, right)
            for name, values in (second_maps or {}).items()
            if values is not None
        },
        view=view,
        max_memory=max_memory,
        explain=origin.explain(view, model, seed, max_memory, patterns) if can_explain else None,
        fitted=origin.fitted,
        ids=as_ids(origin.ids if ids is None else ids, count),
        seed=seed,
    )


@dataclass(frozen=True)
class _Origin:
    """The origin of the maps, as far as it is known."""

    method: Any
    reduction: str | None
    score: str
    seed: int
    ids: Sequence[str] | None

    @classmethod
    def of(cls, maps: SaliencyMap, method: Any) -> _Origin:
        return cls(maps.method if method is None else method, maps.reduction, maps.score, maps.seed, maps.ids)

    @property
    def fitted(self) -> bool:
        """True if the method is fitted to a model."""
        if not isinstance(self.method, str) and not hasattr(self.method, "needs"):
            return False
        if not isinstance(self.method, str):
            return "patterns" in self.method.needs
        name = parse_call(self.method)[0]
        return name in METHODS.entries and "patterns" in METHODS.load(name).needs

    def explain(self, view: Any, model: Any, seed: int, max_memory: Any, patterns: Any) -> Explain | None:
        """A function that explains again by the same method, or None where that is not possible."""
        if self.method is None or (self.fitted and patterns is None):
            return None
        if callable(self.method):
            return _by_function(self.method, model)
        return _explain_again(view, self.method, self.reduction, self.score, seed, max_memory, patterns)


def _counterpart(name: str, maps: Any, shape: tuple[int, ...], right: NDArray[np.bool_]) -> Counterpart:
    values = as_maps(maps, name)
    if values.shape != shape:
        raise SalgenError(f"{name} have shape {values.shape} and maps {shape}: they must be alike")
    return Counterpart(values, right, np.ones(len(right), dtype=bool))


def _as_view(model: Any) -> Any:
    from torch import nn

    from salgen.evaluation.models.inspection.model_view import ModelView

    if isinstance(model, ModelView):
        return model
    if not isinstance(model, nn.Module):
        raise SalgenError(f"model is {type(model).__name__}: must be a torch.nn.Module")
    return ModelView.of(model)


def _explain_again(
    view: Any, method: Any, reduction: str | None, score: str, seed: int, max_memory: Any, patterns: Any
) -> Explain:
    """A function that explains other images, targets or models by a method, always with the same randomness."""
    from salgen.evaluation.attribution.explaining import explain_all

    def explain(pixels: Any, targets: Any, *, ids: Sequence[str], masks: Mask | None, view: Any = None) -> Values:
        explained = explain_all(
            own if view is None else view,
            pixels,
            targets,
            methods=[method],
            reduce=reduction,
            score=score,
            masks=masks,
            ids=ids,
            seed=seed,
            max_memory=max_memory,
            patterns=patterns,
        )
        (saliency,) = explained.values()
        return np.asarray(saliency.values.cpu().numpy())

    own = view
    return explain


def _by_function(method: Callable[..., Any], model: Any) -> Explain:
    """A user's own function as a method; another model comes as a module from images to logits."""

    def explain(pixels: Any, targets: Any, *, ids: Sequence[str], masks: Mask | None, view: Any = None) -> Values:
        import torch

        explained_model = model if view is None else torch.nn.Sequential(view.normalise, view.network)
        maps = as_maps(method(explained_model, torch.as_tensor(pixels), torch.as_tensor(targets)), "the method's maps")
        if maps.shape != (len(pixels), *pixels.shape[2:]):
            raise SalgenError(
                f"method gave maps of shape {maps.shape} for images {tuple(pixels.shape)}: must be "
                f"{(len(pixels), *pixels.shape[2:])}, one for each image and of its size"
            )
        return maps

    return explain
