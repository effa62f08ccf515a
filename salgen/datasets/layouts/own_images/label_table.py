"""Tables with a row for each image: labels.csv, and metadata.csv or metadata.jsonl of Hugging Face's image folders."""

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from salgen.datasets.layouts.own_images.image_tree import SPLIT_FOLDERS, ImageTree
from salgen.errors import SalgenError, readable

FILE = ("file", "file_name", "filename", "image", "image_path", "path")
LABEL = ("label", "class", "category", "class_name")
MASK = ("mask", "mask_file_name", "mask_file", "mask_path")
OBJECTS = "objects"

Row = tuple[str, Mapping[str, Any]]  # the place, as messages name it, and the columns in lower case


@dataclass(frozen=True)
class LabelRow:
    """An image's label, split and cluster, where the table has them."""

    label: str | None = None
    split: str | None = None
    cluster: str | None = None


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a CSV file with a header, or of a file of JSON lines."""
    is_json = path.suffix.lower() == ".jsonl"
    with readable(f"{path}: cannot be read as a table"), open(path, encoding="utf-8-sig", newline="") as handle:
        head = "" if is_json else handle.readline().strip()
        handle.seek(0)
        table = csv.DictReader(handle, delimiter=next((mark for mark in ",;\t" if mark in head), ","))
        names = [name.strip().lower() for name in (table.fieldnames or () if head else ()) if name.strip()]
        if len(set(names)) < len(names):
            raise ValueError(f"two columns of {', '.join(names)} have one name")
        rows: list[Mapping[str, Any]] = []
        for row in map(json.loads, filter(str.strip, handle)) if is_json else table:
            if any(row.pop(None, ())):
                raise ValueError(f"row {len(rows) + 2} has more values than columns: quote values that hold a mark")
            rows.append({str(key).strip().lower(): value for key, value in row.items()})
    if not rows:
        below = f" below its header {head}" if head else ""
        expected = "a header such as file,label and a line for each image"
        raise SalgenError(f"{path}: has no rows{below}; expected {expected}")
    start = 1 if is_json else 2
    yield from ((f"{path} row {number}", row) for number, row in enumerate(rows, start=start))


def column(row: Row, names: tuple[str, ...]) -> str:
    """The value of the first of some columns that a row has, as text."""
    place, values = row
    name = next((name for name in names if name in values), None)
    if name is None:
        raise SalgenError(f"{place}: has no column {names[0]!r} (or {', '.join(names[1:])}), but {', '.join(values)}")
    text = "" if values[name] is None else str(values[name]).strip()
    if not text:
        raise SalgenError(f"{place}: column {name!r} is empty")
    return text


def read_labels(path: Path, tree: ImageTree) -> dict[str, LabelRow]:
    """Item to its row."""
    labels: dict[str, LabelRow] = {}
    for row in read_rows(path):
        place, values = row
        item = image_of_row(row, path, tree)
        if item is None:
            raise SalgenError(f"{place}: {tree.root} has no image {column(row, FILE)!r}: correct or remove the row")
        if item in labels:
            raise SalgenError(f"{place}: {item} is named twice: give each image one row")
        split = str(values.get("split") or "").strip().lower()
        if split and split not in SPLIT_FOLDERS:
            raise SalgenError(f"{place}: split {split!r} is unknown: write train, val or test")
        cluster = str(values.get("cluster") or "").strip()
        unlabelled = not set(LABEL) & values.keys() and {*MASK, OBJECTS} & values.keys()
        labels[item] = LabelRow(None if unlabelled else column(row, LABEL), SPLIT_FOLDERS.get(split), cluster or None)
    return labels


def image_of_row(row: Row, path: Path, tree: ImageTree) -> str | None:
    """The image that a row of a table names, as seen from the table's folder if that is among the images."""
    folder = path.parent.relative_to(tree.root) if path.parent.is_relative_to(tree.root) else Path()
    return tree.find((folder / column(row, FILE)).as_posix(), row[0])


def metadata_in(folder: Path) -> list[Path]:
    """Hugging Face's tables: in the folder itself, or one in each folder of a split."""
    names = ("metadata.csv", "metadata.jsonl")
    return [path for pattern in ("{}", "*/{}") for name in names for path in sorted(folder.glob(pattern.format(name)))]


def marks_objects(path: Path) -> bool:
    """Whether the rows of one of these name masks or list objects."""
    return any({*MASK, OBJECTS} & columns.keys() for _, columns in read_rows(path))
