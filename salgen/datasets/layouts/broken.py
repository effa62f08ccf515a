"""Broken pictures of a copy: looked for where items are chosen, passed over and counted.

Every importer takes its items from here, so one damaged file of a hundred thousand neither ends the making nor goes
unsaid: the counts stand in the source's notes, which `salgen make` and `salgen show` print.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TypeVar

import numpy as np
from PIL import Image

from salgen.cache import cached
from salgen.datasets.picture_libraries.picture_sampling import UnusableError
from salgen.errors import SalgenError
from salgen.generators.drawing.pictures import TOO_LARGE, TooLargeError, opened
from salgen.progress import progress

MISSING, UNREADABLE, LARGE = "missing image", "unreadable image", f"image {TOO_LARGE}"
REASONS = ("", MISSING, UNREADABLE, LARGE)
VERSION = "2"  # changes whenever another file counts as broken
MANY = 1000  # files that are decoded at a time

Value = TypeVar("Value")


def check_picture(path: Path) -> None:
    """Decode a picture to its end, a JPEG at an eighth of its size; an UnusableError if that fails."""
    with _usable(path) as picture:
        picture.draft(picture.mode, (max(picture.width // 8, 1), max(picture.height // 8, 1)))
        picture.load()


def check_size(path: Path, size: tuple[int, int] | None = None) -> tuple[int, int]:
    """The (H, W) of an image's file, whose pixels are not read; an UnusableError if `size` is stated and another."""
    with _usable(path) as picture:
        width, height = picture.size
    if size not in (None, (height, width)):
        raise UnusableError("image of another size than stated")
    return height, width


@contextmanager
def _usable(path: Path) -> Iterator[Image.Image]:
    """A picture whose pixels are not read yet; what fails while it is open is an UnusableError."""
    if not path.is_file():
        raise UnusableError(MISSING)
    try:
        with opened(path) as picture:
            yield picture
    except TooLargeError:
        raise UnusableError(LARGE) from None
    except SalgenError:
        raise UnusableError(UNREADABLE) from None


def faults_of(files: Iterable[Path]) -> list[str]:
    """The reason why each file is broken, or "" for each that is sound; decoded in parallel."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(_fault, files))


def sound_items(
    items: Mapping[str, Value], files: Mapping[str, Sequence[Path]]
) -> tuple[dict[str, Value], Counter[str]]:
    """The items of which every file can be decoded, and the number of the others by reason.

    Parameters
    ----------
    items
        Item name to anything.
    files
        Item name to its pictures.
    """
    broken = broken_items({name: files[name] for name in items})
    return {name: value for name, value in items.items() if name not in broken}, Counter(broken.values())


def broken_items(files: Mapping[str, Sequence[Path]]) -> dict[str, str]:
    """Each item of which a file cannot be decoded, with the reason; `files` has the pictures of each.

    What was found is kept in the user's cache, by names, sizes and times of the files.
    """
    paths = list(dict.fromkeys(chain.from_iterable(files.values())))
    kept = cached("pictures", [VERSION, stamp_of(paths)], ("faults",), lambda: {"faults": _faults(paths)})
    faults = dict(zip(paths, kept["faults"].tolist(), strict=True))
    worst = {name: max((faults[path] for path in given), default=0) for name, given in files.items()}
    return {name: REASONS[fault] for name, fault in worst.items() if fault}


def _fault(path: Path) -> str:
    try:
        check_picture(path)
    except UnusableError as error:
        return str(error)
    return ""


def _faults(paths: Sequence[Path]) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
    """The place of each file's reason in :data:`REASONS`."""
    found: list[int] = []
    with progress("decoding images", len(paths), "images") as advance:
        for start in range(0, len(paths), MANY):
            part = faults_of(paths[start : start + MANY])
            found += map(REASONS.index, part)
            advance(len(part))
    return np.array(found, dtype=np.int8)


def stamp_of(paths: Sequence[Path]) -> str:
    """SHA-256 over paths, sizes and times of files: what was found in them is known by it."""
    total = hashlib.sha256()
    for path in paths:
        stated = path.stat() if path.is_file() else None
        size, time = (stated.st_size, stated.st_mtime_ns) if stated else (-1, -1)
        total.update(f"{path}\0{size}\0{time}\n".encode(errors="surrogateescape"))
    return total.hexdigest()
