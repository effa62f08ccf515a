"""Rectangles of annotations, as masks of resized images."""

from collections.abc import Iterable
from math import ceil
import numpy as np
from salgen.datasets.picture_libraries.picture_sampling import UnusableError
from salgen.generators.drawing.pictures import resize_nearest
from salgen.types import Mask

Box = tuple[float, float, float, float]  # left, top, right, bottom: edges, in pixels from the image's corner
Size = tuple[int, int]  # (H, W)


def check_box(box: Box, size: Size) -> None:
    """Raise an UnusableError if a box holds no pixel of an image; a pixel belongs to a box if its centre does."""
    left, top, right, bottom = box
    if right <= 0 or bottom <= 0 or left >= size[1] or top >= size[0]:
        raise UnusableError("box outside of the image")
    if any(start == stop for start, stop in (_span(top, bottom, size[0]), _span(left, right, size[1]))):
        raise UnusableError("box without pixels")


def area(box: Box, size: Size) -> float:
    """Of the part of a box that is in the image, in pixels."""
    left, top, right, bottom = box
    return max(min(right, size[1]) - max(left, 0.0), 0.0) * max(min(bottom, size[0]) - max(top, 0.0), 0.0)


def box_mask(boxes: Iterable[Box], size: Size, image_size: Size) -> Mask:
    """The union of boxes of an image of `size` as if painted there and resized to `image_size`, bool (H, W)."""
    mask = np.zeros(size, dtype=bool)
    for left, top, right, bottom in boxes:
        mask[slice(*_span(top, bottom, size[0])), slice(*_span(left, right, size[1]))] = True
    return resize_nearest(mask, image_size)


def _span(low: float, high: float, length: int) -> tuple[int, int]:
    """First pixel with its centre between two edges, and the one after the last."""
    start, stop = (min(max(ceil(edge - 0.5), 0), length) for edge in (low, high))
    return start, max(start, stop)
