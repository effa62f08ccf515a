"""Verification of data sets and runs, as folders or as archives; all problems are reported at once."""

import os
from pathlib import Path
from salgen.datasets.archives.archive_formats import SUFFIXES, is_archive
from salgen.datasets.archives.unpacking import archive_problems
from salgen.datasets.verification import verify_dataset as data_sets
from salgen.errors import SalgenError
from salgen.evaluation.runs.artifacts.run_record import RECORD
from salgen.evaluation.verification.verify_run import run_problems


def verify(path: str | os.PathLike[str], *, source: str | None = None, samples: int = 32) -> list[str]:
    """Check a data set's or a run's folder, or an archive of one.

    Checked of a data set are the checksums, the spec's fingerprint and the schema. For every sample these are its id,
    the digest of its pixels, and that image and twin are equal outside the mask. Some samples are drawn and rendered
    again and must come out with the same recipe and the same bits.
    Checked of a run are the checksums, where it was published, and that its tables and models can be read. If it kept
    its maps, these and the data are checked, and some samples are rendered and scored again.
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
    return verdict(path, source=source, samples=samples)[0]


def verdict(path: str | os.PathLike[str], *, source: str | None = None, samples: int = 32) -> tuple[list[str], str]:
    """As :func:`verify`, with what could not be checked as the source is not given, or ""."""
    place, unchecked = Path(path), ""

    def check(folder: Path) -> list[str]:
        nonlocal unchecked
        if (folder / RECORD).is_file():
            return run_problems(folder, source=source, samples=samples)
        unchecked = data_sets.unchecked(folder, source=source)
        return data_sets.verify(folder, source=source, samples=samples)

    if is_archive(place):
        return archive_problems(place, check), unchecked
    if not place.is_dir():
        fault = "is not a folder" if place.exists() else "does not exist"
        raise SalgenError(f"{place} {fault}: give a folder of a data set or run, or an archive ({', '.join(SUFFIXES)})")
    return check(place), unchecked
