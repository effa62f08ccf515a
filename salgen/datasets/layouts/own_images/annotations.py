"""Annotated objects of images, and the outlines of them that can be used."""

from __future__ import annotations

import filecmp
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose, isfinite
from pathlib import Path
from typing import Any
import numpy as np
from PIL import Image
from salgen.datasets.layouts.broken import broken_items
from salgen.datasets.layouts.detection_datasets.object_boxes import Box, Size, check_box
from salgen.datasets.layouts.mask_levels import LOSSY
from salgen.datasets.layouts.own_images.image_tree import ImageTree
from salgen.datasets.layouts.own_images.outlines import BoxOutline, Outline, Polygons, RunLengths
from salgen.datasets.picture_libraries.coco import check_polygons, counts_of
from salgen.datasets.picture_libraries.picture_sampling import UnusableError
from salgen.errors import SalgenError
from salgen.generators.drawing.pictures import read_rgb

UNKNOWN = "object of an unknown class"
OTHER_SIZE = "annotation of an image of another size than stated"
MOST_COLOURS, MOST_GREYS = 256, 64  # most in masks that are not compared with their images


@dataclass(frozen=True, eq=False)
class Object:
    """An annotated object; its category is None where the format has none, and `size` where it states none."""

    category: str | None
    outline: Outline
    size: Size | None = None


@dataclass(frozen=True, eq=False)
class Annotations:
    """What one annotator marked."""

    objects: Mapping[str, list[Object]]  # by item; items without one are not named
    categories: tuple[str, ...]  # all that the format lists, in its order; none if it has no categories
    files: Mapping[str, Path]  # each file that was read, by name


def in_order(labels: Iterable[str]) -> list[str]:
    """Labels in alphabetical order, or by their values if all are whole numbers."""
    labels = set(labels)
    return sorted(labels, key=int) if all(label.isdecimal() for label in labels) else sorted(labels)


def image_of(file: Path, folder: Path, tree: ImageTree) -> str:
    """The image that a mask picture or a text of YOLO belongs to; a SalgenError if there is none."""
    name = file.relative_to(folder).with_suffix("").as_posix()
    item = tree.find(name, str(file))
    if item is None:
        near = tree.find(re.sub(r"[._-][A-Za-z]+$|\bmask[_-]", "", name), str(file))  # MVTec's NAME_mask
        wanted = f"its image {near}" if near else "its image"
        raise SalgenError(f"{file}: {tree.root} has no image of that name: rename it as {wanted}, or move it elsewhere")
    return item


def refuse_two_names(items: Mapping[Any, str | None], place: Path) -> None:
    """Refuse names, with the image that each finds, of which two find the same one."""
    first: dict[str | None, Any] = {None: None}
    for name, item in items.items():
        if first.setdefault(item, name) not in (name, None):
            raise SalgenError(f"{place}: {first[item]} and {name} are both of the image {item}: give it one of them")


def polygons_outline(polygons: list[array[float]], size: Size) -> Polygons:
    """The outline of polygons, x, y, x, y, ... each, in an image of (H, W); an UnusableError if there is none."""
    check_polygons(polygons, size)
    return Polygons([np.array(polygon, dtype=np.float64).reshape(-1, 2) for polygon in polygons])


def box_outline(edges: Box, size: Size) -> BoxOutline:
    """The outline of a box in an image of (H, W); an UnusableError if no pixel is in it."""
    left, top, right, bottom = edges
    if right < left or bottom < top:
        raise UnusableError("box whose right or bottom edge is before its left or top one")
    check_box(edges, size)
    return BoxOutline(edges)


def coco_outline(outline: Any, box: Box | None, size: Size) -> Outline:
    """An outline as :func:`outline_of` gives it, or a box of left, top, width and height, in an image of (H, W).

    Fragments of one or two points have no pixel, and are left out of an object that has others.
    """
    if box is not None:
        left, top, width, height = box
        return box_outline((left, top, left + width, top + height), size)
    if isinstance(outline, list):
        return polygons_outline([each for each in outline if len(each) not in (2, 4)] or outline, size)
    return RunLengths(np.array(counts_of(outline, size), dtype=np.int64))


def check_boxes(boxes: Sequence[tuple[Any, float | None, Size]], place: Path) -> None:
    """Refuse boxes that are shares of images, or corners in place of COCO's left, top, width and height.

    Each has its stated area (0 if none is, None if its numbers are edges by their names) and its image's size.
    """
    if boxes and all(0 <= number <= 1 for box, _, _ in boxes for number in box):
        raise SalgenError(f"{place}: the boxes are shares of the images, such as {list(boxes[0][0])}: write pixels")
    told = None
    for box, area, (height, width) in boxes:
        left, top, right, bottom = box
        if area is None or not (left < right <= width + 1 and top < bottom <= height + 1):
            return  # edges by their names, or no corners, so the others are none either
        stated = isclose(area, (right - left) * (bottom - top)) and not isclose(area, right * bottom)
        if stated or left + right > width + 1 or top + bottom > height + 1:
            told = told or box
    if told:
        raise SalgenError(
            f"{place}: the boxes fit their images as [left, top, right, bottom], and {list(told)} does not as COCO's "
            "[left, top, width, height]: save them in the latter form"
        )


def refuse_photographs(masks: Mapping[Path, str], tree: ImageTree) -> None:
    """Refuse mask pictures, with their items, that are photographs."""
    pairs = {str(path): (tree.files[item], path) for path, item in masks.items() if item not in tree.broken}
    for path, why in broken_items(pairs, check_no_photograph, "photographs").items():
        raise SalgenError(f"{path}: {why}, so it is no mask: give masks of one colour on black")


def check_no_photograph(image: Path, mask: Path) -> None:
    """Raise an UnusableError if a mask picture is its image, or has more colours than a drawn mask."""
    try:
        if mask.samefile(image) or filecmp.cmp(mask, image, shallow=False):
            raise UnusableError("is the image itself")
        with Image.open(mask) as picture:
            levels = picture.getcolors(MOST_GREYS)  # None if there are more
            colours = picture.mode[0] in "1LPIF" or picture.convert("RGB").getcolors(MOST_COLOURS)
        if not colours:
            lossy = " or a coloured mask in a lossy format" if picture.format in LOSSY else ""
            raise UnusableError(f"has more than {MOST_COLOURS} colours, as a photograph{lossy}")
        if levels is None and np.array_equal(read_rgb(mask), read_rgb(image)):
            raise UnusableError("has the pixels of the image")
    except UnusableError:
        raise
    except (OSError, ValueError, SyntaxError, SalgenError, Image.DecompressionBombError):
        return  # broken masks are skipped and counted elsewhere


def numbers_of(values: Any, count: int | None = None) -> Any:
    """Finite numbers of texts; an UnusableError if they are none, or not so many."""
    try:
        numbers = tuple(map(float, values))
    except (TypeError, ValueError):
        numbers = ()
    if not numbers or not all(map(isfinite, numbers)) or count not in (None, len(numbers)):
        raise UnusableError("annotation that is no row of numbers")
    return numbers
