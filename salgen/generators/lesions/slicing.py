"""Axial slices of a brain volume with a little variation: tilted, turned, stretched and bent.

Coordinates are multiples of 2**-12 of a voxel and the volume has 16-bit levels, so the interpolation is exact in
float64 and a slice is the same on every machine.
"""

from dataclasses import dataclass
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from skimage.measure import block_reduce
from salgen.generators.drawing.splines import smooth_field
from salgen.generators.lesions.nifti import Volume
from salgen.seeding import Stream
from salgen.types import Float64, Mask

TOP = 65535  # the level of a volume's robust maximum
ROBUST = 0.999  # that share of the brain's voxels are at or below the maximum
RIM = 0.05  # that share of the brain's voxels are at or below the rim's intensity
SMALLEST_SECTION = 0.65  # share of the brain's largest section: slices are taken between these heights
SMALLEST_PIECE = 0.1  # share of the largest piece of brain in a slice: smaller pieces are dropped

TILT_DEGREES = 6.0
TURN_DEGREES = 8.0
SCALES = (0.83, 0.90)  # so that the large MNI152 brain, turned, fits into 140 mm
SHEAR = 0.05
BEND_MM = 7.0
BEND_CELLS = (4, 5)

Levels = NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class Slab:
    """A volume made ready for slicing, in voxels not much smaller than the slices' pixels."""

    levels: Levels  # uint16 (X, Y, Z)
    voxel_size: Float64  # float64 (3,), millimetres
    centre: Float64  # float64 (2,), the brain's centre of mass along the first two axes, in voxels
    heights: tuple[float, float]  # the lowest and the highest slice, in voxels
    rim: float  # level below which a pixel is not brain


def prepare_volume(volume: Volume, pixel_mm: float) -> Slab:
    """Levels, heights and centre of a volume, its voxels averaged in blocks as coarse as the pixels."""
    inside = volume.values[volume.values > 0]
    low, high = int(RIM * (len(inside) - 1)), int(ROBUST * (len(inside) - 1))
    ordered = np.partition(inside, (low, high))  # order statistics: no interpolation, hence no rounding
    levels = np.rint(np.minimum(volume.values / ordered[high], np.float32(1.0)) * np.float32(TOP)).astype(np.uint16)
    brain = levels > 0
    sections = np.count_nonzero(brain, axis=(0, 1))
    tall = np.flatnonzero(sections >= SMALLEST_SECTION * sections.max())
    profiles = [np.count_nonzero(brain, axis=axes) for axes in ((1, 2), (0, 2))]
    mass = np.array([float(np.arange(len(counts)) @ counts / counts.sum()) for counts in profiles])
    blocks = np.clip(np.rint(pixel_mm / np.array(volume.voxel_size)), 1, levels.shape).astype(np.int64)
    inset = (blocks - 1) / 2.0  # from a block's first voxel to its centre
    lowest, highest = ((int(height) - inset[2]) / blocks[2] for height in (tall[0], tall[-1]))
    means = np.rint(block_reduce(levels, tuple(blocks), np.mean)).astype(np.uint16)
    return Slab(
        np.maximum(means, ndimage.binary_fill_holes(means > 0)),  # only the background around the brain stays zero
        np.array(volume.voxel_size) * blocks,
        (mass - inset[:2]) / blocks[:2],
        (lowest, highest),
        0.5 * TOP * float(ordered[low] / ordered[high]),  # half way to the rim
    )


def cut_slice(slab: Slab, stream: Stream, image_size: tuple[int, int], pixel_mm: float) -> tuple[Mask, Levels]:
    """One slice: its brain mask, bool (H, W), and its levels, uint16 (H, W), which are zero outside it.

    Height, tilt, turn, scale, shear and bend come from the stream. Rows run from left to right, columns from back to
    front.
    """
    places = _coordinates(slab, stream, image_size, pixel_mm)
    values = ndimage.map_coordinates(slab.levels, places, output=np.float64, order=1, mode="constant", prefilter=False)
    background = ndimage.binary_propagation(values == 0.0, mask=values <= slab.rim)  # and no ventricles
    brain = _whole_pieces(~background)
    return brain, np.where(brain, np.rint(values), 0.0).astype(np.uint16)


def _coordinates(slab: Slab, stream: Stream, image_size: tuple[int, int], pixel_mm: float) -> Float64:
    """Position of each pixel in the slab, float64 (3, H, W) in voxels."""
    low, high = slab.heights
    height = low + (high - low) * stream.uniform(1)[0]
    plane = _plane(stream) * pixel_mm / slab.voxel_size[:, None]
    origin = np.array([*slab.centre, height])
    bend = np.stack([smooth_field(stream, image_size, BEND_CELLS) for _ in range(3)])
    down, across = (np.arange(extent) - (extent - 1) / 2.0 for extent in image_size)
    plane, origin = np.rint(plane * 2.0**16) / 2.0**16, np.rint(origin * 2.0**16) / 2.0**16
    places = origin[:, None, None] + plane[:, :1, None] * down[:, None] + plane[:, 1:, None] * across
    places += bend * (BEND_MM / slab.voxel_size)[:, None, None]
    return np.asarray(np.rint(places * 2.0**12) / 2.0**12)


def _plane(stream: Stream) -> Float64:
    """The directions of a row step and a column step, float64 (3, 2)."""
    pitch, roll = np.deg2rad(stream.uniform(2, -TILT_DEGREES, TILT_DEGREES))
    turn = np.deg2rad(stream.uniform(1, -TURN_DEGREES, TURN_DEGREES)[0])
    (scale_down, scale_across), shear = stream.uniform(2, *SCALES), stream.uniform(1, -SHEAR, SHEAR)[0]
    tilt_x = np.array([[1, 0, 0], [0, np.cos(pitch), -np.sin(pitch)], [0, np.sin(pitch), np.cos(pitch)]])
    tilt_y = np.array([[np.cos(roll), 0, np.sin(roll)], [0, 1, 0], [-np.sin(roll), 0, np.cos(roll)]])
    in_plane = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    stretch = np.array([[1 / scale_down, shear], [0, 1 / scale_across]])
    return np.asarray((tilt_x @ tilt_y)[:, :2] @ in_plane @ stretch)


def _whole_pieces(brain: Mask) -> Mask:
    """A brain mask without specks, bool (H, W)."""
    pieces, _ = ndimage.label(brain)
    areas = np.bincount(pieces.ravel())
    return np.asarray(brain & (areas[pieces] >= SMALLEST_PIECE * areas[1:].max(initial=0)))
