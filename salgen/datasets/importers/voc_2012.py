"""Importer of PASCAL VOC 2012."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from salgen.datasets.layouts.detection_datasets.annotated_copy import SEGMENTATION
from salgen.datasets.layouts.detection_datasets.annotated_importer import AnnotatedImages
from salgen.datasets.layouts.detection_datasets.voc_annotations import CLASSES, VocCopy, open_voc
from salgen.parameters import param

NAMES = ("voc-2012",)


@dataclass(frozen=True)
class Voc2012(AnnotatedImages):
    """Photographs with objects of twenty classes, from your own copy of PASCAL VOC 2012.

    Give the folder `VOC2012` that holds `JPEGImages`, `Annotations` and `ImageSets`, or one that holds it as
    `VOCdevkit/VOC2012`. The images of `ImageSets/Main/train.txt` are for training and, one in ten, for validation;
    those of `val.txt` are for test. There an image that shows three classes is three samples, one after the other;
    elsewhere it is there once, labelled with the class of the object with the largest box, and `object_present` holds
    all classes.

    A mask is the union of the class's boxes; with `masks=segmentation` it is the class in the picture of
    `SegmentationClass`, of the images of `ImageSets/Segmentation`, and what is void there is not scored. Images are
    resized as a whole, bilinearly, and masks to the nearest pixel: nothing is cut off, but proportions change. A class
    whose mask is empty, full or of fewer than `min_mask` pixels then is no sample of `test`. What is broken is
    skipped, and the card counts it; for that all images are decoded, once.

    References
    ----------
    Everingham et al. 2015, *The PASCAL visual object classes challenge: a retrospective* (International Journal of
    Computer Vision 111).
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
