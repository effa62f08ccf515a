"""What is drawn as a data set: agreement, several acceptable masks or their majority, and the import."""

import csv
import json
import os
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self
import numpy as np
from salgen.datasets.annotation.agreement import agreement_of, in_words, majority, write_agreement
from salgen.datasets.annotation.drawn_masks import DrawnMasks
from salgen.datasets.annotation.images_to_annotate import ImagesToAnnotate, ImageToAnnotate, images_to_annotate
from salgen.datasets.format.png import encode
from salgen.datasets.importers.images import ImagesImporter
from salgen.datasets.importing import import_images
from salgen.datasets.layouts.own_images.upright_pictures import read_picture
from salgen.datasets.layouts.saliency_bench.attention_folders import COLUMNS
from salgen.datasets.layouts.saliency_bench.marked_images import ATTENTION, IMAGES
from salgen.errors import SalgenError
from salgen.files import atomic_path, remove_temporaries, write_bytes
from salgen.generators.drawing.pictures import resize_nearest, resize_rgb
from salgen.parameters import build
from salgen.types import Mask

AGREEMENT, BENCHMARK = "agreement.parquet", "saliency-bench"
BENCHMARK_SIZE = (224, 224)  # size of the published images and maps
ACCEPTABLE, MAJORITY = MERGES = ("acceptable", "majority")


def target_of(path: str | os.PathLike[str], out: str | os.PathLike[str] | None) -> Path:
    """The folder of the data set that is drawn: `out`, or ``PATH-annotated``."""
    folder = Path(path) if Path(path).name else Path(path).resolve()
    return folder.with_name(f"{folder.name}-annotated") if out is None else Path(out)


def masks_of(target: Path) -> Path:
    """The folder of the masks that a data set is made of, in that of all that it is made of."""
    return target.with_name(f"{target.name}-source") / "masks"


def drawn_by(path: str | os.PathLike[str]) -> list[Path]:
    """The masks' folders of those who drew on images, given the data set's folder that is or will be made of them."""
    drawn = DrawnMasks(masks_of(Path(path)))
    return [drawn.folder_of(name) for name in drawn.annotators]


@dataclass(frozen=True)
class Annotation:
    """Images, what is drawn on them, and what is to become of it.

    One process at a time may write it, see :func:`salgen.datasets.format.output_folder.sole_writer`.
    """

    pictures: ImagesToAnnotate
    masks: DrawnMasks
    out: Path  # the data set's folder
    work: Path  # the folder of what it is made of
    # `acceptable`: each annotator's mask is acceptable; `majority`: the pixels that at least half marked
    merge: str = ACCEPTABLE
    parameters: Mapping[str, Any] = field(default_factory=dict)  # those of the importer `images`

    @classmethod
    def at(
        cls,
        path: str | os.PathLike[str],
        out: str | os.PathLike[str] | None = None,
        *,
        labels: str | os.PathLike[str] | None = None,
        split: str | None = None,
        only: Collection[str] = (),
        merge: str = ACCEPTABLE,
        parameters: Mapping[str, Any] | None = None,
    ) -> Self:
        """Annotation of the images at a path, begun or gone on with; `out` is by default ``PATH-annotated``."""
        folder, target = Path(path) if Path(path).name else Path(path).resolve(), target_of(path, out)
        drawn = masks_of(target)
        if target.exists() and not drawn.is_dir():
            raise SalgenError(f"{target} holds something else than what was drawn here: give another folder OUT")
        pictures = images_to_annotate(folder, drawn.parent, None if labels is None else Path(labels), split, only)
        chosen = {**pictures.parameters, **(parameters or {})}
        build(ImagesImporter, chosen)  # what is refused is refused before anybody draws
        drawn.mkdir(parents=True, exist_ok=True)
        return cls(pictures, DrawnMasks(drawn), target, drawn.parent, merge, chosen)

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
            if masks := {name: mask for name, mask in found.items() if mask is not None}:
                rows += agreement_of(image.item, masks)
                drawn += 1
                merged.write(MAJORITY, image.item, majority(list(masks.values())))
        remove_temporaries(self.work)
        write_agreement(rows, self.work / AGREEMENT)
        _write_benchmark(self.work / BENCHMARK, self.pictures.shown, partial(merged.read, MAJORITY))
        taken = [merged.folder_of(MAJORITY)] if self.merge == MAJORITY else [self.masks.folder_of(n) for n in people]
        fresh = self.work / self.out.name  # takes the old one's place only when it is whole
        shutil.rmtree(fresh, ignore_errors=True)
        source, labels = self.pictures.source, self.pictures.labels
        import_images(source, fresh, masks=taken, labels=labels, parameters=self.parameters, workers=1)
        shutil.rmtree(self.out, ignore_errors=True)
        fresh.rename(self.out)
        untrainable = len({image.label for image in self.pictures.images}) == 1
        return (
            f"{drawn} of {len(self.pictures.images)} images have a mask, by {', '.join(people)}. {in_words(rows)} "
            f"The data set is {self.out}. The masks are in {self.masks.folder}, their agreement in "
            f"{self.work / AGREEMENT}, Saliency-Bench's form in {self.work / BENCHMARK}. "
            f"Next: salgen evaluate {self.out}{' --model MODEL' * untrainable}"
        )


def _write_benchmark(folder: Path, images: Sequence[ImageToAnnotate], mask_of: Callable[[str], Mask | None]) -> None:
    """Write ``image/CLASS/NUMBER-NAME.png`` and ``attention_label/masks.csv`` in place of older ones.

    Names begin with a number, as the benchmark tells images by their files' names alone, whatever the folder.
    """
    shutil.rmtree(folder, ignore_errors=True)
    table = folder / ATTENTION / "masks.csv"
    table.parent.mkdir(parents=True)
    with atomic_path(table) as temporary, open(temporary, "w", encoding="utf-8", newline="") as handle:
        rows = csv.writer(handle, lineterminator="\n")
        rows.writerow(COLUMNS)
        for number, image in enumerate(images):
            file = folder / IMAGES / image.label.replace("/", "%2F") / f"{number:06d}-{image.path.stem}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(file, encode(resize_rgb(read_picture(image.path), BENCHMARK_SIZE)))
            if (mask := mask_of(image.item)) is not None:
                values = resize_nearest(mask, BENCHMARK_SIZE).astype(np.uint8).tolist()
                rows.writerow([file.name, json.dumps(values, separators=(",", ":"))])
