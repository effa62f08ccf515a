"""Patterns: for every unit of a network, the direction in its input that its output varies with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from salgen.errors import SalgenError, reason
from salgen.evaluation.attribution.arguments import check_images
from salgen.evaluation.models.inspection.batch_size import WITH_GRADIENT, MicroBatches, images_at_once, memory_budget
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_trace import check_model
from salgen.files import write_bytes

if TYPE_CHECKING:
    from salgen.evaluation.attribution.pattern_moments import NetworkMoments

BATCH_SIZE = 32
KIND = "salgen-patterns"
VERSION = "1"  # changes whenever the patterns do
ADVICE = "fit patterns to this model with salgen.fit_patterns(model, images)"


@dataclass(frozen=True, eq=False)
class Patterns:
    """The patterns of one network, fitted to one set of images."""

    by_map: tuple[Tensor, ...]  # per linear map, in the order of calls: float64, shaped as its weights
    # per linear map: number of units that never fired, or never varied, and so have a zero pattern
    degenerate: tuple[int, ...]

    def matched(self, weights: Sequence[Tensor], precision: torch.dtype) -> list[Tensor]:
        """The patterns of a network with these weights, stored in `precision`; in their type and on their device."""
        if len(weights) != len(self.by_map):
            raise _mismatch(f"they are of {len(self.by_map)} linear maps, and it has {len(weights)}")
        matched = []
        for place, (pattern, weight) in enumerate(zip(self.by_map, weights, strict=True)):
            if pattern.shape != weight.shape:
                raise _mismatch(f"linear map {place} has weights {tuple(weight.shape)}, not {tuple(pattern.shape)}")
            matched.append(pattern.to(weight.device, weight.dtype))
            if not _fits(matched[-1], weight, precision):
                raise _mismatch(f"at linear map {place} a pattern times its weights is not 1")
        return matched

    def save(self, path: str | Path) -> None:
        """Write a safetensors file, whole or not at all."""
        tensors = {_key(place): pattern.contiguous() for place, pattern in enumerate(self.by_map)}
        data = safetensors.torch.save(tensors, metadata={KIND: json.dumps(self.degenerate)})
        try:
            write_bytes(Path(path), data)
        except OSError as error:
            raise SalgenError(f"cannot write the patterns {path}: {error.strerror or error}") from None

    @classmethod
    def load(cls, path: str | Path) -> Patterns:
        """Read what :meth:`save` wrote."""
        if not Path(path).is_file():
            raise SalgenError(f"no patterns at {path}: it must be a file that Patterns.save wrote")
        try:
            with safetensors.safe_open(path, "pt") as file:
                metadata = file.metadata() or {}
                tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (it is no dict)
        except (OSError, safetensors.SafetensorError) as error:
            raise SalgenError(
                f"{path} is damaged ({reason(error)}): fit the patterns again, or restore the file"
            ) from None
        degenerate = _parse_counts(metadata.get(KIND, ""))
        keys = [_key(place) for place in range(len(tensors))]
        if degenerate is None or len(degenerate) != len(tensors) or set(keys) != tensors.keys():
            raise SalgenError(f"{path} does not hold patterns: give a file that Patterns.save wrote")
        if not all(tensor.dtype == torch.float64 and bool(tensor.isfinite().all()) for tensor in tensors.values()):
            raise SalgenError(f"{path} holds patterns that are not finite float64 numbers: fit them again")
        return cls(tuple(tensors[key] for key in keys), degenerate)


def fit_patterns(
    model: nn.Module | ModelView, images: Any | Iterable[Any], *, max_memory: float | None = None
) -> Patterns:
    """The patterns of a network's units on a set of images: the signal estimators of Kindermans et al. 2018.

    For a unit with weights w and an input patch x, let y = wᵀx, without bias. Its pattern is
    a = (E₊[xy] - E₊[x] E[y]) / wᵀ(E₊[xy] - E₊[x] E[y]). E is the mean over all patches of all images,
    E₊ over those at which the unit fires: y plus its bias is positive. So it is where a ReLU takes the
    unit's output, perhaps after a batch norm (which is merged into w), dropout, a max pool, or a change
    of shape alone: the two-component estimator. For any other unit E₊ is E: the linear estimator. A unit
    that never fires, or whose output never varies, has a zero pattern; else wᵀa = 1.

    All is computed in float64, in one pass, in memory that does not grow with the number of images.

    Parameters
    ----------
    model
        As :func:`salgen.explain` takes it.
    images
        Floating-point array or tensor (N, C, H, W), or an iterable of such batches; the training
        images, as `explain` takes them.
    max_memory
        GB that may be used on the model's device; half of what is free by default.

    Raises
    ------
    SalgenError
        If an argument is wrong, or the network has other operations than convolutions, linear maps,
        batch norm, ReLU, pooling, sums and dropout.
    """
    from salgen.evaluation.attribution.pattern_moments import NetworkMoments  # brings zennit, which takes a second

    if not isinstance(model, (nn.Module, ModelView)):
        raise SalgenError(f"model is {type(model).__name__}: must be a torch.nn.Module")
    moments = NetworkMoments()
    with torch.inference_mode(False):
        view = model if isinstance(model, ModelView) else ModelView.of(model)
        batches: MicroBatches | None = None
        for batch in _iterate_batches(images):
            if isinstance(batch, (tuple, list)) and not any(isinstance(item, (int, float)) for item in batch):
                raise SalgenError(
                    f"a batch of images is a {type(batch).__name__}: give images alone, such as (x for x, _ in loader)"
                )
            with torch.no_grad():
                inputs = view.normalise(view.like(check_images(batch).clone()))
            if batches is None:
                check_model(view, inputs[:1])
                budget = memory_budget(inputs.device, max_memory)
                batches = MicroBatches(images_at_once(view, inputs[:1], BATCH_SIZE, budget, WITH_GRADIENT))
            _add(moments, view, inputs, batches)
    if batches is None:
        raise SalgenError("there are no images to fit patterns to: give some, preferably the training images")
    return Patterns(*zip(*(map_moments.pattern() for map_moments in moments.by_map), strict=True))


def _add(moments: NetworkMoments, view: ModelView, inputs: Tensor, batches: MicroBatches) -> None:
    try:
        with view.failures(inputs, "has no patterns"):
            batches.over(len(inputs), lambda part: moments.add(view, inputs[part]))
    except MemoryError:
        raise SalgenError(
            f"fitting patterns to one image of {tuple(inputs.shape[1:])} needs more memory than {inputs.device} has: "
            "use smaller images or a smaller model"
        ) from None


def _iterate_batches(images: Any) -> Iterator[Any]:
    """Batches as they are, and an array in pieces, so that no more than a piece is copied."""
    if hasattr(images, "shape"):
        yield from (images[start : start + BATCH_SIZE] for start in range(0, len(images), BATCH_SIZE))
    elif isinstance(images, Iterable) and not isinstance(images, (str, bytes, dict)):
        yield from images
    else:
        raise SalgenError(f"images are {type(images).__name__}: give an array (N, C, H, W), or an iterable of such")


def _fits(pattern: Tensor, weight: Tensor, precision: torch.dtype) -> bool:
    """True if wᵀa is 1 for every unit whose pattern is not zero, within the weights' precision."""
    terms = (pattern.double() * weight.detach().double()).reshape(len(weight), -1)
    slack = 1e-3 + 10 * torch.finfo(precision).eps * terms.abs().sum(dim=1)
    zero = (pattern == 0).reshape(len(weight), -1).all(dim=1)
    return bool((zero | ((terms.sum(dim=1) - 1).abs() <= slack)).all())


def _mismatch(difference: str) -> SalgenError:
    return SalgenError(f"the patterns are not those of this model: {difference}; {ADVICE}")


def _key(place: int) -> str:
    return f"map{place:04d}"


def _parse_counts(text: str) -> tuple[int, ...] | None:
    try:
        values = json.loads(text)
    except ValueError:
        return None
    return tuple(values) if isinstance(values, list) and all(isinstance(value, int) for value in values) else None
