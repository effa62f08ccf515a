"""Importer of Saliency-Bench's Environment-XAI: nature and cities of Places365."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from salgen.datasets.layouts.saliency_bench.marked_images import Found
from salgen.datasets.layouts.saliency_bench.marked_importer import MarkedImages
from salgen.datasets.layouts.saliency_bench.places import read_places
from salgen.parameters import param

NAMES = ("environment-xai",)


@dataclass(frozen=True)
class EnvironmentXai(MarkedImages):
    """Photographs of nature and of cities, with what people marked in them: Environment-XAI of Saliency-Bench.

    Give a folder of Saliency-Bench with `image` and `attention_label`; or the folder of your own copy of Places365 that
    holds `train` and `val`, or one that holds it as `places365_standard`. Of that six kinds of places are nature
    (mountain, pond, waterfall, wild field, broadleaf forest, rainforest) and six are urban (house, bridge, campus,
    tower, street, driveway), under each of Places365's spellings (`field-wild`, `field/wild`). Places365 has no masks:
    a folder `attention_label` beside it gives them by the names of files, and without it nothing can be scored by a
    mask. Of each class 70 % of the images are for training, 15 % for validation and 15 % for test. Images are resized
    as a whole, bilinearly, and masks to the nearest pixel. Broken files are skipped, and the card counts them.

    References
    ----------
    Zhou et al. 2018, *Places: a 10 million image database for scene recognition* (IEEE TPAMI 40). Zhang et al. 2025,
    *Saliency-Bench: a comprehensive benchmark for evaluating visual explanations* (KDD).
    """

    name: ClassVar[str] = "environment-xai"
    version: ClassVar[str] = "1"
    family: ClassVar[str] = "environment-xai"
    stand_in: ClassVar[str] = "drawn-places"
    task: ClassVar[str] = "environment"
    region: ClassVar[str] = "evidence"

    images: int = param(2500, "the most of each class that are taken from Places365; those with a mask first", low=1)

    def read_layout(self, path: Path) -> Found:
        """The images of nature and of cities of a copy."""
        return read_places(path, self.images, self.split_seed)
