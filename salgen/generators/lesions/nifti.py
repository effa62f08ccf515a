"""Brain volumes from NIfTI files, in one orientation; every fault of a file is reported in one line."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from logging import Logger
from math import prod
from pathlib import Path
from typing import Any
import numpy as np
from salgen.errors import SalgenError, readable
from salgen.types import Float32, Float64

FEWEST_VOXELS = 8  # along an axis


@dataclass(frozen=True, eq=False)
class Volume:
    """A head with everything but the brain removed."""

    values: Float32  # (X, Y, Z), left to right, back to front, bottom to top; above 0 in the brain, else 0
    voxel_size: tuple[float, float, float]  # in mm


def load_volume(path: Path, mask: Path | None = None) -> Volume:
    """Read a brain volume, ``.nii`` or ``.nii.gz``, whichever way its axes run.

    A mask of the same shape and affine is above 0.5 in the brain; a volume without one is skull-stripped.
    """
    values, affine = _read(path)
    np.maximum(values, 0.0, out=values)
    right, front, up = np.linalg.norm(affine[:3, :3], axis=0).tolist()
    if mask is not None:
        inside, mask_affine = _read(mask)
        if inside.shape != values.shape:
            shapes = ["x".join(map(str, array.shape)) for array in (inside, values)]
            raise SalgenError(f"{mask}: {shapes[0]} voxels, but {path} has {shapes[1]}; give the mask of that volume")
        corners = np.c_[np.array(list(np.ndindex(2, 2, 2))) * values.shape, np.ones(8)]
        apart = np.linalg.norm((corners @ (mask_affine - affine).T)[:, :3], axis=1).max()
        if not apart <= min(right, front, up) / 2:
            raise SalgenError(
                f"{mask}: its affine is another than that of {path}, by up to {apart:.3g} mm: save it by "
                "nibabel.Nifti1Image(mask, volume.affine), or resample it to the volume"
            )
        values *= inside > 0.5
    return Volume(values, (right, front, up))


def _read(path: Path) -> tuple[Float32, Float64]:
    """Values and affine in canonical orientation."""
    import nibabel
    from nibabel.imageglobals import logger

    with readable(f"{path}: cannot be read as NIfTI, truncated or another kind of file"), quiet(logger):
        image = nibabel.load(path, mmap=False)
        check_header(image, path)
        image = nibabel.as_closest_canonical(nibabel.squeeze_image(image))
        values = np.array(image.get_fdata(dtype=np.float32, caching="unchanged"), order="C")
        if faulty := values.size - np.count_nonzero(np.isfinite(values)):
            raise SalgenError(f"{path}: {faulty} voxels are NaN or infinite; replace them by 0, which is background")
    return values, np.asarray(image.affine)


@contextmanager
def quiet(logger: Logger) -> Iterator[None]:
    """Ignore warnings and disable a logger; without its handlers alone it would still write to standard error."""
    usual, logger.disabled = logger.disabled, True
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.disabled = usual


def check_header(image: Any, path: Path) -> None:
    """Raise a SalgenError unless nibabel's image is one 3-D volume of real numbers."""
    shape = tuple(int(extent) for extent in image.shape)
    if len(shape) < 3 or min(shape[:3]) < FEWEST_VOXELS or prod(shape[3:]) > 1:
        text = "x".join(map(str, shape))
        raise SalgenError(f"{path}: {text} voxels; give one 3-D volume, of {FEWEST_VOXELS} or more along each axis")
    if image.get_data_dtype().kind not in "uif":
        raise SalgenError(f"{path}: voxels of type {image.get_data_dtype()}; must be real numbers")
