"""Brains that are ellipsoids, as volumes and as NIfTI files."""

from dataclasses import dataclass, field
import nibabel
import numpy as np
from salgen.generators.lesions.nifti import Volume

AXES = (54.0, 75.0, 49.0)  # half axes in mm: 0.83 litres


def radii(shape, voxel, axes=AXES):
    """Each voxel's distance from the middle, in half axes."""
    places = [(np.arange(extent) - (extent - 1) / 2) * size for extent, size in zip(shape, voxel, strict=True)]
    grid = np.meshgrid(*places, indexing="ij")
    return np.sqrt(sum((values / axis) ** 2 for values, axis in zip(grid, axes, strict=True)))


def head(seed=0, shape=(24, 30, 18), voxel_size=(6.0, 6.0, 7.0)):
    """A brain of random tissue."""
    tissue = np.random.default_rng(seed).uniform(300.0, 1000.0, shape)
    return Volume(((radii(shape, voxel_size) < 1) * tissue).astype(np.float32), voxel_size)


def write(path, values, affine):
    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(values, affine), path)
    return path


@dataclass(eq=False)
class Heads:
    """A source of brains; `splits` has one entry for each."""

    splits: tuple[str | None, ...] = (None,)
    digest: str = "heads"
    loaded: list[str] = field(default_factory=list)
    name = "heads"
    license = notes = ""

    def names(self):
        return [f"{k}.nii" for k in range(len(self.splits))]

    def split_of(self, name):
        return self.splits[int(name.removesuffix(".nii"))]

    def load(self, name):
        self.loaded.append(name)
        return head(int(name.removesuffix(".nii")))
