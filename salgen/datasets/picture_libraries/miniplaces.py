"""Scenes from the photographs of MiniPlaces.

References
----------
Zhou et al. 2018, *Places: a 10 million image database for scene recognition*.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from salgen.datasets.picture_libraries import picture_sampling as sampling
from salgen.datasets.picture_libraries.picture_file import PictureFile, Pixels
from salgen.errors import SalgenError, readable, unknown_name
from salgen.generators.drawing.pictures import resize_rgb
from salgen.seeding import Stream

FOLDER = "miniplaces"
PICTURES = (".jpg", ".jpeg", ".png")
LICENSE = "The scenes are photographs of Places, for research and education only; they may not be passed on."
NOTES = "Scenes are photographs of MiniPlaces, cropped centrally to the image's proportions. "
SPLIT = {
    True: "Its training photographs are for training and, one of a class in ten, for validation; its validation "
    "photographs are for test.",
    False: "One photograph of a class in ten is for validation and one for test; all others are for training.",
}


@dataclass(frozen=True)
class ScenePhotographs:
    """The photographs of a class, sorted by name: those to train on, and those to test on, if the copy has them."""

    name: str
    trained: tuple[Path, ...]
    tested: tuple[Path, ...] | None


def scenes(root: Path, classes: Sequence[str], pictures: int, image_size: tuple[int, int]) -> tuple[PictureFile, str]:
    """The library of scenes, uint8 (H, W, 3), and notes on it; classes are folders such as ``track/outdoor``."""
    photographs = _photographs(root, classes)
    origin, select = _origin(photographs), partial(_select, photographs, image_size)
    library, counts = sampling.gather("scenes", origin, classes, pictures, [*image_size], select)
    return library, f"{NOTES}{SPLIT[photographs[0].tested is not None]} {counts}"


def fitted(file: Path, image_size: tuple[int, int]) -> Pixels:
    """A photograph cropped centrally to the proportions of the image, and resized to it."""
    pixels = sampling.read_picture(file)
    (height, width), (tall, wide) = pixels.shape[:2], image_size
    rows, columns = min(height, max(width * tall // wide, 1)), min(width, max(height * wide // tall, 1))
    top, left = (height - rows) // 2, (width - columns) // 2
    return resize_rgb(pixels[top : top + rows, left : left + columns], image_size)


def _photographs(root: Path, classes: Sequence[str]) -> list[ScenePhotographs]:
    what = "MiniPlaces has its photographs there, LETTER/SCENE/*.jpg, or in train without a folder around it"
    train = sampling.found_at(what, root / "images/train", root / "train")
    trained = _pictures(train)
    for name in classes:
        if name not in trained:
            raise unknown_name("scene", name, trained)
    tested = _tested(root, train.with_name("val"))
    if tested is None:
        return [ScenePhotographs(name, trained[name], None) for name in classes]
    return [ScenePhotographs(name, trained[name], tuple(sorted(set(tested.get(name, ()))))) for name in classes]


def _pictures(root: Path) -> dict[str, tuple[Path, ...]]:
    """The photographs of each class, sorted by name: those in a folder, which is called after its path below LETTER."""
    found = {}
    for folder, _, names in os.walk(root, followlinks=True):
        pictures = sorted(n for n in names if n.lower().endswith(PICTURES) and not n.startswith("."))
        scene = "/".join(Path(folder).relative_to(root).parts[1:])
        if pictures and scene:
            found[scene] = tuple(Path(folder, name) for name in pictures)
    return found


def _tested(root: Path, folder: Path) -> dict[str, list[Path]] | None:
    """The photographs to test on by class, or None where their folder or their list is missing."""
    labels = _list(root, "val.txt")
    if labels is None or not folder.is_dir():
        return None
    numbered = _list(root, "train.txt")
    if numbered is None:
        raise SalgenError(f"{root / 'train.txt'} is missing: it says which scenes the numbers in val.txt stand for")
    names = {}
    for file, number in _lines(numbered):  # train/t/track/outdoor/00000001.jpg, with anything before train
        parts = file.split("/")
        names[number] = "/".join(parts[parts.index("train") + 2 if "train" in parts else 1 : -1])
    tested: dict[str, list[Path]] = {}
    for file, number in _lines(labels):
        tested.setdefault(names[number], []).append(folder / Path(file).name)
    return tested


def _list(root: Path, name: str) -> Path | None:
    return next((file for file in (root / name, root / "images" / name, root / "data" / name) if file.is_file()), None)


def _lines(file: Path) -> Iterator[tuple[str, int]]:
    """Each line's path and number: ``train/a/abbey/00000001.jpg 0``."""
    with readable(f"{file}: expected a path and a number in each line"):
        for line in filter(str.strip, file.read_text(encoding="utf-8", errors="replace").splitlines()):
            path, _, number = line.strip().rpartition(" ")
            yield path.strip(), int(number)


def _origin(classes: Sequence[ScenePhotographs]) -> str:
    """SHA-256 over the names and sizes of all photographs."""
    total = hashlib.sha256()
    for cls in classes:
        existing = [file for file in cls.tested or () if file.is_file()]
        parts = [sampling.names_and_sizes(cls.trained), sampling.names_and_sizes(existing), str(cls.tested is None)]
        listed = [file.name for file in cls.tested or ()]
        total.update(repr((cls.name, parts, listed)).encode(errors="surrogateescape"))
    return total.hexdigest()


def _select(classes: Sequence[ScenePhotographs], image_size: tuple[int, int]) -> sampling.Selection:
    """The photographs of each split and class, in a random order."""
    candidates: dict[tuple[str, str], list[sampling.Make]] = {}
    for cls in classes:
        count, alone = len(cls.trained), cls.tested is None
        order = Stream("miniplaces", cls.name).permutation(count).tolist()
        ranked = enumerate(cls.trained[place] for place in order)
        splits = [(file, sampling.split_of(rank, count, tested=not alone)) for rank, file in ranked]
        for file, split in [*splits, *((file, "test") for file in cls.tested or ())]:
            candidates.setdefault((split, cls.name), []).append(partial(fitted, file, image_size))
    return candidates, {}
