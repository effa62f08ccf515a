"""Slices of CT volumes, so that no volume is held in memory: of NIfTI by nibabel's array proxy, of DICOM by file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any
import numpy as np
from numpy.typing import NDArray
from salgen.datasets.layouts.detection_datasets.object_boxes import Size
from salgen.datasets.layouts.own_images.outlines import Outline
from salgen.datasets.layouts.saliency_bench.dicom_series import read_dicom
from salgen.datasets.layouts.saliency_bench.marked_images import MarkedImage
from salgen.datasets.picture_libraries.picture_sampling import UnusableError, usable
from salgen.generators.drawing.pictures import Pixels
from salgen.generators.lesions.nifti import check_header, quiet
from salgen.types import Mask


class CtVolume:
    """An open volume, ``.nii`` or ``.nii.gz``, whichever way its axes run.

    `shape` has the voxels along its axes as they are stored. `axes` has for each of them the one of left-right,
    back-front and down-up that it runs along, and 1 or -1 for its direction.
    """

    def __init__(self, path: Path) -> None:
        import nibabel
        from nibabel.imageglobals import logger
        from nibabel.orientations import io_orientation

        self.path = path
        with usable(path, "volume"), quiet(logger):
            image: Any = nibabel.load(path, mmap=False, keep_file_open=True)
            check_header(image, path)
            axes = io_orientation(image.affine)
        if not np.isfinite(axes).all():
            raise UnusableError("volume without an orientation")
        self.shape: tuple[int, ...] = tuple(map(int, image.shape[:3]))
        self.axes: list[tuple[int, int]] = [(int(axis), int(turn)) for axis, turn in axes.tolist()]
        self._voxels = image.dataobj

    def __len__(self) -> int:
        """The number of slices."""
        return self.shape[self._along(2)]

    def slice(self, place: int) -> NDArray[Any]:
        """A transverse slice as radiologists see it, (H, W): front above, the patient's right on the left."""
        across = self._along(2)
        index: list[Any] = [slice(None)] * 3 + [0] * (len(self._voxels.shape) - 3)
        index[across] = place
        with usable(self.path, "volume"):
            values = np.asarray(self._voxels[tuple(index)])
        if not np.isfinite(values).all():
            raise UnusableError("volume with values that are no numbers")
        rest = [self.axes[axis] for axis in range(3) if axis != across]
        values = values[tuple(slice(None, None, turn) for _, turn in rest)]
        return (values if rest[0][0] == 1 else values.T)[::-1, ::-1]

    def _along(self, axis: int) -> int:
        return next(stored for stored, (known, _) in enumerate(self.axes) if known == axis)


@dataclass(frozen=True)
class SliceMask(Outline):
    """The voxels of a slice of a volume of labels that have one value."""

    path: Path
    place: int
    value: int

    def paint(self, size: Size) -> Mask:
        """These voxels."""
        return np.asarray(read_slice(self.path, self.place) == self.value)


@dataclass(frozen=True)
class VolumeSlice(MarkedImage):
    """A slice of a volume, shown between two Hounsfield units."""

    place: int = 0  # its number along the axis from foot to head, as it is stored; 0 for a DICOM file
    window: tuple[float, float] = (-1000.0, 1000.0)  # what is black, and what is white
    part: tuple[slice, slice] = (slice(None), slice(None))  # the rows and columns that are shown

    @property
    def pictures(self) -> tuple[Path, ...]:
        """None: volumes are looked at by their reader."""
        return ()

    @property
    def files(self) -> tuple[Path, ...]:
        """The volume, and that of its labels."""
        return (self.path, *(mark.path for mark in self.outlines if isinstance(mark, SliceMask)))

    def read(self) -> Pixels:
        """The slice as greys, uint8 (H, W, 3)."""
        low, high = self.window
        values = read_slice(self.path, self.place)[self.part].astype(np.float64)
        shares = np.clip((values - low) / (high - low), 0.0, 1.0)
        return np.repeat(np.rint(255 * shares).astype(np.uint8)[..., None], 3, axis=2)


def read_slice(path: Path, place: int) -> NDArray[Any]:
    """A slice as :meth:`CtVolume.slice` or :func:`read_dicom` gives it."""
    return read_dicom(path) if path.suffix == ".dcm" else CtVolume(path).slice(place)
