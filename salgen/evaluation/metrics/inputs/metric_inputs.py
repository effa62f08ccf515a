"""The inputs of metrics: maps, masks, and what is known of the images and the model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
import numpy as np
from numpy.typing import NDArray
from salgen.evaluation.metrics.inputs.ranking import Ranking, Values
from salgen.seeding import Stream
from salgen.types import Float32, Mask

if TYPE_CHECKING:
    from salgen.evaluation.metrics.inputs.batched_predictor import BatchedPredictor
    from salgen.evaluation.models.inspection.model_view import ModelView

T = TypeVar("T")

OF_THE_MASK = frozenset({"mask", "negatives"})
# whose maps: the evaluated model's, the paired model's, or those of a model that learnt permuted labels
OWN, PAIRED, SHUFFLED = "own", "paired", "shuffled"
# what metrics need, and the field of `MetricInputs` that holds it
FIELDS = {
    "mask": "masks",
    "negatives": "masks",
    "image": "images",
    "target": "targets",
    "correct": "correct",
    "twin": "twins",
    "attribution": "attributions",
    "model": "view",
    "method": "explain",
}
Explain = Callable[..., Values]


class MapKind(StrEnum):
    """What saliency maps are of: the samples themselves, or what metrics compare these with."""

    SAMPLES = "maps"
    TWINS = "twin_maps"
    PATCHED = "patched_maps"
    PAIRED = "paired_maps"
    PAIRED_TWINS = "paired_twin_maps"
    PAIRED_PATCHED = "paired_patched_maps"
    SHUFFLED = "shuffled_maps"

    @property
    def of_twins(self) -> bool:
        """Whether they are of the twins, as these are."""
        return self in (MapKind.TWINS, MapKind.PAIRED_TWINS)

    @property
    def patched(self) -> bool:
        """Whether they are of the twins with a patch that the model ignores."""
        return self in (MapKind.PATCHED, MapKind.PAIRED_PATCHED)

    @property
    def model(self) -> str:
        """Whose they are: the evaluated model's (``own``), that of the ``paired`` model, or of ``shuffled`` labels."""
        return PAIRED if self.startswith(PAIRED) else SHUFFLED if self is MapKind.SHUFFLED else OWN


COUNTERPARTS = tuple(kind for kind in MapKind if kind is not MapKind.SAMPLES)


@dataclass(frozen=True, eq=False)
class Counterpart:
    """A second map of each sample: of its twin, of that with a patch, or by another model."""

    maps: Values  # float32 or float64 (N, H, W)
    correct: NDArray[np.bool_]  # bool (N,): whether what it explains is classified rightly (the twin: as the sample)
    there: NDArray[np.bool_]  # bool (N,): whether the sample has such a map
    # for each sample the reason why its second image is unusable, or ""; empty where none can be
    faults: Sequence[str] = ()

    def take(self, chosen: NDArray[np.int64]) -> Counterpart:
        """The counterparts of some samples."""
        faults = [self.faults[i] for i in chosen] if self.faults else ()
        return Counterpart(self.maps[chosen], self.correct[chosen], self.there[chosen], faults)


@dataclass(frozen=True, eq=False)
class MetricInputs:
    """The maps of one method for a batch of N samples, with what else is known; None where it is not."""

    maps: Values  # float32 or float64 (N, H, W)
    masks: Mask | None = None  # bool (N, K, H, W): K acceptable masks
    valid: Mask | None = None  # bool (N, H, W): the scored region
    images: Float32 | None = None  # (N, C, H, W), as the model takes them before its normalisation
    targets: NDArray[np.int64] | None = None  # (N,): the class that each map explains
    twins: Sequence[Float32 | None] | None = None  # for each sample its twin (C, H, W), or None
    correct: NDArray[np.bool_] | None = None  # (N,): whether the model classifies it rightly
    # (N, rows, columns): the exact attribution of the explained class, see `salgen.generators.interfaces.Attributed`
    attributions: Float32 | None = None
    counterparts: dict[str, Counterpart] = field(default_factory=dict)  # each of `COUNTERPARTS` to the second maps
    view: ModelView | None = None  # the model
    max_memory: float | None = None  # GB that asking it may use
    # explains again by the same method: ``explain(pixels, targets, ids=, masks=, view=)`` gives maps (n, H, W)
    explain: Explain | None = None
    fitted: bool = False  # whether the method was fitted to this model, so that it can explain no other one
    # ids, seed: the samples' names and the run's seed, which key all randomness
    ids: Sequence[str] = ()
    seed: int = 0
    _cache: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.maps)

    @property
    def given(self) -> frozenset[str]:
        """Names of the inputs that metrics may need and that are given."""
        held = (need for need, name in FIELDS.items() if getattr(self, name) is not None)
        return frozenset({*held, *self.counterparts})

    @cached_property
    def predictor(self) -> BatchedPredictor:
        """The model and the images, for metrics that need both."""
        from salgen.evaluation.metrics.inputs.batched_predictor import BatchedPredictor

        assert self.view is not None  # the metric's `needs` names it
        return BatchedPredictor(self.view, self.images, self.max_memory)

    def cached(self, key: Hashable, compute: Callable[[], T]) -> T:
        """A value that several metrics need, computed for the first; the key names all that it depends on."""
        if key not in self._cache:
            self._cache[key] = compute()
        value: T = self._cache[key]
        return value

    def streams(self, purpose: str) -> list[Stream]:
        """One stream of random numbers per sample, the same in whatever batch the sample is."""
        return [Stream(self.seed, purpose, sample) for sample in self.ids]

    def explained(self, pixels: Any, targets: Any, view: ModelView | None = None) -> Values:
        """Maps (N, H, W) of other images, targets or another model, by the same method with the same randomness."""
        assert self.explain is not None  # the metric's `needs` names it
        masks = None if self.masks is None else self.masks[:, 0]
        return self.explain(pixels, targets, ids=list(self.ids), masks=masks, view=view)

    def rankings(self, index: int) -> list[Ranking]:
        """One sample's map under each of its acceptable masks; without masks, under an empty one."""
        saliency, valid = self.maps[index], None if self.valid is None else self.valid[index]
        masks = np.zeros((1, *saliency.shape), dtype=bool) if self.masks is None else self.masks[index]
        return [Ranking(saliency, mask, valid) for mask in masks]

    def take(self, chosen: NDArray[np.int64]) -> MetricInputs:
        """The inputs of some samples."""
        if len(chosen) == len(self):
            return self

        arrays = ("masks", "valid", "images", "targets", "correct", "attributions")
        given = {name: value[chosen] for name in arrays if (value := getattr(self, name)) is not None}
        return replace(
            self,
            maps=self.maps[chosen],
            **given,
            twins=None if self.twins is None else [self.twins[i] for i in chosen],
            counterparts={name: counterpart.take(chosen) for name, counterpart in self.counterparts.items()},
            ids=[self.ids[i] for i in chosen],
            _cache={},
        )
