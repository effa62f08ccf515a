"""The published folders of Places365, of which some kinds of places are nature and some urban.

References
----------
Zhou et al. 2018, *Places: a 10 million image database for scene recognition* (IEEE TPAMI).
"""

from collections import Counter
from pathlib import Path

from salgen.datasets.layouts.saliency_bench.attention_folders import with_attention
from salgen.datasets.layouts.saliency_bench.marked_images import (
    ATTENTION,
    Found,
    MarkedImage,
    missing,
    pictures_in,
    some_of,
)

FOLDER, PARTS = "places365_standard", ("train", "val")
PLACES = {
    "nature": ("mountain", "pond", "waterfall", "field-wild", "forest-broadleaf", "rainforest"),
    "urban": ("house", "bridge", "campus", "tower", "street", "driveway"),
}
LICENCE = "Photographs of Places, for research and education only; they may not be passed on."
ABOUT = "Places365: {count:,} images of {kinds} of 12 kinds of places, nature and urban. {masks}"
MASKS = {
    True: "A mask is where an attention map that people drew is above 0.",
    False: "Places365 has no masks, and no folder attention_label is beside it.",
}


def read_places(path: Path, most: int, seed: int) -> Found:
    """The images of twelve kinds of places, with the maps of `attention_label` where that is beside them.

    Parameters
    ----------
    path
        The folder that holds ``train`` and ``val``, or one that holds it as ``places365_standard``.
    most
        Images of each class; those with a map come first.
    seed
        Chooses the others.
    """
    root = path / FOLDER if (path / FOLDER).is_dir() else path
    images: dict[str, MarkedImage] = {}
    found = 0
    for label, places in PLACES.items():
        folders = [folder for place in places if (folder := _folders(root, place))]
        if not folders:
            raise missing(root / PARTS[0] / places[0], f"the images of {label} of Places365 are expected in {places}")
        found += len(folders)
        files = [file for of_place in folders for folder in of_place for file in pictures_in(folder)]
        images |= {file.relative_to(path).as_posix(): MarkedImage(file, label) for file in files}
    skipped: Counter[str] = Counter()
    marked = images
    tables: list[Path] = []
    if drawn := (path / ATTENTION).is_dir():
        marked, tables = with_attention(path, images, skipped)
    chosen: set[str] = set()
    for label in PLACES:
        first = some_of((item for item, one in marked.items() if one.label == label and one.outlines), most, seed)
        others = (item for item, one in marked.items() if one.label == label and not one.outlines)
        chosen |= first | some_of(others, most - len(first), seed)
    kept = {item: image for item, image in marked.items() if item in chosen}
    about = ABOUT.format(count=len(kept), kinds=found, masks=MASKS[drawn])
    return Found(path, kept, tuple(PLACES), about, LICENCE, skipped, tables)


def _folders(root: Path, place: str) -> list[Path]:
    """The folders of a kind of place: `train/field-wild`, or `train/f/field/wild` as the larger archives have it."""
    spellings = {place, place.replace("-", "_"), place.replace("-", "/")}
    names = sorted(spellings | {f"{place[0]}/{name}" for name in spellings})
    return [folder for part in PARTS for name in names if (folder := root / part / name).is_dir()]
