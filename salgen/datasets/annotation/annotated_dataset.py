"""What is drawn as a data set: agreement, several acceptable masks or their majority, and the import."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

from salgen.datasets.annotation.agreement import agreement_of, in_words, majority, write_agreement
from salgen.datasets.annotation.benchmark_folders import write_benchmark
from salgen.datasets.annotation.drawn_masks import DrawnMasks
from salgen.datasets.annotation.images_to_annotate import ImagesToAnnotate, images_to_annotate
from salgen.datasets.importers.images import ImagesImporter
from salgen.datasets.importing import import_images
from salgen.errors import SalgenError
from salgen.files import remove_temporaries
from salgen.parameters import build

AGREEMENT, BENCHMARK = "agreement.parquet", "saliency-bench"
ACCEPTABLE, MAJORITY = MERGES = ("acceptable", "majority")


def target_of(path: str | os.PathLike[str], out: str | os.PathLike[str] | None) -> Path:
    """The folder of the data set that is drawn: `out`, or ``PATH-annotated``."""
    folder = Path(path) if Path(path).name else Path(path).resolve()
    return folder.with_name(f"{folder.name}-annotated") if out is None else Path(out)


@dataclass(frozen=True)
class Annotation:
    """Images, what is drawn on them, and what is to become of it.

    One process at a time may write it, see :func:`salgen.datasets.format.output_folder.sole_writer`.
    """

    # pictures, masks: the images and the masks
    pictures: ImagesToAnnotate
    masks: DrawnMasks
    # out, work: the data set's folder, and that of the masks
    out: Path
    work: Path
    # `acceptable`: each annotator's mask is acceptable; `majority`: the pixels that at least half marked
    merge: str = ACCEPTABLE
    # of the importer `images`
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def at(
        cls,
        path: str | os.PathLike[str],
        out: str | os.PathLike[str] | None = None,
        *,
        labels: str | os.PathLike[str] | None = None,
        split: str | None = None,
        merge: str = ACCEPTABLE,
        parameters: Mapping[str, Any] | None = None,
    ) -> Self:
        """Annotation of the images at a path, begun or gone on with.

        Parameters
        ----------
        path
            A folder of images, or of a data set.
        out
            The folder of the data set that is made; ``PATH-annotated`` if None. Masks lie in ``OUT-source``.
        labels, split
            As in :func:`~salgen.datasets.annotation.images_to_annotate.images_to_annotate`.
        merge, parameters
            As in the attributes.
        """
        if merge not in MERGES:
            raise SalgenError(f"merge = {merge!r}: give {' or '.join(MERGES)}")
        folder, target = Path(path) if Path(path).name else Path(path).resolve(), target_of(path, out)
        work = target.with_name(f"{target.name}-source")
        if target.exists() and not (work / "masks").is_dir():
            raise SalgenError(f"{target} holds something else than what was drawn here: give another folder OUT")
        pictures = images_to_annotate(folder, work, None if labels is None else Path(labels), split)
        chosen = {**pictures.parameters, **(parameters or {})}
        build(ImagesImporter, chosen)  # what is refused is refused before anybody draws
        (work / "masks").mkdir(parents=True, exist_ok=True)
        return cls(pictures, DrawnMasks(work / "masks"), target, work, merge, chosen)

    def finish(self) -> str:
        """Write the agreement, the benchmark's form and the data set anew from all masks; say what was made."""
        people = self.masks.annotators
        if not people:
            raise SalgenError("nothing is drawn yet: draw on an image first")
        merged = DrawnMasks(self.work / "majority")
        shutil.rmtree(merged.folder, ignore_errors=True)
        rows, drawn = [], 0
        for image in self.pictures.images:
            found = {name: self.masks.read(name, image.item) for name in people}
            masks = {name: mask for name, mask in found.items() if mask is not None}
            rows += agreement_of(image.item, masks)
            drawn += bool(masks)
            if masks:
                merged.write(MAJORITY, image.item, majority(list(masks.values())))
        remove_temporaries(self.work)
        write_agreement(rows, self.work / AGREEMENT)
        write_benchmark(self.work / BENCHMARK, self.pictures.shown, partial(merged.read, MAJORITY))
        taken = [merged.folder_of(MAJORITY)] if self.merge == MAJORITY else [self.masks.folder_of(n) for n in people]
        fresh = self.work / self.out.name  # takes the old one's place only when it is whole
        shutil.rmtree(fresh, ignore_errors=True)
        import_images(
            self.pictures.source,
            fresh,
            masks=list(taken),
            labels=self.pictures.labels,
            parameters=self.parameters,
            workers=1,
        )
        shutil.rmtree(self.out, ignore_errors=True)
        fresh.rename(self.out)
        return (
            f"{drawn} of {len(self.pictures.images)} images have a mask, by {', '.join(people)}. {in_words(rows)} "
            f"The data set is {self.out}; next: salgen evaluate {self.out}"
        )
