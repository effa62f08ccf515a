"""Nodules that the four readers of LIDC-IDRI outlined, what they agree on, and windows with and without a nodule.

References
----------
Armato et al. 2011, *The Lung Image Database Consortium (LIDC) and Image Database Resource Initiative (IDRI)* (Medical
Physics 38). Hancock and Magnan 2016, *Lung nodule malignancy classification using only radiologist-quantified image
features* (Journal of Medical Imaging 3), who wrote pylidc.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from xml.etree.ElementTree import Element
import numpy as np
from numpy.typing import NDArray
from salgen.datasets.layouts.detection_datasets.object_boxes import Size
from salgen.datasets.layouts.detection_datasets.voc_annotations import read_xml
from salgen.datasets.layouts.own_images.outlines import Polygons
from salgen.datasets.layouts.saliency_bench.dicom_series import DicomSeries, read_dicom
from salgen.datasets.picture_libraries.picture_sampling import UnusableError, counted, usable
from salgen.seeding import Stream
from salgen.types import Float64, Mask

READERS = 4
SHRINK, LEAST = 0.9, 0.1  # pylidc's: factor of the distance while a nodule has too many outlines, and its least in mm


@dataclass(frozen=True, eq=False)
class NoduleOutline:
    """What one reader drew on one slice."""

    height: float  # mm towards the head, where the slice is
    points: NDArray[np.int64]  # (column, row) of the pixels that were drawn, int64 (n, 2), from 0
    inside: bool  # whether it surrounds nodule; else a hole

    def paint(self, size: Size) -> tuple[Mask, Mask]:
        """The pixels that the closed line surrounds and those under it, each bool (H, W)."""
        from skimage.draw import line

        under = np.zeros(size, dtype=bool)
        for (column, row), (to_column, to_row) in zip(self.points, np.roll(self.points, -1, axis=0), strict=True):
            under[line(row, column, to_row, to_column)] = True
        return Polygons([(self.points + 0.5).astype(np.float64)]).paint(size) & ~under, under


NoduleReading = Sequence[NoduleOutline]  # outlines by one reader of one nodule


def read_lidc_xml(path: Path) -> tuple[str, list[NoduleReading]]:
    """The series that a file annotates, and all readers' nodules."""
    root = read_xml(path)
    series = root.findtext("{*}ResponseHeader/{*}SeriesInstanceUid", "").strip()
    if not series:
        raise UnusableError("annotation that names no series of CT")
    with usable(path, "annotation"):
        nodules = root.iterfind("{*}readingSession/{*}unblindedReadNodule")
        readings = [[_outline(roi) for roi in nodule.iterfind("{*}roi")] for nodule in nodules]
    return series, [outlines for outlines in readings if outlines]


def _outline(roi: Element) -> NoduleOutline:
    edges = [[int(edge.findtext(f"{{*}}{axis}Coord", "")) for axis in "xy"] for edge in roi.iterfind("{*}edgeMap")]
    inside = roi.findtext("{*}inclusion", "TRUE").strip().upper() != "FALSE"
    return NoduleOutline(float(roi.findtext("{*}imageZposition", "")), np.array(edges, dtype=np.int64), inside)


def same_nodules(points: Sequence[Float64], distance: float) -> list[list[int]]:
    """The outlines that are of one nodule, as numbers of readings.

    As in pylidc's `cluster_annotations`: two readings are of one nodule if the least distance of their points is at
    most `distance`. Pairs link further readings. While a nodule has more readings than there are readers, the distance
    is reduced by a tenth, down to 0.1 mm. `points` has those of each reading in mm, float64 (n, 3), and `distance` is
    in mm; pylidc's is the thickness of a slice.
    """
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import KDTree

    count = len(points)
    apart = np.zeros((count, count))
    trees = [KDTree(one) for one in points]
    for first, second in combinations(range(count), 2):
        apart[first, second] = apart[second, first] = trees[first].query(points[second])[0].min()
    while True:
        _, nodules = connected_components(apart <= distance, directed=False)
        distance *= SHRINK
        if np.bincount(nodules).max() <= READERS or distance < LEAST:
            return [np.flatnonzero(nodules == number).tolist() for number in np.unique(nodules)]


def consensus(readings: Sequence[Mapping[int, Sequence[NoduleOutline]]], size: Size) -> dict[int, Mask]:
    """The pixels that at least half of some readings hold, as pylidc's `consensus` with its level of 0.5.

    A reading holds the pixels that one of its outlines surrounds. Pixels under the line are outside: readers drew the
    first that are not nodule. A hole takes away what it surrounds and its own line. Readings and masks, bool (H, W),
    go by the numbers of slices.
    """
    counts: dict[int, NDArray[np.int64]] = defaultdict(lambda: np.zeros(size, dtype=np.int64))
    for reading in readings:
        for place, outlines in reading.items():
            held = np.zeros(size, dtype=bool)
            for outline in sorted(outlines, key=lambda one: not one.inside):  # holes are the last
                surrounded, line = outline.paint(size)
                held = held | surrounded if outline.inside else held & ~surrounded & ~line
            counts[place] += held
    agreed = {place: 2 * counts[place] >= len(readings) for place in sorted(counts)}
    return {place: mask for place, mask in agreed.items() if mask.any()}


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
