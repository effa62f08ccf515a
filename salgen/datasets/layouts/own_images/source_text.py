"""Where a user's images, masks and labels are, in one text that all commands take as a source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from salgen.datasets.layouts.own_images.label_table import marks_objects, metadata_in
from salgen.errors import SalgenError, warn


@dataclass(frozen=True)
class Paths:
    """What the text of a source says: ``IMAGES:masks=PATH:labels=PATH``, or a folder that holds all."""

    images: Path  # the folder of images, or one that holds it as `images`
    # one path for each annotator, or for each part of the images. If none is given, what is called `masks` (a folder,
    # ``masks.json`` or ``masks.csv``; ``masks-2`` is a second annotator's) or `data.yaml` in the folder; before these
    # Hugging Face's tables, where they name masks or list objects
    masks: tuple[Path, ...]
    # a table; if none is given, `labels.csv` in the folder, or Hugging Face's: ``metadata.csv`` or ``metadata.jsonl``
    # in the folder or that of the images, or in each split's
    labels: tuple[Path, ...]

    @classmethod
    def of(cls, text: str) -> Paths:
        """What a text says, with what it leaves open looked for in the folder."""
        images, *pairs = re.split(r":(masks|labels)=", text)
        parts = [(name, Path(path).expanduser()) for name, path in zip(pairs[::2], pairs[1::2], strict=True)]
        folder = Path(images).expanduser()
        inner = folder / "images"
        root = inner if inner.is_dir() else folder
        metadata = dict.fromkeys([*metadata_in(folder), *metadata_in(root)])
        masks = tuple(path for name, path in parts if name == "masks")
        labels = tuple(path for name, path in parts if name == "labels")
        if len(labels) > 1:
            raise SalgenError(f"{text}: give the labels in one table")
        if not masks and folder.is_dir():
            near = sorted(folder.glob("masks*"), key=lambda path: (len(path.stem), path.name))
            called = [path for path in near if re.fullmatch(r"masks(-\w+)?(\.json|\.csv)?", path.name)]
            kinds = [list(filter(marks_objects, metadata)), called, list(filter(Path.is_file, [folder / "data.yaml"]))]
            found = list(filter(None, kinds))
            if not found:
                raise SalgenError(
                    f"{folder}: has no masks beside it; say where they are: {folder}:masks=PATH, or --masks PATH"
                )
            masks = tuple(found[0])
            for other in found[1:]:
                warn(f"{masks[0]} is read and {other[0]} is not: to read that instead, give --masks {other[0]}")
        if not labels:
            labels = tuple(filter(Path.is_file, [folder / "labels.csv"])) or tuple(metadata)
        return cls(root, masks, labels)
