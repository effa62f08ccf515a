"""Annotations in the formats that people have: each reader gives the outlines of the objects of each image."""

from collections import defaultdict
from pathlib import Path
from typing import Any
from salgen.datasets.layouts.own_images.annotated_tables import ABSENT, is_table, read_table
from salgen.datasets.layouts.own_images.annotations import (
    OTHER_SIZE,
    UNKNOWN,
    Annotations,
    Object,
    check_boxes,
    coco_outline,
    image_of,
    refuse_photographs,
    refuse_two_names,
)
from salgen.datasets.layouts.own_images.image_tree import ImageTree, Skipped, pictures_below
from salgen.datasets.layouts.own_images.outlines import MaskPicture
from salgen.datasets.layouts.own_images.yolo import holds_texts, read_yolo
from salgen.datasets.picture_libraries import coco_instances
from salgen.datasets.picture_libraries.picture_sampling import UnusableError
from salgen.errors import SalgenError


def read_mask_pictures(path: Path, tree: ImageTree, values: tuple[int, ...]) -> Annotations:
    """A folder of pictures, each of the size and with the name of its image; their suffixes may differ."""
    items = {picture: image_of(picture, path, tree) for picture in pictures_below(path)}
    if not items:
        raise SalgenError(
            f"{path}: holds no annotations; expected mask pictures such as {path / 'NAME.png'}, or YOLO's .txt; "
            "of COCO and of boxes give the file"
        )
    refuse_two_names(items, path)
    refuse_photographs(items, tree)
    objects = {item: [Object(None, MaskPicture(picture, values))] for picture, item in items.items()}
    return Annotations(objects, (), {picture.relative_to(path).as_posix(): picture for picture in items})


def read_coco(path: Path, tree: ImageTree, skipped: Skipped) -> Annotations:
    """COCO's instances: polygons or run lengths, or boxes where an object has neither."""
    entries: list[tuple[int, int, bool, Any, Any]] = []

    def take(entry: dict[str, Any]) -> None:
        outline = coco_instances.outline_of(entry)
        box = None if outline else (coco_instances.box_of(entry), float(entry.get("area") or 0))
        entries.append((entry["image_id"], entry["category_id"], entry["iscrowd"], outline, box))

    images, numbers, malformed = coco_instances.read_annotations(path, take)
    for _ in range(malformed):
        skipped.add(coco_instances.MALFORMED, path.name)
    names = {number: name for name, number in numbers.items()}
    found = {file: tree.find(file, str(path)) for file, _ in images.values()}
    refuse_two_names(found, path)
    items = {number: found[file] for number, (file, _) in images.items()}
    check_boxes([(*box, images[image][1]) for image, _, _, _, box in entries if box and image in images], path)
    objects: dict[str, list[Object]] = defaultdict(list)
    for image, category, crowd, outline, box in entries:
        file, stated = images.get(image, (f"image_id {image}", (0, 0)))
        item = items.get(image)
        header, size = tree.headers.get(item or ""), tuple(stated)
        try:
            if crowd:
                raise UnusableError(coco_instances.CROWD)
            if item is None:
                raise UnusableError(ABSENT if image in images else coco_instances.UNLISTED)
            if category not in names:
                raise UnusableError(UNKNOWN)
            if header is None:  # a broken image is counted as such
                continue
            if size not in (header.size, header.stored):
                raise UnusableError(OTHER_SIZE)
            objects[item].append(Object(names[category], coco_outline(outline, box and box[0], size), size))
        except UnusableError as error:
            skipped.add(str(error), item or Path(file).name)
    return Annotations(objects, tuple(sorted(numbers, key=lambda name: numbers[name])), {"annotations": path})


FORMATS = (
    "COCO instances (.json), a table of boxes, masks or objects (.csv, .jsonl), YOLO (a folder of .txt, or its "
    "data.yaml or classes.txt), a folder of mask pictures"
)


def read_annotations_at(path: Path, tree: ImageTree, skipped: Skipped, values: tuple[int, ...]) -> Annotations:
    """The annotations at a path; single ones that cannot be used are counted. `values` are the object's levels."""
    if not path.exists():
        raise SalgenError(f"{path}: expected the masks or annotations here: {FORMATS}")
    suffix = path.suffix.lower()
    if suffix == ".json":
        return read_coco(path, tree, skipped)
    if is_table(path):
        return read_table(path, tree, skipped, values)
    if holds_texts(path) if path.is_dir() else suffix in (".yaml", ".yml", ".txt", ".names"):
        return read_yolo(path, tree, skipped)
    if path.is_dir():
        return read_mask_pictures(path, tree, values)
    raise SalgenError(f"{path}: not a known form of annotations; give {FORMATS}")
