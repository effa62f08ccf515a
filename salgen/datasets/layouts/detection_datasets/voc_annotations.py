"""The folders of PASCAL VOC 2012: its lists of images, its XML, its mask pictures."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree
import numpy as np
from numpy.typing import NDArray
from salgen.datasets.layouts.broken import check_mask_picture, check_size
from salgen.datasets.layouts.detection_datasets.annotated_copy import SEGMENTATION, Annotated, AnnotatedCopy
from salgen.datasets.layouts.detection_datasets.object_boxes import Box, Size, check_box
from salgen.datasets.picture_libraries.picture_sampling import UnusableError, counted, found_at, split_of, usable
from salgen.errors import readable
from salgen.generators.drawing.pictures import read_levels, resize_nearest
from salgen.progress import tracked
from salgen.seeding import Stream
from salgen.sources import Files
from salgen.types import Mask

CLASSES = (
    *("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable", "dog"),
    *("horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor"),
)
FOLDER, DEVKIT = "VOC2012", "VOCdevkit"
PICTURES, TEXTS, MASKS, LISTS = "JPEGImages", "Annotations", "SegmentationClass", "ImageSets"
VOID = 255
CORNERS = ("xmin", "ymin", "xmax", "ymax")
LICENSE = (
    "The images are photographs from Flickr, each under the terms that its owner chose and under Flickr's terms of "
    "use, and may not be passed on; the annotations are those of PASCAL VOC 2012."
)
ABOUT = (
    "PASCAL VOC 2012: images of the list {lists}/train are for training and, one in ten, for validation; those of "
    "{lists}/val are for test. {masks} Images are resized as a whole."
)
MARKED = {
    False: "Masks are unions of boxes, of which the corners' pixels are part.",
    True: "Masks are those of the mask pictures; pixels that these leave void are not scored.",
}


@dataclass(frozen=True, eq=False)
class VocCopy(AnnotatedCopy):
    """A copy of VOC 2012, at `root`."""

    license: ClassVar[str] = LICENSE
    kind: ClassVar[str] = "voc"

    difficult: bool  # whether objects that are marked so count

    @property
    def about(self) -> str:
        """Sentences on the copy and its splits, for the data set's card."""
        without = "" if self.difficult else " Objects that are marked as difficult are left out."
        return ABOUT.format(lists=self._lists, masks=MARKED[self.masks == SEGMENTATION]) + without

    @property
    def choices(self) -> list[Any]:
        """The masks, and which objects count."""
        return [self.masks, self.difficult]

    @cached_property
    def files(self) -> Mapping[str, Path]:
        """Relative path to file: the lists, and the existing files of the images that they name."""
        files = {f"{LISTS}/{self._lists}/{part}.txt": self._list(part) for part in ("train", "val")}
        folders = [(PICTURES, ".jpg"), (TEXTS, ".xml"), *([(MASKS, ".png")] if self.masks == SEGMENTATION else [])]
        for folder, ending in folders:
            present = {path.name for path in (self.root / folder).iterdir() if path.is_file()}
            wanted = (f"{name}{ending}" for name, _ in self._images)
            files |= {f"{folder}/{name}": self.root / folder / name for name in wanted if name in present}
        return files

    @cached_property
    def digest(self) -> str:
        """SHA-256 over names, splits and contents of these."""
        return Files(self.name, self.license, "", self.files, self.splits).digest

    @cached_property
    def splits(self) -> Mapping[str, str]:
        """Image to split."""
        return {f"{PICTURES}/{name}.jpg": split for name, split in self._images}

    def read(self, skipped: Counter[str]) -> Iterator[Annotated]:
        """The images of the lists, with the objects of their XML."""
        for name, split in tracked("reading annotations", self._images, "images"):
            with counted(skipped):
                size = check_size(self.root / PICTURES / f"{name}.jpg")
                objects = list(self._objects(name, size, skipped))
                if self.masks == SEGMENTATION:
                    check_mask_picture(self.root / MASKS / f"{name}.png", size, [*range(len(CLASSES) + 1), VOID])
                yield Annotated(f"{PICTURES}/{name}.jpg", split, size, objects)

    def outlines(self, image: Annotated, number: int) -> Mask:
        """The pixels of a class in the resized mask picture, bool (H, W)."""
        return np.asarray(self._ids(image) == number + 1)

    def annotated_mask(self, image: Annotated) -> Mask:
        """The pixels of the resized mask picture that are not void, bool (H, W)."""
        return np.asarray(self._ids(image) != VOID)

    @property
    def _lists(self) -> str:
        return "Segmentation" if self.masks == SEGMENTATION else "Main"

    def _list(self, part: str) -> Path:
        return self.root / LISTS / self._lists / f"{part}.txt"

    @cached_property
    def _images(self) -> list[tuple[str, str]]:
        """Each image's name and split."""
        train, val = (image_names(self._list(part)) for part in ("train", "val"))
        order = Stream("voc", self._lists).permutation(len(train)).tolist()
        ranks = {train[place]: rank for rank, place in enumerate(order)}
        trained = [(name, split_of(ranks[name], len(train), tested=True)) for name in train]
        return [*trained, *((name, "test") for name in val if name not in ranks)]

    def _objects(self, name: str, size: Size, skipped: Counter[str]) -> Iterable[tuple[int, Box]]:
        """Class number and box of each object that can be used."""
        root = read_xml(self.root / TEXTS / f"{name}.xml")
        for entry in root.iterfind("object"):
            with counted(skipped):
                if self.difficult or entry.findtext("difficult", "0").strip() != "1":
                    kind = entry.findtext("name", "").strip()
                    if kind not in CLASSES:
                        raise UnusableError("object of an unknown class")
                    yield CLASSES.index(kind), box_of(entry, size)

    def _ids(self, image: Annotated) -> NDArray[Any]:
        """The numbers of an image's mask picture, resized: 0, the class's number and 1, or void."""
        return resize_nearest(read_levels(self.root / MASKS / f"{Path(image.item).stem}.png"), self.image_size)


def open_voc(path: Path, masks: str, image_size: Size, min_mask: int, *, difficult: bool) -> VocCopy:
    """The copy at a path: the folder `VOC2012`, `VOCdevkit`, or the one that it is in."""
    places = (path, path / FOLDER, path / DEVKIT / FOLDER)
    root = next((place for place in places if (place / LISTS).is_dir()), places[-1])
    copy = VocCopy(root, masks, image_size, min_mask, difficult)
    folders = (LISTS, PICTURES, TEXTS, *([MASKS] if masks == SEGMENTATION else []))
    for part in (*(root / folder for folder in folders), copy._list("train"), copy._list("val")):
        found_at("it is part of VOC 2012", part)
    return copy


def image_names(path: Path) -> list[str]:
    """The images of a list, each once; a second column is no name."""
    with readable(f"{path}: cannot be read as a list of images"):
        lines = path.read_text(encoding="utf-8").splitlines()
    return list(dict.fromkeys(line.split()[0] for line in lines if line.strip()))


def read_xml(path: Path) -> ElementTree.Element:
    """The annotation of an image; an UnusableError if it is missing or no XML."""
    with usable(path, "annotation", "annotation that is no XML"):
        return ElementTree.parse(path).getroot()


def box_of(entry: ElementTree.Element, size: Size) -> Box:
    """Edges from VOC's corners, which count pixels from 1 and are part of the box."""
    try:
        left, top, right, bottom = (float(entry.findtext(f"bndbox/{corner}", "")) for corner in CORNERS)
    except ValueError:
        raise UnusableError("object without a box") from None
    box = left - 1, top - 1, right, bottom
    if not all(map(isfinite, box)):
        raise UnusableError("object without a box")
    check_box(box, size)
    return box
