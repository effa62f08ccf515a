"""COCO 2017: all instances that its annotations list, with boxes or outlines."""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar
import numpy as np
from salgen.datasets.layouts.broken import check_size
from salgen.datasets.layouts.detection_datasets.annotated_copy import SEGMENTATION, AnnotatedCopy
from salgen.datasets.layouts.detection_datasets.object_boxes import Box, Size, check_box
from salgen.datasets.layouts.detection_datasets.object_table import Annotated
from salgen.datasets.picture_libraries import coco, coco_instances
from salgen.datasets.picture_libraries.picture_sampling import UnusableError, counted, split_of
from salgen.errors import SalgenError
from salgen.generators.drawing.pictures import resize_nearest
from salgen.import_paths import needed
from salgen.progress import tracked
from salgen.seeding import Stream
from salgen.types import Mask

ABOUT = "COCO 2017: {splits} {masks} Crowd regions are no objects here. Images are resized as a whole."
SPLIT = {
    True: "images of train2017 are for training and, one in ten, for validation; those of val2017 are for test.",
    False: "images of val2017 are for test; the copy has no train2017, so there are none to train on.",
}
MARKED = {False: "Masks are unions of boxes.", True: "Masks are unions of the instances' outlines."}


@dataclass(frozen=True, eq=False)
class CocoCopy(AnnotatedCopy):
    """A copy of COCO 2017, at `root`."""

    license: ClassVar[str] = coco.LICENSE
    kind: ClassVar[str] = "coco"

    parts: Sequence[coco.CocoPart]

    @property
    def about(self) -> str:
        """Sentences on the copy and its splits, for the data set's card."""
        return ABOUT.format(splits=SPLIT[len(self.parts) > 1], masks=MARKED[self.masks == SEGMENTATION])

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the annotations, and the names and sizes of the images: to read them all would take too long."""
        return coco.origin_of(self.parts)

    def path_of(self, item: str) -> Path:
        """The file of an image."""
        name, file = item.split("/")
        return next(part.images for part in self.parts if part.name == name) / file

    def read(self, skipped: Counter[str]) -> Iterator[Annotated]:
        """The images of all parts, with their instances."""
        for part in self.parts:
            yield from _read_part(part, self.masks == SEGMENTATION, skipped)

    def outlines(self, image: int, number: int) -> Mask:
        """The union of the outlines of a class's instances, resized."""
        from pycocotools import mask

        size = self.table.size(image)
        decoded = mask.decode({"size": list(size), "counts": self.table.runs(image, number)})
        return np.asarray(resize_nearest(decoded, self.image_size) > 0)


def open_coco(path: Path, masks: str, image_size: Size, min_mask: int) -> CocoCopy:
    """The copy at a path: the folder that holds `annotations` and `images`, or one that holds it as `coco`."""
    root = path / coco.FOLDER if (path / coco.FOLDER / "annotations").is_dir() else path
    parts = coco.parts_of(root)
    if parts[-1].name != coco.VAL:
        raise SalgenError(
            f"{root / 'annotations' / f'instances_{coco.VAL}.json'} is missing: its images are those of test"
        )
    if masks == SEGMENTATION:
        needed("pycocotools.mask", "reading outlines of COCO", "coco")
    return CocoCopy(root, masks, image_size, min_mask, tuple(parts))


class _Instances:
    """All annotations of a file, in little memory; outlines where they are wanted."""

    def __init__(self, outlined: bool) -> None:
        self.images, self.categories, self.boxes = array("q"), array("q"), array("d")
        self.outlines: list[Any] | None = [] if outlined else None
        self.crowds = 0

    def take(self, entry: dict[str, Any]) -> None:
        image, category, box = entry["image_id"], entry["category_id"], coco_instances.box_of(entry)
        if entry["iscrowd"]:
            self.crowds += 1
            return
        array("q", [image, category])  # numbers too large for the arrays are refused before anything is kept
        self.images.append(image)
        self.categories.append(category)
        self.boxes.extend(box)
        if self.outlines is not None:
            self.outlines.append(coco_instances.outline_of(entry))

    def of_images(self, numbers: Sequence[int]) -> Iterator[list[int]]:
        """The places of each image's annotations; `numbers` rise."""
        owners = np.array(self.images, dtype=np.int64)
        order = np.argsort(owners, kind="stable")
        starts, stops = (np.searchsorted(owners[order], numbers, side=side) for side in ("left", "right"))
        return (order[start:stop].tolist() for start, stop in zip(starts.tolist(), stops.tolist(), strict=True))


def _read_part(part: coco.CocoPart, outlined: bool, skipped: Counter[str]) -> Iterator[Annotated]:
    instances = _Instances(outlined)
    images, categories, malformed = coco_instances.read_annotations(part.annotations, instances.take)
    if any(abs(number) >= 2**63 for number in images):
        raise SalgenError(f"{part.annotations} is not a file of COCO's instances (an image's id has 64 bits or more)")
    numbers = sorted(images)
    unlisted = int((~np.isin(np.array(instances.images, dtype=np.int64), numbers)).sum())
    counts = {
        coco_instances.MALFORMED: malformed,
        coco_instances.CROWD: instances.crowds,
        coco_instances.UNLISTED: unlisted,
    }
    skipped.update({why: count for why, count in counts.items() if count})
    classes = {number: coco.CLASSES.index(name) for name, number in categories.items() if name in coco.CLASSES}
    ranks = np.argsort(Stream("coco images", part.name).permutation(len(numbers))).tolist()
    trained = part.name == coco.TRAIN
    splits = [split_of(rank, len(numbers), tested=True) if trained else "test" for rank in ranks]
    numbered = tracked(f"reading {part.name}", numbers, "images")
    for number, places, split in zip(numbered, instances.of_images(numbers), splits, strict=True):
        file, stated = Path(images[number][0]).name, images[number][1]
        with counted(skipped):
            size = check_size(part.images / file, stated)
            yield Annotated(f"{part.name}/{file}", split, size, *_usable(instances, places, classes, size, skipped))


def _usable(
    instances: _Instances, places: Sequence[int], classes: Mapping[int, int], size: Size, skipped: Counter[str]
) -> tuple[list[tuple[int, Box]], dict[int, bytes]]:
    """Class and box of an image's instances at some places, and the run lengths of each class's union."""
    objects: list[tuple[int, Box]] = []
    runs: dict[int, list[Any]] = {}
    for place in places:
        with counted(skipped):
            number = classes.get(instances.categories[place])
            if number is None:
                raise UnusableError("object of an unknown class")
            left, top, width, height = instances.boxes[4 * place : 4 * place + 4]
            box = left, top, left + width, top + height
            check_box(box, size)
            if instances.outlines is not None:
                runs.setdefault(number, []).append(coco.runs_of(instances.outlines[place], size))
            objects.append((number, box))
    if not runs:
        return objects, {}
    from pycocotools import mask

    return objects, {number: mask.merge(each)["counts"] for number, each in runs.items()}
