"""Samples, images and masks as pictures to look at."""

from typing import Any
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage
from salgen.types import Float32, Mask

PANEL = 128  # pixels to which the shorter side of a small image is enlarged, about
LARGEST = 320  # and to which the longer side of a large one is reduced
MASK = (255, 0, 200)  # magenta, which lamps, skies and leaves are not


def enlarged(picture: NDArray[np.uint8]) -> Image.Image:
    """A small picture enlarged by a whole number, its pixels kept; a large one reduced."""
    height, width = picture.shape[:2]
    image = Image.fromarray(np.ascontiguousarray(picture))
    factor = max(1, round(PANEL / min(height, width)))
    if factor > 1:
        return image.resize((width * factor, height * factor), Image.Resampling.NEAREST)
    image.thumbnail((LARGEST, LARGEST), Image.Resampling.BOX)
    return image


def outlined(picture: NDArray[np.uint8], mask: Mask) -> Image.Image:
    """An enlarged picture (H, W, 3) with the outline of a mask (H, W) in magenta, two pixels wide within the mask."""
    image = enlarged(picture)
    shown = np.asarray(Image.fromarray(mask).resize(image.size, Image.Resampling.NEAREST))
    pixels = np.array(image)
    pixels[shown & ~ndimage.binary_erosion(shown, iterations=2)] = MASK
    return Image.fromarray(pixels)


class Item(dict[str, Any]):
    """What :meth:`salgen.datasets.reading.reader.Dataset.__getitem__` gives."""

    def show(self) -> Image.Image:
        """The image, its mask outlined on it, and its twin if it has one, side by side, as notebooks show it."""

        def colours(image: Float32) -> NDArray[np.uint8]:
            levels = np.round(255 * image).astype(np.uint8).transpose(1, 2, 0)
            return np.broadcast_to(levels, (*levels.shape[:2], 3))

        image = colours(self["image"])
        twin = [] if self["twin"] is None else [colours(self["twin"])]
        panels = [np.asarray(enlarged(picture)) for picture in (image, *twin)]
        panels.insert(1, np.asarray(outlined(image, self["mask"])))
        return Image.fromarray(np.concatenate(panels, axis=1))
