"""Reading a user's images, masks and labels: everything that must belong together is compared here."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self
import numpy as np
from salgen.datasets.layouts.broken import broken_items
from salgen.datasets.layouts.detection_datasets.object_boxes import Size
from salgen.datasets.layouts.mask_levels import CLASSES, VOID, VOID_COLOUR, WITH_VOID
from salgen.datasets.layouts.own_images.annotation_formats import is_table, masks_named_in, read_annotations_at
from salgen.datasets.layouts.own_images.annotations import Annotations, in_order
from salgen.datasets.layouts.own_images.image_tree import ImageTree, Skipped, pictures_below
from salgen.datasets.layouts.own_images.label_table import LabelRow, marks_objects, metadata_in, read_labels
from salgen.datasets.layouts.own_images.outlines import MaskPicture, Outline, Turned
from salgen.datasets.layouts.own_images.own_images import LICENSE, OwnImage, OwnImages, Reading
from salgen.datasets.layouts.own_images.own_split import about_splits, assign_splits
from salgen.datasets.layouts.own_images.upright_pictures import Header, header_of, masks_told
from salgen.errors import SalgenError, unknown_name, warn
from salgen.generators.drawing.pictures import levels_of, opened

STORED, UPRIGHT = "stored", "upright"
SAID = {
    STORED: "annotation of stored pixels, turned as the EXIF orientation of its image says",
    UPRIGHT: "annotation of an image as its EXIF orientation turns it",
}


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
    def of(cls, text: str) -> Self:
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
                raise SalgenError(f"{folder}: has no masks beside it; say where: {folder}:masks=PATH, or --masks PATH")
            masks = tuple(found[0])
            for other in found[1:]:
                warn(f"{masks[0]} is read and {other[0]} is not: to read that instead, give --masks {other[0]}")
        if not labels:
            labels = tuple(filter(Path.is_file, [folder / "labels.csv"])) or tuple(metadata)
        return cls(root, masks, labels)


def open_images(text: str, reading: Reading) -> OwnImages:
    """The images that the text of a source names."""
    given, skipped, noted = Paths.of(text), Skipped(), Skipped("Noted")
    root = given.images
    named = [picture for path in given.masks if is_table(path) and path.is_file() for picture in masks_named_in(path)]
    tree = ImageTree.at(root, [*given.masks, *named], skipped, reading.exif == "stored")
    annotations = [read_annotations_at(path, tree, skipped, reading.mask_values) for path in given.masks]
    rows: dict[str, LabelRow] = {}
    for table in given.labels:
        rows |= read_labels(table, tree)
    damaged = _damaged_masks(annotations, tree, reading.mask_values, noted)
    for item, why in damaged.items():
        skipped.add(why.replace("image", "mask"), item)
    usable = {item: header for item, header in tree.headers.items() if item not in damaged}
    marked = zip(annotations, given.masks, strict=True)
    annotations = [_turned(each, path, usable, reading.exif, noted) for each, path in marked]
    labels, categories = labels_of(usable, tree, annotations, rows, skipped)
    classes = tuple(reading.classes or categories)
    for name in reading.classes:
        if name not in categories:
            raise unknown_name("class", name, categories)
    shown: dict[str, dict[int, list[list[Outline]]]] = {}
    for item, of_image in labels.items():
        wanted = {classes.index(name): _outlines_of(item, name, annotations) for name in of_image if name in classes}
        if wanted:
            shown[item] = dict(sorted(wanted.items()))
        else:
            skipped.add("image of no class that is wanted", item)
    if not shown:
        raise SalgenError(f"{root}: no image can be used. {skipped.sentence}")
    main = {item: _largest_class(outlines, tree.headers[item].size) for item, outlines in shown.items()}
    clusters = {item: rows.get(item, LabelRow()).cluster or item for item in shown}
    stated = {item: rows.get(item, LabelRow()).split or tree.split(item) for item in shown}
    splits = assign_splits(stated, main, clusters, reading.shares, reading.split_seed)
    images = {}
    for item in sorted(shown):
        header, about_it = tree.headers[item], (splits[item], clusters[item], main[item], shown[item])
        images[item] = OwnImage(tree.files[item], header.size, *about_it)
        if header.transparent:
            noted.add("image whose opacity is left out", item)
        if header.paged:
            noted.add("image of several pages, of which the first is read", item)
    files = {f"images/{item}": tree.files[item] for item in images}
    files |= {f"masks-{n}/{name}": path for n, each in enumerate(annotations) for name, path in each.files.items()}
    files = {name: path for name, path in files.items() if path.is_file()}  # a broken mask may be a link to nowhere
    for n, path in enumerate(given.labels):
        files[f"labels/{path.relative_to(root) if path.is_relative_to(root) else n or ''}"] = path
    if noted.places:
        warn(noted.sentence)
    about = " ".join(filter(None, [about_splits(stated, reading.shares), skipped.sentence, noted.sentence]))
    of_files = {f"images/{item}": split for item, split in splits.items()}
    return OwnImages(LICENSE, files, of_files, images, classes, about, reading)


def refuse_several_levels(places: Iterable[str | Path]) -> None:
    """Raise a SalgenError for the first mask picture in some folders that has several levels besides 0 and void.

    Soft edges count as one level. What cannot be read is left to the import.
    """
    masks = {str(path): [path] for folder in map(Path, places) if folder.is_dir() for path in pictures_below(folder)}
    damaged = broken_items(masks)
    for name, said in masks_told({name: paths for name, paths in masks.items() if name not in damaged}, ()):
        if said not in (CLASSES, WITH_VOID):
            continue
        with opened(Path(name)) as picture:
            levels = np.atleast_3d(levels_of(picture))[..., :3]
        colours = {tuple(colour) for colour in np.unique(levels.reshape(-1, levels.shape[2]), axis=0).tolist()}
        if any(len(set(colour)) > 1 for colour in colours):
            if len(colours - {(0, 0, 0), VOID_COLOUR}) > 1:
                raise SalgenError(f"{name}: has several colours: save a mask whose object is white and all else black")
            continue
        numbers = sorted({colour[0] for colour in colours})
        named = [number for number in numbers if number and not (number == VOID and said == WITH_VOID)]
        if len(named) > 1:
            raise SalgenError(
                f"{name}: has the levels {', '.join(map(str, numbers))}: say which are the object, as in "
                f"--set mask_values={named[0]},{named[-1]}"
            )


def _damaged_masks(
    annotations: Iterable[Annotations], tree: ImageTree, values: tuple[int, ...], noted: Skipped
) -> dict[str, str]:
    """Items with a mask picture that cannot be decoded, with the reason; `noted` counts how the others are read."""
    pictures: dict[str, list[Path]] = defaultdict(list)
    for each in annotations:
        for item, objects in each.objects.items():
            pictures[item] += [one.outline.path for one in objects if isinstance(one.outline, MaskPicture)]
    damaged = broken_items(pictures)
    sound = {item: pictures[item] for item in sorted(pictures.keys() & tree.headers.keys() - damaged.keys())}
    for item, paths in sound.items():
        image = tree.headers[item]
        for path in paths:
            mask = header_of(path)
            if mask.paged:
                noted.add("mask of several pages, of which the first is read", item)
            if mask.size not in (image.size, image.stored if mask.orientation == 1 else image.size):
                sizes = " and ".join(f"{width} x {height}" for height, width in (mask.size, image.size))
                raise SalgenError(f"{path}: mask and image {item} have {sizes} pixels: save it in the image's size")
    for item, said in masks_told(sound, values):
        noted.add(said, item)
    return damaged


def _turned(marked: Annotations, path: Path, headers: Mapping[str, Header], exif: str, noted: Skipped) -> Annotations:
    """What an annotator marked, in images as they are shown: `noted` counts which pixels the annotations were of.

    Pillow, torchvision and pycocotools leave pixels as they are stored; browsers, drawing tools and OpenCV turn them.
    Sizes tell which it is where an image is turned by a quarter and not square. For others it is as for those of the
    same annotator, or as `exif` says: ``"stored"``, ``"upright"``, or ``"sizes"``, which refuses them. `headers` are
    those of the images that can be used.
    """
    ways: dict[str, str] = {}
    for item, listed in marked.objects.items():
        header = headers.get(item)
        if listed and header and header.orientation > 1:
            outline, size = listed[0].outline, next((one.size for one in listed if one.size), None)
            mask = header_of(outline.path) if isinstance(outline, MaskPicture) else None
            if mask is None or mask.orientation == 1:  # else it is turned by its own
                size = mask.size if mask else size
                tells = size is not None and header.size != header.stored
                ways[item] = "" if not tells else STORED if size == header.stored else UPRIGHT
    known = set(ways.values()) - {""}
    usual = exif if exif in SAID else min(known) if len(known) == 1 else ""
    unknown = [item for item, way in ways.items() if not way]
    if unknown and not usual:
        raise SalgenError(
            f"{unknown[0]}: its EXIF orientation turns it, and {path} may be of its pixels as stored (Pillow, "
            "torchvision, pycocotools) or upright (browsers, OpenCV): say --set exif=stored or --set exif=upright "
            f"({len(unknown):,} such images)"
        )
    objects = dict(marked.objects)
    for item, way in ways.items():
        noted.add(SAID[way or usual], item)
        if (way or usual) == STORED:
            by = headers[item].orientation
            objects[item] = [replace(one, outline=Turned(one.outline, by)) for one in objects[item]]
    return replace(marked, objects=objects)


def labels_of(
    items: Iterable[str],
    tree: ImageTree,
    annotations: Sequence[Annotations],
    rows: Mapping[str, LabelRow],
    skipped: Skipped,
) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """Item to the classes that it shows, and all classes: of the table, else the annotations, else the folders."""
    stated = {item: row.label for item, row in rows.items() if row.label is not None}
    categories = tuple(dict.fromkeys(name for each in annotations for name in each.categories))
    labels: dict[str, list[str]] = {}
    for item in items:
        if stated:
            found, lacking = [stated[item]] if item in stated else [], "image without a row in the table of labels"
        elif categories:
            objects = [one for each in annotations for one in each.objects.get(item, [])]
            found, lacking = [one.category for one in objects if one.category], "image without an object"
        else:
            found, lacking = [tree.folder(item)] if tree.folder(item) else [], "image outside of the classes' folders"
        if found:
            labels[item] = list(dict.fromkeys(found))
        else:
            skipped.add(lacking, item)
    if not labels and not stated and not categories:
        raise SalgenError(
            f"{tree.root}: nothing says of which class an image is; give --labels a table with file and label, or put "
            f"the images into a folder for each class. {skipped.sentence}".rstrip()
        )
    named = {name for of_image in labels.values() for name in of_image}
    return labels, categories if named <= set(categories) else tuple(in_order(named))


def _outlines_of(item: str, name: str, annotations: Sequence[Annotations]) -> list[list[Outline]]:
    """Each annotator's outlines of a class in an image: of its objects, or of all if no category is called so."""
    is_category = any(name in each.categories for each in annotations)
    marked = []
    for each in annotations:
        every = not (is_category and each.categories)
        marked.append([one.outline for one in each.objects.get(item, []) if every or one.category == name])
    return [outlines for outlines in marked if outlines]


def _largest_class(shown: Mapping[int, Sequence[Sequence[Outline]]], size: Size) -> int:
    """The class number of the largest object; `shown` has each annotator's outlines of each class."""
    return max(shown, key=lambda number: max((one.extent(size) for each in shown[number] for one in each), default=0.0))
