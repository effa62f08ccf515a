"""Importer of Saliency-Bench's Environment-XAI: nature and cities of Places365."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from salgen.datasets.layouts.saliency_bench import marked_images
from salgen.datasets.layouts.saliency_bench.attention_folders import with_attention
from salgen.datasets.layouts.saliency_bench.marked_importer import MarkedImages
from salgen.parameters import param

FOLDER, PARTS = "places365_standard", ("train", "val")
PLACES = {
    "nature": ("mountain", "pond", "waterfall", "field-wild", "forest-broadleaf", "rainforest"),
    "urban": ("house", "bridge", "campus", "tower", "street", "driveway"),
}
LICENSE = "Photographs of Places, for research and education only; they may not be passed on."
ABOUT = "Places365: {count:,} images of {kinds} of 12 kinds of places, nature and urban. {masks}"
MASKS = {
    True: "A mask is where an attention map that people drew is above 0.",
    False: "Places365 has no masks, and no folder attention_label is beside it.",
}


@dataclass(frozen=True)
class EnvironmentXai(MarkedImages):
    """Photographs of nature and of cities, with what people marked in them: Environment-XAI of Saliency-Bench.

    Give a folder of Saliency-Bench with `image` and `attention_label`. Or give your own copy of Places365 with `train`
    and `val`, or a folder that holds it as `places365_standard`. Six of its kinds of places are nature: mountain, pond,
    waterfall, wild field, broadleaf forest, rainforest. Six are urban: house, bridge, campus, tower, street, driveway.
    All of Places365's spellings are read (`field-wild`, `field/wild`). Places365 has no masks: a folder
    `attention_label` beside it gives them by the names of files. Without it nothing can be scored by a mask.

    References
    ----------
    Zhou et al. 2018, *Places: a 10 million image database for scene recognition*, doi:10.1109/TPAMI.2017.2723009. Zhang
    et al. 2025, *Saliency-Bench: a comprehensive benchmark for evaluating visual explanations*,
    doi:10.1145/3711896.3737414.
    """

    name: ClassVar[str] = "environment-xai"
    stand_in: ClassVar[str] = "drawn-places"
    task: ClassVar[str] = "environment"
    region: ClassVar[str] = "evidence"

    images: int = param(2500, "the most of each class that are taken from Places365; those with a mask first", low=1)

    def read_layout(self, path: Path) -> marked_images.Found:
        """The images of twelve kinds of places, with the maps of `attention_label` where that is beside them.

        Of each class as many as wanted: those with a map come first, and a seed chooses the others.
        """
        root = path / FOLDER if (path / FOLDER).is_dir() else path
        images: dict[str, marked_images.MarkedImage] = {}
        found = 0
        for label, places in PLACES.items():
            folders = [folder for place in places if (folder := _folders(root, place))]
            if not folders:
                expected = f"the images of {label} of Places365 are expected in {places}"
                raise marked_images.missing(root / PARTS[0] / places[0], expected)
            found += len(folders)
            files = [file for of_place in folders for folder in of_place for file in marked_images.pictures_in(folder)]
            images |= {file.relative_to(path).as_posix(): marked_images.MarkedImage(file, label) for file in files}
        skipped: Counter[str] = Counter()
        drawn = (path / marked_images.ATTENTION).is_dir()
        marked, tables = with_attention(path, images, skipped) if drawn else (images, [])
        kept = marked_images.some_of_each(marked, self.images, self.split_seed)
        about = ABOUT.format(count=len(kept), kinds=found, masks=MASKS[drawn])
        return marked_images.Found(path, kept, tuple(PLACES), about, LICENSE, skipped, tables)


def _folders(root: Path, place: str) -> list[Path]:
    """The folders of a kind of place: `train/field-wild`, or `train/f/field/wild` as the larger archives have it."""
    spellings = {place, place.replace("-", "_"), place.replace("-", "/")}
    names = sorted(spellings | {f"{place[0]}/{name}" for name in spellings})
    return [folder for part in PARTS for name in names if (folder := root / part / name).is_dir()]
