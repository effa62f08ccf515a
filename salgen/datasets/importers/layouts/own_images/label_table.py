"""Tables with a row for each image: labels.csv, and metadata.csv or metadata.jsonl of Hugging Face's image folders."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from salgen.datasets.importers.layouts.own_images.image_tree import SPLIT_FOLDERS, ImageTree
from salgen.errors import SalgenError, reason

FILE = ("file", "file_name", "filename", "image", "image_path", "path")
LABEL = ("label", "class", "category", "class_name")

Row = tuple[str, Mapping[str, Any]]  # the place, as messages name it, and the columns in lower case


@dataclass(frozen=True)
class LabelRow:
    """An image's label, and where the table has them its split and its cluster."""

    label: str
    split: str | None
    cluster: str | None


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a CSV file with a header, or of a file of JSON lines.

    Raises
    ------
    SalgenError
        If it is no such file, or has no rows.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as handle:
            lines: Any = (
                map(json.loads, filter(str.strip, handle)) if path.suffix == ".jsonl" else csv.DictReader(handle)
            )
            rows = [{str(key).strip().lower(): value for key, value in row.items()} for row in lines]
    except (OSError, ValueError, AttributeError, csv.Error, RecursionError) as error:
        raise SalgenError(f"{path}: cannot be read as a table ({reason(error)})") from None
    if not rows:
        raise SalgenError(f"{path}: has no rows; expected a header such as file,label and a line for each image")
    start = 1 if path.suffix == ".jsonl" else 2
    yield from ((f"{path} row {number}", row) for number, row in enumerate(rows, start=start))


def column(row: Row, names: tuple[str, ...]) -> str:
    """The value of the first of some columns that a row has, as text.

    Raises
    ------
    SalgenError
        If it has none of them, or nothing is in it.
    """
    place, values = row
    name = next((name for name in names if name in values), None)
    if name is None:
        raise SalgenError(f"{place}: has no column {names[0]!r} (or {', '.join(names[1:])}), but {', '.join(values)}")
    text = "" if values[name] is None else str(values[name]).strip()
    if not text:
        raise SalgenError(f"{place}: column {name!r} is empty")
    return text


def read_labels(path: Path, tree: ImageTree) -> dict[str, LabelRow]:
    """Item to its row.

    Raises
    ------
    SalgenError
        If the table cannot be read, names no image of the folder, or one twice, or a split of another name.
    """
    labels: dict[str, LabelRow] = {}
    folder = path.parent.relative_to(tree.root) if path.parent.is_relative_to(tree.root) else Path()
    for row in read_rows(path):
        place, values = row
        name = column(row, FILE)
        item = tree.find((folder / name).as_posix(), place)
        if item is None:
            raise SalgenError(f"{place}: {tree.root} has no image {name!r}: correct the name, or remove the row")
        if item in labels:
            raise SalgenError(f"{place}: {item} is named twice: give each image one row")
        split = str(values.get("split") or "").strip().lower()
        if split and split not in SPLIT_FOLDERS:
            raise SalgenError(f"{place}: split {split!r} is unknown: write train, val or test")
        cluster = str(values.get("cluster") or "").strip()
        labels[item] = LabelRow(column(row, LABEL), SPLIT_FOLDERS.get(split), cluster or None)
    return labels


def metadata_of(tree: ImageTree) -> list[Path]:
    """Hugging Face's tables: in the folder itself, or one in each folder of a split."""
    names = ("metadata.csv", "metadata.jsonl")
    return [
        path for pattern in ("{}", "*/{}") for name in names for path in sorted(tree.root.glob(pattern.format(name)))
    ]
