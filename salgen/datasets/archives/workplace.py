"""A folder beside what is to be written, in which it is built before it takes its name."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from salgen.datasets.destination import sole_writer
from salgen.errors import SalgenError


@contextmanager
def workplace(out: Path) -> Iterator[Path]:
    """An empty folder of our own beside `out`; it is gone afterwards, whatever happens.

    What a killed process left there is removed first.

    Raises
    ------
    SalgenError
        If another process is writing `out`, or the disk refuses.
    """
    place = out.absolute().with_name(f".{out.absolute().name}.unfinished")
    try:
        place.mkdir(exist_ok=True)
        with sole_writer(place, out):
            try:
                _empty(place)
                yield place
            finally:
                shutil.rmtree(place, ignore_errors=True)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise SalgenError(f"{out}: {reason}; nothing was written") from error


def _empty(place: Path) -> None:
    for path in place.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
