"""The published layout of ImageNet-S50: its folders, and mask pictures with a class id in each pixel's colour."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
import numpy as np
from numpy.typing import NDArray
from salgen.datasets.layouts.broken import sound_items
from salgen.datasets.picture_libraries.picture_sampling import listed
from salgen.errors import SalgenError

FOLDER = "ImageNetS50"
CATEGORIES = "ImageNetS_categories_im50.txt"
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
    _check_categories(root, classes)
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
    for root in (path, path / FOLDER, path / FOLDER / FOLDER):
        if (root / f"{TESTED}{MASKS}").is_dir():
            return root
    place = path if path.name == FOLDER else path / FOLDER
    raise SalgenError(
        f"{path} is not a copy of ImageNet-S50: {place / f'{TESTED}{MASKS}'} is expected, with a folder of masks for "
        f"each class; give the path of {FOLDER}, as ImageNet-S's data_preparation.sh makes it"
    )


def _check_categories(root: Path, classes: Sequence[str]) -> None:
    """Raise a SalgenError if a list of categories beside the data names others."""
    for file in (root / CATEGORIES, root.parent / CATEGORIES):
        if file.is_file():
            listed = file.read_text(encoding="utf-8-sig", errors="replace").split()
            if sorted(listed) != list(classes):
                raise SalgenError(f"{file} lists {len(listed)} classes that are not the {len(classes)} expected here")


def _check_classes(root: Path, part: str, classes: Sequence[str]) -> None:
    """Raise a SalgenError unless a part and its masks have a folder for each class and no other."""
    for folder in (root / part, root / f"{part}{MASKS}"):
        if not folder.is_dir():
            raise SalgenError(f"{folder} is missing: it has a folder of each class's files in ImageNet-S50")
        present = {entry.name for entry in folder.iterdir() if entry.is_dir()}
        missing, unexpected = sorted(set(classes) - present), sorted(present - set(classes))
        if missing:
            raise SalgenError(
                f"{folder / missing[0]} is missing: {len(set(classes) & present)} of {len(classes)} classes are there"
            )
        if unexpected:
            raise SalgenError(
                f"{folder / unexpected[0]} is not one of the {len(classes)} classes: is this another set?"
            )


def _pairs(root: Path, part: str, name: str) -> Iterator[tuple[Path, Path]]:
    """Each image of a class with its mask picture, sorted by name."""
    folder = root / part / name
    pictures = _by_stem(_visible_files(folder, PICTURES))
    masks = _by_stem(_visible_files(root / f"{part}{MASKS}" / name, (".png",)))
    if not pictures:
        raise SalgenError(f"{folder} has no images: files such as {folder / 'NAME.JPEG'} are expected")
    for stem in sorted(pictures.keys() | masks.keys()):
        if stem not in masks:
            raise SalgenError(f"{pictures[stem]} has no mask: {root / mask_of(f'{part}/{name}/{stem}')} is expected")
        if stem not in pictures:
            raise SalgenError(f"{masks[stem]} has no image: {folder / f'{stem}.JPEG'} is expected")
        yield pictures[stem], masks[stem]


def _by_stem(files: Iterable[Path]) -> dict[str, Path]:
    """Files by their names without the ending, in their order."""
    stems: dict[str, Path] = {}
    for file in files:
        if stems.setdefault(file.stem, file) is not file:
            raise SalgenError(f"{file}: {stems[file.stem].name} has the same name, so one mask would be for both")
    return stems


def _visible_files(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    files = sorted(folder.iterdir())
    return [file for file in files if file.suffix.lower() in endings and not file.name.startswith(".")]


def decode(levels: NDArray[Any]) -> NDArray[np.int64]:
    """The ids int64 (H, W) of a mask picture's colours, uint8 (H, W, 3) or more channels."""
    if levels.ndim != 3 or levels.shape[2] < 3 or levels.dtype != np.uint8:
        raise ValueError(f"{levels.dtype} of shape {levels.shape}, not 8-bit colours")
    return np.asarray(levels[..., 0].astype(np.int64) + 256 * levels[..., 1].astype(np.int64))
