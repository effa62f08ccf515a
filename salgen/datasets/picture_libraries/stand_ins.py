"""Drawn objects and drawn scenes, which need no download."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from salgen.cache import cache_errors
from salgen.datasets.picture_libraries.photograph_crops import NAMES_OF_CROPS, about_crops, crop, digest_of_crops
from salgen.datasets.picture_libraries.picture_file import PictureFile, Pixels, Place, library_path, write_library
from salgen.errors import unknown_name
from salgen.generators.composites.libraries import Composite
from salgen.generators.stand_ins import cutouts, sceneries
from salgen.progress import progress
from salgen.seeding import Stream

NAMES = ("stand-ins",)

VERSION = "2"  # changes whenever a drawn picture does, or the form of the file
FEWEST = 10  # pictures of a class in a split
NOTES = (
    "Objects and scenes are drawn: {objects} kinds of objects and {scenes} kinds of scenes, with {pictures} pictures "
    "of each for training and {others} each for validation and test. No picture is in two splits."
)

Draw = Callable[[str, str, Stream], Pixels]  # from a class, a split and random numbers


@dataclass(frozen=True)
class StandIns:
    """Drawn stand-ins for objects of COCO and scenes of MiniPlaces."""

    name: ClassVar[str] = "stand-ins"

    image_size: tuple[int, int]  # (H, W) of the scenes
    longest: int  # pixels of the objects' longer side
    # objects, scenes: the classes; a scene may also be one of the photographs that `photograph_crops` cuts from
    objects: tuple[str, ...]
    scenes: tuple[str, ...]
    # of each class for training; a tenth of that, ten at least, for validation and for test
    pictures: int

    def open(self) -> Composite:
        """Both libraries; drawn the first time, and then kept in the user's cache."""
        objects, scenes = self.drawn_objects(), self.drawn_scenes()
        counts = {"objects": len(self.objects), "scenes": len(self.scenes), "pictures": self.pictures}
        notes = NOTES.format(**counts, others=self._of_split("test"))
        more, licence = about_crops(self.scenes)
        stated = "All else is drawn by salgen." if more else "Drawn by salgen; no outside material."
        return Composite(self.name, f"{licence} {stated}".strip(), f"{notes}{more}", True, objects, scenes)

    def drawn_objects(self) -> PictureFile:
        """The objects alone, with the same errors."""
        return self._library(
            "object",
            self.objects,
            cutouts.KINDS,
            lambda name, _, s: cutouts.cutout(name, s, self.longest),
            [self.longest],
        )

    def drawn_scenes(self) -> PictureFile:
        """The scenes alone, with the same errors."""
        kinds = (*sceneries.KINDS, *NAMES_OF_CROPS)
        depends_on = [*self.image_size, digest_of_crops(self.scenes)]
        return self._library("scene", self.scenes, kinds, self._scene, depends_on)

    def _scene(self, name: str, split: str, stream: Stream) -> Pixels:
        if name in NAMES_OF_CROPS:
            return crop(name, split, stream, self.image_size)
        return sceneries.scenery(name, stream, self.image_size)

    def _of_split(self, split: str) -> int:
        return self.pictures if split == "train" else max(self.pictures // 10, FEWEST)

    def _library(
        self, kind: str, classes: Sequence[str], available: Sequence[str], draw: Draw, size: Sequence[object]
    ) -> PictureFile:
        for name in classes:
            if name not in available:
                raise unknown_name(kind, name, available)
        kinds = f"{kind}s"
        with cache_errors(kinds):
            path = library_path(kinds, [VERSION, kind, list(classes), self.pictures, size])
            if not path.exists():
                write_library(path, self._drawn(kinds, classes, draw))
        return PictureFile(path, classes)

    def _drawn(self, kind: str, classes: Sequence[str], draw: Draw) -> Iterator[tuple[Place, Pixels]]:
        splits = ("test", "train", "val")
        total = len(classes) * sum(map(self._of_split, splits))
        with progress(f"drawing {kind}", total, "pictures") as advance:
            for split in splits:
                for name in sorted(classes):
                    for number in range(self._of_split(split)):
                        yield (split, name, number), draw(name, split, Stream(kind, split, name, index=number))
                        advance()
