"""The published layout of ImageNet-S50: its folders, and mask pictures with a class id in each pixel's colour."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
import numpy as np
from numpy.typing import NDArray
from salgen.datasets.layouts.broken import sound_items
from salgen.datasets.picture_libraries.picture_sampling import found_at, listed
from salgen.errors import SalgenError

FOLDER = "ImageNetS50"
OTHER = 0  # the id of pixels of no class
IGNORE = 1000  # the id of pixels that are not annotated
MASKS = "-segmentation"
TESTED, TRAINED, UNMASKED = "validation", "train-semi", "train"
PICTURES = (".jpeg", ".jpg", ".png")
EVERY = 5  # one of so many annotated training images is for validation
LICENSE = (
    "The images are ImageNet's, for non-commercial research and education under its terms of access, and may not be "
    "passed on; the masks are ImageNet-S's (Gao et al. 2022)."
)


def read_layout(path: Path, classes: Sequence[str]) -> tuple[dict[str, Path], dict[str, str], str]:
    """Files by path within a copy, the split of each image, and notes; `path` may be the folder around it."""
    root = _root(path)
    pictures: dict[str, tuple[Path, ...]] = {}
    splits: dict[str, str] = {}
    parts = [TESTED, *([TRAINED] if (root / TRAINED).is_dir() else [])]
    for part in parts:
        _check_classes(root, part, classes)
        for name in classes:
            for number, (picture, mask) in enumerate(_pairs(root, part, name)):
                item = picture.relative_to(root).as_posix()
                pictures[item] = picture, mask
                splits[item] = "test" if part == TESTED else "val" if number % EVERY == EVERY - 1 else "train"
    annotated = {(Path(item).parent.name, Path(item).stem) for item in pictures}  # some stand in both parts of training
    for name in filter(lambda name: (root / UNMASKED / name).is_dir(), classes):
        for picture in _visible_files(root / UNMASKED / name, PICTURES):
            if (name, picture.stem) not in annotated:
                pictures[picture.relative_to(root).as_posix()] = (picture,)
    sound, skipped = sound_items(pictures, pictures)
    files = {item: given[0] for item, given in sound.items()}
    files |= {mask_of(item): given[1] for item, given in sound.items() if len(given) > 1}
    unmasked = len(sound.keys() - splits.keys())
    texts = ["The test split is ImageNet-S50's annotated validation images."]
    if TRAINED in parts:
        texts.append(f"Of {TRAINED} every fifth image of a class, by name, is for validation, the others for training.")
    if unmasked:
        texts.append(f"{unmasked:,} training images are those of {UNMASKED} and have no mask.")
    if len(parts) == 1 and not unmasked:
        texts.append(f"The copy has no folder {UNMASKED} or {TRAINED}, so there are no images to train on.")
    about = " ".join(filter(None, [*texts, listed(skipped)]))
    return files, {item: splits.get(item, "train") for item in sorted(sound)}, about


def mask_of(item: str) -> str:
    """The name of an image's mask picture: ``validation-segmentation/n0/a.png`` for ``validation/n0/a.JPEG``."""
    part, name, file = item.split("/")
    return f"{part}{MASKS}/{name}/{Path(file).stem}.png"


def _root(path: Path) -> Path:
    """The folder that holds the parts; an archive unpacked into a folder of its own name doubles it."""
    roots = (path if path.name == FOLDER else path / FOLDER, path, path / FOLDER, path / FOLDER / FOLDER)
    what = f"{FOLDER}, as ImageNet-S's data_preparation.sh makes it, has a folder of masks for each class there"
    return found_at(what, *(root / f"{TESTED}{MASKS}" for root in roots)).parent


def _check_classes(root: Path, part: str, classes: Sequence[str]) -> None:
    """Raise a SalgenError unless a part and its masks have a folder for each class and no other."""
    for folder in (root / part, root / f"{part}{MASKS}"):
        present = {entry.name for entry in folder.iterdir() if entry.is_dir()} if folder.is_dir() else set()
        if differing := sorted(present ^ set(classes)):
            raise SalgenError(
                f"{folder} must have a folder for each of the {len(classes)} classes and no other: {differing[0]} is "
                f"{'not one of them' if differing[0] in present else 'missing'}"
            )


def _pairs(root: Path, part: str, name: str) -> Iterator[tuple[Path, Path]]:
    """Each image of a class with its mask picture, sorted by name."""
    folder = root / part / name
    pictures = {file.stem: file for file in _visible_files(folder, PICTURES)}
    masks = {file.stem: file for file in _visible_files(root / f"{part}{MASKS}" / name, (".png",))}
    if not pictures or pictures.keys() != masks.keys():
        lone = min(pictures.keys() ^ masks.keys(), default="NAME")
        raise SalgenError(f"{folder}: each image needs a mask of its name, and each mask an image: {lone} has none")
    return ((pictures[stem], masks[stem]) for stem in sorted(pictures))


def _visible_files(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    files = sorted(folder.iterdir())
    return [file for file in files if file.suffix.lower() in endings and not file.name.startswith(".")]


def decode(levels: NDArray[Any]) -> NDArray[np.int64]:
    """The ids int64 (H, W) of a mask picture's colours, uint8 (H, W, 3) or more channels."""
    return np.asarray(levels[..., 0].astype(np.int64) + 256 * levels[..., 1].astype(np.int64))
