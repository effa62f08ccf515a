"""Reading pictures from files as colour pixels, and resizing them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from salgen.errors import SalgenError

Pixels = NDArray[np.uint8]


def read_rgb(path: Path) -> Pixels:
    """A picture as colours, uint8 (H, W, 3): 16-bit greys are scaled to 8 bits, transparency is dropped.

    Raises
    ------
    SalgenError
        If the file is missing or is no picture, or its values have no known white level: 32-bit integers, or floats.
    """
    picture = _opened(path)
    if picture.mode.startswith("I;16") or (picture.mode, picture.format) == ("I", "PPM"):  # Pillow scales PGM to 65535
        return _from_16_bits(np.asarray(picture))
    if picture.mode.startswith(("I", "F")):
        raise SalgenError(
            f"{path}: expected 8 or 16 bits per channel, but Pillow reads it in mode {picture.mode!r}: save it as an "
            "8- or 16-bit PNG"
        )
    return np.asarray(picture.convert("RGB"))


def read_levels(path: Path) -> NDArray[Any]:
    """A picture's values as stored, (H, W) or (H, W, C): for masks, whose colours are codes.

    Raises
    ------
    SalgenError
        If the file is missing or is no picture.
    """
    return np.asarray(_opened(path))


def resize_rgb(pixels: Pixels, image_size: tuple[int, int]) -> Pixels:
    """A picture resized bilinearly; where it shrinks, the filter is widened to prevent aliasing."""
    return np.asarray(Image.fromarray(pixels).resize(image_size[::-1], Image.Resampling.BILINEAR))


def resize_nearest(values: NDArray[Any], image_size: tuple[int, int]) -> NDArray[Any]:
    """An array resized to the nearest pixel: any type, (H, W) or (H, W, C).

    Each new pixel takes the value of the old one that its centre lies in.
    """
    rows, columns = (
        (2 * np.arange(new) + 1) * old // (2 * new) for new, old in zip(image_size, values.shape[:2], strict=True)
    )
    return np.asarray(values[rows[:, None], columns[None, :]])


def _from_16_bits(levels: NDArray[Any]) -> Pixels:
    """Greys from 0 to 65535 as colours, rounded; Pillow's own conversion clips them at 255."""
    greys = ((levels.astype(np.uint32) + 128) // 257).astype(np.uint8)  # 65535 is 255 times 257
    return np.repeat(greys[..., None], 3, axis=2)


def _opened(path: Path) -> Image.Image:
    try:
        with Image.open(path) as picture:
            picture.load()
            return picture
    except FileNotFoundError:
        raise SalgenError(f"{path}: there is no such file") from None
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise SalgenError(f"{path}: cannot be read as a picture ({error})") from None
