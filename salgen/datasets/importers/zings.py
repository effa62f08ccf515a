"""Importer of a user's own pictures of heroes and villains."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image

from salgen.datasets.importers.layouts.broken import sound_items
from salgen.datasets.importers.layouts.imported import Items, read_own_copy, refuse_edit
from salgen.datasets.importers.layouts.mask_limits import MaskLimits, count_faults, mask_fault
from salgen.datasets.importers.layouts.zings_layout import (
    FOLDERS,
    MASKS,
    Pair,
    assign_splits,
    check_counts,
    read_layout,
)
from salgen.datasets.libraries.picture_sampling import listed
from salgen.errors import SalgenError
from salgen.generators.declarations import Edit, Rendered, Scale
from salgen.generators.drawing.pictures import Pixels, read_levels, read_rgb, resize_nearest, resize_rgb
from salgen.sources import OWN_COPY, Files
from salgen.types import Mask

NAMES = ("zings",)
LICENCE = (
    "Not known to salgen: the terms of whoever gave you the pictures. Publish pixels made from them only where those "
    "terms allow it."
)
TURNS = dict(  # by EXIF orientation: whether a viewer mirrors columns, and how many quarter turns it rotates left then
    enumerate(((False, 0), (True, 0), (False, 2), (True, 2), (True, 1), (False, 3), (True, 3), (False, 1)), start=1)
)


class ZingsCopy(Files):
    """A copy of pictures and masks; `load` gives both.

    Parameters
    ----------
    given
        Item name to files; broken ones are left out.
    image_size
        (H, W) that masks are resized to, which may leave nothing of small eyes.
    min_mask
        Masks of fewer pixels are no ground truth.
    """

    pairs: Mapping[str, Pair]
    image_size: tuple[int, int]
    min_mask: int
    skipped: Mapping[str, int]

    def __init__(self, given: Mapping[str, Pair], image_size: tuple[int, int], min_mask: int) -> None:
        # Files stores its notes; here they are computed after every mask is read.
        pairs, skipped = sound_items(given, {name: (pair.picture, pair.mask) for name, pair in given.items()})
        check_counts(pairs)
        files = {name: pair.picture for name, pair in pairs.items()}
        files |= {f"{MASKS}/{name}": pair.mask for name, pair in pairs.items()}
        values = {"name": OWN_COPY, "licence": LICENCE, "files": files, "splits": assign_splits(pairs)}
        vars(self).update(values, pairs=pairs, image_size=image_size, min_mask=min_mask, skipped=skipped)

    def load(self, name: str) -> tuple[Pixels, Mask]:
        """A picture, uint8 (H, W, 3), and its mask, bool (H, W)."""
        pair = self.pairs[name]
        return _upright(read_rgb(pair.picture), pair.picture), _read_mask(pair.mask)

    @cached_property
    def notes(self) -> str:
        """Numbers of pictures by class and split, and of empty masks, for the data set's card."""
        counts = Counter((name.partition("/")[0], split) for name, split in self.splits.items())
        parts = [
            f"{sum(counts[folder, split] for split in ('train', 'val', 'test'))} {folder} "
            f"({', '.join(f'{counts[folder, split]} {split}' for split in ('train', 'val', 'test'))})"
            for folder in FOLDERS
        ]
        refused = count_faults(
            ["zings", self.digest, list(self.image_size), self.min_mask],
            list(self.pairs),
            lambda name: mask_fault(resize_nearest(_read_mask(self.pairs[name].mask), self.image_size), self.min_mask),
        )
        about = (
            f"Pictures of the user: {' and '.join(parts)}. salgen assigned them to splits, in each class 20 % to "
            "test and 20 % of the rest to val, in an order fixed by their names. Masks are those of the user."
        )
        return " ".join(filter(None, [about, refused, listed(self.skipped)]))


@dataclass(frozen=True)
class ZingsImporter(MaskLimits):
    """Heroes and villains from your own pictures of them, with the masks of their eyes.

    Give the folder that holds `heroes`, `villains`, `masks/heroes` and `masks/villains`, or one that holds it as
    `zings`. Pictures are PNG or JPEG; the mask of `heroes/NAME.png` or `heroes/NAME.jpg` is `masks/heroes/NAME.png`, as
    large as its picture, and what is not black in it is eye (transparency is not looked at). Both are turned as their
    EXIF orientation says, so they match as a viewer shows them.

    Of each class 20 % of the pictures are for test, 20 % of the rest for val and the others for train, by an order
    that their names fix. Pictures are resized bilinearly, masks to the nearest pixel. A mask that is empty then, covers
    the whole picture or has fewer than `min_mask` pixels is no ground truth: the sample is kept with an empty mask, is
    not scored, and the card counts it. Broken files are skipped with their pictures, and counted.

    References
    ----------
    Szczepankiewicz et al. 2023, *Ground truth based comparison of saliency maps algorithms* (Scientific Reports
    13:16887), whose 481 pictures are not public; the layout is salgen's.
    """

    name: ClassVar[str] = "zings"
    stand_in: ClassVar[str] = "drawn-figures"
    version: ClassVar[str] = "2"
    family: ClassVar[str] = "zings"
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale({"train": 2000, "val": 200, "test": 200}, {"image_size": (64, 64)}),
        "small": Scale({"train": 2000, "val": 200, "test": 200}, {"image_size": (64, 64)}),
        "full": Scale({}, {}),
    }
    quick: ClassVar[Mapping[str, Any]] = {"image_size": (32, 32)}

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """Hero or villain."""
        return {"label": ("hero", "villain")}

    def open_source(self, source: str | None) -> ZingsCopy:
        """The pictures and masks below a path.

        Raises
        ------
        SalgenError
            If no path is given, or what is there is not in the layout.
        """
        return ZingsCopy(read_own_copy(type(self), source, read_layout), self.image_size, self.min_mask)

    def prepare(self, source: ZingsCopy) -> Items:
        """The items of each split; every mask must be as large as its picture."""
        for pair in source.pairs.values():
            picture, mask = _size_of(pair.picture), _size_of(pair.mask)
            if picture != mask:
                expected = f"expected {picture[0]} x {picture[1]}, as {pair.picture} has"
                raise SalgenError(f"{pair.mask}: the mask has {mask[0]} x {mask[1]} pixels; {expected}")
        splits = {
            split: [name for name in sorted(source.pairs) if source.splits[name] == split]
            for split in ("train", "val", "test")
        }
        return Items(source, splits)

    def render(self, parameters: Mapping[str, Any], material: Items, edit: Edit) -> Rendered:
        """Picture and mask, resized."""
        refuse_edit(edit)
        item = parameters["item"]
        picture, mask = material.source.load(item)
        label = FOLDERS.index(item.partition("/")[0])
        eyes = self.ground_truth(resize_nearest(mask, self.image_size))
        return Rendered(resize_rgb(picture, self.image_size), {"label": label}, {"eyes": eyes})

    def target(self, task: str) -> str:
        """The eyes."""
        return "eyes"

    def region_names(self) -> list[str]:
        """The eyes."""
        return ["eyes"]


def _read_mask(path: Path) -> Mask:
    """Pixels of a mask picture that are not black, bool (H, W), oriented as a viewer shows them."""
    levels = read_levels(path)
    if levels.dtype == np.uint8:
        levels = np.asarray(read_rgb(path).any(axis=2))  # palettes are looked up, transparency is dropped
    return _upright(np.asarray(levels > 0), path)


def _upright(stored: NDArray[Any], path: Path) -> NDArray[Any]:
    """Pixels as a viewer shows those of a file."""
    with _opening(path) as picture:
        mirrored, quarters = _turn(picture)
    return np.ascontiguousarray(np.rot90(stored[:, ::-1] if mirrored else stored, quarters))


@contextmanager
def _opening(path: Path) -> Iterator[Image.Image]:
    """A picture whose pixels are not read yet."""
    try:
        with Image.open(path) as picture:
            yield picture
    except (OSError, ValueError, SyntaxError, struct.error, Image.DecompressionBombError) as error:
        raise SalgenError(f"{path}: cannot be read as a picture ({error})") from None


def _turn(picture: Image.Image) -> tuple[bool, int]:
    """Mirroring and quarter turns that a picture's EXIF orientation asks for."""
    return TURNS.get(picture.getexif().get(ExifTags.Base.Orientation, 1), TURNS[1])


def _size_of(path: Path) -> tuple[int, int]:
    """(width, height) as a viewer shows it; the pixels of most kinds are not read for it."""
    with _opening(path) as picture:
        width, height = picture.size
        _, quarters = _turn(picture)
        return (height, width) if quarters % 2 else (width, height)
