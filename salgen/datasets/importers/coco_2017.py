"""Importer of COCO 2017."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from salgen.datasets.layouts.detection_datasets.annotated_importer import AnnotatedImages
from salgen.datasets.layouts.detection_datasets.coco_annotations import CocoCopy, open_coco
from salgen.datasets.picture_libraries.coco import CLASSES

NAMES = ("coco-2017",)


@dataclass(frozen=True)
class Coco2017(AnnotatedImages):
    """Photographs with objects of eighty classes, from your own copy of COCO 2017.

    Give the folder that holds `annotations/instances_val2017.json` and `images/val2017`, and to train on them
    `annotations/instances_train2017.json` and `images/train2017` (`train2017` and `val2017` may also lie beside
    `annotations`). Of train2017 one image in ten is for validation; val2017 is for test. There an image that shows
    three classes is three samples, one after the other; elsewhere it is there once, labelled with the class of the
    object with the largest box, and `object_present` holds all classes.

    A mask is the union of the class's boxes, or with `masks=segmentation` of its instances' outlines, for which
    pycocotools is needed (`pip install '.[coco]'` in a clone of salgen). Crowd regions count neither as objects nor as
    masks. Images are resized as a whole, bilinearly, and masks to the nearest pixel: nothing is cut off, but
    proportions change. A class whose mask is empty, full or of fewer than `min_mask` pixels then is no sample of
    `test`. What is broken is skipped, and the card counts it; for that all images are decoded, once.

    References
    ----------
    Lin et al. 2014, *Microsoft COCO: common objects in context* (ECCV).
    """

    name: ClassVar[str] = "coco-2017"
    version: ClassVar[str] = "2"
    classes: ClassVar[tuple[str, ...]] = CLASSES

    def read_copy(self, path: Path) -> CocoCopy:
        """The copy at a path."""
        return open_coco(path, self.masks, self.image_size, self.min_mask)
