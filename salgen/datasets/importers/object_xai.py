"""Importer of Saliency-Bench's Object-XAI: images of PASCAL VOC 2012 that show one class."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from salgen.datasets.layouts.saliency_bench.marked_images import Found
from salgen.datasets.layouts.saliency_bench.marked_importer import MarkedImages
from salgen.datasets.layouts.saliency_bench.voc_objects import read_voc_objects

NAMES = ("object-xai",)


@dataclass(frozen=True)
class ObjectXai(MarkedImages):
    """Photographs that show objects of one class of twenty, with these as mask: Object-XAI of Saliency-Bench.

    Give your own copy of PASCAL VOC 2012, as `voc-2012` takes it, or a folder of Saliency-Bench with `image` and
    `attention_label`. Of the images of `ImageSets/Segmentation` (2,913) those are taken whose annotated objects are of
    one class; the paper counts 4,318 and does not say of what. With the Semantic Boundaries Dataset beside VOC, as
    `benchmark_RELEASE/dataset/cls` or `SBD/cls` in the folder that is given, so are the images of `ImageSets/Main` that
    it marks. The mask is the class in the picture of
    `SegmentationClass`, pixels that are void there are not scored, and the region `boxes` is the union of the objects'
    boxes. Of each class 70 % of the images are for training, 15 % for validation and 15 % for test, whatever VOC's own
    lists say. Images are resized as a whole, bilinearly, and masks to the nearest pixel. Broken files are skipped, and
    the card counts them.

    References
    ----------
    Everingham et al. 2015, *The PASCAL visual object classes challenge: a retrospective* (International Journal of
    Computer Vision 111). Zhang et al. 2025, *Saliency-Bench: a comprehensive benchmark for evaluating visual
    explanations* (KDD).
    """

    name: ClassVar[str] = "object-xai"
    version: ClassVar[str] = "1"
    family: ClassVar[str] = "object-xai"
    stand_in: ClassVar[str] = "multi-objects"
    task: ClassVar[str] = "object"
    boxed: ClassVar[bool] = True

    @property
    def valid_region(self) -> str:
        """All but what mask pictures leave void."""
        return "annotated"

    def read_layout(self, path: Path) -> Found:
        """The images of a copy that show one class."""
        return read_voc_objects(path, self.image_size, self.min_mask)
