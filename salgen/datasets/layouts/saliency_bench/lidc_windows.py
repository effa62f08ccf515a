"""Windows of CT slices around the nodules of a scan, and windows without one."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
import numpy as np
from numpy.typing import NDArray
from salgen.datasets.layouts.saliency_bench.dicom_series import DicomSeries, read_dicom
from salgen.datasets.layouts.saliency_bench.lidc_annotations import (
    NoduleOutline,
    NoduleReading,
    consensus,
    same_nodules,
)
from salgen.datasets.picture_libraries.picture_sampling import UnusableError, counted
from salgen.seeding import Stream
from salgen.types import Float64, Mask

SIDE = 64  # pixels of a window
NEAR, FAR = 5.0, 30.0  # mm between a slice without a nodule and all that is marked in its window


Window = tuple[Path, int, int, str, Mask]  # slice's file, row and column of the first pixel, patient, nodules (64, 64)


def windows_of(
    scan: DicomSeries, readings: Sequence[NoduleReading], seed: int, skipped: Counter[str]
) -> Iterator[Window]:
    """Of each nodule of a scan a window around it, and one at its place of a slice near it that shows none."""
    if not scan.upright:
        raise UnusableError("scan that is turned")
    placed = list(filter(None, (_placed(reading, scan, skipped) for reading in readings)))
    marks = np.array([box for reading in placed for box in _boxes(reading)])
    nodules = [reading for reading in placed if any(len(one.points) > 1 for drawn in reading.values() for one in drawn)]
    points = [_points(reading, scan) for reading in nodules]
    clusters = same_nodules(points, scan.thickness) if nodules else []
    agreed = [consensus([nodules[number] for number in cluster], scan.size) for cluster in clusters]
    for masks in agreed:
        if not masks:
            skipped["nodule of which readers agree on no pixel"] += 1
            continue
        place = list(masks)[len(masks) // 2]
        corner = top, left = _corner(masks[place])
        part = slice(top, top + SIDE), slice(left, left + SIDE)
        mask = np.logical_or.reduce([others[place][part] for others in agreed if place in others])
        with counted(skipped):
            read_dicom(scan.paths[place])
            yield scan.paths[place], top, left, scan.patient, mask
            other = scan.paths[_clear(scan, corner, marks, Stream("disease-xai", scan.uid, place, *corner, seed))]
            read_dicom(other)
            yield other, top, left, scan.patient, np.zeros_like(mask)


def _placed(reading: NoduleReading, scan: DicomSeries, skipped: Counter[str]) -> dict[int, list[NoduleOutline]]:
    """A reader's outlines of a nodule by the number of their slice."""
    half = float(np.median(np.diff(scan.heights))) / 2 if len(scan) > 1 else scan.thickness / 2
    placed: dict[int, list[NoduleOutline]] = defaultdict(list)
    for outline in reading:
        place = int(np.abs(scan.heights - outline.height).argmin())
        if abs(scan.heights[place] - outline.height) >= half:
            skipped["outline on a slice that is missing"] += 1
        elif (outline.points < 0).any() or (outline.points >= scan.size[::-1]).any():
            skipped["outline outside of its slice"] += 1
        else:
            placed[place].append(outline)
    return placed


def _points(reading: Mapping[int, Sequence[NoduleOutline]], scan: DicomSeries) -> Float64:
    """All points of a reader's nodule in mm, (n, 3)."""
    row, column = scan.spacing
    return np.concatenate(
        [
            np.column_stack([one.points * (column, row), np.full(len(one.points), scan.heights[place])])
            for place, drawn in reading.items()
            for one in drawn
        ]
    )


def _boxes(reading: Mapping[int, Sequence[NoduleOutline]]) -> Iterator[list[int]]:
    """The slice, and the first and last row and column, of each outline."""
    for place, drawn in reading.items():
        for one in drawn:
            (left, top), (right, bottom) = one.points.min(axis=0).tolist(), one.points.max(axis=0).tolist()
            yield [place, top, bottom, left, right]


def _corner(mask: Mask) -> tuple[int, int]:
    """The top left pixel of the window around a nodule: as near to the middle as the slice's edges let it be."""
    middles = [(int(where.min()) + int(where.max()) + 1) // 2 for where in np.nonzero(mask)]
    extents = zip(middles, mask.shape, strict=True)
    top, left = (min(max(middle - SIDE // 2, 0), length - SIDE) for middle, length in extents)
    return top, left


def _clear(scan: DicomSeries, corner: tuple[int, int], marks: NDArray[np.int64], stream: Stream) -> int:
    """The number of a slice that is near, and shows nothing that anybody marked, in the window at a corner."""
    (top, left), (places, first, last, start, end) = corner, marks.T
    seen = (first < top + SIDE) & (last >= top) & (start < left + SIDE) & (end >= left)
    apart = np.abs(scan.heights[:, None] - scan.heights[places[seen]]).min(axis=1)
    choice = np.flatnonzero((apart >= NEAR) & (apart <= FAR))
    if not len(choice):
        raise UnusableError("nodule without a slice near it that shows none")
    return int(choice[int(stream.integers(len(choice), 1)[0])])
