"""A user's copy of the LISA traffic lights as a source: each light is cropped and segmented once.

Crops are segmented at their own resolution: a pixel that resizing made up is no evidence, and so the same lights
are found at every image size. The cache holds where they are, not their masks.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import groupby
from typing import Any
import numpy as np
import PIL
import scipy
import skimage
from salgen.cache import cached_json
from salgen.datasets.layouts.imported import SPLITS, UserCopy
from salgen.datasets.layouts.lisa.lamp_masks import MaskRules, Rectangle, acceptable_masks, agreement
from salgen.datasets.layouts.lisa.lisa_layout import LABELS, Layout, Light
from salgen.datasets.picture_libraries.picture_sampling import UnusableError, counted, read_picture
from salgen.errors import SalgenError
from salgen.generators.drawing.pictures import Pixels
from salgen.progress import progress

LICENSE = (
    "CC BY-NC-SA 4.0, Laboratory for Intelligent and Safe Automobiles (LISA), UC San Diego. Crops are adaptations of "
    "its frames: they may be passed on only with credit, for no commercial purpose and under the same license."
)
MASK_NOTE = (
    "Masks come from segmentations of each crop (k-means, Otsu on L and on R, region growing, HSV thresholds), vetted "
    "against the annotated rectangle of the bulb: they are not exact. `mask` is the first that was accepted, "
    "`alternative_masks` are the others, and all count as correct. There are no twins."
)
SPLIT_NOTE = (
    "Sequences are for test; of the training clips every fifth (the last one of two to four), day and night apart, "
    "is for val, whole, because neighbouring frames are nearly equal."
)
SPREAD_NOTE = (
    "{count} lights have several acceptable masks, of which the two that differ most have a mean IoU of {spread:.2f} "
    "(factor `mask_agreement`): scored by the best of them a map gets more than by the first (--mask lamp), or by the "
    "annotated rectangle (--mask bulb)."
)
VETTING_VERSION = "3"  # changes whenever a mask does, or which rows are lights
LIBRARIES = (np, scipy, skimage, PIL)  # those that decode and segment
REASONS = OUTSIDE, SMALL, NO_BULB, NO_MASK, BROKEN = (
    "it is outside the frame",
    "its shorter side is less than min_side",
    "its bulb is outside the frame",
    "no segmentation was accepted",
    "its frame cannot be read",
)


@dataclass(frozen=True, eq=False)
class LisaCopy(UserCopy):
    """A copy of the LISA traffic lights."""

    layout: Layout
    rules: MaskRules  # what masks are accepted
    min_side: int  # lights whose shorter side has fewer pixels are dropped

    @property
    def recipes(self) -> Mapping[str, Mapping[str, Any]]:
        """The name of each usable light to its recipe."""
        return self._vetted[0]

    @cached_property
    def _vetted(self) -> tuple[dict[str, dict[str, Any]], dict[str, int]]:
        """The recipes, and the number of lights that cannot be used by reason; from the cache if they are in it."""
        key = cache_key(self.digest, self.rules, self.min_side)
        kept = cached_json("lisa", key, self._vet_all)
        dropped = {reason: kept["dropped"][reason] for reason in REASONS if reason in kept["dropped"]}
        if not kept["recipes"]:
            reasons = ", ".join(f"{reason} ({count})" for reason, count in dropped.items())
            raise SalgenError(f"none of {len(self.layout.lights)} traffic lights can be used: {reasons}")
        return kept["recipes"], dropped

    def _vet_all(self) -> dict[str, Any]:
        """The recipe of each light that can be used, and the number of the others by reason."""
        recipes: dict[str, dict[str, Any]] = {}
        dropped: Counter[str] = Counter()
        with progress("segmenting traffic lights", len(self.layout.lights), "lights") as advance:
            for name, group in groupby(self.layout.lights, key=lambda light: light.frame):
                try:
                    frame = read_picture(self.files[name])
                except UnusableError:
                    frame = None
                for light in group:
                    with counted(dropped):
                        recipes[light.name] = _recipe(frame, light, self.rules, self.min_side)
                    advance()
        return {"recipes": recipes, "dropped": dropped}

    @cached_property
    def notes(self) -> str:
        """Numbers of lights that are used and dropped, and the origin of the masks, for the data set's card."""
        recipes, dropped = self._vetted
        per_split = Counter(self.splits[recipe["frame"]] for recipe in recipes.values())
        per_tag = Counter(recipe["label"] for recipe in recipes.values())
        tags = ", ".join(f"{per_tag[label]} {tag}" for tag, label in LABELS.items())
        counts = ", ".join(f"{per_split[split]} for {split}" for split in SPLITS if per_split[split])
        texts = [f"{len(recipes)} traffic lights of the copy can be used ({tags}): {counts}.", SPLIT_NOTE]
        if not per_split["val"]:
            texts.append("There is no split val: no clip could be spared, or none of its lights used.")
        if not per_split["test"]:
            texts.append("There is no split test: the copy has no sequence with a usable light.")
        if without := self.layout.without_frames:
            texts.append(f"The copy has no frames of {len(without)} annotated clips ({', '.join(without)}).")
        if reasons := {**self.layout.left_out, **dropped}:
            why = "; ".join(f"{reason} ({count})" for reason, count in reasons.items())
            texts.append(f"{sum(reasons.values())} annotated lights were left out because: {why}.")
        else:
            texts.append("No annotated light was left out.")
        several = [recipe["agreement"] for recipe in recipes.values() if recipe["masks"] > 1]
        spread = sum(several) / max(len(several), 1)
        texts += [MASK_NOTE, SPREAD_NOTE.format(count=len(several), spread=spread) if several else ""]
        return " ".join(texts)


def cache_key(digest: str, rules: MaskRules, min_side: int) -> list[Any]:
    """Everything that the vetting depends on."""
    return [VETTING_VERSION, [library.__version__ for library in LIBRARIES], digest, min_side, asdict(rules)]


def cut(frame: Pixels, box: Rectangle, bulb: Rectangle) -> tuple[Pixels, Rectangle]:
    """The crop of a light, uint8 (h, w, 3), and its bulb in pixels of the crop."""
    left, top, right, bottom = box
    return frame[top:bottom, left:right], (bulb[0] - left, bulb[1] - top, bulb[2] - left, bulb[3] - top)


def _recipe(frame: Pixels | None, light: Light, rules: MaskRules, min_side: int) -> dict[str, Any]:
    """Recipe parameters that render a light, as JSON values; an UnusableError with one of the reasons."""
    if frame is None:
        raise UnusableError(BROKEN)
    height, width = frame.shape[:2]
    box = _clipped(light.box, (0, 0, width, height))
    bulb = _clipped(light.bulb, box)
    if _shorter_side(box) <= 0 < _shorter_side(light.box):
        raise UnusableError(OUTSIDE)
    if _shorter_side(box) < min_side:
        raise UnusableError(SMALL)
    if _shorter_side(bulb) <= 0:
        raise UnusableError(NO_BULB)
    masks = acceptable_masks(*cut(frame, box, bulb), red=light.label == LABELS["stop"], rules=rules)
    if not masks:
        raise UnusableError(NO_MASK)
    place = {"item": light.name, "frame": light.frame, "box": box, "bulb": bulb}
    seen = {"label": light.label, "night": int(light.frame.startswith("night"))}
    return {**place, **seen, "masks": len(masks), "agreement": round(1000 * agreement(masks)) / 1000}


def _clipped(box: Rectangle, within: Rectangle) -> Rectangle:
    """The part of a rectangle that lies in another; its sides are 0 or negative where there is none."""
    return max(box[0], within[0]), max(box[1], within[1]), min(box[2], within[2]), min(box[3], within[3])


def _shorter_side(box: Rectangle) -> int:
    return min(box[2] - box[0], box[3] - box[1])
