"""Importer of COCO 2017."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from salgen.datasets.layouts.detection_datasets.annotated_copy import AnnotatedImages
from salgen.datasets.layouts.detection_datasets.coco_annotations import CocoCopy, open_coco
from salgen.datasets.picture_libraries.coco import CLASSES


@dataclass(frozen=True)
class Coco2017(AnnotatedImages):
    """Photographs with objects of eighty classes, from your own copy of COCO 2017.

    Give the folder that holds `annotations/instances_val2017.json` and `images/val2017`, and to train on them the same
    of `train2017`. The images may also lie beside `annotations`. Of train2017 one image in ten is for validation;
    val2017 is for test. There an image that shows three classes is three samples, one after the other. Elsewhere it is
    there once, labelled with the class of the object with the largest box. `object_present` holds all classes.

    A mask is the union of the class's boxes. With `masks=segmentation` it is the union of its instances' outlines,
    which needs pycocotools (`pip install '.[coco]'` in a clone of salgen). Crowd regions count neither as objects nor
    as masks. Images are resized as a whole, so proportions change. A class whose mask is empty, full or of fewer than
    `min_mask` pixels then is no sample of `test`.

    References
    ----------
    Lin et al. 2014, *Microsoft COCO: common objects in context*, doi:10.1007/978-3-319-10602-1_48.
    """

    name: ClassVar[str] = "coco-2017"
    version: ClassVar[str] = "2"
    classes: ClassVar[tuple[str, ...]] = CLASSES

    def read_copy(self, path: Path) -> CocoCopy:
        """The copy at a path."""
        return open_coco(path, self.masks, self.image_size, self.min_mask)
