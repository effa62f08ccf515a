"""Libraries from which a detector has removed what it disagrees with: the material of eBAM."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar
from salgen.datasets.picture_libraries import coco, filtering, miniplaces
from salgen.datasets.picture_libraries.filtering import Filtered, filtered
from salgen.datasets.picture_libraries.stand_ins import OwnCopy, StandIns
from salgen.errors import SalgenError
from salgen.files import sha256_of
from salgen.generators.composites.libraries import Composite, Library
from salgen.generators.stand_ins import cutouts, sceneries

OF_PAPER = 53  # classes of objects that the paper's filter left


@dataclass(frozen=True)
class FilteredLibraries:
    """Objects that a detector finds on black by their own names, on scenes in which it finds nothing."""

    name: ClassVar[str] = "filtered"

    path: Path | None  # holds `detector`, and `coco`, `miniplaces` or both; None for drawn pictures as they are
    image_size: tuple[int, int]  # (H, W) of the scenes
    longest: int  # pixels that the objects' longer side has at most
    candidate_objects: tuple[str, ...]  # the classes to choose from; all that there are if none are named
    candidate_scenes: tuple[str, ...]
    objects: tuple[str, ...]  # the classes wanted; all that are left if none are named
    scenes: tuple[str, ...]
    pictures: int  # the most of each class for training before the filter; for validation and test see `most_of`
    fewest: int  # pictures for training that must be left of a class of objects

    def open(self) -> Composite:
        """Both libraries; filtered the first time, and then kept in the user's cache."""
        if self.path is None:
            drawn = StandIns(*self._wanted).open()
            return self._chosen(replace(drawn, notes=f"{drawn.notes} They are not filtered by a detector."), {}, {})
        if not (self._copies or (self.path / filtering.DETECTOR).is_dir()):
            expected = f"{coco.FOLDER}, {miniplaces.FOLDER} or both, and {filtering.DETECTOR}"
            raise SalgenError(f"{self.path} lacks the folders that are expected in it: {expected}")
        weights = filtering.weights_in(self.path)
        unfiltered = OwnCopy(*self._wanted, self.path).open() if self._copies else StandIns(*self._wanted).open()
        objects = filtered("objects", unfiltered.objects, weights, self.image_size, self.longest, self.fewest)
        scenes = filtered("scenes", unfiltered.scenes, weights)
        notes = f"{unfiltered.notes} {_filter_note(weights, objects, scenes, self.fewest)}"
        name = f"{unfiltered.name}-filtered"
        kept = replace(unfiltered, name=name, notes=notes, objects=objects.library, scenes=scenes.library)
        return self._chosen(kept, objects.dropped, scenes.dropped)

    @cached_property
    def _copies(self) -> list[str]:
        """The copies of data sets in the folder, including broken links, which are an error later."""
        names = (coco.FOLDER, miniplaces.FOLDER)
        return [name for name in names if self.path is not None and os.path.lexists(self.path / name)]

    @property
    def _wanted(self) -> tuple[tuple[int, int], int, tuple[str, ...], tuple[str, ...], int]:
        kinds = cutouts.KINDS if self.path is not None else cutouts.KINDS[:OF_PAPER]
        objects = self.candidate_objects or (coco.CLASSES if coco.FOLDER in self._copies else kinds)
        return self.image_size, self.longest, objects, self.candidate_scenes or sceneries.KINDS, self.pictures

    def _chosen(self, composite: Composite, no_objects: Mapping[str, str], no_scenes: Mapping[str, str]) -> Composite:
        """The classes wanted of those that are left."""
        _, _, objects, scenes, _ = self._wanted
        return replace(
            composite,
            objects=_restricted("objects", composite.objects, self.objects, no_objects),
            scenes=_restricted("scenes", composite.scenes, self.scenes, no_scenes),
            candidate_objects=objects,
            candidate_scenes=scenes,
        )


def _restricted(kind: str, library: Library, wanted: Sequence[str], dropped: Mapping[str, str]) -> Library:
    if not wanted:
        return library
    for name in wanted:
        if name not in library.classes:
            why = dropped.get(name, "it is not among the candidates")
            raise SalgenError(f"{kind} of {name!r} did not pass the filter ({why}): leave this class out")
    return library.of(tuple(wanted))


def _filter_note(weights: Path, objects: Filtered, scenes: Filtered, fewest: int) -> str:
    """Sentence on the filter for the data set's card."""
    count, sums = len(objects.library.classes), f"{objects.kept:,} of {objects.total:,}"
    classes = f"{count} of {count + len(objects.dropped)} classes of objects, those with {fewest} or more for training"
    empty = f" and the class(es) {', '.join(scenes.dropped)}" if scenes.dropped else ""
    return (
        f"By the detector {weights.name} (SHA-256 {sha256_of(weights)[:12]}), at a confidence above "
        f"{filtering.CONFIDENCE:g}, {sums} objects are found on black by their own names, and {classes}, are kept; "
        f"{scenes.total - scenes.kept:,} of {scenes.total:,} scenes{empty} are dropped, since it finds objects in them."
    )
