"""The instances that a COCO file of annotations lists: of each image and class the largest."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from salgen.errors import SalgenError, reason, unknown_name

MALFORMED = "annotation not in COCO's form"
CROWD = "crowd region"
UNLISTED = "annotation of an image that is not listed"

Box = tuple[float, float, float, float]
Images = Mapping[int, tuple[str, tuple[int, int]]]


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """An object in an image.

    Attributes
    ----------
    area
        Pixels.
    box
        Left, top, width and height, in pixels.
    outline
        A list of polygons, each x, y, x, y, ...; or a dict of run lengths, ``counts`` and ``size``; None if broken.
    """

    area: float
    box: Box
    outline: Any


@dataclass(frozen=True, eq=False)
class Instances:
    """The instances of some classes that a file lists.

    Attributes
    ----------
    images
        File name and (H, W), by the image's number.
    largest
        By image and the class's place among `classes`.
    skipped
        How many annotations were passed over, by reason.
    """

    classes: tuple[str, ...]
    images: Images
    largest: Mapping[tuple[int, int], Instance]
    skipped: Mapping[str, int]

    def of_image(self, image: int) -> Iterator[tuple[str, Instance]]:
        """The classes that an image shows, with the largest instance of each."""
        for place, name in enumerate(self.classes):
            if (image, place) in self.largest:
                yield name, self.largest[image, place]


def read_instances(path: Path, classes: Sequence[str]) -> Instances:
    """Read a file of annotations.

    Raises
    ------
    SalgenError
        If it is no such file, or a class is not among its categories.
    """
    heap = _Heap()
    images, categories, malformed = read_annotations(path, heap.take)
    for name in classes:
        if name not in categories:
            raise unknown_name("object", name, categories)
    return heap.of_classes(tuple(classes), [categories[name] for name in classes], images, malformed)


def read_annotations(path: Path, take: Callable[[dict[str, Any]], None]) -> tuple[Images, dict[str, int], int]:
    """Hand over the annotations of a file one by one: all of them at once would need gigabytes.

    Parameters
    ----------
    path
        A file of COCO's instances.
    take
        A function of an annotation; one on which it fails is not in COCO's form.

    Returns
    -------
    The images by number, the categories' numbers by name, and how many annotations are not in COCO's form.

    Raises
    ------
    SalgenError
        If it is no such file.
    """
    malformed = 0

    def handed_over(entry: dict[str, Any]) -> dict[str, Any] | None:
        nonlocal malformed
        if "category_id" not in entry:
            return entry
        try:
            take(entry)
        except (KeyError, TypeError, ValueError, OverflowError):
            malformed += 1
        return None

    try:
        with open(path, encoding="utf-8") as handle:
            whole = json.load(handle, object_hook=handed_over)
        images = {
            int(entry["id"]): (str(entry["file_name"]), (entry["height"], entry["width"])) for entry in whole["images"]
        }
        categories = {str(entry["name"]): int(entry["id"]) for entry in whole["categories"]}
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise SalgenError(f"{path} is not a file of COCO's instances ({reason(error)})") from None
    return images, categories, malformed


def box_of(entry: Mapping[str, Any]) -> Box:
    """Left, top, width and height of an annotation.

    Raises
    ------
    ValueError, KeyError, TypeError
        If they are not four numbers.
    """
    left, top, width, height = map(float, entry["bbox"])
    if not all(map(isfinite, (left, top, width, height))):
        raise ValueError
    return left, top, width, height


def outline_of(entry: Mapping[str, Any]) -> Any:
    """The outline of an annotation as :class:`Instance` holds it, its numbers in arrays; None if they are none."""
    outline = entry.get("segmentation")
    try:
        if isinstance(outline, dict) and isinstance(outline.get("counts"), list):
            return {**outline, "counts": array("q", outline["counts"])}
        return [array("d", polygon) for polygon in outline] if isinstance(outline, list) else outline
    except (TypeError, ValueError, OverflowError):
        return None


@dataclass(eq=False)
class _Heap:
    """Takes annotations while the file is read."""

    largest: dict[tuple[int, int], Instance] = field(default_factory=dict)
    crowds: Counter[int] = field(default_factory=Counter)

    def take(self, entry: dict[str, Any]) -> None:
        place = entry["image_id"], entry["category_id"]
        if entry.get("iscrowd"):
            self.crowds[place[1]] += 1
            return
        area, box = float(entry["area"]), box_of(entry)
        if not isfinite(area):
            raise ValueError
        if place not in self.largest or area > self.largest[place].area:
            self.largest[place] = Instance(area, box, outline_of(entry))

    def of_classes(self, classes: tuple[str, ...], numbers: Sequence[int], images: Images, malformed: int) -> Instances:
        places = {number: place for place, number in enumerate(numbers)}
        largest = {
            (image, places[kind]): instance for (image, kind), instance in self.largest.items() if kind in places
        }
        skipped = {
            CROWD: sum(self.crowds[number] for number in numbers),
            MALFORMED: malformed,
            UNLISTED: sum(image not in images for image, _ in largest),
        }
        return Instances(classes, images, largest, {why: count for why, count in skipped.items() if count})
