"""Masks of the Semantic Boundaries Dataset, which are of images of VOC 2012, in MATLAB's files.

References
----------
Hariharan et al. 2011, *Semantic contours from inverse detectors* (ICCV).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.datasets.layouts.broken import check_size
from salgen.datasets.layouts.detection_datasets.object_boxes import Size
from salgen.datasets.picture_libraries.picture_sampling import UnusableError
from salgen.errors import SalgenError
from salgen.types import Mask

FOLDERS = ("benchmark_RELEASE/dataset/cls", "SBD/cls")


def masks_folder(path: Path) -> Path | None:
    """The folder of the masks beside a copy of VOC, if there is one."""
    return next((path / name for name in FOLDERS if (path / name).is_dir()), None)


def read_ids(path: Path) -> NDArray[Any]:
    """A mask's numbers, (H, W): 0, or the class's number and 1."""
    from scipy.io import loadmat

    try:
        ids = np.asarray(loadmat(path)["GTcls"]["Segmentation"].item())
    except Exception:  # loadmat meets a damaged file with errors of a dozen kinds
        raise UnusableError("unreadable mask of SBD") from None
    if ids.ndim != 2 or ids.dtype.kind not in "ui":
        raise UnusableError("unreadable mask of SBD")
    return ids


def check_ids(image: Path, path: Path) -> None:
    """Raise an UnusableError if a mask cannot be read or is of another size than its image."""
    if read_ids(path).shape != check_size(image):
        raise UnusableError("mask of SBD of another size than its image")


@dataclass(frozen=True)
class SbdMask:
    """The pixels of a class."""

    path: Path
    number: int

    def paint(self, size: Size) -> Mask:
        """These pixels; a SalgenError if the file has changed since it was looked at."""
        try:
            return np.asarray(read_ids(self.path) == self.number + 1)
        except UnusableError as error:
            raise SalgenError(f"{self.path}: {error}, since it was looked at: restore the file") from None

    def extent(self, size: Size) -> float:
        """How many they are."""
        return float(self.paint(size).sum())
