"""The layout of a user's own hero and villain pictures: a folder for each class, and the same under `masks`."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from salgen.datasets.importers.layouts.imported import by_stem
from salgen.errors import SalgenError

FOLDERS = ("heroes", "villains")  # by class
MASKS = "masks"
ROOT = "zings"
PICTURES = (".png", ".jpg", ".jpeg")
OTHER_PICTURES = frozenset(
    (
        *(".avif", ".bmp", ".dng", ".gif", ".heic", ".heif", ".jfif", ".jp2", ".jpe", ".jxl", ".pbm", ".pcx", ".pgm"),
        *(".ppm", ".psd", ".svg", ".tga", ".tif", ".tiff", ".webp", ".xcf"),
    )
)
FEWEST = 3  # of a class: one for each split


@dataclass(frozen=True)
class Pair:
    """A picture and the mask of its eyes."""

    picture: Path
    mask: Path


def read_layout(path: Path) -> dict[str, Pair]:
    """The pictures of a copy, with their masks.

    Parameters
    ----------
    path
        The folder that holds `heroes`, `villains` and `masks`, or one that holds such a folder as `zings`.

    Returns
    -------
    Item name, such as ``"heroes/anna"``, to its files; sorted.

    Raises
    ------
    SalgenError
        If a folder, a picture or a mask is not where it should be, which the message names; or a class has pictures
        of other kinds, or in folders of their own.
    """
    root = _root_of(path)
    for folder in (*(root / name for name in FOLDERS), *(root / MASKS / name for name in FOLDERS)):
        if not folder.is_dir():
            raise SalgenError(f"{folder}: expected a folder here: {_layout(root)}")
    return {name: pair for folder in FOLDERS for name, pair in _pairs(root, folder).items()}


def check_counts(names: Iterable[str]) -> None:
    """Raise a SalgenError if a class has too few pictures that can be read to give each split one."""
    counts = Counter(name.partition("/")[0] for name in names)
    for folder in FOLDERS:
        if counts[folder] < FEWEST:
            raise SalgenError(f"{folder}: {counts[folder]} pictures can be read, expected {FEWEST} or more")


def assign_splits(names: Iterable[str]) -> dict[str, str]:
    """Item name to split: 20 % of each class for test and 20 % of the rest for val, in an order fixed by the names."""
    splits = {}
    by_digest = sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())
    for folder in FOLDERS:
        ordered = [name for name in by_digest if name.startswith(f"{folder}/")]
        test = _fifth(len(ordered))
        val = _fifth(len(ordered) - test)
        for place, name in enumerate(ordered):
            splits[name] = "test" if place < test else "val" if place < test + val else "train"
    return splits


def _root_of(path: Path) -> Path:
    """The folder itself, or the one of salgen's name in it, as an archive unpacked into its own folder leaves it."""
    if not path.is_dir():
        raise SalgenError(f"{path}: expected a folder here: {_layout(path)}")
    candidates = [path, path / ROOT, path / ROOT / ROOT]
    for root in candidates:
        if any((root / name).is_dir() for name in (*FOLDERS, MASKS)):
            return root
    raise SalgenError(f"{path / FOLDERS[0]}: expected a folder here, or {path / ROOT / FOLDERS[0]}: {_layout(path)}")


def _layout(root: Path) -> str:
    return (
        f"give a folder with {FOLDERS[0]}, {FOLDERS[1]}, {MASKS}/{FOLDERS[0]} and {MASKS}/{FOLDERS[1]} (given: {root})"
    )


def _pairs(root: Path, folder: str) -> dict[str, Pair]:
    """The pictures of one class with their masks, which must be as many."""
    pictures = _by_stem(root / folder, PICTURES)
    if len(pictures) < FEWEST:
        count = f"{len(pictures)} pictures" if pictures else "no picture"
        expected = f"expected {FEWEST} or more, one for each split, as {root / folder / 'NAME.png'} (or .jpg, .jpeg)"
        raise SalgenError(f"{root / folder}: holds {count}; {expected}")
    masks = _by_stem(root / MASKS / folder, PICTURES[:1])
    for stem, picture in pictures.items():
        if stem not in masks:
            raise SalgenError(f"{root / MASKS / folder / stem}.png: expected the mask of {picture} here")
    for stem, mask in masks.items():
        if stem not in pictures:
            raise SalgenError(f"{mask}: a mask without its picture, expected as {root / folder / stem}.png")
    return {f"{folder}/{stem}": Pair(picture, masks[stem]) for stem, picture in pictures.items()}


def _by_stem(folder: Path, endings: tuple[str, ...]) -> dict[str, Path]:
    """The pictures of a folder by their names without the ending; hidden files and other kinds of files are skipped.

    No picture is skipped silently: one of another format, or in a folder of its own, is refused.
    """
    pictures = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            _refuse_pictures_in(path)
        elif path.suffix.lower() in endings:
            pictures.append(path)
        elif _is_picture(path):
            formats = "PNG or JPEG" if ".jpg" in endings else "PNG"
            raise SalgenError(
                f"{path}: a picture in a format that is not read here; save it as {formats}, or move it elsewhere"
            )
    return by_stem(pictures)


def _refuse_pictures_in(folder: Path) -> None:
    """Raise a SalgenError if a folder within that of a class holds pictures that are not hidden."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and path.is_file() and _is_picture(path):
            raise SalgenError(
                f"{path}: a picture in a folder of its own; expected it in {folder.parent}: move it there, or elsewhere"
            )


def _is_picture(path: Path) -> bool:
    return path.suffix.lower() in OTHER_PICTURES.union(PICTURES)


def _fifth(count: int) -> int:
    """A fifth, to the nearest whole number, but at least 1."""
    return max(1, (2 * count + 5) // 10)
