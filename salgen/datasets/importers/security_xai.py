"""Importer of Saliency-Bench's Security-XAI: X-ray images of SIXray."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from salgen.datasets.layouts.saliency_bench.marked_images import Found
from salgen.datasets.layouts.saliency_bench.marked_importer import MarkedImages
from salgen.datasets.layouts.saliency_bench.sixray import read_sixray

NAMES = ("security-xai",)


@dataclass(frozen=True)
class SecurityXai(MarkedImages):
    """X-ray images of luggage with and without prohibited items, with boxes as mask: Security-XAI of Saliency-Bench.

    Give the folder of your own copy of SIXray that holds `JPEGImages` and `Annotation`, or one of Saliency-Bench with
    `image` and `attention_label`. All images `P*` are taken, and as many of `N*`, which `split_seed` chooses. The mask,
    region `boxes`, is the union of the boxes around guns, knives, wrenches, pliers, scissors and hammers. An image `P*`
    without a box has no mask, as those of the other class: it is trained on, and not scored. Of each class 70 % of the
    images are for training, 15 % for validation and 15 % for test. Images are resized as a whole, bilinearly, and masks
    to the nearest pixel. Broken files are skipped, and the card counts them.

    References
    ----------
    Miao et al. 2019, *SIXray: a large-scale security inspection X-ray benchmark for prohibited item discovery in
    overlapping images* (CVPR). Zhang et al. 2025, *Saliency-Bench: a comprehensive benchmark for evaluating visual
    explanations* (KDD).
    """

    name: ClassVar[str] = "security-xai"
    version: ClassVar[str] = "1"
    family: ClassVar[str] = "security-xai"
    stand_in: ClassVar[str] = "drawn-luggage"
    region: ClassVar[str] = "boxes"

    def read_layout(self, path: Path) -> Found:
        """The images and boxes of a copy."""
        return read_sixray(path, self.split_seed)
