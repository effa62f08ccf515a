"""Brain volumes from NIfTI files, in one orientation; every fault of a file is reported in one line."""

import gzip
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
MOST_VOXELS = 2**29  # in all: a damaged header may claim any number
VOXEL_SIZES_MM = (0.02, 50.0)
MOST_BRAIN = 0.97  # largest share of voxels above zero; more means that the background was not removed


@dataclass(frozen=True, eq=False)
class Volume:
    """A head with everything but the brain removed."""

    values: Float32  # (X, Y, Z), left to right, back to front, bottom to top; above 0 in the brain, else 0
    voxel_size: tuple[float, float, float]  # in mm


def load_volume(path: Path, mask: Path | None = None) -> Volume:
    """Read a brain volume, ``.nii`` or ``.nii.gz``, whichever way its axes run.

    A mask of the same shape and affine is above 0.5 in the brain; a volume without one is skull-stripped.
    """
    values, affine, axes = _read(path)
    right, front, up = np.linalg.norm(affine[:3, :3], axis=0).tolist()
    voxel_size = right, front, up
    low, high = VOXEL_SIZES_MM
    if not all(low <= size <= high for size in voxel_size):
        sizes = " x ".join(f"{size:g}" for size in voxel_size)
        raise SalgenError(f"{path}: voxels of {sizes} mm; must be {low:g} to {high:g} mm along each axis")
    np.maximum(values, 0.0, out=values)
    if mask is not None:
        inside, mask_affine, mask_axes = _read(mask)
        if inside.shape != values.shape:
            shapes = ["x".join(map(str, array.shape)) for array in (inside, values)]
            raise SalgenError(f"{mask}: {shapes[0]} voxels, but {path} has {shapes[1]}; give the mask of that volume")
        corners = np.c_[np.array(list(np.ndindex(2, 2, 2))) * values.shape, np.ones(8)]
        apart = np.linalg.norm((corners @ (mask_affine - affine).T)[:, :3], axis=1).max()
        if not apart <= min(voxel_size) / 2:
            raise SalgenError(
                f"{mask}: its affine ({mask_axes}) is another than that of {path} ({axes}), by up to {apart:.3g} mm: "
                "save it by nibabel.Nifti1Image(mask, volume.affine), or resample it to the volume"
            )
        values *= inside > 0.5
    share = np.count_nonzero(values) / values.size
    if share == 0.0:
        raise SalgenError(f"{path}: empty, no voxel is above 0")
    if share > MOST_BRAIN:
        raise SalgenError(f"{path}: {share:.0%} of the voxels are not zero; give a skull-stripped volume")
    return Volume(values, voxel_size)


def _read(path: Path) -> tuple[Float32, Float64, str]:
    """Values and affine in canonical orientation, unchecked, and the axes and voxel sizes as they are stored."""
    import nibabel
    from nibabel.affines import voxel_sizes
    from nibabel.imageglobals import logger

    with readable(f"{path}: cannot be read as NIfTI, truncated or another kind of file"), quiet(logger):
        image = nibabel.load(path, mmap=False)
        check_header(image, path)
        if path.suffix.lower() == ".gz":
            with gzip.open(path) as handle:  # to the end, where the checksum is: nibabel stops at the last voxel
                while handle.read(1 << 20):
                    pass
        axes = "".join(nibabel.aff2axcodes(image.affine))
        other = "".join(nibabel.aff2axcodes(image.get_qform()))
        if image.get_sform(coded=True)[1] and image.get_qform(coded=True)[1] and other != axes:
            raise SalgenError(f"{path}: sform says axes {axes}, and qform {other}: correct the wrong one")
        stored = f"{axes}, {' x '.join(f'{size:.3g}' for size in voxel_sizes(image.affine))} mm"
        image = nibabel.as_closest_canonical(nibabel.squeeze_image(image))
        values = np.array(image.get_fdata(dtype=np.float32, caching="unchanged"), order="C")
        if faulty := values.size - np.count_nonzero(np.isfinite(values)):
            raise SalgenError(f"{path}: {faulty} voxels are NaN or infinite; replace them by 0, which is background")
    return values, np.asarray(image.affine), stored


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
    """Raise a SalgenError unless nibabel's image is one 3-D volume of real numbers, of a size that there is."""
    shape = tuple(int(extent) for extent in image.shape)
    while len(shape) > 3 and shape[-1] == 1:
        shape = shape[:-1]
    text = "x".join(map(str, shape))
    if len(shape) != 3 or min(shape) < FEWEST_VOXELS or prod(shape) > MOST_VOXELS:
        raise SalgenError(
            f"{path}: {text} voxels; give one 3-D volume, of {FEWEST_VOXELS} or more along each axis and at most "
            f"{MOST_VOXELS:,} in all"
        )
    if image.get_data_dtype().kind not in "uif":
        raise SalgenError(f"{path}: voxels of type {image.get_data_dtype()}; must be real numbers")
