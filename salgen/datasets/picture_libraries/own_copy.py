"""Objects of COCO and scenes of MiniPlaces, from the user's own copies."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from salgen.datasets.picture_libraries import coco, miniplaces
from salgen.datasets.picture_libraries.stand_ins import StandIns, about_crops
from salgen.errors import SalgenError
from salgen.generators.composites.libraries import Composite, Library


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
