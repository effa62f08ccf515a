"""Objects cut out of the images of COCO by the masks of its instances.

References
----------
Lin et al. 2014, *Microsoft COCO: common objects in context*.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from salgen.datasets.picture_libraries import picture_sampling as sampling
from salgen.datasets.picture_libraries.coco_instances import Instance, read_instances
from salgen.datasets.picture_libraries.picture_file import PictureFile, Pixels
from salgen.errors import SalgenError
from salgen.files import sha256_of
from salgen.import_paths import needed
from salgen.seeding import Stream

FOLDER = "coco"
CLASSES = (
    *("person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat", "traffic light"),
    *("fire hydrant", "stop sign", "parking meter", "bench", "bird", "cat", "dog", "horse", "sheep", "cow"),
    *("elephant", "bear", "zebra", "giraffe", "backpack", "umbrella", "handbag", "tie", "suitcase", "frisbee"),
    *("skis", "snowboard", "sports ball", "kite", "baseball bat", "baseball glove", "skateboard", "surfboard"),
    *("tennis racket", "bottle", "wine glass", "cup", "fork", "knife", "spoon", "bowl", "banana", "apple"),
    *("sandwich", "orange", "broccoli", "carrot", "hot dog", "pizza", "donut", "cake", "chair", "couch"),
    *("potted plant", "bed", "dining table", "toilet", "tv", "laptop", "mouse", "remote", "keyboard", "cell phone"),
    *("microwave", "oven", "toaster", "sink", "refrigerator", "book", "clock", "vase", "scissors", "teddy bear"),
    *("hair drier", "toothbrush"),
)
TRAIN, VAL = "train2017", "val2017"
SMALLEST = 8  # pixels of either side
LICENSE = (
    "The annotations are COCO's, CC BY 4.0; the images are photographs from Flickr, each under the license that its "
    "owner chose and under Flickr's terms of use."
)
NOTES = (
    "Objects are cut out of COCO 2017 ({parts}): of each image that shows a class the largest instance, by its mask. "
)
SPLIT = {
    True: "Images of train2017 are for training and, one in ten, for validation; those of val2017 are for test.",
    False: "One image in ten is for validation and one in ten for test; all others are for training.",
}


@dataclass(frozen=True)
class CocoPart:
    """The images of a folder and the file of their annotations."""

    name: str
    annotations: Path
    images: Path


def objects(root: Path, classes: Sequence[str], pictures: int, longest: int) -> tuple[PictureFile, str]:
    """The library of objects, uint8 (h, w, 4) with the mask as alpha, and notes on it for the card."""
    parts = parts_of(root)
    select = partial(_select, parts, classes, longest)
    library, counts = sampling.gather("objects", origin_of(parts), classes, pictures, longest, select)
    return library, f"{NOTES.format(parts=' and '.join(part.name for part in parts))}{SPLIT[len(parts) > 1]} {counts}"


def cut(file: Path, size: tuple[int, int], instance: Instance, longest: int) -> Pixels:
    """An object with its mask as alpha, uint8 (h, w, 4), in its bounding box truncated to whole pixels."""
    colours = sampling.read_picture(file)
    if colours.shape[:2] != size:
        raise sampling.UnusableError("image of another size than stated")
    left, top, width, height = instance.box
    box = slice(max(int(top), 0), max(int(top + height), 0)), slice(max(int(left), 0), max(int(left + width), 0))
    mask = mask_of(instance.outline, (colours.shape[0], colours.shape[1]))[box]
    if not mask.any():
        raise sampling.UnusableError("object without pixels")
    if min(mask.shape) < SMALLEST:
        raise sampling.UnusableError(f"object smaller than {SMALLEST}x{SMALLEST} pixels")
    return _shrunk(np.dstack([colours[box] * mask[..., None], mask * np.uint8(255)]), longest)


def mask_of(outline: Any, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Zeros and ones, uint8 (H, W), as pycocotools' `annToMask` gives them."""
    from pycocotools import mask

    return np.asarray(mask.decode(runs_of(outline, size)))


def runs_of(outline: Any, size: tuple[int, int]) -> dict[str, Any]:
    """An outline as pycocotools' compressed run lengths, of `size` (H, W); checked, as pycocotools trusts its input."""
    from pycocotools import mask

    if isinstance(outline, list) and outline:
        check_polygons(outline, size)
        return dict(mask.merge(mask.frPyObjects([list(polygon) for polygon in outline], *size)))
    return dict(mask.frPyObjects({"size": list(size), "counts": counts_of(outline, size)}, *size))


def counts_of(outline: Any, size: tuple[int, int]) -> list[int]:
    """The run lengths of an outline; an UnusableError if it has none of that size (H, W)."""
    if not isinstance(outline, dict):
        raise sampling.UnusableError("no outline in COCO's form")
    counts = run_lengths(outline.get("counts"))
    if outline.get("size") != list(size) or min(counts, default=-1) < 0 or sum(counts) != size[0] * size[1]:
        raise sampling.UnusableError("RLE of the wrong size")
    return counts


def check_polygons(polygons: Sequence[array[float]], size: tuple[int, int]) -> None:
    """Raise an UnusableError unless each polygon, x, y, x, y, ..., has three points or more near an image of (H, W)."""
    for polygon in polygons:
        if len(polygon) < 6 or len(polygon) % 2:
            raise sampling.UnusableError("polygon of fewer than three points")
        for side, places in zip(size, (polygon[1::2], polygon[::2]), strict=True):
            if not all(isfinite(place) and -side <= place <= 2 * side for place in places):
                raise sampling.UnusableError("polygon far outside of the image")


def run_lengths(runs: Any) -> list[int]:
    """Lengths of runs; as text each is a chain of 5-bit digits, from the fourth on a difference to the second last."""
    if isinstance(runs, array):
        return runs.tolist()
    counts: list[int] = []
    value = shift = 0
    for character in runs if isinstance(runs, str) else "":
        digit = ord(character) - 48
        value |= (digit & 31) << shift
        shift += 5
        if not 0 <= digit < 64 or shift > 60:
            return []
        if not digit & 32:
            signed = value - (1 << shift) if digit & 16 else value
            counts.append(signed + (counts[-2] if len(counts) > 2 else 0))
            value = shift = 0
    return counts if not shift else []


def _shrunk(pixels: Pixels, longest: int) -> Pixels:
    """An object reduced to its longest side; Pillow weights colours by alpha."""
    height, width = pixels.shape[:2]
    if max(height, width) <= longest:
        return pixels
    size = tuple(max(round(side * longest / max(height, width)), 1) for side in (width, height))
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BILINEAR))


def parts_of(root: Path) -> list[CocoPart]:
    """The parts of COCO 2017 that a copy has."""
    parts = []
    for name in (TRAIN, VAL):
        file = root / "annotations" / f"instances_{name}.json"
        if file.is_file():
            what = f"the images of {file} are expected there"
            parts.append(CocoPart(name, file, sampling.found_at(what, root / "images" / name, root / name)))
    if not parts:
        raise SalgenError(f"{root / 'annotations' / f'instances_{TRAIN}.json'} is missing: COCO 2017 has it there")
    return parts


def origin_of(parts: Sequence[CocoPart]) -> str:
    """SHA-256 over the annotations, and the names and sizes of the images."""
    total = hashlib.sha256()
    for part in parts:
        with os.scandir(part.images) as files:
            total.update(f"{part.name} {sha256_of(part.annotations)} {sampling.names_and_sizes(files)}\n".encode())
    return total.hexdigest()


def _select(parts: Sequence[CocoPart], classes: Sequence[str], longest: int) -> sampling.Selection:
    needed("pycocotools.mask", "cutting objects out of COCO", "coco")
    candidates: dict[tuple[str, str], list[sampling.Make]] = {}
    skipped: Counter[str] = Counter()
    for part in parts:
        images, largest, passed_over = read_instances(part.annotations, classes)
        skipped.update(passed_over)
        for image, split in _splits(images, part, alone=len(parts) == 1):
            file, size = images[image]
            for name, instance in largest.get(image, {}).items():
                make = partial(cut, part.images / Path(file).name, size, instance, longest)
                candidates.setdefault((split, name), []).append(make)
    return candidates, skipped


def _splits(images: Mapping[int, object], part: CocoPart, *, alone: bool) -> list[tuple[int, str]]:
    """Each image's number and split, in a random order: an image that shows two classes is in one split."""
    numbers = sorted(images)
    order = [numbers[rank] for rank in Stream("coco", part.name).permutation(len(numbers)).tolist()]
    if part.name == VAL and not alone:
        return [(number, "test") for number in order]
    return [(number, sampling.split_of(rank, len(order), tested=not alone)) for rank, number in enumerate(order)]
