"""Types of the values that pass between packages."""

from collections import UserDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    images
        The images that they explain, (N, C, H, W), or None.
    """

    values: Any
    method: str
    reduction: str | None
    signed: bool
    native_resolution: tuple[int, int]
    score: str = "logit"
    seed: int = 0
    ids: tuple[str, ...] | None = None
    images: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"SaliencyMap({self.method!r}, values {tuple(self.values.shape)})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The values as a NumPy array, which ``np.asarray(maps)`` gives."""
        return np.array(_on_cpu(self.values), dtype) if copy else np.asarray(_on_cpu(self.values), dtype)

    def plot(self, max_images: int = 8) -> "Figure":
        """Each image beside its map, one row an image, on a matplotlib figure.

        Colours of a signed map are centred at 0: red is positive. Raw attributions are summed over channels.

        Parameters
        ----------
        max_images
            The number of rows, at most: those of the first images.
        """
        return plot_maps([Explained({self.method: self})], max_images)


class Explained(UserDict[str, SaliencyMap]):
    """The maps of several methods, by the methods' calls.

    Attributes
    ----------
    logits
        The model's output (N, K) for the images; None if no method needed the model.
    seconds
        By method, the time of its own work and its share of the passes that methods have in common.
    """

    def __init__(self, maps: Mapping[str, SaliencyMap] | None = None) -> None:
        super().__init__(maps)
        self.logits: Any = None
        self.seconds: dict[str, float] = {}

    def __repr__(self) -> str:
        return f"Explained({', '.join(map(repr, self.values()))})"

    def plot(self, max_images: int = 8) -> "Figure":
        """Each image beside its maps, one row an image and one column a method; see :meth:`SaliencyMap.plot`."""
        return plot_maps([self], max_images)


def plot_maps(parts: Sequence[Explained], max_images: int) -> "Figure":
    """The figure of images that were explained by the same methods; each part may have a size of its own."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import CenteredNorm

    firsts = [next(iter(part.values())) for part in parts]
    places = [(p, number) for p, first in enumerate(firsts) for number in range(len(first.values))][:max_images]
    titles = [*(["image"] if firsts[0].images is not None else []), *parts[0]]
    size = (2.2 * len(titles), 2.3 * len(places))
    figure, axes = plt.subplots(len(places), len(titles), squeeze=False, figsize=size, layout="constrained")
    for row, (p, number) in zip(axes, places, strict=True):
        if firsts[p].images is not None:
            row[0].imshow(_picture(_on_cpu(firsts[p].images[number])), cmap="gray", vmin=0, vmax=1)
        for ax, maps in zip(row[-len(parts[p]) :], parts[p].values(), strict=True):
            values = _on_cpu(maps.values[number])
            values = values.sum(axis=0) if values.ndim == 3 else values
            centred = CenteredNorm(halfrange=float(np.abs(values).max()) or 1.0)
            ax.imshow(values, cmap="RdBu_r" if maps.signed else "viridis", norm=centred if maps.signed else None)
        row[0].set_ylabel(dict(enumerate(firsts[p].ids or ())).get(number, ""))
    for ax, title in zip(axes[0], titles, strict=True):
        ax.set_title(title, fontsize="small", wrap=True)
    for ax in axes.flat:
        ax.set_xticks([])
        ax.set_yticks([])
    return cast("Figure", figure)


def _on_cpu(values: Any) -> NDArray[Any]:
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def _picture(image: NDArray[Any]) -> NDArray[Any]:
    """An image (C, H, W) as (H, W, 3) or (H, W) in [0, 1]; values outside, as of normalised images, are scaled."""
    low, high = image.min(), image.max()
    if low < 0 or high > 1:
        image = (image - low) / (high - low or 1)
    return np.moveaxis(image, 0, -1) if len(image) == 3 else image.mean(axis=0)


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
