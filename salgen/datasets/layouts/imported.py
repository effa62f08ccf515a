"""Base of importers: samples are read from a user's own copy of published data.

An importer stands where a generator does. Its samples are items of the copy, in an order that the seed decides, and
have no twins, as nothing can be taken away from a photograph. Empty, full and tiny masks are no ground truth, and all
importers refuse them alike. In an empty one nothing can be found. In one that covers all that is scored every map gets
1. The score of a handful of pixels is that of the resizing.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar
import numpy as np
from salgen.cache import cached_json
from salgen.errors import SalgenError
from salgen.generators.factory import stand_in_advice
from salgen.generators.interfaces import Context, Edit, GeneratorPlugin, Scale
from salgen.parameters import param
from salgen.progress import tracked
from salgen.sources import OWN_COPY, Files
from salgen.types import Mask

Contents = TypeVar("Contents")
SPLITS = ("train", "val", "test")


@dataclass(frozen=True, eq=False)
class UserCopy:
    """A user's copy as a source; a subclass computes `notes` when they are asked for, as masks are read for them."""

    name: ClassVar[str] = OWN_COPY
    redistributable: ClassVar[bool] = False

    license: str
    files: Mapping[str, Path]  # item name to file
    splits: Mapping[str, str]  # item name to split

    @cached_property
    def digest(self) -> str:
        """SHA-256 over names, splits and contents."""
        return Files(self.name, self.license, "", self.files, self.splits).digest


@dataclass(frozen=True, eq=False)
class Items:
    """The items of a copy that can be used, by split."""

    source: Any  # the copy, as `open_source` gave it
    splits: Mapping[str, Sequence[str]]  # split to the names of its items
    _orders: dict[tuple[int, str], Any] = field(default_factory=dict, repr=False)

    def at(self, context: Context) -> str:
        """The item at a sample's place in the order that the seed decides."""
        key = context.seed, context.split
        if key not in self._orders:
            self._orders[key] = context.stream("order", key=0).permutation(len(self.splits[context.split]))
        return self.splits[context.split][int(self._orders[key][context.index])]


@dataclass(frozen=True)
class Imported(GeneratorPlugin):
    """Base of importers; a subclass defines `read_copy` or `open_source`, and `render`.

    Both give a :class:`~salgen.sources.Files` whose name is :data:`~salgen.sources.OWN_COPY`, or raise a SalgenError
    that names the path they expected. `stand_in` is the generator that draws something of the kind, if there is one.
    """

    stand_in: ClassVar[str] = ""
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale({"train": 2000, "val": 200, "test": 200}, {"image_size": (64, 64)}),
        "small": Scale({"train": 8000, "val": 500, "test": 1000}, {"image_size": (64, 64)}),
        "full": Scale({}, {}),
    }
    quick: ClassVar[Mapping[str, Any]] = {"image_size": (32, 32)}

    image_size: tuple[int, int] = param((224, 224), "height and width in pixels", low=16)
    bit_depth: int = param(8, "bits per channel", choices=(8,))

    def read_copy(self, path: Path) -> Any:
        """The copy at a path."""
        raise NotImplementedError

    def open_source(self, source: str) -> Any:
        """The copy at a path that a user gave."""
        return read_own_copy(type(self), source, self.read_copy)

    def prepare(self, source: Any) -> Items:
        """The items of each split, in the order of `source.splits`."""
        splits: dict[str, list[str]] = {split: [] for split in SPLITS}
        for item, split in source.splits.items():
            splits[split].append(item)
        return Items(source, splits)

    def available(self, material: Items) -> Mapping[str, int]:
        """The number of items of each split."""
        return {split: len(names) for split, names in material.splits.items()}

    def draw(self, context: Context) -> dict[str, Any]:
        """The item's name."""
        return {"item": context.material.at(context)}

    def counterfactual(self, parameters: Mapping[str, Any]) -> Edit | None:
        """None: nothing can be taken away."""
        return None

    def cluster(self, parameters: Mapping[str, Any], material: Items) -> str | None:
        """The item: samples made from one are not independent."""
        return str(parameters["item"])


def read_own_copy(plugin: Any, given: str, read: Callable[[Path], Contents]) -> Contents:
    """Read a user's copy with `read`, and name the importer's stand-in if the path does not exist."""
    path = Path(given).expanduser()
    try:
        return read(path)
    except SalgenError as error:
        if path.exists() or not plugin.stand_in:
            raise
        raise SalgenError(f"{error}; {stand_in_advice(plugin)}") from None


def refuse_edit(edit: Edit) -> None:
    """Raise a SalgenError if imported data would be edited."""
    if edit.omit or edit.change:
        raise SalgenError("imported images cannot be edited: nothing in them was painted")


EMPTY, FULL, TINY = 1, 2, 3
FAULTS = {EMPTY: "empty", FULL: "full, as they cover all that is scored", TINY: "of fewer than min_mask pixels"}
SMALLEST = 6  # pixels
VERSION = "2"  # changes whenever another mask is refused


@dataclass(frozen=True)
class MaskLimits(Imported):
    """Base of importers that say which masks are no ground truth."""

    min_mask: int = param(SMALLEST, "a mask of fewer pixels at the image's size is no ground truth", low=1)

    def mask_fault(self, mask: Mask, scored: Mask | None = None) -> int:
        """The key in :data:`FAULTS` of a mask that is no ground truth, else 0."""
        return mask_fault(mask, self.min_mask, scored)

    def ground_truth(self, mask: Mask, scored: Mask | None = None) -> Mask:
        """The mask, or an empty one if it is no ground truth."""
        return np.zeros_like(mask) if self.mask_fault(mask, scored) else mask


def mask_fault(mask: Mask, min_mask: int, scored: Mask | None = None) -> int:
    """The key in :data:`FAULTS` of a mask that is no ground truth where maps are scored (None: everywhere), else 0."""
    pixels = int(mask.sum())
    if pixels == 0:
        return EMPTY
    if (mask if scored is None else mask | ~scored).all():
        return FULL
    return TINY if pixels < min_mask else 0


def mask_faults(kind: str, depends_on: Any, items: Collection[Any], fault: Callable[[Any], int]) -> list[int]:
    """The fault of each item's mask, kept in the user's cache by what the masks depend on."""

    def look() -> list[int]:
        return list(map(fault, tracked("looking at masks", items, "masks")))

    faults: list[int] = cached_json(kind, [VERSION, depends_on], look)
    return faults


def in_words(faults: Iterable[int], form: str = "") -> str:
    """The numbers of masks with each fault in a format, or "" if there are none."""
    counts = Counter(faults)
    return ", ".join(f"{counts[fault]:{form}} {why}" for fault, why in FAULTS.items() if counts[fault])


def about_faults(faults: Sequence[int]) -> str:
    """A sentence on the masks that are no ground truth, or "" if there are none."""
    refused = in_words(faults)
    return refused and (
        f"Of {len(faults):,} masks these are no ground truth at this size: {refused}. Such samples are kept "
        "with an empty mask, and are not scored."
    )
