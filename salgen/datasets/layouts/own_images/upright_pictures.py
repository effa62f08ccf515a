"""Pictures and masks as a viewer shows them: turned as their EXIF orientation says."""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from PIL import ExifTags, Image, ImageOps
from salgen.cache import cached_json
from salgen.datasets.layouts.broken import stamp_of
from salgen.datasets.layouts.mask_levels import MOSTLY, NUMBERS, SOFT, VOID, Told, object_of
from salgen.errors import SalgenError
from salgen.generators.drawing.pictures import Pixels, opened, rgb_of
from salgen.progress import tracked
from salgen.types import Mask

VERSION = "1"  # changes whenever another mask is told apart otherwise


def read_picture(path: Path) -> Pixels:
    """A picture's colours, uint8 (H, W, 3)."""
    with _upright(path) as picture:
        return rgb_of(picture, path)


def read_mask(path: Path, values: tuple[int, ...] = ()) -> Mask:
    """The object's pixels of a mask picture, bool (H, W), as :func:`.object_of` tells them."""
    return read_mask_levels(path, values).mask


def read_mask_levels(path: Path, values: tuple[int, ...]) -> Told:
    """The object's pixels of a mask picture, and how they were told apart; see :func:`.object_of`."""
    with _upright(path) as picture:
        return object_of(picture, values, str(path))


@dataclass(frozen=True)
class Header:
    """What is known of a picture before its pixels are read."""

    size: tuple[int, int]  # (H, W) as viewers show it
    orientation: int  # EXIF's, 1 if it turns nothing
    transparent: bool
    paged: bool  # whether it has several, of which the first is read

    @property
    def stored(self) -> tuple[int, int]:
        """(H, W) of the pixels as they are stored."""
        return self.size[::-1] if self.orientation >= 5 else self.size


def header_of(path: Path) -> Header:
    """The header of a picture; the pixels of most kinds of files are not read for it."""
    with opened(path) as picture:
        width, height = picture.size
        # Pillow itself turns TIFF: its size is that of the upright picture, and its pixels are once they are read.
        stated = 1 if picture.format == "TIFF" else picture.getexif().get(ExifTags.Base.Orientation, 1)
        orientation = stated if stated in range(1, 9) else 1
        size = (width, height) if orientation >= 5 else (height, width)
        paged = picture.format in ("TIFF", "GIF") and getattr(picture, "n_frames", 1) > 1
        return Header(size, orientation, picture.has_transparency_data, paged)


def masks_told(masks: Mapping[str, Sequence[Path]], values: tuple[int, ...]) -> list[tuple[str, str]]:
    """Each item whose mask pictures are not clear, with how its object was told apart; kept in the user's cache."""
    pairs = [(item, path) for item, paths in masks.items() for path in paths]

    def told(pair: tuple[str, Path]) -> tuple[str, float]:
        mask, said, level = read_mask_levels(pair[1], values)
        corners = mask[:: max(len(mask) - 1, 1), :: max(mask.shape[1] - 1, 1)]
        return said or (MOSTLY if 0.5 < mask.mean() < 1 and corners.all() else ""), 0.0 if said == SOFT else level

    def look() -> list[str]:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            looked_at = zip(tracked("looking at masks", pairs, "masks"), pool.map(told, pairs), strict=True)
            found = [one for _, one in looked_at]
        first = {level == VOID: path for (_, path), (_, level) in zip(pairs, found, strict=True)
                 if 0 < level < NUMBERS or level == VOID}  # fmt: skip
        if len(first) == 2:
            raise SalgenError(
                f"{first[True]}: its object has level 255, which may be void beside the numbers in {first[False]}: "
                "name the object's levels, by --set mask_values=1,255 or the like"
            )
        return [said for said, _ in found]

    kept = cached_json("mask-levels", [VERSION, stamp_of([path for _, path in pairs]), list(values)], look)
    return [(item, said) for (item, _), said in zip(pairs, kept, strict=True) if said]


@contextmanager
def _upright(path: Path) -> Iterator[Image.Image]:
    with opened(path) as picture:
        picture.load()
        ImageOps.exif_transpose(picture, in_place=True)
        yield picture
