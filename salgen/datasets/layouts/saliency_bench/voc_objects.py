"""Images of PASCAL VOC 2012 that show objects of one class only, with the mask pictures of these."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from salgen.datasets.layouts.detection_datasets.annotated_copy import BOXES, SEGMENTATION
from salgen.datasets.layouts.detection_datasets.object_boxes import Size
from salgen.datasets.layouts.detection_datasets.table import ObjectTable
from salgen.datasets.layouts.detection_datasets.voc_annotations import (
    CLASSES,
    LICENCE,
    MASKS,
    TEXTS,
    VOID,
    open_voc,
)
from salgen.datasets.layouts.mask_pictures import faults_of_pairs
from salgen.datasets.layouts.own_images.outlines import MaskPicture
from salgen.datasets.layouts.saliency_bench.marked_images import Found, MarkedImage
from salgen.datasets.layouts.saliency_bench.sbd_masks import SbdMask, check_ids, masks_folder

ABOUT = (
    "PASCAL VOC 2012: the images of ImageSets/Segmentation whose objects are of one class; a mask is that class in the "
    "mask picture, and what is void there is not scored."
)
MORE = "Other images of ImageSets/Main with objects of one class have the masks of the Semantic Boundaries Dataset."


def read_voc_objects(path: Path, image_size: Size, min_mask: int) -> Found:
    """The images of a copy that `voc-2012` reads too, as :func:`open_voc` finds it, and those that SBD marked."""
    copy = open_voc(path, SEGMENTATION, image_size, min_mask, difficult=True)
    skipped = Counter(copy.table.skipped)
    images = {}
    for item, number, label in _of_one_class(copy.table, list(copy.table.numbers), skipped):
        mask = copy.root / MASKS / f"{Path(item).stem}.png"
        marks, void = (MaskPicture(mask, (label + 1,)),), MaskPicture(mask, (VOID,))
        images[item] = MarkedImage(copy.path_of(item), CLASSES[label], marks, void, tuple(copy.table.boxes(number)))
    files = {name: file for name, file in copy.files.items() if name.endswith((".txt", ".xml"))}
    folder = masks_folder(path)
    if folder is None:
        return Found(copy.root, images, CLASSES, ABOUT, LICENCE, skipped, tuple(files.values()))
    boxed = open_voc(path, BOXES, image_size, min_mask, difficult=True)
    masks = {
        item: mask
        for item in sorted(boxed.splits.keys() - copy.splits.keys())
        if (mask := folder / f"{Path(item).stem}.mat").is_file()
    }
    others = {item: (number, label) for item, number, label in _of_one_class(boxed.table, list(masks), skipped)}
    pairs = {item: (boxed.path_of(item), masks[item]) for item in others}
    faults = faults_of_pairs("sbd", pairs, check_ids)
    skipped += Counter(faults.values())
    for item, (number, label) in others.items():
        if item in faults:
            continue
        file, mask = pairs[item]
        boxes = tuple(boxed.table.boxes(number))
        images[item] = MarkedImage(file, CLASSES[label], (SbdMask(mask, label),), boxes=boxes)
        text = f"{TEXTS}/{Path(item).stem}.xml"
        files |= {text: boxed.files[text], mask.name: mask}
    return Found(copy.root, images, CLASSES, f"{ABOUT} {MORE}", LICENCE, skipped, tuple(files.values()))


def _of_one_class(table: ObjectTable, items: Sequence[str], skipped: Counter[str]) -> Iterator[tuple[str, int, int]]:
    """Of some images those that show one class: item, number in the table, and class."""
    for item in items:
        number = table.numbers.get(item)
        shown = () if number is None else table.present(number)
        if number is None:
            skipped["image that voc-2012 cannot use either"] += 1
        elif len(shown) > 1:
            skipped["image of several classes"] += 1
        else:
            yield item, number, shown[0]
