"""Pictures and masks as a viewer shows them: turned as their EXIF orientation says."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image

from salgen.errors import SalgenError
from salgen.generators.drawing.pictures import Pixels, read_levels, read_rgb
from salgen.types import Mask

TURNS = dict(  # by EXIF orientation: whether a viewer mirrors columns, and how many quarter turns it rotates left then
    enumerate(((False, 0), (True, 0), (False, 2), (True, 2), (True, 1), (False, 3), (True, 3), (False, 1)), start=1)
)


def read_picture(path: Path) -> Pixels:
    """A picture's colours, uint8 (H, W, 3)."""
    return _upright(read_rgb(path), path)


def read_mask(path: Path, values: tuple[int, ...] = ()) -> Mask:
    """The object's pixels of a mask picture, bool (H, W).

    Parameters
    ----------
    path
        The picture.
    values
        The object's levels as they are stored: greys, or numbers of a palette. If empty, all pixels that are not black
        are the object; palettes are looked up then, and transparency is not looked at.

    Raises
    ------
    SalgenError
        If it is no picture, or `values` are given and it is of colours.
    """
    levels = read_levels(path)
    if values:
        if levels.ndim != 2:
            raise SalgenError(
                f"{path}: has colours, so mask_values cannot name its levels: leave them out, or save it as grey"
            )
        return _upright(np.isin(levels, values), path)
    if levels.dtype == np.uint8:
        levels = np.asarray(read_rgb(path).any(axis=2))
    return _upright(np.asarray(levels > 0), path)


def size_of(path: Path) -> tuple[int, int]:
    """(H, W); the pixels of most kinds of files are not read for it."""
    with _opened(path) as picture:
        width, height = picture.size
        _, quarters = _turn(picture)
        return (width, height) if quarters % 2 else (height, width)


def _upright(stored: NDArray[Any], path: Path) -> NDArray[Any]:
    """Pixels as a viewer shows those of a file."""
    with _opened(path) as picture:
        mirrored, quarters = _turn(picture)
    return np.ascontiguousarray(np.rot90(stored[:, ::-1] if mirrored else stored, quarters))


@contextmanager
def _opened(path: Path) -> Iterator[Image.Image]:
    """A picture whose pixels are not read yet."""
    try:
        with Image.open(path) as picture:
            yield picture
    except (OSError, ValueError, SyntaxError, struct.error, Image.DecompressionBombError) as error:
        raise SalgenError(f"{path}: cannot be read as a picture ({error})") from None


def _turn(picture: Image.Image) -> tuple[bool, int]:
    """Mirroring and quarter turns that a picture's EXIF orientation asks for."""
    return TURNS.get(picture.getexif().get(ExifTags.Base.Orientation, 1), TURNS[1])
