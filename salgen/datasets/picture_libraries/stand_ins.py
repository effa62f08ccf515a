"""Drawn objects and scenes, which need no download, and those of the user's own copies of COCO and MiniPlaces.

Drawn scenes may also be crops of a shipped photograph. Only photographs that look about the same everywhere are
cropped: in others something stands at one place, and a crop from elsewhere is not of the same class.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from salgen.cache import cache_errors
from salgen.datasets.picture_libraries import coco, miniplaces
from salgen.datasets.picture_libraries.picture_file import PictureFile, Pixels, Place, library_path, write_library
from salgen.datasets.picture_libraries.picture_sampling import SPLITS, most_of
from salgen.errors import SalgenError, unknown_name
from salgen.generators.composites.libraries import Composite, Library
from salgen.generators.drawing.photographs import photographs
from salgen.generators.drawing.pictures import resize_rgb
from salgen.generators.stand_ins import cutouts, sceneries
from salgen.progress import tracked
from salgen.seeding import Stream

VERSION = "2"  # changes whenever a drawn picture does, or the form of the file
NOTES = (
    "Objects and scenes are drawn: {objects} kinds of objects and {scenes} kinds of scenes, with {pictures} pictures "
    "of each for training and {others} each for validation and test. No picture is in two splits."
)
FILES = ("brick.png", "grass.png", "gravel.png", "hubble_deep_field.jpg")
NAMES_OF_CROPS = tuple(f"photograph/{name.partition('.')[0]}" for name in FILES)
PARTS = {"train": (0.0, 0.5), "val": (0.5, 0.75), "test": (0.75, 1.0)}  # each split's part of the height
LEAST = 0.6  # least side of a crop, as a share of the longest one in any part
CROP_NOTES = " {} of the kinds of scenes are crops of a photograph each, and each split has a part of it of its own."
CROP_LICENSE = (
    "Photographs: brick, grass and gravel (CC0 Textures) are CC0, hubble_deep_field (NASA) is in the public domain."
)

Draw = Callable[[str, str, Stream], Pixels]  # from a class, a split and random numbers


@dataclass(frozen=True)
class StandIns:
    """Drawn stand-ins for objects of COCO and scenes of MiniPlaces."""

    name: ClassVar[str] = "stand-ins"

    image_size: tuple[int, int]  # (H, W) of the scenes
    longest: int  # pixels of the objects' longer side
    objects: tuple[str, ...]  # classes
    scenes: tuple[str, ...]  # classes; one of `NAMES_OF_CROPS` is cut from a photograph
    pictures: int  # for training, in each class; for validation and test see `most_of`

    def open(self) -> Composite:
        """Both libraries; drawn the first time, and then kept in the user's cache."""
        objects, scenes = self.drawn_objects(), self.drawn_scenes()
        counts = {"objects": len(self.objects), "scenes": len(self.scenes), "pictures": self.pictures}
        notes = NOTES.format(**counts, others=most_of("test", self.pictures))
        more, license = about_crops(self.scenes)
        stated = "All else is drawn by salgen." if more else "Drawn by salgen; no outside material."
        return Composite(self.name, f"{license} {stated}".strip(), f"{notes}{more}", True, objects, scenes)

    def drawn_objects(self) -> PictureFile:
        """The objects alone, with the same errors."""

        def draw(name: str, split: str, stream: Stream) -> Pixels:
            return cutouts.cutout(name, stream, self.longest)

        return self._library("object", self.objects, cutouts.KINDS, draw, [self.longest])

    def drawn_scenes(self) -> PictureFile:
        """The scenes alone, with the same errors."""

        def draw(name: str, split: str, stream: Stream) -> Pixels:
            if name in NAMES_OF_CROPS:
                return crop(name, split, stream, self.image_size)
            return sceneries.scenery(name, stream, self.image_size)

        cropped = photographs().digest if set(self.scenes) & set(NAMES_OF_CROPS) else ""
        kinds = (*sceneries.KINDS, *NAMES_OF_CROPS)
        return self._library("scene", self.scenes, kinds, draw, [*self.image_size, cropped])

    def _library(
        self, kind: str, classes: Sequence[str], available: Sequence[str], draw: Draw, size: Sequence[object]
    ) -> PictureFile:
        for name in classes:
            if name not in available:
                raise unknown_name(kind, name, available)
        kinds = f"{kind}s"

        def drawn() -> Iterator[tuple[Place, Pixels]]:
            places = [(split, name, number) for split in SPLITS for name in sorted(classes)
                      for number in range(most_of(split, self.pictures))]  # fmt: skip
            for split, name, number in tracked(f"drawing {kinds}", places, "pictures"):
                yield (split, name, number), draw(name, split, Stream(kinds, split, name, index=number))

        with cache_errors(kinds):
            path = library_path(kinds, [VERSION, kind, list(classes), self.pictures, size])
            if not path.exists():
                write_library(path, drawn())
        return PictureFile(path, classes)


def crop(name: str, split: str, stream: Stream, size: tuple[int, int]) -> Pixels:
    """A random crop of a photograph's part for a split, uint8 (H, W, 3); parts do not overlap.

    Crops have the proportions of `size`, and in all splits the same range of lengths.
    """
    whole = photographs().load(FILES[NAMES_OF_CROPS.index(name)])
    (height, width), (tall, wide) = whole.shape[:2], size
    first, end = (int(height * share) for share in PARTS[split])
    longest = min(height / 4 / tall, width / wide)  # in sides of the image: the smallest part is a quarter
    scale = float(stream.uniform(1, LEAST * longest, longest)[0])
    sides = max(int(tall * scale), 1), max(int(wide * scale), 1)
    row = first + int(stream.integers(max(end - first - sides[0], 0) + 1, 1)[0])
    column = int(stream.integers(max(width - sides[1], 0) + 1, 1)[0])
    return resize_rgb(whole[row : row + sides[0], column : column + sides[1]], size)


def about_crops(scenes: Sequence[str]) -> tuple[str, str]:
    """Additions to notes and license, empty if no scene is a crop."""
    count = sum(name in NAMES_OF_CROPS for name in scenes)
    return (CROP_NOTES.format(count), CROP_LICENSE) if count else ("", "")


@dataclass(frozen=True)
class OwnCopy(StandIns):
    """Objects of COCO on scenes of MiniPlaces, from your own copies; what you have no copy of is drawn."""

    name: ClassVar[str] = "own-copy"

    path: Path  # a folder that holds `coco`, `miniplaces` or both, or links to them

    def open(self) -> Composite:
        """Both libraries; gathered the first time, and then kept in the user's cache."""
        copies = [name for name in (coco.FOLDER, miniplaces.FOLDER) if self._has(name)]
        if not copies:
            expected = " or ".join(str(self.path / name) for name in (coco.FOLDER, miniplaces.FOLDER))
            raise SalgenError(f"{expected} is expected, a folder or a link to one, but neither exists")
        objects, about_objects = self._objects(copies)
        scenes, about_scenes = self._scenes(copies)
        name = "-on-".join(part if part in copies else StandIns.name for part in (coco.FOLDER, miniplaces.FOLDER))
        licenses = {coco.FOLDER: coco.LICENSE, miniplaces.FOLDER: miniplaces.LICENSE}
        notes = f"{about_objects} {about_scenes} No picture is in two splits."
        stated = [licenses[part] for part in copies]
        crops = "" if miniplaces.FOLDER in copies else about_crops(self.scenes)[1]
        return Composite(name, " ".join([*stated, crops]).strip(), notes, False, objects, scenes)

    def _has(self, name: str) -> bool:
        place = self.path / name
        if place.is_symlink() and not place.exists():
            raise SalgenError(f"{place} is a link to {place.readlink()}, which does not exist")
        return place.is_dir()

    def _objects(self, copies: Sequence[str]) -> tuple[Library, str]:
        if coco.FOLDER not in copies:
            return self.drawn_objects(), "Objects are drawn by salgen: the copy has no COCO."
        return coco.objects(self.path / coco.FOLDER, self.objects, self.pictures, self.longest)

    def _scenes(self, copies: Sequence[str]) -> tuple[Library, str]:
        if miniplaces.FOLDER not in copies:
            notes = f"Scenes are drawn by salgen: the copy has no MiniPlaces.{about_crops(self.scenes)[0]}"
            return self.drawn_scenes(), notes
        return miniplaces.scenes(self.path / miniplaces.FOLDER, self.scenes, self.pictures, self.image_size)
