"""Importer of Saliency-Bench's Object-XAI: images of PASCAL VOC 2012 that show one class.

References
----------
Hariharan et al. 2011, *Semantic contours from inverse detectors* (ICCV), for the masks of SBD in MATLAB's files.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from salgen.datasets.layouts.broken import broken_items
from salgen.datasets.layouts.detection_datasets.annotated_copy import BOXES, SEGMENTATION, Annotated
from salgen.datasets.layouts.detection_datasets.object_boxes import Box, Size
from salgen.datasets.layouts.detection_datasets.voc_annotations import (
    CLASSES,
    LICENSE,
    MASKS,
    TEXTS,
    VOID,
    VocCopy,
    open_voc,
)
from salgen.datasets.layouts.own_images.outlines import MaskPicture, Outline
from salgen.datasets.layouts.saliency_bench.marked_images import Found, MarkedImage
from salgen.datasets.layouts.saliency_bench.marked_importer import MarkedImages
from salgen.datasets.picture_libraries.picture_sampling import usable
from salgen.types import Mask

ABOUT = (
    "PASCAL VOC 2012: the images of ImageSets/Segmentation whose objects are of one class; a mask is that class in the "
    "mask picture, and what is void there is not scored."
)
MORE = "Other images of ImageSets/Main with objects of one class have the masks of the Semantic Boundaries Dataset."
SBD_FOLDERS = ("benchmark_RELEASE/dataset/cls", "SBD/cls")


@dataclass(frozen=True)
class ObjectXai(MarkedImages):
    """Photographs that show objects of one class of twenty, with these as mask: Object-XAI of Saliency-Bench.

    Give your own copy of PASCAL VOC 2012, as `voc-2012` takes it, or a folder of Saliency-Bench with `image` and
    `attention_label`. Images of `ImageSets/Segmentation` (2,913) are taken if their annotated objects are of one class;
    the paper counts 4,318 and does not say of what. The Semantic Boundaries Dataset beside VOC, as
    `benchmark_RELEASE/dataset/cls` or `SBD/cls`, adds the images of `ImageSets/Main` that it marks. The mask is the
    class in `SegmentationClass`, where void pixels are not scored. The region `boxes` is the union of the objects'
    boxes. VOC's own splits are not kept.

    References
    ----------
    Everingham et al. 2015, *The PASCAL visual object classes challenge: a retrospective*,
    doi:10.1007/s11263-014-0733-5. Zhang et al. 2025, *Saliency-Bench: a comprehensive benchmark for evaluating visual
    explanations*, doi:10.1145/3711896.3737414.
    """

    name: ClassVar[str] = "object-xai"
    stand_in: ClassVar[str] = "multi-objects"
    task: ClassVar[str] = "object"
    boxed: ClassVar[bool] = True

    @property
    def valid_region(self) -> str:
        """All but what mask pictures leave void."""
        return "annotated"

    def read_layout(self, path: Path) -> Found:
        """The images of a copy that `voc-2012` reads too, as :func:`open_voc` finds it, and those that SBD marked."""
        copy = open_voc(path, SEGMENTATION, self.image_size, self.min_mask, difficult=True)
        skipped = Counter(copy.skipped)
        images = {}
        for item, image, label in _of_one_class(copy, list(copy.images), skipped):
            mask = copy.root / MASKS / f"{Path(item).stem}.png"
            marks, void = (MaskPicture(mask, (label + 1,)),), MaskPicture(mask, (VOID,))
            images[item] = MarkedImage(copy.path_of(item), CLASSES[label], marks, void, _boxes(image))
        files = {name: file for name, file in copy.files.items() if name.endswith((".txt", ".xml"))}
        folder = next((path / name for name in SBD_FOLDERS if (path / name).is_dir()), None)
        if folder is None:
            return Found(copy.root, images, CLASSES, ABOUT, LICENSE, skipped, tuple(files.values()))
        boxed = open_voc(path, BOXES, self.image_size, self.min_mask, difficult=True)
        found = {item: folder / f"{Path(item).stem}.mat" for item in sorted(boxed.splits.keys() - copy.splits.keys())}
        masks = {item: mask for item, mask in found.items() if mask.is_file()}
        others = list(_of_one_class(boxed, list(masks), skipped))
        faults = broken_items({item: (masks[item],) for item, *_ in others}, _read_ids, "sbd")
        skipped += Counter(faults.values())
        for item, image, label in others:
            if item not in faults:
                outlines = (SbdMask(masks[item], label),)
                images[item] = MarkedImage(boxed.path_of(item), CLASSES[label], outlines, boxes=_boxes(image))
                text = f"{TEXTS}/{Path(item).stem}.xml"
                files |= {text: boxed.files[text], masks[item].name: masks[item]}
        return Found(copy.root, images, CLASSES, f"{ABOUT} {MORE}", LICENSE, skipped, tuple(files.values()))


def _of_one_class(copy: VocCopy, items: Sequence[str], skipped: Counter[str]) -> Iterator[tuple[str, Annotated, int]]:
    """Of some images those that show one class: item, image, and class."""
    for item in items:
        image = copy.images.get(item)
        if image is None:
            skipped["image that voc-2012 cannot use either"] += 1
        elif len(image.present) > 1:
            skipped["image of several classes"] += 1
        else:
            yield item, image, image.present[0]


def _boxes(image: Annotated) -> tuple[Box, ...]:
    return tuple(box for _, box in image.objects)


def _read_ids(path: Path) -> NDArray[Any]:
    """A mask's numbers, (H, W): 0, or the class's number and 1."""
    from scipy.io import loadmat

    with usable(path, "mask of SBD"):
        return np.asarray(loadmat(path)["GTcls"]["Segmentation"].item())


@dataclass(frozen=True)
class SbdMask(Outline):
    """The pixels of a class."""

    path: Path
    number: int

    def paint(self, size: Size) -> Mask:
        """These pixels."""
        return np.asarray(_read_ids(self.path) == self.number + 1)
