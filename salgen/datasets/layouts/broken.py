"""Broken files of a copy: looked for where items are chosen, passed over and counted.

Every importer takes its items from here, so one damaged file of a hundred thousand neither ends the making nor goes
unsaid: the counts stand in the source's notes, which `salgen make` and `salgen show` print.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
import numpy as np
from salgen.cache import cached_json
from salgen.datasets.picture_libraries.picture_sampling import UnusableError, usable
from salgen.generators.drawing.pictures import opened, read_levels
from salgen.progress import tracked

VERSION = "3"  # changes whenever another file counts as broken

Value = TypeVar("Value")
Check = Callable[..., object]  # raises an UnusableError for an item's files, which it takes as arguments


def check_pictures(*paths: Path) -> None:
    """Decode pictures to their ends, a JPEG at an eighth of its size."""
    for path in paths:
        with usable(path), opened(path) as picture:
            picture.draft(picture.mode, (max(picture.width // 8, 1), max(picture.height // 8, 1)))
            picture.load()


def check_size(path: Path, size: tuple[int, int] | None = None) -> tuple[int, int]:
    """The (H, W) of an image's file, whose pixels are not read; an UnusableError if `size` is stated and another."""
    with usable(path), opened(path) as picture:
        width, height = picture.size
    if size not in (None, (height, width)):
        raise UnusableError("image of another size than stated")
    return height, width


def check_mask_picture(path: Path, size: tuple[int, int], known: Iterable[int]) -> None:
    """Look at a mask picture of an image of `size` (H, W), whose levels are numbers that are `known`."""
    with usable(path, "mask picture"):
        numbers = read_levels(path)
    if numbers.shape != size:
        raise UnusableError("mask picture of another size than its image, or with colours for numbers")
    if not np.isin(numbers, list(known)).all():
        raise UnusableError("mask picture with numbers that are of no class")


def fault_of(files: Sequence[Path], check: Check = check_pictures) -> str:
    """The reason why an item's files cannot be used, or "" if they can."""
    try:
        check(*files)
    except UnusableError as error:
        return str(error)
    return ""


def sound_items(
    items: Mapping[str, Value], files: Mapping[str, Sequence[Path]]
) -> tuple[dict[str, Value], Counter[str]]:
    """The items of which every picture in `files` can be decoded, and the number of the others by reason."""
    broken = broken_items({name: files[name] for name in items})
    return {name: value for name, value in items.items() if name not in broken}, Counter(broken.values())


def mask_picture_faults(pairs: Mapping[str, tuple[Path, Path]], known: Iterable[int]) -> dict[str, str]:
    """Each item whose image or mask picture, of the numbers that are known, cannot be used, with the reason."""
    numbers = sorted(known)
    return broken_items(
        pairs, lambda image, mask: check_mask_picture(mask, check_size(image), numbers), ["mask pictures", numbers]
    )


def broken_items(
    files: Mapping[str, Sequence[Path]], check: Check = check_pictures, depends_on: Any = "pictures"
) -> dict[str, str]:
    """Each item whose files cannot be used, with the reason; kept in the user's cache by names, sizes and times."""
    groups = list(files.values())

    def look() -> list[str]:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            faults = pool.map(partial(fault_of, check=check), groups)
            return [fault for _, fault in zip(tracked("looking at files", groups, "items"), faults, strict=True)]

    stamp = stamp_of([path for group in groups for path in group])
    key = [VERSION, stamp, list(map(len, groups)), depends_on]
    return {item: why for item, why in zip(files, cached_json("faults", key, look), strict=True) if why}


def stamp_of(paths: Sequence[Path]) -> str:
    """SHA-256 over paths, sizes and times of files: what was found in them is known by it."""
    total = hashlib.sha256()
    for path in paths:
        stated = path.stat() if path.is_file() else None
        size, time = (stated.st_size, stated.st_mtime_ns) if stated else (-1, -1)
        total.update(f"{path}\0{size}\0{time}\n".encode(errors="surrogateescape"))
    return total.hexdigest()
