"""Types of the values that pass between packages."""

from dataclasses import dataclass, field
from typing import Any
import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class Recipe:
    """A complete description of one sample."""

    # generator, version, split, index: the generator that renders it, and the sample's split and index
    generator: str
    version: str
    split: str
    index: int
    # JSON scalars, short lists and integer stream keys: everything that `render` needs besides the generator's own
    # parameters and its source
    parameters: dict[str, Any]

    @property
    def id(self) -> str:
        """The sample's name in its data set, such as ``train-000017``."""
        return f"{self.split}-{self.index:06d}"


@dataclass(frozen=True)
class Sample:
    """One image with its labels, masks and recipe."""

    id: str  # unique in its data set
    image: NDArray[np.uint8] | NDArray[np.uint16]  # uint8 (H, W, C) with C = 1 or 3, or uint16 (H, W, 1)
    labels: dict[str, int]  # task name to class number
    regions: dict[str, Mask]  # region name to bool (H, W)
    target: dict[str, str]  # task name to the region that is the task's ground-truth mask
    recipe: Recipe  # the recipe that it was rendered from
    alternatives: tuple[Mask, ...] = ()  # further masks, bool (H, W), that count as correct for the default task
    # tasks of which an image may show several classes, to the numbers of all that it shows, rising; the label is one of
    # them
    present: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class SaliencyMap:
    """Maps of one method for a batch of images.

    Attributes
    ----------
    values
        float32 (N, H, W) at image size, or (N, C, H, W) signed when `reduction` is None.
    method
        The method with its parameters, as written on the command line.
    reduction
        The reduction of channels to one, or None.
    signed
        Whether negative values mean evidence against.
    native_resolution
        (h, w) at which the method computed the map.
    score, seed, ids
        The explained score and the keys of the randomness, with which the maps can be made again.
    """

    values: Any
    method: str
    reduction: str | None
    signed: bool
    native_resolution: tuple[int, int]
    score: str = "logit"
    seed: int = 0
    ids: tuple[str, ...] | None = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The values as a NumPy array, which ``np.asarray(maps)`` gives."""
        values = self.values.detach().cpu().numpy() if hasattr(self.values, "detach") else self.values
        return np.array(values, dtype) if copy else np.asarray(values, dtype)


class Scores(dict[str, Float64]):
    """Metric name to float64 (N,), with NaN where a value is undefined.

    Attributes
    ----------
    reasons
        Metric name to a list of N strings: why a value is undefined or trivial, else "".
    worst_case
        Metric name to float64 (N,): as the values, but a map that failed has the worst value.
        NaN stays only where the mask, not the map, is unusable.
    """

    def __init__(self) -> None:
        super().__init__()
        self.reasons: dict[str, list[str]] = {}
        self.worst_case: dict[str, Float64] = {}


@dataclass(frozen=True)
class ResultRow:
    """One score, as `scores.parquet` holds it."""

    dataset: str
    dataset_fingerprint: str
    split: str
    sample_id: str
    cluster: str
    task: str
    target: int
    correct: bool
    certified: bool | None
    model: str
    training_seed: int
    method: str
    method_parameters: str
    reduction: str
    native_resolution: str
    metric: str
    variant: str
    value: float
    value_worst_case: float
    reason: str = field(default="")
