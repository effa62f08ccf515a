"""Verification of data sets and runs, as folders or as archives; all problems are reported at once."""

import os
from pathlib import Path
from typing import NamedTuple

from salgen.datasets.archives.archive_formats import SUFFIXES, is_archive
from salgen.datasets.archives.unpacking import archive_problems
from salgen.datasets.verification import verify_dataset as data_sets
from salgen.errors import SalgenError
from salgen.evaluation.runs.artifacts.run_record import RECORD
from salgen.evaluation.verification.verify_run import run_problems


class Verdict(NamedTuple):
    """Result of a verification: one line for each problem, and what could not be checked, or ""."""

    problems: list[str]
    unchecked: str


def verify(path: str | os.PathLike[str], *, source: str | None = None, samples: int = 32) -> list[str]:
    """Check a data set's or a run's folder, or an archive of one.

    Checked of a data set are the checksums, the spec's fingerprint, the schema, and for every sample its
    id, the digest of its pixels, and that image and twin are equal outside the mask. Some samples are drawn
    and rendered again and must come out with the same recipe and the same bits.
    Checked of a run are the checksums, where it was published; that its tables follow from its scores and
    predictions, and these agree with its record; and, if it kept its maps, the maps, data and models:
    some samples are rendered and scored again.
    An archive is compared with the digest beside it, where there is one, and unpacked into a temporary
    folder for the rest.

    Parameters
    ----------
    path
        The folder or the archive.
    source
        The source data that a data set was made from, where that is not the generator's default.
    samples
        Number of samples to render again, evenly spread over the splits, and of a run's first samples to
        score again; 0 for none.

    Returns
    -------
    One line for each problem; none if there are none.

    Raises
    ------
    SalgenError
        If there is no such folder or archive.
    """
    return verdict(path, source=source, samples=samples).problems


def verdict(path: str | os.PathLike[str], *, source: str | None = None, samples: int = 32) -> Verdict:
    """As :func:`verify`, with what could not be checked as the source is not given."""
    place = Path(path)
    if is_archive(place):
        left = [""]

        def check(folder: Path) -> list[str]:
            left.append(_unchecked(folder, source))
            return _folder_problems(folder, source, samples)

        return Verdict(archive_problems(place, check), left[-1])
    if not place.is_dir():
        fault = "is not a folder" if place.exists() else "does not exist"
        raise SalgenError(
            f"{place} {fault}: give the folder of a data set or a run, or an archive ({', '.join(SUFFIXES)})"
        )
    return Verdict(_folder_problems(place, source, samples), _unchecked(place, source))


def _unchecked(folder: Path, source: str | None) -> str:
    return "" if (folder / RECORD).is_file() else data_sets.unchecked(folder, source=source)


def _folder_problems(folder: Path, source: str | None, samples: int) -> list[str]:
    check = run_problems if (folder / RECORD).is_file() else data_sets.verify
    return check(folder, source=source, samples=samples)
