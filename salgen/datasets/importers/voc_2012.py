"""Importer of PASCAL VOC 2012."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from salgen.datasets.layouts.detection_datasets.annotated_copy import SEGMENTATION, AnnotatedImages
from salgen.datasets.layouts.detection_datasets.voc_annotations import CLASSES, VocCopy, open_voc
from salgen.parameters import param


@dataclass(frozen=True)
class Voc2012(AnnotatedImages):
    """Photographs with objects of twenty classes, from your own copy of PASCAL VOC 2012.

    Give the folder `VOC2012` that holds `JPEGImages`, `Annotations` and `ImageSets`, or one that holds it as
    `VOCdevkit/VOC2012`. The images of `ImageSets/Main/train.txt` are for training and, one in ten, for validation;
    those of `val.txt` are for test. Images with several classes are treated as in `coco-2017`.

    A mask is the union of the class's boxes. With `masks=segmentation` it is the class in `SegmentationClass`, for the
    images of `ImageSets/Segmentation`, and void pixels are not scored. Resizing and faulty masks are as in `coco-2017`.

    References
    ----------
    Everingham et al. 2015, *The PASCAL visual object classes challenge: a retrospective*,
    doi:10.1007/s11263-014-0733-5.
    """

    name: ClassVar[str] = "voc-2012"
    version: ClassVar[str] = "2"
    classes: ClassVar[tuple[str, ...]] = CLASSES

    difficult: bool = param(True, "whether objects that are marked as difficult count too")

    @property
    def valid_region(self) -> str | None:
        """The annotated region where mask pictures leave pixels void, else None."""
        return "annotated" if self.masks == SEGMENTATION else None

    def read_copy(self, path: Path) -> VocCopy:
        """The copy at a path."""
        return open_voc(path, self.masks, self.image_size, self.min_mask, difficult=self.difficult)
