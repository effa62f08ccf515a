"""A user's own images as a source: their classes, splits, clusters and acceptable masks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from salgen.datasets.layouts.detection_datasets.object_boxes import Size
from salgen.datasets.layouts.imported import SPLITS, MaskLimits, UserCopy, about_faults, mask_faults
from salgen.datasets.layouts.own_images.outlines import MaskPicture, Outline
from salgen.errors import SalgenError, warn
from salgen.generators.drawing.pictures import resize_nearest
from salgen.parameters import param
from salgen.types import Mask

LICENSE = (
    "Not known to salgen: the terms of whoever gave you the pictures. Publish pixels made from them only where those "
    "terms allow it."
)


@dataclass(frozen=True)
class Reading(MaskLimits):
    """The parameters by which a user's own images are read."""

    name: ClassVar[str]

    mask_values: tuple[int, ...] = param((), "levels of the object in mask pictures; all but black if empty")
    classes: tuple[str, ...] = param((), "the classes that are wanted, in the order of the labels; all if empty")
    shares: tuple[float, float, float] = param(
        (0.64, 0.16, 0.2), "parts of each class for train, val and test, where nothing says the split", low=0.0
    )
    split_seed: int = param(0, "another one gives other splits by those parts", low=0)
    exif: str = param(
        "sizes",
        "pixels that masks fit where EXIF turns an image: as sizes tell, stored, or upright",
        choices=("sizes", "stored", "upright"),
    )
    crop: float = param(
        0.0,
        "take the central square of this share of the shorter side, as many networks do; 0 takes the whole image",
        low=0.0,
        high=1.0,
    )

    def cropped(self, pixels: NDArray[Any]) -> NDArray[Any]:
        """The part of an image or mask (H, W, ...) that is resized."""
        if not self.crop:
            return pixels
        side = max(1, round(self.crop * min(pixels.shape[:2])))
        top, left = ((extent - side) // 2 for extent in pixels.shape[:2])
        return pixels[top : top + side, left : left + side]

    def __post_init__(self) -> None:
        if not sum(self.shares):
            raise SalgenError(f"{self.name}: shares = {self.shares}: give at least one of train, val and test a part")
        if len(set(self.classes)) < len(self.classes):
            raise SalgenError(f"{self.name}: classes = {','.join(self.classes)}: two have one name; rename one")


@dataclass(frozen=True, eq=False)
class OwnImage:
    """An image with what it shows."""

    path: Path
    size: Size  # (H, W)
    split: str
    cluster: str
    main: int  # the number of its class; where it shows several, of that of its largest object
    # class number to the outlines of each annotator; of images without a mask, to none
    outlines: Mapping[int, Sequence[Sequence[Outline]]]


@dataclass(frozen=True, eq=False)
class OwnImages(UserCopy):
    """A user's own images."""

    images: Mapping[str, OwnImage]  # item to image
    classes: tuple[str, ...]  # their names, in the order of the labels
    about: str
    reading: Reading

    @cached_property
    def several(self) -> bool:
        """Whether an image shows several classes."""
        return any(len(image.outlines) > 1 for image in self.images.values())

    def masks(self, item: str, number: int) -> list[Mask]:
        """The acceptable masks of a class in the resized image, bool (H, W): those that are ground truth."""
        return [mask for mask in self._painted(item, number) if not self.reading.mask_fault(mask)]

    def _painted(self, item: str, number: int) -> list[Mask]:
        """Each annotator's mask of a class in the resized image."""
        image, size = self.images[item], self.reading.image_size
        annotators = image.outlines[number]
        painted = [np.logical_or.reduce([one.paint(image.size) for one in outlines]) for outlines in annotators]
        return [resize_nearest(self.reading.cropped(mask), size) for mask in painted]

    @cached_property
    def samples(self) -> Mapping[str, tuple[str, int]]:
        """Sample to item and class number: one for each image, or for each pair with a class that it shows in test."""
        samples: dict[str, tuple[str, int]] = {}
        for item, image in self.images.items():
            if self.several and image.split == "test":
                samples |= {f"{item}:{self.classes[number]}": (item, number) for number in image.outlines}
            else:
                samples[item] = item, image.main
        return samples

    @cached_property
    def notes(self) -> str:
        """Numbers of images by split, what has no mask, and what was skipped, for the data set's card."""
        counts = Counter(image.split for image in self.images.values())
        of_splits = ", ".join(f"{counts[split]:,} {split}" for split in SPLITS if counts[split])
        masked = [name for name, (item, number) in self.samples.items() if self.images[item].outlines[number]]
        bare = len(self.samples) - len(masked)
        without = f"{bare:,} of the samples have no mask and are not scored." if bare else ""

        def fault(name: str) -> int:
            return min(map(self.reading.mask_fault, self._painted(*self.samples[name])))

        reading = self.reading
        depends_on = ["own images", self.digest, list(reading.image_size), reading.min_mask, list(reading.mask_values),
                      list(self.classes), reading.exif]  # fmt: skip
        faults = mask_faults("masks", depends_on, masked, fault)
        if not masked:
            warn("no image that can be used has a mask or an annotation, so none can be scored")
        elif all(faults):
            raise SalgenError(self._no_truth(masked[0]))
        return " ".join(filter(None, [f"Images of the user: {of_splits}.", self.about, without, about_faults(faults)]))

    def _no_truth(self, first_masked: str) -> str:
        """Why there is nothing to score, with what to do."""
        item, number = self.samples[first_masked]
        outline = self.images[item].outlines[number][0][0]
        first = str(outline.path) if isinstance(outline, MaskPicture) else item
        return (
            f"{first}: is empty, full or too small a mask at this size, and so are all others; name the object's "
            "levels by --set mask_values=1 (in colours: paint all else black), or choose a larger image_size or a "
            "smaller min_mask"
        )
