"""CT volumes of the abdomen: with a tumour of the Medical Segmentation Decathlon, without one of NIH Pancreas-CT.

References
----------
Antonelli et al. 2022, *The Medical Segmentation Decathlon* (Nature Communications 13). Roth et al. 2015, *DeepOrgan*
(MICCAI).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.cache import cached
from salgen.datasets.importers.layouts.broken import stamp_of
from salgen.datasets.importers.layouts.saliency_bench.ct_slices import CtVolume, SliceMask, VolumeSlice
from salgen.datasets.importers.layouts.saliency_bench.marked_images import Found, missing
from salgen.datasets.libraries.picture_sampling import UnusableError
from salgen.progress import progress
from salgen.seeding import Stream

VERSION = "1"  # changes whenever another slice is taken
DECATHLON, VOLUMES, LABELS = "Task07_Pancreas", "imagesTr", "labelsTr"
CLASSES = ("healthy", "tumour")
TUMOUR = 2  # in volumes of labels
WITHDRAWN = {"PANCREAS_0025", "PANCREAS_0070"}
WINDOW = (-100.0, 240.0)  # Hounsfield units
LICENCE = "Slices with a tumour: Medical Segmentation Decathlon, CC BY-SA 4.0; others: NIH Pancreas-CT, CC BY 3.0."
ABOUT = (
    "One slice of each volume, drawn at random: with a tumour of the Medical Segmentation Decathlon, whose mask is the "
    "tumour, without one of NIH Pancreas-CT. Class and source are the same: a model can tell the hospitals apart."
)


def read_pancreas(path: Path, seed: int) -> Found:
    """A slice of each volume of a copy.

    Parameters
    ----------
    path
        The folder that holds ``Task07_Pancreas``, and at any depth NIH's ``PANCREAS_0001.nii.gz`` and so on.
    seed
        Draws the slices.

    Raises
    ------
    SalgenError
        If one of the two is missing; the message names the path that was expected.
    """
    root = path / DECATHLON
    for folder in (root / VOLUMES, root / LABELS):
        if not folder.is_dir():
            raise missing(folder, "the Medical Segmentation Decathlon has its volumes there")
    with_tumour = {_stem(file): (file, root / LABELS / file.name) for file in _volumes(root / VOLUMES, "pancreas_*")}
    if not with_tumour:
        raise missing(
            root / VOLUMES / "pancreas_NNN.nii.gz", "the Medical Segmentation Decathlon has its volumes there"
        )
    without = {_stem(file): file for file in _volumes(path, "**/PANCREAS_*") if _stem(file) not in WITHDRAWN}
    if not without:
        raise missing(
            path / "Pancreas-CT/PANCREAS_NNNN.nii.gz", "NIH Pancreas-CT is expected there, its DICOM series as NIfTI"
        )
    volumes: dict[str, tuple[Path, Path | None]] = {
        **with_tumour,
        **{name: (one, None) for name, one in without.items()},
    }
    images = {}
    skipped: Counter[str] = Counter()
    for name, (place, fault, size) in _looked_at(volumes, seed).items():
        file, labels = volumes[name]
        if fault:
            skipped[fault] += 1
            continue
        marks = (SliceMask(labels, place, TUMOUR),) if labels else ()
        label = CLASSES[labels is not None]
        item = file.relative_to(path).as_posix()
        images[item] = VolumeSlice(file, label, marks, cluster=name, canvas=size, place=place, window=WINDOW)
    return Found(path, images, CLASSES, ABOUT, LICENCE, skipped)


def _volumes(folder: Path, pattern: str) -> list[Path]:
    files = [file for file in folder.glob(pattern) if file.name.endswith((".nii", ".nii.gz")) and file.is_file()]
    return sorted(files)


def _stem(file: Path) -> str:
    return file.name.partition(".")[0]


def _looked_at(
    volumes: Mapping[str, tuple[Path, Path | None]], seed: int
) -> dict[str, tuple[int, str, tuple[int, int]]]:
    """Of each volume the slice that is drawn, why there is none or "", and its (H, W); kept in the user's cache."""

    def look() -> dict[str, NDArray[Any]]:
        found = []
        with progress("looking at volumes", len(volumes), "volumes") as advance:
            for name, (file, labels) in volumes.items():
                found.append(_drawn(name, file, labels, seed))
                advance()
        places, faults, sizes = zip(*found, strict=True)
        return {"places": np.array(places), "faults": np.array(faults, dtype=np.str_), "sizes": np.array(sizes)}

    stamp = stamp_of([file for pair in volumes.values() for file in pair if file])
    kept = cached("ct-slices", [VERSION, stamp, seed], ("places", "faults", "sizes"), look)
    rows = zip(kept["places"].tolist(), kept["faults"].tolist(), kept["sizes"].tolist(), strict=True)
    return {name: (place, fault, (size[0], size[1])) for name, (place, fault, size) in zip(volumes, rows, strict=True)}


def _drawn(name: str, file: Path, labels: Path | None, seed: int) -> tuple[int, str, tuple[int, int]]:
    """A slice of a volume; with labels, one of those that show the tumour."""
    try:
        volume = CtVolume(file)
        places = list(range(len(volume)))
        if labels:
            marked = CtVolume(labels)
            if (marked.shape, marked.axes) != (volume.shape, volume.axes):
                raise UnusableError("volume of labels of another shape or orientation")
            places = [place for place in places if (marked.slice(place) == TUMOUR).any()]
            if not places:
                raise UnusableError("volume of labels without a tumour")
        place = places[int(Stream("cancer-xai", name, seed).integers(len(places), 1)[0])]
        height, width = volume.slice(place).shape
        return place, "", (height, width)
    except UnusableError as error:
        return 0, str(error), (0, 0)
