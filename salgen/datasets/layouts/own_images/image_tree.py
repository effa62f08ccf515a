"""The images of a folder, found by the names that tables and annotations give them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from salgen.datasets.layouts.broken import broken_items
from salgen.datasets.layouts.own_images.upright_pictures import Header, header_of
from salgen.errors import SalgenError

PICTURES = frozenset((*(".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".bmp", ".tif", ".tiff", ".webp", ".gif", ".ppm"),
                      *(".pgm", ".heic", ".heif", ".avif", ".jp2")))  # fmt: skip
SPLIT_NAMES = {"train": ("train", "training"), "val": ("val", "valid", "validation"), "test": ("test", "testing")}
SPLIT_FOLDERS = {name: split for split, names in SPLIT_NAMES.items() for name in names}


class Skipped:
    """What is passed over, or of another `title`, by reason; the notes give the number and the first place of each."""

    def __init__(self, title: str = "Skipped") -> None:
        self.title = title
        self.places: dict[str, list[str]] = {}

    def add(self, why: str, place: str) -> None:
        """Count what is at a place."""
        self.places.setdefault(why, []).append(place)

    @property
    def sentence(self) -> str:
        """A sentence for the card, or "" if nothing was counted."""
        counts = (f"{why} ({len(places):,}; the first: {places[0]})" for why, places in sorted(self.places.items()))
        return f"{self.title}: {', '.join(counts)}." if self.places else ""


@dataclass(frozen=True, eq=False)
class ImageTree:
    """The images below a folder."""

    root: Path
    files: Mapping[str, Path]  # by item, which is the path below the folder such as "train/cat/a.png"; sorted
    broken: Mapping[str, str] = field(default_factory=dict)  # those that cannot be decoded, with the reason
    stored: bool = False  # whether annotations without a size are of stored pixels, not as EXIF turns them

    @classmethod
    def at(cls, root: Path, but: Iterable[Path], skipped: Skipped, stored: bool = False) -> ImageTree:
        """The images of a folder, without files and those in folders `but` within it; broken ones are counted."""
        if not root.is_dir():
            raise SalgenError(f"{root}: expected a folder of images here")
        top = root.resolve()
        hidden = {path for path in (each.resolve() for each in but) if path.is_relative_to(top) and path != top}
        found = [path for path in pictures_below(root) if hidden.isdisjoint((path.resolve(), *path.resolve().parents))]
        files = {path.relative_to(root).as_posix(): path for path in found}
        broken = broken_items({item: [path] for item, path in files.items()})
        for item, why in broken.items():
            skipped.add(why, item)
        if len(broken) == len(files):
            expected = f"holds no images; expected files such as {root / 'NAME.png'} or .jpg, in folders too"
            state = f"none of its {len(files)} images can be read. {skipped.sentence}" if files else expected
            raise SalgenError(f"{root}: {state}")
        return cls(root, files, broken, stored)

    @cached_property
    def headers(self) -> Mapping[str, Header]:
        """Item to header, of those that can be decoded."""
        return {item: header_of(path) for item, path in self.files.items() if item not in self.broken}

    @cached_property
    def sizes(self) -> Mapping[str, tuple[int, int]]:
        """Item to (H, W) of the pixels that annotations are of, of those that can be decoded."""
        return {item: header.stored if self.stored else header.size for item, header in self.headers.items()}

    @cached_property
    def in_splits(self) -> bool:
        """Whether each image is below a folder that is called after a split."""
        return all(first_folder(item).lower() in SPLIT_FOLDERS for item in self.files)

    def split(self, item: str) -> str | None:
        """The split whose folder an image is in."""
        return SPLIT_FOLDERS[first_folder(item).lower()] if self.in_splits else None

    def folder(self, item: str) -> str:
        """The folder that an image is in, below that of its split; "" if it is in none."""
        return first_folder(item.partition("/")[2] if self.in_splits else item)

    def find(self, name: str, place: str) -> str | None:
        """The image of a name: a path or its end, with or without the suffix; None if there is none.

        Folders that are not those of the images do not count: ``masks/a`` is ``images/a.png``. But ``cat/a`` is not
        ``dog/a.png`` if the images have a folder ``cat`` there.
        """
        parts = PurePosixPath(name.replace("\\", "/")).parts
        for start in range(len(parts)):
            end = "/".join(parts[start:])
            found = [end] if end in self.files else self._by_end.get(end, [])
            if len(found) > 1:
                raise SalgenError(f"{place}: {found[0]} and {found[1]} both have the name {name!r}: give more of it")
            if found:
                return None if start and (len(parts) - start, parts[start - 1]) in self._folders else found[0]
        return None

    @cached_property
    def _folders(self) -> set[tuple[int, str]]:
        """The folders of the images, each with its place before the file's name."""
        paths = (PurePosixPath(item).parts for item in self.files)
        return {(depth, folder) for parts in paths for depth, folder in enumerate(parts[-2::-1], start=1)}

    @cached_property
    def _by_end(self) -> Mapping[str, list[str]]:
        """Items by the ends of their paths, with and without suffix."""
        ends: dict[str, list[str]] = defaultdict(list)
        for item in self.files:
            parts = PurePosixPath(item).parts
            stem = PurePosixPath(item).stem
            for start in range(len(parts)):
                ends["/".join(parts[start:])].append(item)
                ends["/".join([*parts[start:-1], stem])].append(item)
        return ends


def pictures_below(root: Path) -> list[Path]:
    """The pictures in a folder and those in it, sorted; what is hidden is not looked at."""
    return [path for path in visible_files(root) if path.suffix.lower() in PICTURES]


def visible_files(root: Path) -> list[Path]:
    """The files in a folder and those in it, sorted, without hidden ones."""
    paths = sorted(root.rglob("*"))
    return [p for p in paths if not p.is_dir() and not any(part.startswith(".") for part in p.relative_to(root).parts)]


def first_folder(item: str) -> str:
    """The first folder of a path, "" if it is that of a file alone."""
    return item.partition("/")[0] if "/" in item else ""
