"""Annotations in the formats that people have: each reader gives the outlines of the objects of each image."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from salgen.datasets.importers.layouts.detection_datasets.object_boxes import Box, Size, box_fault
from salgen.datasets.importers.layouts.own_images.image_tree import ImageTree, Skipped, pictures_below, visible_files
from salgen.datasets.importers.layouts.own_images.label_table import FILE, LABEL, column, read_rows
from salgen.datasets.importers.layouts.own_images.outlines import BoxOutline, MaskPicture, Outline, Polygons, RunLengths
from salgen.datasets.libraries.coco import check_polygons, run_lengths
from salgen.datasets.libraries.coco_instances import CROWD, MALFORMED, UNLISTED, box_of, outline_of, read_annotations
from salgen.datasets.libraries.picture_sampling import UnusableError
from salgen.errors import SalgenError, reason

UNKNOWN = "object of an unknown class"
ABSENT = "annotation of an image that is not in the folder"
NAME_FILES = ("data.yaml", "data.yml", "dataset.yaml", "classes.txt", "obj.names")  # of YOLO's classes
CORNERS = (  # the columns of a box: left, top, right, bottom
    *(("x0", "y0", "x1", "y1"), ("x1", "y1", "x2", "y2"), ("xmin", "ymin", "xmax", "ymax")),
    *(("x_min", "y_min", "x_max", "y_max"), ("left", "top", "right", "bottom")),
)


@dataclass(frozen=True, eq=False)
class Object:
    """An annotated object; its category is None where the format has none."""

    category: str | None
    outline: Outline


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


def read_mask_pictures(path: Path, tree: ImageTree, skipped: Skipped, values: tuple[int, ...]) -> Annotations:
    """A folder of pictures, each of the size and with the name of its image; their suffixes may differ."""
    objects: dict[str, list[Object]] = {}
    pictures = pictures_below(path)
    if not pictures:
        raise SalgenError(
            f"{path}: holds no annotations; expected mask pictures such as {path / 'NAME.png'}, or YOLO's .txt"
        )
    for picture in pictures:
        item = _image_of(picture, path, tree)
        if item in objects:
            raise SalgenError(f"{picture}: {item} has another mask already: keep one, or give each annotator a folder")
        objects[item] = [Object(None, MaskPicture(picture, values))]
    return Annotations(objects, (), {file.relative_to(path).as_posix(): file for file in pictures})


def read_coco(path: Path, tree: ImageTree, skipped: Skipped, values: tuple[int, ...]) -> Annotations:
    """COCO's instances: polygons or run lengths, or boxes where an object has neither."""
    entries: list[tuple[int, int, bool, Any, Box | None]] = []

    def take(entry: dict[str, Any]) -> None:
        outline = outline_of(entry)
        box = None if outline else box_of(entry)
        entries.append((int(entry["image_id"]), int(entry["category_id"]), bool(entry.get("iscrowd")), outline, box))

    images, numbers, malformed = read_annotations(path, take)
    for _ in range(malformed):
        skipped.add(MALFORMED, path.name)
    names = {number: name for name, number in numbers.items()}
    items = {number: tree.find(file, str(path)) for number, (file, _) in images.items()}
    objects: dict[str, list[Object]] = defaultdict(list)
    for image, category, crowd, outline, box in entries:
        file, stated = images.get(image, (f"image_id {image}", (0, 0)))
        item = items.get(image)
        size = tree.sizes.get(item or "")
        try:
            if crowd or item is None or category not in names:
                raise UnusableError(
                    CROWD if crowd else UNLISTED if image not in images else UNKNOWN if item else ABSENT
                )
            if size is None:  # a broken image is counted as such
                continue
            if tuple(stated) != size:
                raise UnusableError("annotation of an image of another size than stated")
            objects[item].append(Object(names[category], _coco_outline(outline, box, size)))
        except UnusableError as error:
            skipped.add(str(error), item or Path(file).name)
    return Annotations(objects, tuple(sorted(numbers, key=lambda name: numbers[name])), {"annotations": path})


def read_yolo(path: Path, tree: ImageTree, skipped: Skipped, values: tuple[int, ...]) -> Annotations:
    """YOLO's text files, a line for each object: class and box (centre and size) or polygon, as shares of the image.

    `path` is the folder of texts, or the file of classes such as data.yaml; then the texts are looked for as YOLO does,
    with `labels` in place of `images` in the path of each image, or beside it.
    """
    listing = _names_near(path) if path.is_dir() else path
    names = _yolo_names(listing) if listing else ()
    texts = _texts_in(path, tree) if path.is_dir() else _texts_beside(path, tree)
    found: dict[str, list[tuple[int, Outline]]] = defaultdict(list)
    for item, text in texts.items():
        for place, line in _lines(text) if item in tree.sizes else ():
            try:
                found[item].append(_yolo_object(line, tree.sizes[item], len(names)))
            except UnusableError as error:
                skipped.add(str(error), place)
    numbers = {number for objects in found.values() for number, _ in objects}
    categories = names or tuple(map(str, range(max(numbers, default=-1) + 1)))
    named = {item: [Object(categories[n], outline) for n, outline in objects] for item, objects in found.items()}
    files = {f"labels/{item}": text for item, text in texts.items()} | ({"names": listing} if listing else {})
    return Annotations(named, categories, files)


def read_boxes(path: Path, tree: ImageTree, skipped: Skipped, values: tuple[int, ...]) -> Annotations:
    """A CSV file with a row for each box: image, label where there is one, and the edges in pixels."""
    objects: dict[str, list[Object]] = defaultdict(list)
    for row in read_rows(path):
        place, columns = row
        corners = next((names for names in CORNERS if set(names) <= columns.keys()), None)
        if corners is None:
            expected = ", or ".join(",".join(names) for names in CORNERS)
            raise SalgenError(f"{path}: has the columns {', '.join(columns)}; a box needs {expected}")
        item = tree.find(column(row, FILE), place)
        size = tree.sizes.get(item or "")
        label = column(row, LABEL) if set(LABEL) & columns.keys() else None
        try:
            if item is None:
                raise UnusableError(ABSENT)
            if size is not None:  # a broken image is counted as such
                objects[item].append(Object(label, _box(_numbers(columns[name] for name in corners), size)))
        except UnusableError as error:
            skipped.add(str(error), place.removeprefix(f"{path.parent}/"))
    labels = {each.category for of_image in objects.values() for each in of_image if each.category is not None}
    return Annotations(objects, tuple(in_order(labels)), {"annotations": path})


@dataclass(frozen=True)
class Format:
    """A format: what it is called, whether a path is of it, and its reader."""

    name: str
    recognises: Callable[[Path], bool]
    read: Callable[[Path, ImageTree, Skipped, tuple[int, ...]], Annotations]


FORMATS = (
    Format("COCO instances (.json)", lambda path: path.suffix.lower() == ".json", read_coco),
    Format("boxes (.csv)", lambda path: path.suffix.lower() == ".csv", read_boxes),
    Format(
        "YOLO (a folder of .txt, or its data.yaml or classes.txt)",
        lambda path: (
            _holds_texts(path) if path.is_dir() else path.suffix.lower() in (".yaml", ".yml", ".txt", ".names")
        ),
        read_yolo,
    ),
    Format("a folder of mask pictures", Path.is_dir, read_mask_pictures),
)


def read_annotations_at(path: Path, tree: ImageTree, skipped: Skipped, values: tuple[int, ...]) -> Annotations:
    """The annotations at a path, in the first of :data:`FORMATS` that recognises it.

    Parameters
    ----------
    path
        A file or a folder.
    tree
        The images.
    skipped
        Counts single annotations that cannot be used.
    values
        The object's levels in mask pictures; all but black if empty.

    Raises
    ------
    SalgenError
        If there is nothing, or nothing of a known format, or it does not belong to the images.
    """
    if not path.exists():
        raise SalgenError(f"{path}: expected the masks or annotations here: {', '.join(each.name for each in FORMATS)}")
    form = next((form for form in FORMATS if form.recognises(path)), None)
    if form is None:
        raise SalgenError(f"{path}: not a known form of annotations; give {', '.join(each.name for each in FORMATS)}")
    return form.read(path, tree, skipped, values)


def in_order(labels: Iterable[str]) -> list[str]:
    """Labels in alphabetical order, or by their values if all are whole numbers."""
    labels = set(labels)
    return sorted(labels, key=int) if all(label.isdecimal() for label in labels) else sorted(labels)


def _image_of(file: Path, folder: Path, tree: ImageTree) -> str:
    """The image that a mask picture or a text belongs to."""
    name = file.relative_to(folder).with_suffix("").as_posix()
    item = tree.find(name, str(file))
    if item is None:
        raise SalgenError(
            f"{file}: {tree.root} has no image of that name: rename it as its image, or move it elsewhere"
        )
    return item


def _coco_outline(outline: Any, box: Box | None, size: Size) -> Outline:
    if box is not None:
        left, top, width, height = box
        return _box((left, top, left + width, top + height), size)
    if isinstance(outline, list):
        return _polygons(outline, size)
    counts = run_lengths(outline.get("counts")) if isinstance(outline, dict) else []
    stated = outline.get("size") if isinstance(outline, dict) else None
    if stated != list(size) or min(counts, default=-1) < 0 or sum(counts) != size[0] * size[1]:
        raise UnusableError("RLE of the wrong size")
    return RunLengths(np.array(counts, dtype=np.int64))


def _polygons(polygons: list[array[float]], size: Size) -> Polygons:
    check_polygons(polygons, size)
    return Polygons([np.array(polygon, dtype=np.float64).reshape(-1, 2) for polygon in polygons])


def _box(edges: Box, size: Size) -> BoxOutline:
    if fault := box_fault(edges, size):
        raise UnusableError(fault)
    return BoxOutline(edges)


def _numbers(values: Iterable[Any]) -> Any:
    """Finite numbers of texts."""
    try:
        numbers = tuple(map(float, values))
    except (TypeError, ValueError):
        numbers = ()
    if not numbers or not all(map(isfinite, numbers)):
        raise UnusableError("annotation that is no row of numbers")
    return numbers


def _yolo_object(line: str, size: Size, classes: int) -> tuple[int, Outline]:
    """Class number and outline of a line; any class number if `classes` is 0."""
    number, *shares = _numbers(line.split())
    if number < 0 or not number.is_integer() or (classes and number >= classes):
        raise UnusableError(UNKNOWN)
    if len(shares) == 4:
        x, y, width, height = (share * size[1 - place % 2] for place, share in enumerate(shares))
        return int(number), _box((x - width / 2, y - height / 2, x + width / 2, y + height / 2), size)
    if len(shares) < 6 or len(shares) % 2:
        raise UnusableError("line that is neither a box nor a polygon of YOLO")
    return int(number), _polygons(
        [array("d", (share * size[1 - place % 2] for place, share in enumerate(shares)))], size
    )


def _holds_texts(folder: Path) -> bool:
    """Whether a folder is YOLO's: a README.txt beside mask pictures does not make it so."""
    return not pictures_below(folder) and any(path.suffix == ".txt" for path in visible_files(folder))


def _texts_in(folder: Path, tree: ImageTree) -> dict[str, Path]:
    """Item to text file."""
    files = [path for path in visible_files(folder) if path.suffix == ".txt" and path.name not in NAME_FILES]
    return {_image_of(file, folder, tree): file for file in files}


def _texts_beside(listing: Path, tree: ImageTree) -> dict[str, Path]:
    """Item to text file, where there is one."""
    texts = {}
    for item, path in tree.files.items():
        parts = list(path.absolute().with_suffix(".txt").parts)
        if "images" in parts:
            parts[len(parts) - 1 - parts[::-1].index("images")] = "labels"
        texts[item] = Path(*parts)
    there = {item: path for item, path in texts.items() if path.is_file()}
    if not there:
        raise SalgenError(
            f"{listing}: no image has a text of YOLO; expected files such as {next(iter(texts.values()))}"
        )
    return there


def _names_near(folder: Path) -> Path | None:
    """The file of YOLO's classes in a folder or in one of the two that it is in."""
    places = [place / name for place in (folder, *folder.absolute().parents[:2]) for name in NAME_FILES]
    return next(filter(Path.is_file, places), None)


def _yolo_names(path: Path) -> tuple[str, ...]:
    """The classes of a file: a line each, or under `names` of a YAML file (a list, or numbers from 0 with names).

    No YAML library is among salgen's dependencies, and no other part of these files is needed.
    """
    try:
        text = re.sub(r"(^|[ \t])#.*", "", path.read_text(encoding="utf-8-sig"), flags=re.MULTILINE)
    except (OSError, ValueError) as error:
        raise SalgenError(f"{path}: cannot be read ({reason(error)})") from None
    if path.suffix not in (".yaml", ".yml"):
        return tuple(line.strip() for line in text.splitlines() if line.strip())
    block = re.search(
        r"^names:\s*(\[.*?\]|\{.*?\}|(?:[ \t]*(?:-|\d+:)[^\n]*(?:\n|\Z)\s*)+)", text, re.MULTILINE | re.DOTALL
    )
    entries = re.split(r"[,\n]", block.group(1).strip("[]{}\n ")) if block else []
    names = [re.sub(r"^\s*(?:-|\d+:)?\s*", "", entry).strip().strip("\"'") for entry in entries if entry.strip()]
    if not names:
        raise SalgenError(f"{path}: names no classes; expected a line such as  names: [cat, dog]")
    return tuple(names)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """The lines of a text that are not empty, each with its place, which the notes name: without the folder."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise SalgenError(f"{path}: cannot be read as text ({reason(error)})") from None
    return ((f"{path.name} line {number}", line) for number, line in enumerate(lines, start=1) if line.strip())
