"""Annotations in the formats that people have: each reader gives the outlines of the objects of each image.

The rows of a table mark a box each, or an image's mask file or all its objects, as Hugging Face has them.
"""

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from salgen.datasets.layouts.detection_datasets.object_boxes import Size
from salgen.datasets.layouts.own_images.annotations import (
    OTHER_SIZE,
    UNKNOWN,
    Annotations,
    Object,
    box_outline,
    check_boxes,
    coco_outline,
    image_of,
    in_order,
    numbers_of,
    refuse_photographs,
    refuse_two_names,
)
from salgen.datasets.layouts.own_images.image_tree import ImageTree, Skipped, pictures_below
from salgen.datasets.layouts.own_images.label_table import (
    FILE,
    LABEL,
    MASK,
    OBJECTS,
    Row,
    column,
    image_of_row,
    read_rows,
)
from salgen.datasets.layouts.own_images.outlines import MaskPicture
from salgen.datasets.layouts.own_images.upright_pictures import Header
from salgen.datasets.layouts.own_images.yolo import holds_texts, read_yolo
from salgen.datasets.picture_libraries import coco_instances
from salgen.datasets.picture_libraries.coco_instances import CROWD, outline_of
from salgen.datasets.picture_libraries.picture_sampling import UnusableError
from salgen.errors import SalgenError, readable


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


ABSENT = "annotation of an image that is not in the folder"
CORNERS = (  # the columns of a box: left, top, right, bottom
    *(("x0", "y0", "x1", "y1"), ("x1", "y1", "x2", "y2"), ("xmin", "ymin", "xmax", "ymax")),
    *(("x_min", "y_min", "x_max", "y_max"), ("left", "top", "right", "bottom")),
)
SIZES = (("height", "width"), ("image_height", "image_width"), ("img_height", "img_width"))
CATEGORIES = ("categories", "category", "labels", "label", "category_id")
EDGES = "edges"
Mark = tuple[str | None, Path | Mapping[str, Any]]  # category; mask picture, or COCO's keys or EDGES of a box


def is_table(path: Path) -> bool:
    """Whether a path is called as a table."""
    return path.suffix.lower() in (".csv", ".jsonl")


def masks_named_in(path: Path) -> list[Path]:
    """The mask pictures that a table names; a SalgenError if one is not there."""
    return [picture for row in read_rows(path) if (picture := _mask_of(row, path))]


def read_table(path: Path, tree: ImageTree, skipped: Skipped, values: tuple[int, ...]) -> Annotations:
    """A table with a row for each box, or one for each image that names its mask picture or lists its objects."""
    objects: dict[str, list[Object]] = defaultdict(list)
    files, pictures, named = {"annotations": path}, {}, set()
    boxes: list[tuple[Any, Any, Size]] = []
    items: dict[str, str | None] = {}
    for row in read_rows(path):
        place, columns = row
        item = items[column(row, FILE)] = image_of_row(row, path, tree)
        for category, mark in _marks(row, path):
            named.add(category)
            try:
                if item is None:
                    raise UnusableError(ABSENT)
                if not isinstance(mark, Path) and mark.get("iscrowd"):
                    raise UnusableError(CROWD)
                if isinstance(mark, Path):
                    pictures[files.setdefault(f"mask-{len(files)}", mark)] = item
                    objects[item].append(Object(category, MaskPicture(mark, values)))
                elif header := tree.headers.get(item):  # a broken image is counted as such
                    outline = outline_of(mark)
                    box: Any = None if outline else numbers_of(mark.get(EDGES) or mark.get("bbox"), 4)
                    stated = _stated_size(columns, outline, box, header)
                    size = stated or tree.sizes[item]
                    if box:
                        boxes.append((box, None if EDGES in mark else mark.get("area", 0), size))
                    shape = box_outline(box, size) if EDGES in mark else coco_outline(outline, box, size)
                    objects[item].append(Object(category, shape, stated))
            except UnusableError as error:
                skipped.add(str(error), place.removeprefix(f"{path.parent}/"))
    refuse_two_names(items, path)
    check_boxes(boxes, path)
    refuse_photographs(pictures, tree)
    used = {each.category for of_image in objects.values() for each in of_image} or named
    return Annotations(objects, tuple(in_order(label for label in used if label is not None)), files)


def _stated_size(columns: Mapping[str, Any], outline: Any, box: Any, header: Header) -> Size | None:
    """(H, W) of an image, upright or stored, as its row or run lengths state it; None if they do not."""
    sizes = [tuple(columns.get(name) or None for name in names) for names in SIZES]
    if isinstance(outline, dict):
        sizes.append(tuple(outline.get("size") or (None,)))
    stated = next((numbers_of(each, 2) for each in sizes if None not in each), None)
    if known := next((size for size in (header.size, header.stored) if size == stated), None):
        return known
    if stated and (box is None or stated != (box[3] - box[1], box[2] - box[0])):
        raise UnusableError(OTHER_SIZE)
    return None


def _marks(row: Row, path: Path) -> list[Mark]:
    _, columns = row
    corners = [names for names in CORNERS if set(names) <= columns.keys()]
    if len(corners) == 1 and all(columns[name] in (None, "") for name in corners[0]):
        return []  # an image without an object
    label = column(row, LABEL) if set(LABEL) & columns.keys() else None
    if set(MASK) & columns.keys():
        picture = _mask_of(row, path)
        return [(label, picture)] if picture else []
    if OBJECTS in columns:
        return _objects(row)
    if len(corners) != 1 or {"x3", "y3"} & columns.keys():
        expected = ", or ".join(",".join(names) for names in CORNERS)
        expected += f", one of these alone, an image {MASK[0]} or {OBJECTS}"
        raise SalgenError(f"{path}: has the columns {', '.join(columns)}; a box needs {expected}")
    return [(label, {EDGES: [columns[name] for name in corners[0]]})]


def _mask_of(row: Row, path: Path) -> Path | None:
    place, columns = row
    name = next((str(columns[name]).strip().replace("\\", "/") for name in MASK if columns.get(name)), "")
    picture = path.parent / name
    if name and (Path(name).is_absolute() or ".." in Path(name).parts):
        raise SalgenError(f"{place}: mask {name} is not in the table's folder: move the table above the masks")
    if name and not picture.is_file():
        raise SalgenError(f"{place}: {picture} is no file: name the image's mask, as seen from the table's folder")
    return picture if name else None


def _objects(row: Row) -> list[Mark]:
    """Of ``{"bbox": [[x, y, width, height], ...], "categories": [...]}``, or of a list with a dict for each object."""
    place, columns = row
    form = "{'bbox': [[x, y, width, height], ...], 'categories': [...]}"
    with readable(f"{place}: column {OBJECTS!r} must hold {form}"):
        held = columns[OBJECTS] or []
        held = json.loads(held) if isinstance(held, str) else held
        if isinstance(held, dict):
            held = [dict(zip(held, values, strict=True)) for values in zip(*held.values(), strict=True)]
        marks: list[Mark] = []
        for each in held:
            category = next((str(each[name]) for name in CATEGORIES if name in each), None)
            mark = {"segmentation": each.get("segmentation"), "iscrowd": float(each.get("iscrowd") or 0)}
            box = {} if mark["segmentation"] else {"bbox": each["bbox"], "area": float(each.get("area") or 0)}
            marks.append((category, mark | box))
    return marks
