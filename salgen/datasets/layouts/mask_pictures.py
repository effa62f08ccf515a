"""Mask pictures whose levels are numbers: of classes, or of what a pixel is."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.cache import cached
from salgen.datasets.layouts.broken import check_size, stamp_of
from salgen.datasets.picture_libraries.picture_sampling import UnusableError
from salgen.errors import SalgenError
from salgen.generators.drawing.pictures import read_levels
from salgen.progress import progress

VERSION = "1"  # changes whenever another picture is refused


def check_mask_picture(path: Path, size: tuple[int, int], known: Iterable[int]) -> None:
    """Look at a mask picture.

    Parameters
    ----------
    path
        Its file.
    size
        (H, W) of its image.
    known
        The numbers that may be in it.
    """
    if not path.is_file():
        raise UnusableError("missing mask picture")
    try:
        numbers = read_levels(path)
    except SalgenError:
        raise UnusableError("unreadable mask picture") from None
    if numbers.shape != size:
        raise UnusableError("mask picture of another size than its image, or with colours for numbers")
    if not np.isin(numbers, list(known)).all():
        raise UnusableError("mask picture with numbers that are of no class")


def mask_picture_faults(pairs: Mapping[str, tuple[Path, Path]], known: Iterable[int]) -> dict[str, str]:
    """Each item whose image or mask picture, of the numbers that are known, cannot be used, with the reason."""
    numbers = sorted(known)

    def check(image: Path, mask: Path) -> None:
        check_mask_picture(mask, check_size(image), numbers)

    return faults_of_pairs(["pictures", numbers], pairs, check)


def faults_of_pairs(
    depends_on: Any, pairs: Mapping[str, tuple[Path, Path]], check: Callable[[Path, Path], object]
) -> dict[str, str]:
    """Each item whose image or mask cannot be used, with the reason.

    What was found is kept in the user's cache, by names, sizes and times of the files.

    Parameters
    ----------
    depends_on
        Everything else that determines what is found, as JSON values.
    pairs
        Item to its image and its mask.
    check
        Raises an UnusableError for an image and a mask that cannot be used.
    """

    def look() -> dict[str, NDArray[Any]]:
        found = []
        with progress("looking at masks", len(pairs), "masks") as advance:
            for pair in pairs.values():
                found.append(_fault(check, *pair))
                advance()
        return {"faults": np.array(found, dtype=np.str_)}

    stamp = stamp_of([path for pair in pairs.values() for path in pair])
    kept = cached("mask-pictures", [VERSION, stamp, depends_on], ("faults",), look)["faults"].tolist()
    return {item: why for item, why in zip(pairs, kept, strict=True) if why}


def _fault(check: Callable[[Path, Path], object], image: Path, mask: Path) -> str:
    try:
        check(image, mask)
    except UnusableError as error:
        return str(error)
    return ""
