"""A user's own images as a source: their classes, splits, clusters and acceptable masks."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from salgen.datasets.importers.layouts.broken import broken_items
from salgen.datasets.importers.layouts.detection_datasets.object_boxes import Size
from salgen.datasets.importers.layouts.mask_limits import count_faults, mask_fault, mask_faults
from salgen.datasets.importers.layouts.own_images.annotation_formats import (
    Annotations,
    Object,
    in_order,
    read_annotations_at,
)
from salgen.datasets.importers.layouts.own_images.image_tree import ImageTree, Skipped
from salgen.datasets.importers.layouts.own_images.label_table import LabelRow, metadata_of, read_labels
from salgen.datasets.importers.layouts.own_images.outlines import MaskPicture, Outline
from salgen.datasets.importers.layouts.own_images.upright_pictures import size_of
from salgen.errors import SalgenError, unknown_name
from salgen.generators.drawing.pictures import resize_nearest
from salgen.sources import OWN_COPY, Files
from salgen.types import Mask

SPLITS = ("train", "val", "test")
LICENCE = (
    "Not known to salgen: the terms of whoever gave you the pictures. Publish pixels made from them only where those "
    "terms allow it."
)


@dataclass(frozen=True)
class Given:
    """Where a user's images, masks and labels are, as the text of a source says: ``IMAGES:masks=PATH:labels=PATH``.

    Attributes
    ----------
    images
        The folder of images, or one that holds it as `images`.
    masks
        One path for each annotator, or for each part of the images. If none is given, what is called `masks` (a folder,
        ``masks.json`` or ``masks.csv``; ``masks-2`` is a second annotator's) or `data.yaml` in the folder.
    labels
        A table; if none is given, `labels.csv` in the folder, or the images' ``metadata.csv`` or ``metadata.jsonl``.
    """

    images: Path
    masks: tuple[Path, ...] = ()
    labels: Path | None = None

    @classmethod
    def of(cls, text: str) -> Given:
        """What a text says, with what it leaves open looked for in the folder."""
        images, *pairs = re.split(r":(masks|labels)=", text)
        parts = [(name, Path(path).expanduser()) for name, path in zip(pairs[::2], pairs[1::2], strict=True)]
        folder = Path(images).expanduser()
        masks = tuple(path for name, path in parts if name == "masks")
        labels = [path for name, path in parts if name == "labels"]
        if len(labels) > 1:
            raise SalgenError(f"{text}: give the labels in one table")
        if not masks and folder.is_dir():
            masks = tuple(
                p
                for p in sorted(folder.iterdir(), key=lambda p: (len(p.stem), p.name))
                if re.match(r"masks(-[^.]*)?(\.json|\.csv)?$", p.name)
            )
            masks = masks or tuple(filter(Path.is_file, [folder / "data.yaml"]))
        if not masks and folder.is_dir():
            raise SalgenError(
                f"{folder}: has no masks beside it; say where they are: {folder}:masks=PATH, or --masks PATH"
            )
        if not labels:
            labels = [path for path in [folder / "labels.csv"] if path.is_file()]
        inner = folder / "images"
        return cls(inner if inner.is_dir() else folder, masks, labels[0] if labels else None)


@dataclass(frozen=True)
class Reading:
    """Parameters by which images are read; see :class:`~salgen.datasets.importers.images.ImagesImporter`."""

    image_size: Size
    min_mask: int
    mask_values: tuple[int, ...]
    classes: tuple[str, ...]
    shares: tuple[float, float, float]
    split_seed: int


@dataclass(frozen=True, eq=False)
class OwnImage:
    """An image with what it shows.

    Attributes
    ----------
    path, size
        Its file and (H, W).
    split, cluster
        Their names.
    main
        The number of its class; where it shows several, of that of its largest object.
    outlines
        Class number to the outlines of each annotator; of images without a mask, to none.
    """

    path: Path
    size: Size
    split: str
    cluster: str
    main: int
    outlines: Mapping[int, Sequence[Sequence[Outline]]]


class OwnImages(Files):
    """A user's own images.

    Attributes
    ----------
    images
        Item to image.
    classes
        Their names, in the order of the labels.
    several
        Whether an image shows several classes.
    """

    images: Mapping[str, OwnImage]
    classes: tuple[str, ...]
    several: bool
    reading: Reading
    about: str

    def __init__(self, **values: Any) -> None:
        # Files stores its notes; here they are computed after every mask is read.
        vars(self).update(values, name=OWN_COPY, licence=LICENCE)

    def masks(self, item: str, number: int) -> list[Mask]:
        """The acceptable masks of a class in the resized image, bool (H, W): those that are ground truth."""
        return [mask for mask, fault in self._painted(item, number) if not fault]

    def _painted(self, item: str, number: int) -> list[tuple[Mask, int]]:
        """Each annotator's mask of a class in the resized image, with its fault or 0."""
        image = self.images[item]
        painted = []
        for outlines in image.outlines[number]:
            mask = np.logical_or.reduce([outline.paint(image.size) for outline in outlines])
            resized = resize_nearest(mask, self.reading.image_size)
            painted.append((resized, mask_fault(resized, self.reading.min_mask)))
        return painted

    @cached_property
    def samples(self) -> Mapping[str, tuple[str, int]]:
        """Sample to item and class number: one for each image, or for each pair with a class that it shows in test."""
        samples: dict[str, tuple[str, int]] = {}
        for item, image in self.images.items():
            if self.several and image.split == "test":
                samples |= {f"{item}:{self.classes[number]}": (item, number) for number in image.outlines}
            else:
                samples[item] = item, image.main
        return samples

    @cached_property
    def notes(self) -> str:
        """Numbers of images by split, what has no mask, and what was skipped, for the data set's card.

        Raises
        ------
        SalgenError
            If no mask is ground truth.
        """
        counts = Counter(image.split for image in self.images.values())
        of_splits = ", ".join(f"{counts[split]:,} {split}" for split in SPLITS if counts[split])
        masked = [name for name, (item, number) in self.samples.items() if self.images[item].outlines[number]]
        bare = len(self.samples) - len(masked)
        without = f"{bare:,} of the samples have no mask and are not scored." if bare else ""

        def fault(name: str) -> int:
            return min(fault for _, fault in self._painted(*self.samples[name]))

        reading = self.reading
        depends_on = ["own images", self.digest, list(reading.image_size), reading.min_mask, list(reading.mask_values),
                      list(self.classes)]  # fmt: skip
        faults = mask_faults(depends_on, masked, fault)
        if sum(faults.values()) == len(masked):
            raise SalgenError(self._no_truth(masked))
        refused = count_faults(depends_on, masked, fault)
        return " ".join(filter(None, [f"Images of the user: {of_splits}.", self.about, without, refused]))

    def _no_truth(self, masked: Sequence[str]) -> str:
        """Why there is nothing to score, with what to do."""
        if not masked:
            return "no image that can be used has a mask or an annotation: give those that belong to these images"
        item, number = self.samples[masked[0]]
        outline = self.images[item].outlines[number][0][0]
        first = str(outline.path) if isinstance(outline, MaskPicture) else item
        return (
            f"{first}: is empty, full or too small a mask at this size, and so are all others; name the object's "
            "levels by --set mask_values=1, or choose a larger image_size or a smaller min_mask"
        )


def open_images(text: str, reading: Reading) -> OwnImages:
    """The images that the text of a source names.

    Raises
    ------
    SalgenError
        If something is missing or does not belong together; the message names the file.
    """
    given, skipped = Given.of(text), Skipped()
    root = given.images
    tree = ImageTree.at(root, given.masks, skipped)
    annotations = [read_annotations_at(path, tree, skipped, reading.mask_values) for path in given.masks]
    tables = [given.labels] if given.labels else metadata_of(tree)
    rows: dict[str, LabelRow] = {}
    for table in tables:
        rows |= read_labels(table, tree)
    damaged = _damaged_masks(annotations, tree)
    for item, why in damaged.items():
        skipped.add(why.replace("image", "mask"), item)
    usable = [item for item in tree.sizes if item not in damaged]
    labels, categories = _labels(usable, tree, annotations, rows, skipped)
    classes = reading.classes or categories
    for name in reading.classes:
        if name not in categories:
            raise unknown_name("class", name, categories)
    shown = {}
    for item, of_image in labels.items():
        wanted = {classes.index(name): _of_class(item, name, annotations, rows) for name in of_image if name in classes}
        if wanted:
            shown[item] = dict(sorted(wanted.items()))
        else:
            skipped.add("image of no class that is wanted", item)
    if not shown:
        raise SalgenError(f"{root}: no image can be used. {skipped.sentence}")
    main = {item: _largest(outlines, tree.sizes[item]) for item, outlines in shown.items()}
    clusters = {item: (rows[item].cluster if item in rows else None) or item for item in shown}
    stated = {item: (rows[item].split if item in rows else None) or tree.split(item) for item in shown}
    splits = _splits(stated, main, clusters, reading)
    images = {
        item: OwnImage(tree.files[item], tree.sizes[item], splits[item], clusters[item], main[item], shown[item])
        for item in sorted(shown)
    }
    files = {f"images/{item}": tree.files[item] for item in images}
    files |= {f"masks-{n}/{name}": path for n, each in enumerate(annotations) for name, path in each.files.items()}
    files |= {f"labels/{path.relative_to(root) if path.is_relative_to(root) else ''}": path for path in tables}
    return OwnImages(
        files=files,
        splits={f"images/{item}": split for item, split in splits.items()},
        images=images,
        classes=tuple(classes),
        several=any(len(image.outlines) > 1 for image in images.values()),
        reading=reading,
        about=" ".join(filter(None, [_about_splits(stated, reading), skipped.sentence])),
    )


def _damaged_masks(annotations: Iterable[Annotations], tree: ImageTree) -> dict[str, str]:
    """Items with a mask picture that cannot be decoded, with the reason.

    Raises
    ------
    SalgenError
        If a mask picture is of another size than its image.
    """
    pictures: dict[str, list[Path]] = defaultdict(list)
    for each in annotations:
        for item, objects in each.objects.items():
            pictures[item] += [one.outline.path for one in objects if isinstance(one.outline, MaskPicture)]
    damaged = broken_items(pictures)
    for item in sorted(pictures.keys() & tree.sizes.keys() - damaged.keys()):
        for path in pictures[item]:
            if size_of(path) != tree.sizes[item]:
                sizes = " and ".join(f"{width} x {height}" for height, width in (size_of(path), tree.sizes[item]))
                raise SalgenError(
                    f"{path}: mask and image {item} have {sizes} pixels: save the mask in the image's size"
                )
    return damaged


def _labels(
    items: Iterable[str],
    tree: ImageTree,
    annotations: Sequence[Annotations],
    rows: Mapping[str, LabelRow],
    skipped: Skipped,
) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """Item to the classes that it shows, and all classes: of the table, else the annotations, else the folders."""
    categories = tuple(dict.fromkeys(name for each in annotations for name in each.categories))
    labels: dict[str, list[str]] = {}
    for item in items:
        if rows:
            found, lacking = [rows[item].label] if item in rows else [], "image without a row in the table of labels"
        elif categories:
            objects = [one for each in annotations for one in each.objects.get(item, [])]
            found, lacking = [one.category for one in objects if one.category], "image without an object"
        else:
            found, lacking = [tree.folder(item)] if tree.folder(item) else [], "image outside of the classes' folders"
        if found:
            labels[item] = list(dict.fromkeys(found))
        else:
            skipped.add(lacking, item)
    if not labels and not rows and not categories:
        raise SalgenError(
            f"{tree.root}: nothing says of which class an image is; give --labels a table with file and label, or put "
            "the images into a folder for each class"
        )
    named = {name for of_image in labels.values() for name in of_image}
    return labels, categories if named <= set(categories) else tuple(in_order(named))


def _of_class(
    item: str, name: str, annotations: Sequence[Annotations], rows: Mapping[str, LabelRow]
) -> list[list[Outline]]:
    """Each annotator's outlines of a class in an image; of all objects where the classes are not the annotations'."""
    marked = []
    for each in annotations:
        objects: Iterable[Object] = each.objects.get(item, [])
        if name in each.categories:
            objects = (one for one in objects if one.category == name)
        marked.append([one.outline for one in objects])
    return [outlines for outlines in marked if outlines]


def _largest(shown: Mapping[int, Sequence[Sequence[Outline]]], size: Size) -> int:
    """The class of the largest object."""
    extents = {number: max((o.extent(size) for each in of for o in each), default=0.0) for number, of in shown.items()}
    return max(extents, key=lambda number: extents[number])


def _splits(
    stated: Mapping[str, str | None], main: Mapping[str, int], clusters: Mapping[str, str], reading: Reading
) -> dict[str, str]:
    """Item to split: the stated one, else by shares of each class; images of a cluster stay together.

    Raises
    ------
    SalgenError
        If images of one cluster are stated to be in two splits.
    """
    members: dict[str, list[str]] = defaultdict(list)
    for item, cluster in clusters.items():
        members[cluster].append(item)
    splits: dict[str, str] = {}
    free: dict[int, list[str]] = defaultdict(list)
    for cluster, items in members.items():
        known = sorted({split for item in items if (split := stated[item])})
        if len(known) > 1:
            raise SalgenError(f"cluster {cluster!r} has images in {' and '.join(known)}: keep it in one split")
        if known:
            splits |= dict.fromkeys(items, known[0])
        else:
            free[main[min(items)]].append(cluster)
    for cluster, split in _by_shares(free, reading.shares, reading.split_seed).items():
        splits |= dict.fromkeys(members[cluster], split)
    return splits


def _by_shares(free: Mapping[int, Sequence[str]], shares: tuple[float, float, float], seed: int) -> dict[str, str]:
    """Cluster to split, in an order fixed by seed and names; remainders of a class count for the next one."""
    _, val, test = (share / sum(shares) for share in shares)
    splits, before = {}, 0
    for number in sorted(free):
        names = sorted(free[number], key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())
        after = before + len(names)
        tested, validated = (int(share * after + 0.5) - int(share * before + 0.5) for share in (test, val))
        for place, name in enumerate(names):
            splits[name] = "test" if place < tested else "val" if place < tested + validated else "train"
        before = after
    return splits


def _about_splits(stated: Mapping[str, str | None], reading: Reading) -> str:
    """A sentence on where the splits come from."""
    if all(stated.values()):
        return "Splits are those of the user."
    which = "Those without a split were" if any(stated.values()) else "salgen"
    train, val, test = (f"{100 * share / sum(reading.shares):.3g} %" for share in reading.shares)
    assigned = (
        f"assigned to splits, of each class {train} to train, {val} to val and {test} to test, in an order fixed by "
    )
    return f"{which} {assigned if which != 'salgen' else assigned.replace('assigned', 'assigned them', 1)}their names."
