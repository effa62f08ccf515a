"""COCO 2017: all instances that its annotations list, with boxes or outlines."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar
import numpy as np
from salgen.datasets.layouts.broken import check_size
from salgen.datasets.layouts.detection_datasets.annotated_copy import SEGMENTATION, Annotated, AnnotatedCopy
from salgen.datasets.layouts.detection_datasets.object_boxes import Box, Size, check_box
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


Instance = tuple[int, coco_instances.Box, Any]  # category's number, box, and the outline if it is wanted


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

    def outlines(self, image: Annotated, number: int) -> Mask:
        """The union of the outlines of a class's instances, resized."""
        from pycocotools import mask

        decoded = mask.decode({"size": list(image.size), "counts": image.runs[str(number)]})
        return np.asarray(resize_nearest(decoded, self.image_size) > 0)


def open_coco(path: Path, masks: str, image_size: Size, min_mask: int) -> CocoCopy:
    """The copy at a path: the folder that holds `annotations` and `images`, or one that holds it as `coco`."""
    root = path / coco.FOLDER if (path / coco.FOLDER / "annotations").is_dir() else path
    parts = coco.parts_of(root)
    if parts[-1].name != coco.VAL:
        file = root / "annotations" / f"instances_{coco.VAL}.json"
        raise SalgenError(f"{file} is missing: its images are those of test")
    if masks == SEGMENTATION:
        needed("pycocotools.mask", "reading outlines of COCO", "coco")
    return CocoCopy(root, masks, image_size, min_mask, tuple(parts))


def _read_part(part: coco.CocoPart, outlined: bool, skipped: Counter[str]) -> Iterator[Annotated]:
    instances: dict[int, list[Instance]] = defaultdict(list)

    def take(entry: dict[str, Any]) -> None:
        box = coco_instances.box_of(entry)
        if entry["iscrowd"]:
            skipped[coco_instances.CROWD] += 1
            return
        outline = (coco_instances.outline_of(entry) or coco_instances.MALFORMED) if outlined else None
        instances[entry["image_id"]].append((entry["category_id"], box, outline))

    images, categories, malformed = coco_instances.read_annotations(part.annotations, take)
    numbers = sorted(images)
    unlisted = sum(len(found) for number, found in instances.items() if number not in images)
    counts = {coco_instances.MALFORMED: malformed, coco_instances.UNLISTED: unlisted}
    skipped.update({why: count for why, count in counts.items() if count})
    classes = {number: coco.CLASSES.index(name) for name, number in categories.items() if name in coco.CLASSES}
    ranks = np.argsort(Stream("coco images", part.name).permutation(len(numbers))).tolist()
    trained = part.name == coco.TRAIN
    splits = [split_of(rank, len(numbers), tested=True) if trained else "test" for rank in ranks]
    for number, split in zip(tracked(f"reading {part.name}", numbers, "images"), splits, strict=True):
        file, stated = Path(images[number][0]).name, images[number][1]
        with counted(skipped):
            size = check_size(part.images / file, stated)
            objects, runs = _usable(instances.get(number, []), classes, size, skipped)
            yield Annotated(f"{part.name}/{file}", split, size, objects, runs)


def _usable(
    instances: Iterable[Instance], classes: Mapping[int, int], size: Size, skipped: Counter[str]
) -> tuple[list[tuple[int, Box]], dict[str, str]]:
    """Class and box of an image's instances, and the run lengths of each class's union."""
    objects: list[tuple[int, Box]] = []
    runs: dict[int, list[Any]] = {}
    for category, (left, top, width, height), outline in instances:
        with counted(skipped):
            number = classes.get(category)
            if number is None:
                raise UnusableError("object of an unknown class")
            box = left, top, left + width, top + height
            check_box(box, size)
            if outline is not None:
                runs.setdefault(number, []).append(coco.runs_of(outline, size))
            objects.append((number, box))
    if not runs:
        return objects, {}
    from pycocotools import mask

    return objects, {str(number): mask.merge(each)["counts"].decode() for number, each in runs.items()}
