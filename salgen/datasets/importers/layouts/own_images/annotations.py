"""Annotated objects of images, and the outlines of them that can be used."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from salgen.datasets.importers.layouts.detection_datasets.object_boxes import Box, Size, box_fault
from salgen.datasets.importers.layouts.own_images.image_tree import ImageTree
from salgen.datasets.importers.layouts.own_images.outlines import BoxOutline, Outline, Polygons
from salgen.datasets.libraries.coco import check_polygons
from salgen.datasets.libraries.picture_sampling import UnusableError
from salgen.errors import SalgenError

UNKNOWN = "object of an unknown class"


@dataclass(frozen=True, eq=False)
class Object:
    """An annotated object; its category is None where the format has none, and `size` where it states none."""

    category: str | None
    outline: Outline
    size: Size | None = None


@dataclass(frozen=True, eq=False)
class Annotations:
    """What one annotator marked.

    Attributes
    ----------
    objects
        Item to its objects; items without one are not named.
    categories
        All that the format lists, in its order; none if it has no categories.
    files
        Name to each file that was read.
    """

    objects: Mapping[str, list[Object]]
    categories: tuple[str, ...]
    files: Mapping[str, Path]


def in_order(labels: Iterable[str]) -> list[str]:
    """Labels in alphabetical order, or by their values if all are whole numbers."""
    labels = set(labels)
    return sorted(labels, key=int) if all(label.isdecimal() for label in labels) else sorted(labels)


def image_of(file: Path, folder: Path, tree: ImageTree) -> str:
    """The image that a mask picture or a text of YOLO belongs to; a SalgenError if there is none."""
    name = file.relative_to(folder).with_suffix("").as_posix()
    item = tree.find(name, str(file))
    if item is None:
        raise SalgenError(
            f"{file}: {tree.root} has no image of that name: rename it as its image, or move it elsewhere"
        )
    return item


def polygons_outline(polygons: list[array[float]], size: Size) -> Polygons:
    """The outline of polygons, x, y, x, y, ... each, in an image of (H, W); an UnusableError if there is none."""
    check_polygons(polygons, size)
    return Polygons([np.array(polygon, dtype=np.float64).reshape(-1, 2) for polygon in polygons])


def box_outline(edges: Box, size: Size) -> BoxOutline:
    """The outline of a box in an image of (H, W); an UnusableError if no pixel is in it."""
    if fault := box_fault(edges, size):
        raise UnusableError(fault)
    return BoxOutline(edges)


def numbers_of(values: Iterable[Any]) -> Any:
    """Finite numbers of texts; an UnusableError if they are none."""
    try:
        numbers = tuple(map(float, values))
    except (TypeError, ValueError):
        numbers = ()
    if not numbers or not all(map(isfinite, numbers)):
        raise UnusableError("annotation that is no row of numbers")
    return numbers
