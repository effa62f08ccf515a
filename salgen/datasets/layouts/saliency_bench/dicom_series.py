"""Series of CT slices in DICOM files: headers are read to order them, pixels only of a slice that is wanted."""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
import numpy as np
from numpy.typing import NDArray
from salgen.datasets.picture_libraries.picture_sampling import UnusableError, counted, usable
from salgen.generators.lesions.nifti import quiet
from salgen.import_paths import needed
from salgen.types import Float64

GREYS = ("MONOCHROME1", "MONOCHROME2")  # which of them is shown dark, and not what Hounsfield units are
ABOUT_SERIES = ("SeriesInstanceUID", "PatientID", "PixelSpacing", "SliceThickness", "Rows", "Columns")
ABOUT_SLICE = ("ImageOrientationPatient", "ImagePositionPatient", "InstanceNumber")


@dataclass(frozen=True, eq=False)
class DicomSeries:
    """The transverse slices of a scan, from foot to head."""

    uid: str
    patient: str  # as the files name it, else `uid`
    paths: Sequence[Path]
    heights: Float64  # (n,), of the slices in mm towards the head, rising
    spacing: tuple[float, float]  # in mm, from row to row and from column to column
    thickness: float  # mm
    size: tuple[int, int]  # (H, W), as stored
    upright: bool  # whether every slice is stored as radiologists see it

    def __len__(self) -> int:
        """The number of slices."""
        return len(self.paths)


def open_series(paths: Sequence[Path], skipped: Counter[str]) -> DicomSeries:
    """The series that some files are the slices of; of two at one height the lower number is taken, as pylidc does."""
    headers = []
    for path in paths:
        with counted(skipped):
            headers.append(_header(path))
    if not headers:
        raise UnusableError("series without a slice that can be used")
    if len({(header.uid, header.size) for header in headers}) > 1:
        raise UnusableError("folder with slices of several series or sizes")
    falling = sorted(headers, key=lambda one: (one.height, one.number), reverse=True)
    slices, first = list({one.height: one for one in falling}.values())[::-1], headers[0]
    heights = np.array([one.height for one in slices])
    gap = float(np.median(np.diff(heights))) if len(heights) > 1 else 1.0
    about = first.spacing, first.thickness or gap, first.size, all(one.upright for one in slices)
    return DicomSeries(first.uid, first.patient, [one.path for one in slices], heights, *about)


def series_of(path: Path) -> str:
    """The unique name of the series that a slice belongs to; "" if its file cannot be used."""
    try:
        return str(_header(path).uid)
    except UnusableError:
        return ""


def read_dicom(path: Path) -> NDArray[Any]:
    """A slice's Hounsfield units as radiologists see it, (H, W): front above, the patient's right on the left."""
    with _opened(path, pixels=True) as data:
        if data.PhotometricInterpretation not in GREYS:
            raise UnusableError("slice that is not of greys")
        across = _turns(data)
        values = data.pixel_array * float(data.RescaleSlope) + float(data.RescaleIntercept)
    if values.ndim != 2 or not np.isfinite(values).all():
        raise UnusableError("unreadable slice")
    if abs(across[0, 0]) < abs(across[0, 1]):  # columns run from front to back
        values, across = values.T, across[::-1]
    down, right = (-1 if step < 0 else 1 for step in (across[1, 1], across[0, 0]))
    return np.asarray(values[::down, ::right])


def _header(path: Path) -> SimpleNamespace:
    """What is known of a slice: its series, and what :class:`DicomSeries` has of each."""
    with _opened(path) as data:
        (right, _), (_, back) = _turns(data).tolist()
        row, column = map(float, data.PixelSpacing)
        return SimpleNamespace(
            path=path,
            uid=str(data.SeriesInstanceUID),
            patient=str(data.get("PatientID") or data.SeriesInstanceUID),
            height=float(data.ImagePositionPatient[2]),
            number=int(data.get("InstanceNumber") or 0),
            spacing=(row, column),
            thickness=float(data.get("SliceThickness") or 0),
            size=(int(data.Rows), int(data.Columns)),
            upright=right > 0.5 and back > 0.5,
        )


def _turns(data: Any) -> Float64:
    """Along the patient's left and back, the steps from column to column and from row to row, float64 (2, 2)."""
    turns = np.array(data.ImageOrientationPatient, dtype=np.float64).reshape(2, 3)
    if not (np.abs(turns[:, 2]) < 0.5).all():  # scanners are tilted by up to 30 degrees
        raise UnusableError("slice that is not transverse")
    return turns[:, :2]


@contextmanager
def _opened(path: Path, pixels: bool = False) -> Iterator[Any]:
    """A file's data; pydicom has errors of a dozen kinds, some only when a value is looked at."""
    pydicom = needed("pydicom", "reading DICOM", "dicom")
    wanted = None if pixels else [*ABOUT_SERIES, *ABOUT_SLICE]
    with usable(path, "slice"), quiet(logging.getLogger("pydicom")):
        yield pydicom.dcmread(path, stop_before_pixels=not pixels, specific_tags=wanted)
