"""A user's copy of the LISA traffic lights as a source: its frames, its usable lights, its notes for the card."""

from collections import Counter
from functools import cached_property

from salgen.datasets.layouts.lisa.lamp_masks import MaskRules
from salgen.datasets.layouts.lisa.lisa_layout import LABELS, Copy
from salgen.datasets.layouts.lisa.vetting import Vetted, vet
from salgen.generators.drawing.pictures import Pixels, read_rgb
from salgen.sources import OWN_COPY, Files

LICENCE = (
    "CC BY-NC-SA 4.0, Laboratory for Intelligent and Safe Automobiles (LISA), UC San Diego. Crops are adaptations of "
    "its frames: they may be passed on only with credit, for no commercial purpose and under the same licence."
)
MASK_NOTE = (
    "Masks come from segmentations of each crop (k-means, Otsu on L and on R, region growing, HSV thresholds), vetted "
    "against the annotated rectangle of the bulb: they are not exact. `mask` is the first that was accepted, "
    "`alternative_masks` are the others, and all count as correct. There are no twins."
)


class LisaCopy(Files):
    """A copy of the LISA traffic lights; `load` gives a frame, uint8 (H, W, 3).

    Parameters
    ----------
    copy
        Its contents.
    rules
        What masks are accepted.
    min_side
        Lights whose shorter side has fewer pixels are dropped.
    """

    def __init__(self, copy: Copy, rules: MaskRules, min_side: int) -> None:
        # Files stores its notes; here they are computed after every light is vetted.
        values = {"name": OWN_COPY, "licence": LICENCE, "files": copy.files, "splits": copy.splits}
        vars(self).update(values, copy=copy, rules=rules, min_side=min_side)

    copy: Copy
    rules: MaskRules
    min_side: int

    def load(self, name: str) -> Pixels:
        """Read one frame."""
        return read_rgb(self.files[name])

    @cached_property
    def vetted(self) -> Vetted:
        """The usable lights and the number of the others, read from the cache if they are in it."""
        return vet(self.copy, self.digest, self.rules, self.min_side)

    @cached_property
    def notes(self) -> str:
        """Numbers of lights that are used and dropped, and the origin of the masks, for the data set's card."""
        return " ".join([_split_note(self), _dropped_note(self), MASK_NOTE, _spread_note(self)])

    @cached_property
    def digest(self) -> str:
        """SHA-256 over names, splits and contents of the files that are there."""
        there = {name: path for name, path in self.files.items() if path.is_file()}
        return Files(self.name, self.licence, "", there, self.splits).digest


def _split_note(source: LisaCopy) -> str:
    crops = source.vetted.crops
    per_split = Counter(source.splits[crop.light.frame] for crop in crops)
    per_tag = Counter(crop.light.label for crop in crops)
    tags = ", ".join(f"{per_tag[label]} {tag}" for tag, label in LABELS.items())
    counts = ", ".join(f"{per_split[split]} for {split}" for split in ("train", "val", "test") if per_split[split])
    rule = (
        "Sequences are for test; of the training clips every fifth (the last one of two to four), day and night apart, "
        "is for val, whole, because neighbouring frames are nearly equal."
    )
    without = source.copy.without_frames
    absent = f" The copy has no frames of {len(without)} annotated clips ({', '.join(without)})." if without else ""
    alone = "" if per_split["val"] else " There is no split val: no clip could be spared, or none of its lights used."
    untested = "" if per_split["test"] else " There is no split test: the copy has no sequence with a usable light."
    return f"{len(crops)} traffic lights of the copy can be used ({tags}): {counts}. {rule}{alone}{untested}{absent}"


def _spread_note(source: LisaCopy) -> str:
    """How far the acceptable masks of a light differ."""
    several = [crop.agreement for crop in source.vetted.crops if crop.masks > 1]
    if not several:
        return ""
    return (
        f"{len(several)} lights have several acceptable masks, of which the two that differ most have a mean IoU of "
        f"{sum(several) / len(several):.2f} (factor `mask_agreement`): scored by the best of them a map gets more than "
        "by the first (--mask lamp), or by the annotated rectangle (--mask bulb)."
    )


def _dropped_note(source: LisaCopy) -> str:
    reasons = {**source.copy.left_out, **source.vetted.dropped}
    if not reasons:
        return "No annotated light was left out."
    total = f"{sum(reasons.values())} annotated lights were left out because"
    return f"{total}: " + "; ".join(f"{reason} ({count})" for reason, count in reasons.items()) + "."
