"""A folder beside what is to be written, in which it is built before it takes its name."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from salgen.datasets.format.output_folder import sole_writer
from salgen.errors import SalgenError


@contextmanager
def workplace(out: Path) -> Iterator[Path]:
    """An empty folder of our own beside `out`; it is gone afterwards, whatever happens.

    What a killed process left there is removed first.
    """
    place = _place_of(out)
    try:
        with sole_writer(place, out):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            try:
                yield place
            finally:
                shutil.rmtree(place, ignore_errors=True)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise SalgenError(f"{out}: {reason}; nothing was written") from error


def forget(out: Path) -> None:
    """Remove the folder beside a finished `out` that a process left which was killed just after it gave the name."""
    place = _place_of(out)
    if place.is_dir() and not place.is_symlink():
        with suppress(SalgenError, OSError), sole_writer(place, out):  # unless another process is at it
            shutil.rmtree(place)


def _place_of(out: Path) -> Path:
    return out.absolute().with_name(f".{out.absolute().name}.unfinished")
