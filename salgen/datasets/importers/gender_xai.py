"""Importer of Saliency-Bench's Gender-XAI: people in COCO 2017, by the words of captions."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from salgen.datasets.layouts.saliency_bench.captioned_people import read_people
from salgen.datasets.layouts.saliency_bench.marked_images import Found
from salgen.datasets.layouts.saliency_bench.marked_importer import MarkedImages
from salgen.parameters import param

NAMES = ("gender-xai",)


@dataclass(frozen=True)
class GenderXai(MarkedImages):
    """Photographs of one person whom captions call a man or a woman, with the person as mask: Gender-XAI.

    Give a folder of Saliency-Bench with `image` and `attention_label`; or your own copy of COCO 2017, with
    `annotations/captions_train2017.json` beside what `coco-2017` reads (or those of `val2017` alone). Of that images
    are taken with one annotated person, of at least 2 % of the image, whose captions together have words for a man
    (man, men, boy, male, guy, gentleman) or a woman (woman, women, girl, female, lady) and not for both. The mask is
    the person's outline, in place of what the benchmark's annotators drew, and the region `boxes` the person's box. The
    labels are words that strangers chose: they tell nobody's gender, and a model of them is for studying explanations
    alone. Of each class 70 % of the images are for training, 15 % for validation and 15 % for test. Images are resized
    as a whole, bilinearly, and masks to the nearest pixel. Broken files are skipped, and the card counts them.

    References
    ----------
    Chen et al. 2015, *Microsoft COCO captions: data collection and evaluation server*. Zhang et al. 2025,
    *Saliency-Bench: a comprehensive benchmark for evaluating visual explanations* (KDD).
    """

    name: ClassVar[str] = "gender-xai"
    version: ClassVar[str] = "1"
    family: ClassVar[str] = "gender-xai"
    stand_in: ClassVar[str] = "drawn-people"
    region: ClassVar[str] = "person"
    boxed: ClassVar[bool] = True

    images: int = param(2500, "the most of each class that are taken from COCO", low=1)

    def read_layout(self, path: Path) -> Found:
        """The people of a copy whose captions tell them apart."""
        return read_people(path, self.images, self.split_seed)
