"""The usable lights of a LISA copy: each light is cropped and segmented once, and the outcome is cached.

Crops are segmented at their own resolution: a pixel that resizing made up is no evidence, and so the same lights
are found at every image size. What is kept in the cache is where they are, not their masks.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import PIL
import scipy
import skimage
from numpy.typing import NDArray

from salgen.cache import cached
from salgen.datasets.layouts.lisa.lamp_masks import MaskRules, Rectangle, acceptable_masks, agreement
from salgen.datasets.layouts.lisa.lisa_layout import LABELS, Copy, Light
from salgen.datasets.picture_libraries.picture_sampling import UnusableError, read_picture
from salgen.errors import SalgenError
from salgen.generators.drawing.pictures import Pixels
from salgen.progress import progress

VETTING_VERSION = "3"  # changes whenever a mask does, or which rows are lights
LIBRARIES = (np, scipy, skimage, PIL)  # those that decode and segment
OUTSIDE, SMALL, NO_BULB, NO_MASK, BROKEN = range(5)
REASONS = (
    "it is outside the frame",
    "its shorter side is less than min_side",
    "its bulb is outside the frame",
    "no segmentation was accepted",
    "its frame cannot be read",
)

Table = NDArray[np.int32]


@dataclass(frozen=True)
class Crop:
    """A light that can be used."""

    light: Light  # as it is annotated
    # its rectangles in pixels of the frame, clipped: `box` to the frame, `bulb` to `box`
    box: Rectangle
    bulb: Rectangle
    masks: int  # number of accepted masks
    agreement: float  # the lowest IoU of two of them, to three digits; 1 for one mask

    def recipe(self) -> dict[str, Any]:
        """Recipe parameters that render the light, as JSON values."""
        light = self.light
        place = {"item": light.name, "frame": light.frame, "box": list(self.box), "bulb": list(self.bulb)}
        return place | {
            "label": light.label,
            "night": int(light.night),
            "masks": self.masks,
            "agreement": self.agreement,
        }


@dataclass(frozen=True)
class Vetted:
    """The lights that can be used, and the number of those that cannot, by reason."""

    crops: tuple[Crop, ...]
    dropped: Mapping[str, int]


def clip_box(box: Rectangle, within: Rectangle) -> Rectangle:
    """The part of a rectangle that lies in another; its sides are 0 or negative where there is none."""
    return max(box[0], within[0]), max(box[1], within[1]), min(box[2], within[2]), min(box[3], within[3])


def shorter_side(box: Rectangle) -> int:
    """In pixels."""
    return min(box[2] - box[0], box[3] - box[1])


def cut(frame: Pixels, box: Rectangle, bulb: Rectangle) -> tuple[Pixels, Rectangle]:
    """The crop of a light, uint8 (h, w, 3), and its bulb in pixels of the crop."""
    left, top, right, bottom = box
    return frame[top:bottom, left:right], (bulb[0] - left, bulb[1] - top, bulb[2] - left, bulb[3] - top)


def vet(copy: Copy, digest: str, rules: MaskRules, min_side: int) -> Vetted:
    """Crop and segment every light of a copy, or read the outcome from the cache.

    Parameters
    ----------
    copy, digest
        The copy to vet, and the SHA-256 of its contents.
    rules
        What masks are accepted.
    min_side
        Lights whose shorter side has fewer pixels are dropped.
    """
    depends_on = cache_key(digest, rules, min_side)
    kept = cached("lisa", depends_on, ("table", "counts"), lambda: _vet_all(copy, rules, min_side))
    table, counts = kept["table"], kept["counts"]
    dropped = {reason: int(count) for reason, count in zip(REASONS, counts, strict=True) if count}
    if not len(table):
        reasons = ", ".join(f"{reason} ({count})" for reason, count in dropped.items())
        raise SalgenError(f"none of {len(copy.lights)} traffic lights can be used: {reasons}")
    crops = (
        Crop(copy.lights[row[0]], tuple(row[1:5]), tuple(row[5:9]), row[9], row[10] / 1000) for row in table.tolist()
    )
    return Vetted(tuple(crops), dropped)


def cache_key(digest: str, rules: MaskRules, min_side: int) -> list[Any]:
    """Everything that the vetting depends on."""
    versions = [library.__version__ for library in LIBRARIES]
    return [VETTING_VERSION, versions, digest, min_side, asdict(rules)]


def _vet_all(copy: Copy, rules: MaskRules, min_side: int) -> dict[str, Table]:
    """A row for each light that can be used, and the number of the others by reason."""
    rows: list[tuple[int, ...]] = []
    dropped: Counter[int] = Counter()
    numbered = enumerate(copy.lights)
    with progress("segmenting traffic lights", len(copy.lights), "lights") as advance:
        for name, group in groupby(numbered, key=lambda pair: pair[1].frame):
            frame = _frame(copy.files[name])
            for number, light in group:
                outcome = BROKEN if frame is None else _outcome(frame, light, rules, min_side)
                if isinstance(outcome, int):
                    dropped[outcome] += 1
                else:
                    rows.append((number, *outcome.box, *outcome.bulb, outcome.masks, round(1000 * outcome.agreement)))
                advance()
    counts = [dropped[reason] for reason in range(len(REASONS))]
    return {"table": np.array(rows, dtype=np.int32).reshape(-1, 11), "counts": np.array(counts, dtype=np.int32)}


def _frame(path: Path) -> Pixels | None:
    try:
        return read_picture(path)
    except UnusableError:
        return None


def _outcome(frame: Pixels, light: Light, rules: MaskRules, min_side: int) -> Crop | int:
    """The crop, or the number of the reason why there is none."""
    height, width = frame.shape[:2]
    box = clip_box(light.box, (0, 0, width, height))
    bulb = clip_box(light.bulb, box)
    if shorter_side(box) <= 0 and shorter_side(light.box) > 0:
        return OUTSIDE
    if shorter_side(box) < min_side:
        return SMALL
    if shorter_side(bulb) <= 0:
        return NO_BULB
    pixels, inside = cut(frame, box, bulb)
    masks = acceptable_masks(pixels, inside, red=light.label == LABELS["stop"], rules=rules)
    return Crop(light, box, bulb, len(masks), agreement(masks)) if masks else NO_MASK
