"""Images with a class, and with what people marked in some of them: what the readers of all layouts give."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
import numpy as np
from salgen.datasets.layouts.broken import check_size
from salgen.datasets.layouts.detection_datasets.object_boxes import Box, Size, box_mask
from salgen.datasets.layouts.own_images.outlines import MaskPicture, Outline, runs_of_mask
from salgen.datasets.picture_libraries import picture_sampling
from salgen.errors import SalgenError
from salgen.generators.drawing.pictures import Pixels, read_rgb, resize_nearest
from salgen.types import Mask

IMAGES, ATTENTION = "image", "attention_label"  # the benchmark's own folders
INSTEAD = f"; or give a folder of Saliency-Bench, with {IMAGES} and {ATTENTION}"


@dataclass(frozen=True)
class MarkedImage:
    """An image of a class, and what marks the cause of the class in it."""

    path: Path  # its file
    label: str  # the name of its class
    outlines: tuple[Outline, ...] = ()  # the mask is their union; none where nobody marked it, or nothing is there
    void: Outline | None = None  # what marks pixels that are not scored
    boxes: tuple[Box, ...] = ()  # around what is marked
    cluster: str = ""  # what it shares with others, such as a patient; "" if nothing
    canvas: Size | None = None  # (H, W) at which outlines are painted; None for the image's own

    @property
    def pictures(self) -> tuple[Path, ...]:
        """The files that must be decoded before they are known to be sound; readers look at mask pictures."""
        return (self.path,)

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that belong to this image alone."""
        marks = (*self.outlines, self.void)
        return (self.path, *dict.fromkeys(mark.path for mark in marks if isinstance(mark, MaskPicture)))

    def read(self) -> Pixels:
        """Its colours as they are stored, uint8 (H, W, 3); EXIF orientation is ignored, since masks lie on them."""
        return read_rgb(self.path)

    def mask(self, image_size: Size) -> Mask:
        """What is marked, bool (H, W) at `image_size`; empty if nothing is."""
        return self._painted(self.outlines, image_size)

    def annotated(self, image_size: Size) -> Mask:
        """What is scored, bool (H, W) at `image_size`."""
        return ~self._painted((self.void,) if self.void else (), image_size)

    def box_mask(self, image_size: Size) -> Mask:
        """The union of its boxes, bool (H, W) at `image_size`."""
        return box_mask(self.boxes, check_size(self.path) if self.boxes else image_size, image_size)

    def _painted(self, outlines: Sequence[Outline], image_size: Size) -> Mask:
        if not outlines:
            return np.zeros(image_size, dtype=bool)
        size = self.canvas or check_size(self.path)
        return resize_nearest(np.logical_or.reduce([outline.paint(size) for outline in outlines]), image_size)


@dataclass(frozen=True, eq=False)
class Found:
    """What a reader found in a copy."""

    root: Path  # the copy's folder
    images: Mapping[str, MarkedImage]  # by their path in it
    classes: tuple[str, ...]  # all that there may be, in the order of the labels
    # sentences for the data set's card
    about: str
    license: str
    skipped: Counter[str]  # numbers of what cannot be used, by reason
    annotations: Sequence[Path] = field(default=())  # files that mark several images


def marked_by(image: MarkedImage, mask: Mask | None) -> MarkedImage:
    """An image with a mask of any size, bool (H, W), kept as run lengths; the image alone if there is none."""
    if mask is None or not mask.any():
        return image
    return replace(image, outlines=(runs_of_mask(mask),), canvas=(mask.shape[0], mask.shape[1]))


def found_at(what: str, *places: Path) -> Path:
    """As :func:`.picture_sampling.found_at`, with what may be given instead."""
    return picture_sampling.found_at(f"{what}{INSTEAD}", *places)


def missing(path: Path, what: str) -> SalgenError:
    """The error where something of a published layout is missing."""
    return SalgenError(f"{path} is missing: {what}{INSTEAD}")


def some_of(items: Iterable[str], count: int, seed: int) -> set[str]:
    """So many of some items, or all if there are no more: a choice fixed by their names and a seed.

    Splits are taken in an order of their own, so that who is chosen does not tell the split.
    """
    return set(sorted(items, key=lambda item: hashlib.sha256(f"chosen by {seed}: {item}".encode()).digest())[:count])


def some_of_each(images: Mapping[str, MarkedImage], most: int, seed: int) -> dict[str, MarkedImage]:
    """Of each class as many images as wanted, those with a mask first; see :func:`some_of`."""
    chosen: set[str] = set()
    for label in {image.label for image in images.values()}:
        of_class = [item for item, image in images.items() if image.label == label]
        masked = some_of((item for item in of_class if images[item].outlines), most, seed)
        bare = (item for item in of_class if not images[item].outlines)
        chosen |= masked | some_of(bare, most - len(masked), seed)
    return {item: image for item, image in images.items() if item in chosen}


def pictures_in(folder: Path) -> list[Path]:
    """The pictures of a folder, by name; what macOS leaves beside them is none."""
    suffixes = (".jpg", ".jpeg", ".png")
    files = [file for file in folder.iterdir() if file.suffix.lower() in suffixes and not file.name.startswith(".")]
    return sorted(files)
