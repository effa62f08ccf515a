"""The images that people are to draw on: those of a folder, or of a data set, which are written to files first."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
import numpy as np
import pandas as pd
from salgen.datasets.format import manifest
from salgen.datasets.format.png import encode
from salgen.datasets.layouts.own_images.image_tree import SPLIT_FOLDERS, ImageTree, Skipped
from salgen.datasets.layouts.own_images.label_table import LabelRow, read_labels, read_rows
from salgen.datasets.layouts.own_images.open_images import Paths, labels_of
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError, unknown_name, warn
from salgen.files import write_bytes, write_text
from salgen.progress import progress

TABLE, UNLABELLED = "labels.csv", "object"


@dataclass(frozen=True)
class ImageToAnnotate:
    """An image."""

    item: str  # its path below the folder of images
    path: Path  # its file
    label: str  # its class
    size: tuple[int, int]  # (H, W)


@dataclass(frozen=True)
class ImagesToAnnotate:
    """The images in the order of their names."""

    images: Sequence[ImageToAnnotate]  # all of them
    shown: Sequence[ImageToAnnotate]  # those to draw on
    source: Path  # the folder that `salgen.import_images` takes
    labels: Path | None  # the table of labels that it takes
    parameters: Mapping[str, Any]  # its parameters that follow from the images: the size of a data set


def images_to_annotate(
    path: Path, work: Path, labels: Path | None = None, split: str | None = None, only: Collection[str] = ()
) -> ImagesToAnnotate:
    """The images of a folder as `salgen import` takes it, or of a data set: those are written to ``work/images``.

    Of one split, or `only` some items, others are not shown.
    """
    parameters: dict[str, Any] = {}
    if (path / manifest.FILE).is_file():
        if labels is not None:
            raise SalgenError(f"{path} is a data set, which holds its labels: leave --labels out")
        parameters["image_size"] = _export(path, work)
        path, labels = work, work / TABLE
    named = "" if labels is None else f":labels={labels}"
    paths = Paths.of(f"{path}:masks={work / 'masks'}{named}")
    skipped = Skipped()
    tree = ImageTree.at(paths.images, (), skipped)
    if not paths.labels and not any(map(tree.folder, tree.sizes)):
        labels = work / TABLE
        paths = replace(paths, labels=(_unlabelled(tree.sizes, labels, path),))
    rows: dict[str, LabelRow] = {}
    for table in paths.labels:
        rows |= read_labels(table, tree)
    classes, _ = labels_of(tree.sizes, tree, (), rows, skipped)
    splits = {item: (rows[item].split if item in rows else None) or tree.split(item) for item in classes}
    images = [ImageToAnnotate(item, tree.files[item], classes[item][0], tree.sizes[item]) for item in sorted(classes)]
    for item in only:
        if item not in classes:
            raise unknown_name(f"image of {path}", item, classes)
    shown = [image for image in images if split in (None, splits[image.item]) and image.item in (only or classes)]
    if not shown:
        raise unknown_name(f"split of {path}", str(split), filter(None, splits.values()))
    return ImagesToAnnotate(images, shown, path, labels, parameters)


def _unlabelled(items: Iterable[str], table: Path, path: Path) -> Path:
    """Write a table in which all images have one label, and warn."""
    rows = pd.DataFrame({"file": sorted(items), "label": UNLABELLED})
    table.parent.mkdir(parents=True, exist_ok=True)
    write_text(table, rows.to_csv(index=False, lineterminator="\n"))
    warn(f"{path} has no labels, so each image is called '{UNLABELLED}': to name classes, give --labels FILE")
    return table


def _export(path: Path, work: Path) -> tuple[int, int]:
    """Write a data set's images and labels, unless they are there; gives the images' (H, W)."""
    described = manifest.read_manifest(path)
    size, fingerprint = described.spec.image_size, described.spec.fingerprint
    table = work / TABLE
    if table.is_file():
        _, first = next(read_rows(table))
        if first.get("fingerprint") != fingerprint:
            raise SalgenError(f"{work} holds masks of another data set than {path}: give another folder OUT")
        return size
    splits = [split for split in described.splits if split in SPLIT_FOLDERS]
    rows = []
    with progress("writing images", sum(described.spec.splits[split] for split in splits), "images") as advance:
        for split in splits:
            dataset = open_dataset(path, split)
            task, names = next(iter(dataset.tasks.items()))
            labels, ids, clusters = dataset.column(task), dataset.ids, dataset.clusters
            folder = work / "images" / split
            folder.mkdir(parents=True, exist_ok=True)
            for index in range(len(dataset)):
                levels = np.round(255 * dataset[index]["image"]).astype(np.uint8).transpose(1, 2, 0)
                write_bytes(folder / f"{index:06d}.png", encode(levels))
                label = names[int(labels[index])]
                rows.append((f"{split}/{index:06d}.png", label, split, clusters[index], ids[index], fingerprint))
                advance(1)
    listed = pd.DataFrame(rows, columns=["file", "label", "split", "cluster", "id", "fingerprint"])
    # The last of all, so that a killed export begins anew.
    write_text(table, listed.to_csv(index=False, lineterminator="\n"))
    return size
