"""Objects of COCO and scenes of MiniPlaces, from the user's own copies."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from salgen.datasets.picture_libraries import coco, miniplaces
from salgen.datasets.picture_libraries.photograph_crops import about_crops
from salgen.datasets.picture_libraries.picture_sampling import SPLITS, Gathered, listed
from salgen.datasets.picture_libraries.stand_ins import StandIns
from salgen.errors import SalgenError
from salgen.generators.composites.libraries import Composite, Library

NAMES = ("own-copy",)

DRAWN = {
    "objects": "Objects are drawn by salgen: the copy has no COCO.",
    "scenes": "Scenes are drawn by salgen: the copy has no MiniPlaces.",
}


@dataclass(frozen=True)
class OwnCopy:
    """Objects of COCO on scenes of MiniPlaces, from your own copies; what you have no copy of is drawn."""

    name: ClassVar[str] = "own-copy"

    path: Path  # a folder that holds `coco`, `miniplaces` or both, or links to them
    image_size: tuple[int, int]  # (H, W) of the scenes
    longest: int  # pixels that the objects' longer side has at most
    # objects, scenes: the classes
    objects: tuple[str, ...]
    scenes: tuple[str, ...]
    pictures: int  # the most of each class for training; a tenth of that, ten at least, for validation and for test

    def open(self) -> Composite:
        """Both libraries; gathered the first time, and then kept in the user's cache."""
        copies = [name for name in (coco.FOLDER, miniplaces.FOLDER) if self._has(name)]
        if not copies:
            expected = " or ".join(str(self.path / name) for name in (coco.FOLDER, miniplaces.FOLDER))
            raise SalgenError(f"{expected} is expected, a folder or a link to one, but neither exists")
        faults = []
        try:
            objects, about_objects = self._objects(coco.FOLDER in copies)
        except SalgenError as error:
            faults.append(str(error))
        try:
            scenes, about_scenes = self._scenes(miniplaces.FOLDER in copies)
        except SalgenError as error:
            faults.append(str(error))
        if faults:
            raise SalgenError("; ".join(faults))
        name = "-on-".join(part if part in copies else StandIns.name for part in (coco.FOLDER, miniplaces.FOLDER))
        licences = {coco.FOLDER: coco.LICENCE, miniplaces.FOLDER: miniplaces.LICENCE}
        notes = f"{about_objects} {about_scenes} No picture is in two splits."
        stated = [licences[part] for part in copies]
        crops = "" if miniplaces.FOLDER in copies else about_crops(self.scenes)[1]
        return Composite(name, " ".join([*stated, crops]).strip(), notes, False, objects, scenes)

    def _has(self, name: str) -> bool:
        place = self.path / name
        if place.is_symlink() and not place.exists():
            raise SalgenError(f"{place} is a link to {place.readlink()}, which does not exist")
        return place.is_dir()

    def _objects(self, copied: bool) -> tuple[Library, str]:
        if not copied:
            return self._drawn.drawn_objects(), DRAWN["objects"]
        gathered, notes = coco.objects(self.path / coco.FOLDER, self.objects, self.pictures, self.longest)
        return gathered.library, _with_counts("objects", self.objects, gathered, notes)

    def _scenes(self, copied: bool) -> tuple[Library, str]:
        if not copied:
            return self._drawn.drawn_scenes(), DRAWN["scenes"] + about_crops(self.scenes)[0]
        folder = self.path / miniplaces.FOLDER
        gathered, notes = miniplaces.scenes(folder, self.scenes, self.pictures, self.image_size)
        return gathered.library, _with_counts("scenes", self.scenes, gathered, notes)

    @property
    def _drawn(self) -> StandIns:
        return StandIns(self.image_size, self.longest, self.objects, self.scenes, self.pictures)


def _with_counts(kind: str, classes: Sequence[str], gathered: Gathered, notes: str) -> str:
    """Notes with the numbers of pictures."""
    counts = {split: sum(gathered.library.count(split, name) for name in classes) for split in SPLITS}
    start = f"There are {counts['train']:,} {kind} for training, {counts['val']:,} for validation, "
    return f"{notes} {start}{counts['test']:,} for test. {listed(gathered.skipped)}".strip()
