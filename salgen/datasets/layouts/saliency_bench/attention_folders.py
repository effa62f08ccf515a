"""The benchmark's own folders: images by class, and tables of attention maps that people drew.

`image/CLASS/NAME.jpg`, and `attention_label/*.csv` with the columns `img_idx`, the name of an image's file, and
`attention`, a JSON list of rows of the resized image (224 x 224 as published).
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
import numpy as np
from salgen.datasets.layouts.saliency_bench import marked_images
from salgen.errors import SalgenError, readable
from salgen.types import Mask

COLUMNS = ["img_idx", "attention"]
ROWS = 64  # rows of a table read at a time: a row has a hundred kilobytes
LICENSE = (
    "Not known to salgen: the terms of the data set that the benchmark took the images from. Publish pixels made from "
    "them only where those terms allow it."
)
ABOUT = (
    "The images and the attention maps are those of Saliency-Bench's own folders; a map is a mask where it is above 0."
)


def read_benchmark(path: Path) -> marked_images.Found:
    """The images of `image` with the maps of `attention_label`."""
    entries = (path / marked_images.IMAGES).iterdir()
    folders = sorted(entry for entry in entries if entry.is_dir() and not entry.name.startswith("."))
    if not folders:
        place = path / marked_images.IMAGES / "CLASS"
        raise SalgenError(f"{place} is missing: the images of each class are in a folder of its name")
    files = [(file, folder.name) for folder in folders for file in marked_images.pictures_in(folder)]
    images = {file.relative_to(path).as_posix(): marked_images.MarkedImage(file, label) for file, label in files}
    skipped: Counter[str] = Counter()
    marked, tables = with_attention(path, images, skipped)
    return marked_images.Found(path, marked, tuple(folder.name for folder in folders), ABOUT, LICENSE, skipped, tables)


def with_attention(
    path: Path, images: Mapping[str, marked_images.MarkedImage], skipped: Counter[str]
) -> tuple[dict[str, marked_images.MarkedImage], list[Path]]:
    """Images with the maps of the folder `attention_label` at a path, and the tables of these.

    Rows that cannot be used are counted in `skipped`.
    """
    tables = sorted(file for file in (path / marked_images.ATTENTION).glob("*.csv") if not file.name.startswith("."))
    if not tables:
        place = path / marked_images.ATTENTION / "NAME.csv"
        raise SalgenError(f"{place} is missing: Saliency-Bench has its attention maps there")
    items: dict[str, list[str]] = defaultdict(list)
    for item in images:
        items[Path(item).name].append(item)
    marked = dict(images)
    for table in tables:
        for name, text in _rows(table):
            named = items.get(Path(name).name, [])
            if len(named) > 1:  # tables may be called as the classes
                named = [item for item in named if images[item].label == table.stem]
            mask = _mask(text)
            if len(named) != 1:
                skipped["attention map of no image, or of a name that several images have"] += 1
            elif mask is None:
                skipped["attention map that is no list of rows of numbers"] += 1
            else:
                marked[named[0]] = marked_images.marked_by(images[named[0]], mask)
    return marked, tables


def _rows(table: Path) -> Iterator[tuple[str, Any]]:
    """An image's name and the text of its map, row by row."""
    import pandas

    with readable(f"{table}: cannot be read as a table with the columns {' and '.join(COLUMNS)}"):
        for part in pandas.read_csv(table, usecols=COLUMNS, dtype=str, chunksize=ROWS):
            yield from zip(part[COLUMNS[0]].astype(str), part[COLUMNS[1]], strict=True)


def _mask(text: Any) -> Mask | None:
    """The pixels of a map that are above 0; None if it is none."""
    try:
        values = np.asarray(json.loads(text), dtype=np.float64)
    except (TypeError, ValueError, RecursionError):
        return None
    return values > 0 if values.ndim == 2 and values.size and np.isfinite(values).all() else None
