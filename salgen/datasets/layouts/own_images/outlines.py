"""What marks an object in an image: a mask picture, a box, polygons or run lengths; each paints a mask.

A pixel belongs to a box or a polygon if its centre does, in coordinates from the image's top left corner: the box from
(3, 2) to (7, 5) holds columns 3 to 6 and rows 2 to 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageOps
from salgen.datasets.layouts.detection_datasets.object_boxes import Box, Size, area, box_mask
from salgen.datasets.layouts.own_images.upright_pictures import read_mask
from salgen.generators.drawing.shapes import covered
from salgen.types import Float64, Mask


class Outline:
    """What marks pixels of an image."""

    def paint(self, size: Size) -> Mask:
        """These pixels in an image of `size` (H, W), bool (H, W)."""
        raise NotImplementedError

    def extent(self, size: Size) -> float:
        """About how many pixels it has; the largest object of an image gives it its class."""
        return float(size[0] * size[1])


@dataclass(frozen=True)
class MaskPicture(Outline):
    """A picture of the size of its image, all of one class; `values` are the object's, or if empty all but black."""

    path: Path
    values: tuple[int, ...]

    def paint(self, size: Size) -> Mask:
        """The object's pixels."""
        return read_mask(self.path, self.values)


@dataclass(frozen=True)
class BoxOutline(Outline):
    """A box: left, top, right and bottom edge."""

    box: Box

    def paint(self, size: Size) -> Mask:
        """The pixels whose centre is in the box."""
        return box_mask([self.box], size, size)

    def extent(self, size: Size) -> float:
        """The area of the part that is in the image."""
        return area(self.box, size)


@dataclass(frozen=True, eq=False)
class Polygons(Outline):
    """The union of polygons; `corners` are (x, y), float64 (n, 2), of each."""

    corners: Sequence[Float64]

    def paint(self, size: Size) -> Mask:
        """The pixels whose centre is in a polygon (even-odd rule, as in pycocotools and OpenCV)."""
        mask = np.zeros(size, dtype=bool)
        for corners in self.corners:
            window, inside = covered(corners[:, ::-1], [len(corners)], size, even_odd=True)
            mask[window] |= inside
        return mask

    def extent(self, size: Size) -> float:
        """The area of the box around them."""
        points = np.concatenate(list(self.corners))
        (left, top), (right, bottom) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
        return area((left, top, right, bottom), size)


@dataclass(frozen=True, eq=False)
class RunLengths(Outline):
    """COCO's run lengths, int64 (n,): of pixels outside and inside in turn, one column after the other."""

    counts: NDArray[np.int64]

    def paint(self, size: Size) -> Mask:
        """The runs that are inside."""
        inside = np.repeat(np.arange(len(self.counts)) % 2 == 1, self.counts)
        return np.ascontiguousarray(inside.reshape(size[::-1]).T)

    def extent(self, size: Size) -> float:
        """The number of pixels inside."""
        return float(self.counts[1::2].sum())


@dataclass(frozen=True, eq=False)
class Turned(Outline):
    """An outline of an image's pixels as they are stored, in the image as its EXIF orientation turns it."""

    outline: Outline
    orientation: int

    def paint(self, size: Size) -> Mask:
        """The object, turned."""
        mask = Image.fromarray(self.outline.paint(size[::-1] if self.orientation >= 5 else size))
        mask.getexif()[ExifTags.Base.Orientation] = self.orientation
        return np.asarray(ImageOps.exif_transpose(mask))

    def extent(self, size: Size) -> float:
        """That of the outline."""
        return self.outline.extent(size[::-1] if self.orientation >= 5 else size)


def runs_of_mask(mask: Mask) -> RunLengths:
    """The run lengths of a mask, bool (H, W)."""
    pixels = np.concatenate([[False], mask.T.ravel(), [not mask[-1, -1]]])  # the first run is outside
    changes = np.flatnonzero(np.diff(pixels))
    return RunLengths(np.diff(changes, prepend=0))
