"""Images of PASCAL VOC 2012 that show objects of one class only, with the mask pictures of these."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from salgen.datasets.importers.layouts.detection_datasets.annotated_copy import SEGMENTATION
from salgen.datasets.importers.layouts.detection_datasets.object_boxes import Size
from salgen.datasets.importers.layouts.detection_datasets.voc_annotations import (
    CLASSES,
    LICENCE,
    MASKS,
    VOID,
    open_voc,
)
from salgen.datasets.importers.layouts.own_images.outlines import MaskPicture
from salgen.datasets.importers.layouts.saliency_bench.marked_images import Found, MarkedImage

ABOUT = (
    "PASCAL VOC 2012: the images of ImageSets/Segmentation whose objects are of one class; a mask is that class in the "
    "mask picture, and what is void there is not scored."
)


def read_voc_objects(path: Path, image_size: Size, min_mask: int) -> Found:
    """The images of a copy that `voc-2012` reads too, as :func:`open_voc` finds it."""
    copy = open_voc(path, SEGMENTATION, image_size, min_mask, difficult=True)
    table = copy.table
    images, skipped = {}, Counter(table.skipped)
    for number in range(len(table.arrays["items"])):
        item, shown = table.item(number), table.present(number)
        if len(shown) > 1:
            skipped["image of several classes"] += 1
            continue
        mask = copy.root / MASKS / f"{Path(item).stem}.png"
        outlines = (MaskPicture(mask, (shown[0] + 1,)),)
        boxes = tuple(table.boxes(number))
        images[item] = MarkedImage(copy.path_of(item), CLASSES[shown[0]], outlines, MaskPicture(mask, (VOID,)), boxes)
    annotations = [file for name, file in copy.files.items() if name.endswith((".txt", ".xml"))]
    return Found(copy.root, images, CLASSES, ABOUT, LICENCE, skipped, annotations)
