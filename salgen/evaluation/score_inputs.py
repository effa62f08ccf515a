"""What `score` may be given: checked, and brought into one form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.errors import SalgenError
from salgen.evaluation.evidence import Counterpart, Evidence, Explain
from salgen.evaluation.ranking import Values
from salgen.parameters import parse_call
from salgen.registry import METHODS
from salgen.types import Float32, Mask, SaliencyMap


def evidence_of(
    maps: Any,
    *,
    masks: Any = None,
    valid: Any = None,
    twins: Any = None,
    model: Any = None,
    images: Any = None,
    targets: Any = None,
    method: Any = None,
    others: Mapping[str, Any] | None = None,
    correct: Any = None,
    patterns: Any = None,
    ids: Any = None,
    seed: Any = None,
    max_memory: Any = None,
) -> Evidence:
    """The evidence of one call of :func:`salgen.score`, whose parameters these are.

    Raises
    ------
    SalgenError
        If shapes do not fit or an array holds what it may not.
    """
    values = _as_maps(maps)
    count, shape = len(values), values.shape
    right = np.ones(count, dtype=bool) if correct is None else _as_correct(correct, count)
    pictures = None if images is None else _as_images(images, shape)
    classes = None if targets is None else _as_targets(targets, count)
    view = None if model is None else _as_view(model)
    asked = _Asked(method, "native", "logit", 0, None) if not isinstance(maps, SaliencyMap) else _Asked.of(maps, method)
    seed = asked.seed if seed is None else _as_seed(seed)
    again = view is not None and pictures is not None and classes is not None
    return Evidence(
        maps=values,
        masks=None if masks is None else _as_masks(masks, shape),
        valid=_as_valid(valid, shape),
        images=pictures,
        targets=classes,
        twins=None if twins is None else _as_twins(twins, pictures, count),
        correct=None if correct is None else right,
        counterparts={
            name: _counterpart(name, given, shape, right) for name, given in (others or {}).items() if given is not None
        },
        view=view,
        max_memory=max_memory,
        explain=asked.explain(view, model, seed, max_memory, patterns) if again else None,
        fitted=asked.fitted,
        ids=_as_ids(asked.ids if ids is None else ids, count),
        seed=seed,
    )


@dataclass(frozen=True)
class _Asked:
    """How the maps came about, as far as that is known."""

    method: Any
    reduction: str | None
    score: str
    seed: int
    ids: Sequence[str] | None

    @classmethod
    def of(cls, maps: SaliencyMap, method: Any) -> _Asked:
        return cls(maps.method if method is None else method, maps.reduction, maps.score, maps.seed, maps.ids)

    @property
    def fitted(self) -> bool:
        """Whether the method is one that is fitted to a model."""
        if self.method is None or callable(self.method):
            return False
        needs = METHODS.load(parse_call(self.method)[0]).needs if isinstance(self.method, str) else self.method.needs
        return "patterns" in needs

    def explain(self, view: Any, model: Any, seed: int, max_memory: Any, patterns: Any) -> Explain | None:
        """How to explain again, or None where that is not known."""
        if self.method is None or (self.fitted and patterns is None):
            return None
        if callable(self.method):
            return _by_function(self.method, model)
        return explain_again(view, self.method, self.reduction, self.score, seed, max_memory, patterns)


def _counterpart(name: str, given: Any, shape: tuple[int, ...], right: NDArray[np.bool_]) -> Counterpart:
    values = _as_maps(given, name)
    if values.shape != shape:
        raise SalgenError(f"{name} have shape {values.shape} and maps {shape}: they must be alike")
    return Counterpart(values, right, np.ones(len(right), dtype=bool))


def _as_view(model: Any) -> Any:
    from torch import nn

    from salgen.evaluation.model_view import ModelView

    if isinstance(model, ModelView):
        return model
    if not isinstance(model, nn.Module):
        raise SalgenError(f"model is {type(model).__name__}: must be a torch.nn.Module")
    return ModelView.of(model)


def explain_again(
    view: Any, method: Any, reduction: str | None, score: str, seed: int, max_memory: Any, patterns: Any
) -> Explain:
    """A function that explains other images, targets or models by a method, always with the same randomness."""
    from salgen.evaluation.explaining import explain_all

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
        (found,) = explained.values()
        return np.asarray(found.values.cpu().numpy())

    own = view
    return explain


def _by_function(method: Callable[..., Any], model: Any) -> Explain:
    """A user's own function as a method; another model comes as a module from images to logits."""

    def explain(pixels: Any, targets: Any, *, ids: Sequence[str], masks: Mask | None, view: Any = None) -> Values:
        import torch

        given = model if view is None else torch.nn.Sequential(view.normalise, view.network)
        found = _as_maps(method(given, torch.as_tensor(pixels), torch.as_tensor(targets)), "the method's maps")
        if len(found) != len(pixels):
            raise SalgenError(f"method gave {len(found)} maps for {len(pixels)} images: must be one for each")
        return found

    return explain


def _as_images(images: Any, shape: tuple[int, ...]) -> Float32:
    array = _as_array(images)
    if len(array) != shape[0]:
        raise SalgenError(f"images: {len(array)} of them for {shape[0]} maps; give one per map")
    if array.ndim != 4 or (array.shape[0], *array.shape[2:]) != shape or array.dtype.kind != "f":
        raise SalgenError(
            f"images are {array.dtype} of shape {array.shape} and maps have {shape}: images must be floating-point "
            "(N, C, H, W) of the maps' size"
        )
    return array.astype(np.float32, copy=False)


def _as_targets(targets: Any, count: int) -> NDArray[np.int64]:
    array = _as_array(targets)
    if array.dtype.kind not in "iu" or array.shape != (count,):
        raise SalgenError(f"targets are {array.dtype} of shape {array.shape}: must be {count} integers, one per map")
    return array.astype(np.int64)


def _as_twins(twins: Any, images: Float32 | None, count: int) -> list[Float32 | None]:
    if len(twins) != count:
        raise SalgenError(
            f"twins: {len(twins)} of them for {count} maps; give one per map, or None where there is none"
        )
    found = [None if twin is None else _as_array(twin).astype(np.float32, copy=False) for twin in twins]
    wrong = [twin.shape for twin in found if twin is not None and images is not None and twin.shape != images.shape[1:]]
    if images is not None and wrong:
        raise SalgenError(f"a twin has shape {wrong[0]} and images {images.shape[1:]}: they must be alike")
    return found


def _as_ids(ids: Any, count: int) -> list[str]:
    if ids is None:
        return [str(i) for i in range(count)]
    from salgen.evaluation.arguments import check_ids

    return check_ids(ids, count)


def _as_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise SalgenError(f"seed = {seed!r}: must be an integer of 0 or more")
    return seed


def _as_correct(correct: Any, count: int) -> NDArray[np.bool_]:
    array = _as_bool(correct, "correct")
    if array.shape != (count,):
        raise SalgenError(f"correct has shape {array.shape}: must be ({count},), one per map")
    return array


def _as_maps(maps: Any, what: str = "maps") -> Values:
    array = _as_array(maps.values if isinstance(maps, SaliencyMap) else maps)
    if array.ndim != 3:
        raise SalgenError(f"{what} have shape {array.shape}: must be (N, H, W), one map per image")
    if array.dtype.kind not in "fiub":
        raise SalgenError(f"{what} are of type {array.dtype}: must be real numbers")
    small = array.dtype.kind in "fb" and array.dtype.itemsize <= 4
    return array.astype(np.float32 if small else np.float64, copy=False)


def _as_masks(masks: Any, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Masks as bool (N, K, H, W)."""
    array = _as_bool(masks, "masks")
    if array.shape == shape:
        return array[:, np.newaxis]
    if array.ndim == 4 and array.shape[1] and (array.shape[0], *array.shape[2:]) == shape:
        return array
    raise SalgenError(
        f"masks have shape {array.shape} and maps {shape}: "
        "masks must be (N, H, W) like the maps, or (N, K, H, W) for K acceptable masks"
    )


def _as_valid(valid: Any, shape: tuple[int, ...]) -> Mask | None:
    if valid is None:
        return None
    array = _as_bool(valid, "valid")
    if array.shape not in (shape, shape[1:]):
        raise SalgenError(f"valid has shape {array.shape} and maps {shape}: valid must be (H, W) or (N, H, W)")
    return np.broadcast_to(array, shape)


def _as_bool(values: Any, what: str) -> NDArray[np.bool_]:
    array = _as_array(values)
    if array.dtype == np.bool_:
        return array
    if array.dtype.kind not in "fiu":
        raise SalgenError(f"{what} are of type {array.dtype}: must be bool, or 0 and 1")
    other = array[(array != 0) & (array != 1)]
    if other.size:
        raise SalgenError(
            f"{what} hold the value {other[0]}: must be bool, or 0 and 1; compare first, as in {what} > 0"
        )
    return array.astype(np.bool_)


def _as_array(values: Any) -> NDArray[Any]:
    """A NumPy array of an array or a tensor; torch is not imported."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = (values.float() if str(values.dtype) == "torch.bfloat16" else values).numpy()
    try:
        return np.asarray(values)
    except ValueError as error:  # ragged lists
        raise SalgenError(f"not an array: {error}") from None
