"""Tables whose rows mark objects: a box each, or an image's mask file or all its objects, as Hugging Face has them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from salgen.datasets.importers.layouts.own_images.annotations import (
    Annotations,
    Object,
    box_outline,
    in_order,
    numbers_of,
)
from salgen.datasets.importers.layouts.own_images.image_tree import ImageTree, Skipped
from salgen.datasets.importers.layouts.own_images.label_table import (
    LABEL,
    MASK,
    OBJECTS,
    Row,
    column,
    image_of_row,
    read_rows,
)
from salgen.datasets.importers.layouts.own_images.outlines import MaskPicture
from salgen.datasets.libraries.picture_sampling import UnusableError
from salgen.errors import SalgenError

ABSENT = "annotation of an image that is not in the folder"
CORNERS = (  # the columns of a box: left, top, right, bottom
    *(("x0", "y0", "x1", "y1"), ("x1", "y1", "x2", "y2"), ("xmin", "ymin", "xmax", "ymax")),
    *(("x_min", "y_min", "x_max", "y_max"), ("left", "top", "right", "bottom")),
)
CATEGORIES = ("categories", "category", "labels", "label", "category_id")
Mark = tuple[str | None, Path | Sequence[Any]]  # category; mask picture, or left, top, right, bottom


def is_table(path: Path) -> bool:
    """Whether a path is called as a table."""
    return path.suffix.lower() in (".csv", ".jsonl")


def masks_named_in(path: Path) -> list[Path]:
    """The mask pictures that a table names; a SalgenError if one is not there."""
    return [picture for row in read_rows(path) if (picture := _mask_of(row, path))]


def read_table(path: Path, tree: ImageTree, skipped: Skipped, values: tuple[int, ...]) -> Annotations:
    """A table with a row for each box, or one for each image that names its mask picture or lists its objects."""
    objects: dict[str, list[Object]] = defaultdict(list)
    files = {"annotations": path}
    for row in read_rows(path):
        place, _ = row
        item = image_of_row(row, path, tree)
        for category, mark in _marks(row, path):
            try:
                if item is None:
                    raise UnusableError(ABSENT)
                if isinstance(mark, Path):
                    files[f"mask-{len(files)}"] = mark
                    objects[item].append(Object(category, MaskPicture(mark, values)))
                elif item in tree.sizes:  # a broken image is counted as such
                    objects[item].append(Object(category, box_outline(numbers_of(mark), tree.sizes[item])))
            except UnusableError as error:
                skipped.add(str(error), place.removeprefix(f"{path.parent}/"))
    labels = {each.category for of_image in objects.values() for each in of_image if each.category is not None}
    return Annotations(objects, tuple(in_order(labels)), files)


def _marks(row: Row, path: Path) -> list[Mark]:
    _, columns = row
    label = column(row, LABEL) if set(LABEL) & columns.keys() else None
    if set(MASK) & columns.keys():
        picture = _mask_of(row, path)
        return [(label, picture)] if picture else []
    if OBJECTS in columns:
        return _objects(row)
    corners = next((names for names in CORNERS if set(names) <= columns.keys()), None)
    if corners is None:
        expected = ", or ".join(",".join(names) for names in CORNERS)
        raise SalgenError(
            f"{path}: has the columns {', '.join(columns)}; a box needs {expected}, an image {MASK[0]} or {OBJECTS}"
        )
    return [(label, [columns[name] for name in corners])]


def _mask_of(row: Row, path: Path) -> Path | None:
    place, columns = row
    name = next((str(columns[name]).strip() for name in MASK if columns.get(name)), "")
    picture = path.parent / name
    if name and not picture.is_file():
        raise SalgenError(f"{place}: {picture} is no file: name the image's mask, as seen from the table's folder")
    return picture if name else None


def _objects(row: Row) -> list[Mark]:
    """Of ``{"bbox": [[x, y, width, height], ...], "categories": [...]}``, or of a list with a dict for each object."""
    place, columns = row
    try:
        held = columns[OBJECTS] or []
        held = json.loads(held) if isinstance(held, str) else held
        if isinstance(held, dict):
            held = [dict(zip(held, values, strict=True)) for values in zip(*held.values(), strict=True)]
        marks: list[Mark] = []
        for each in held:
            category = next((str(each[name]) for name in CATEGORIES if name in each), None)
            marks.append((category, _edges(each["bbox"])))
    except (TypeError, ValueError, KeyError):
        raise SalgenError(
            f"{place}: column {OBJECTS!r} must hold {{'bbox': [[x, y, width, height], ...], 'categories': [...]}}"
        ) from None
    return marks


def _edges(box: Any) -> Sequence[float]:
    """Of x, y, width and height; none if it is anything else, which is counted."""
    try:
        left, top, width, height = map(float, box)
    except (TypeError, ValueError):
        return []
    return left, top, left + width, top + height
