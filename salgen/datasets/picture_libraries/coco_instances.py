"""The instances that a COCO file of annotations lists: of each image and class the largest."""

import json
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any
from salgen.errors import readable, unknown_name

MALFORMED = "annotation not in COCO's form"
CROWD = "crowd region"
UNLISTED = "annotation of an image that is not listed"

Box = tuple[float, float, float, float]
Images = Mapping[int, tuple[str, tuple[int, int]]]  # file name and (H, W), by the image's number


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """An object in an image."""

    area: float  # pixels
    box: Box  # left, top, width and height, in pixels
    outline: Any  # as outline_of gives it


def read_instances(path: Path, classes: Sequence[str]) -> tuple[Images, dict[int, dict[str, Instance]], dict[str, int]]:
    """The images of a file, of each the largest instance of each class, and how many annotations were passed over."""
    largest: dict[tuple[int, int], Instance] = {}
    crowds: Counter[int] = Counter()

    def take(entry: dict[str, Any]) -> None:
        place = entry["image_id"], entry["category_id"]
        if entry["iscrowd"]:
            crowds[place[1]] += 1
            return
        area, box = float(entry["area"]), box_of(entry)
        if not isfinite(area):
            raise ValueError
        if place not in largest or area > largest[place].area:
            largest[place] = Instance(area, box, outline_of(entry))

    images, categories, malformed = read_annotations(path, take)
    for name in classes:
        if name not in categories:
            raise unknown_name("object", name, categories)
    names = {categories[name]: name for name in classes}
    found: dict[int, dict[str, Instance]] = {}
    for (image, kind), instance in largest.items():
        if kind in names:
            found.setdefault(image, {})[names[kind]] = instance
    skipped = {
        CROWD: sum(crowds[kind] for kind in names),
        MALFORMED: malformed,
        UNLISTED: sum(len(of_image) for image, of_image in found.items() if image not in images),
    }
    return images, found, {why: count for why, count in skipped.items() if count}


def read_annotations(path: Path, take: Callable[[dict[str, Any]], None]) -> tuple[Images, dict[str, int], int]:
    """Hand over the annotations of a file one by one, as all at once would need gigabytes; one that fails is malformed.

    Returns the images by number, the categories' numbers by name, and how many annotations are malformed.
    """
    malformed = 0

    def handed_over(entry: dict[str, Any]) -> dict[str, Any] | None:
        nonlocal malformed
        is_image = "file_name" in entry and not {"bbox", "segmentation"} & entry.keys()
        if is_image or not {"image_id", "category_id"} & entry.keys():
            return entry
        try:
            ids = {key: whole_number(entry[key]) for key in ("image_id", "category_id")}
            take({**entry, **ids, "iscrowd": bool(float(entry.get("iscrowd") or 0))})  # "0" is no crowd
        except (KeyError, TypeError, ValueError, OverflowError):
            malformed += 1
        return None

    with readable(f"{path} is not a file of COCO's instances"):
        with open(path, encoding="utf-8-sig") as handle:
            whole = json.load(handle, object_hook=handed_over)
        images: dict[int, tuple[str, tuple[int, int]]] = {}
        for entry in whole["images"]:
            file, number = str(entry["file_name"]), whole_number(entry["id"])
            if images.get(number, (file,))[0] != file:
                raise ValueError(f"{images[number][0]} and {file} both have the id {number}")
            images[number] = file, (whole_number(entry["height"]), whole_number(entry["width"]))
        categories: dict[str, int] = {}
        for entry in whole["categories"]:
            name, number = entry["name"], whole_number(entry["id"])
            if not name or number in categories.values() or str(name) in categories:
                raise ValueError(f"category {name!r} with the id {number}: has no name, or another one's name or id")
            categories[str(name)] = number
        len(whole["annotations"])
    return images, categories, malformed


def whole_number(value: Any) -> int:
    """A whole number, or a text of one; else a ValueError or TypeError."""
    number = int(value)
    if isinstance(value, float) and number != value:
        raise ValueError(f"{value!r} must be a whole number")
    return number


def box_of(entry: Mapping[str, Any]) -> Box:
    """Left, top, width and height of an annotation."""
    left, top, width, height = map(float, entry["bbox"])
    if not all(map(isfinite, (left, top, width, height))):
        raise ValueError
    return left, top, width, height


def outline_of(entry: Mapping[str, Any]) -> Any:
    """The outline of an annotation: polygons, x, y, x, y, ... each, or a dict of run lengths; numbers are in arrays.

    A polygon may be a list of numbers, of pairs, or of dicts with x and y; one alone need not be in a list. None if
    there is no outline, :data:`MALFORMED` if it is in another form.
    """
    outline = entry.get("segmentation") or None
    try:
        if isinstance(outline, dict):
            counts = outline.get("counts")
            return {**outline, "counts": array("q", counts) if isinstance(counts, list) else counts}
        if isinstance(outline, list):
            several = isinstance(outline[0], list) and not all(len(each) == 2 for each in outline)
            polygons = outline if several else [outline]  # else it is one, of numbers, pairs or dicts
            return [array("d", map(float, _flat(polygon))) for polygon in polygons]
    except (TypeError, ValueError, KeyError, OverflowError):
        return MALFORMED
    return outline and MALFORMED


def _flat(polygon: Any) -> Any:
    """The numbers of a polygon, x, y, x, y, ..."""
    points = [(each["x"], each["y"]) for each in polygon] if polygon and isinstance(polygon[0], dict) else polygon
    return [place for x, y in points for place in (x, y)] if points and isinstance(points[0], list | tuple) else points
