"""YOLO's annotations: a text for each image, and a file of the classes."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from salgen.datasets.importers.layouts.detection_datasets.object_boxes import Size
from salgen.datasets.importers.layouts.own_images.annotations import (
    UNKNOWN,
    Annotations,
    Object,
    box_outline,
    image_of,
    numbers_of,
    polygons_outline,
)
from salgen.datasets.importers.layouts.own_images.image_tree import ImageTree, Skipped, pictures_below, visible_files
from salgen.datasets.importers.layouts.own_images.outlines import Outline
from salgen.datasets.libraries.picture_sampling import UnusableError
from salgen.errors import SalgenError, reason

NAME_FILES = ("data.yaml", "data.yml", "dataset.yaml", "classes.txt", "obj.names")  # of the classes


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


def holds_texts(folder: Path) -> bool:
    """Whether a folder is YOLO's: a README.txt beside mask pictures does not make it so."""
    return not pictures_below(folder) and any(path.suffix == ".txt" for path in visible_files(folder))


def _yolo_object(line: str, size: Size, classes: int) -> tuple[int, Outline]:
    """Class number and outline of a line; any class number if `classes` is 0."""
    number, *shares = numbers_of(line.split())
    if number < 0 or not number.is_integer() or (classes and number >= classes):
        raise UnusableError(UNKNOWN)
    if len(shares) == 4:
        x, y, width, height = (share * size[1 - place % 2] for place, share in enumerate(shares))
        return int(number), box_outline((x - width / 2, y - height / 2, x + width / 2, y + height / 2), size)
    if len(shares) < 6 or len(shares) % 2:
        raise UnusableError("line that is neither a box nor a polygon of YOLO")
    corners = array("d", (share * size[1 - place % 2] for place, share in enumerate(shares)))
    return int(number), polygons_outline([corners], size)


def _texts_in(folder: Path, tree: ImageTree) -> dict[str, Path]:
    """Item to text file."""
    files = [path for path in visible_files(folder) if path.suffix == ".txt" and path.name not in NAME_FILES]
    return {image_of(file, folder, tree): file for file in files}


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
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise SalgenError(f"{path}: cannot be read ({reason(error)})") from None
    if path.suffix not in (".yaml", ".yml"):
        return tuple(line.strip() for line in text.splitlines() if line.strip())
    text = re.sub(r"(^|[ \t])#.*", "", text, flags=re.MULTILINE)
    block = re.search(
        r"^names:\s*(\[.*?\]|\{.*?\}|(?:[ \t]*(?:-|\d+:)[^\n]*(?:\n|\Z)\s*)+)", text, re.MULTILINE | re.DOTALL
    )
    listed = block.group(1) if block else ""
    entries = listed[1:-1].split(",") if listed.startswith(("[", "{")) else listed.splitlines()
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
