"""Reading pictures from files as colour pixels, and resizing them."""

import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from salgen.errors import SalgenError

Pixels = NDArray[np.uint8]

TOO_LARGE = "of more pixels than Pillow's limit (PIL.Image.MAX_IMAGE_PIXELS)"
PHOTOMETRIC = 262  # TIFF's tag; if it is 0, white is 0, which Pillow heeds up to 8 bits
_opening = Lock()  # filters of warnings are of all threads


class TooLargeError(SalgenError):
    """A picture of more pixels than Pillow's limit."""


def read_rgb(path: Path) -> Pixels:
    """A picture as colours, uint8 (H, W, 3): 16-bit greys are scaled to 8 bits, transparency is dropped.

    Values without a known white level, 32-bit integers or floats, are refused.
    """
    with opened(path) as picture:
        return rgb_of(picture, path)


def rgb_of(picture: Image.Image, path: Path) -> Pixels:
    """The colours of an open picture; see :func:`read_rgb`."""
    if picture.mode.startswith("I;16") or (picture.mode, picture.format) == ("I", "PPM"):  # Pillow scales PGM to 65535
        # Pillow's own conversion clips greys at 255; 65535 is 255 times 257
        greys = ((levels_of(picture).astype(np.uint32) + 128) // 257).astype(np.uint8)
        return np.repeat(greys[..., None], 3, axis=2)
    if picture.mode.startswith(("I", "F")):
        mode = f"Pillow reads it in mode {picture.mode!r}: save it as an 8- or 16-bit PNG"
        raise SalgenError(f"{path}: expected 8 or 16 bits per channel, but {mode}")
    return np.asarray(picture.convert("RGB"))


def read_levels(path: Path) -> NDArray[Any]:
    """A picture's values as stored, (H, W) or (H, W, C): for masks, whose colours are codes."""
    with opened(path) as picture:
        return levels_of(picture)


def levels_of(picture: Image.Image) -> NDArray[Any]:
    """The values of an open picture; those of a 16-bit TIFF whose white is 0 are inverted, as Pillow does in 8 bits."""
    levels = np.asarray(picture)
    inverted = picture.mode.startswith("I;16") and getattr(picture, "tag_v2", {}).get(PHOTOMETRIC) == 0
    return 65535 - levels if inverted else levels


def resize_rgb(pixels: Pixels, image_size: tuple[int, int]) -> Pixels:
    """A picture resized bilinearly; where it shrinks, the filter is widened to prevent aliasing.

    A fourth channel is alpha: colours are averaged where they are seen, and nowhere else.
    """
    return np.asarray(Image.fromarray(pixels).resize(image_size[::-1], Image.Resampling.BILINEAR))


def resize_nearest(values: NDArray[Any], image_size: tuple[int, int]) -> NDArray[Any]:
    """An array resized to the nearest pixel: any type, (H, W) or (H, W, C).

    Each new pixel takes the value of the old one that its centre lies in.
    """
    sides = zip(image_size, values.shape[:2], strict=True)
    rows, columns = ((2 * np.arange(new) + 1) * old // (2 * new) for new, old in sides)
    return np.asarray(values[rows[:, None], columns[None, :]])


@contextmanager
def opened(path: Path) -> Iterator[Image.Image]:
    """A picture whose pixels are not read yet; what fails while it is open is a SalgenError that names it."""
    try:
        with _opening, warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            picture = Image.open(path)
        with picture:
            yield picture
    except FileNotFoundError:
        raise SalgenError(f"{path}: there is no such file") from None
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise TooLargeError(f"{path}: is {TOO_LARGE}: save it smaller ({error})") from None
    except (OSError, ValueError, SyntaxError, struct.error) as error:
        raise SalgenError(f"{path}: cannot be read as a picture ({error})") from None
