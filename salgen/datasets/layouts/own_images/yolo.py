"""YOLO's annotations: a text for each image, and a file of the classes."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any
import numpy as np
from salgen.datasets.layouts.detection_datasets.object_boxes import Size
from salgen.datasets.layouts.own_images import annotations
from salgen.datasets.layouts.own_images.image_tree import ImageTree, Skipped, pictures_below, visible_files
from salgen.datasets.layouts.own_images.outlines import Outline
from salgen.datasets.picture_libraries.picture_sampling import UnusableError
from salgen.errors import SalgenError, readable
from salgen.import_paths import needed

SLACK = 0.01  # as Ultralytics allows
MOST_CLASSES = 10_000  # most class numbers where no file names them
NAME_FILES = ("data.yaml", "data.yml", "dataset.yaml", "classes.txt", "obj.names")  # files that name the classes


def read_yolo(path: Path, tree: ImageTree, skipped: Skipped) -> annotations.Annotations:
    """YOLO's text files, a line for each object: class and box (centre and size) or polygon, as shares of the image.

    `path` is the folder of texts, or the file of classes such as data.yaml. With that file, texts lie beside the
    images, or where `labels` replaces `images` in their path.
    """
    places = (path, *path.absolute().parents[:2])  # the file of classes may be above the texts
    near = [file for place in places for name in NAME_FILES if (file := place / name).is_file()]
    listings = near if path.is_dir() else [path]
    read = [_yolo_names(each) for each in listings]
    for each, (names, _) in zip(listings, read, strict=True):
        if names != read[0][0]:
            raise SalgenError(f"{listings[0]} and {each} name other classes: give the right one, or correct the other")
    names = read[0][0] if read else {}
    key_points = max((count for _, count in read if count is not None), default=None)
    texts = _texts_in(path, tree) if path.is_dir() else _texts_beside(path, tree)
    found: dict[str, list[tuple[int, Outline]]] = defaultdict(list)
    lines: Counter[tuple[int, bool]] = Counter()  # by length, and whether they may be boxes with key points
    for item, text in texts.items():
        for place, line in _lines(text) if item in tree.sizes else ():
            try:
                number, shares = _shares(line, names, key_points)
                lines[len(shares), _box_holds_points(shares)] += 1
                found[item].append((number, _outline(shares, tree.sizes[item])))
            except UnusableError as error:
                skipped.add(str(error), place)
    if key_points is None:
        _refuse_two_readings(lines, path)
    most = max((number for objects in found.values() for number, _ in objects), default=-1)
    names = names or {number: str(number) for number in range(most + 1)}
    named = {item: [annotations.Object(names[n], outline) for n, outline in objects] for item, objects in found.items()}
    files = {f"labels/{item}": text for item, text in texts.items()}
    files |= {f"names{number or ''}": each for number, each in enumerate(listings)}
    return annotations.Annotations(named, tuple(names[number] for number in sorted(names)), files)


def holds_texts(folder: Path) -> bool:
    """Whether a folder is YOLO's: a README.txt beside mask pictures does not make it so."""
    return not pictures_below(folder) and any(path.suffix.lower() == ".txt" for path in visible_files(folder))


def _shares(line: str, names: Mapping[int, str], key_points: int | None) -> tuple[int, Sequence[float]]:
    """Class number of a line, and its box or polygon; `key_points` numbers, None if not stated, follow a box."""
    number, *shares = annotations.numbers_of(line.split())
    if number not in (names or range(MOST_CLASSES)):
        raise UnusableError(annotations.UNKNOWN)
    if key_points and len(shares) == 4 + key_points:
        shares = shares[:4]
    if len(shares) == 5:
        raise UnusableError("box with a sixth number, which may be a confidence, a track or an angle")
    if len(shares) == 6 and line.split()[-1].isdecimal():
        raise UnusableError("line that is a triangle, or a box with its confidence and track")
    if key_points is None and len(shares) % 3 == 1 and any(shares[6::3]) and set(shares[6::3]) <= {0, 1, 2}:
        raise UnusableError("line that may be a box with key points: data.yaml states no kpt_shape")
    if len(shares) < 4 or len(shares) % 2 or (key_points and len(shares) > 4):
        raise UnusableError("line that is neither a box nor a polygon of YOLO")
    if not all(-SLACK <= share <= 1 + SLACK for share in shares):
        raise UnusableError("numbers that are no shares of the image, from 0 to 1")
    return int(number), shares


def _outline(shares: Sequence[float], size: Size) -> Outline:
    corners = array("d", (share * size[1 - place % 2] for place, share in enumerate(shares)))
    if len(shares) > 4:
        return annotations.polygons_outline([corners], size)
    x, y, width, height = corners
    return annotations.box_outline((x - width / 2, y - height / 2, x + width / 2, y + height / 2), size)


def _box_holds_points(shares: Sequence[float]) -> bool:
    """Whether a line may be a box in the image and key points, which are in it or, as (0, 0), not labelled."""
    centre, half = np.array(shares[:2]), np.array(shares[2:4]) / 2
    points = np.reshape(shares[4:], (-1, 2))
    fits = half <= np.minimum(centre, 1 - centre) + SLACK
    held = (np.abs(points - centre) <= half + SLACK) | ~points.any(axis=1, keepdims=True)
    return bool(fits.all() and held.all())


def _refuse_two_readings(lines: Counter[tuple[int, bool]], path: Path) -> None:
    """Refuse lines of one length that are polygons, and most of them also boxes with key points."""
    lengths = {length for length, _ in lines}
    if len(lengths) == 1 and (length := lengths.pop()) > 4 and 2 * lines[length, True] > lines.total():
        count = length // 2 - 2
        raise SalgenError(
            f"{path}: each line has {length} numbers, which may be a polygon of {count + 2} points or a box with "
            f"{count} key points: write into data.yaml  kpt_shape: [0, 2]  for polygons, or  kpt_shape: [{count}, 2]"
        )


def _texts_in(folder: Path, tree: ImageTree) -> dict[str, Path]:
    """Item to text file."""
    files = [path for path in visible_files(folder) if path.suffix.lower() == ".txt" and path.name not in NAME_FILES]
    items = {file: annotations.image_of(file, folder, tree) for file in files}
    annotations.refuse_two_names(items, folder)
    return {item: file for file, item in items.items()}


def _texts_beside(listing: Path, tree: ImageTree) -> dict[str, Path]:
    """Item to text file, where there is one."""
    texts = {}
    for item, path in tree.files.items():
        parts = list(path.absolute().with_suffix(".txt").parts)
        if "images" in parts:
            parts[len(parts) - 1 - parts[::-1].index("images")] = "labels"
        texts[item] = Path(*parts)
    there = {item: path for item, path in texts.items() if path.is_file()}
    if not there:
        raise SalgenError(f"{listing}: no image has a text of YOLO; expected files such as {min(texts.values())}")
    return there


def _yolo_names(path: Path) -> tuple[dict[int, str], int | None]:
    """Number to name of the classes, as YAML writes them (``no`` is a name), and the count of key points' numbers."""
    yaml = needed("yaml", f"{path}: reading YOLO's classes", "yolo")
    with readable(f"{path}: cannot be read as YOLO's classes", "; expected  names: [cat, dog], or a line each"):
        text = path.read_text(encoding="utf-8-sig")
        root: dict[str, Any] = {}
        listed: Any = [line.strip() for line in text.rstrip().splitlines()]
        if path.suffix.lower() in (".yaml", ".yml"):
            root = yaml.load(text, yaml.BaseLoader)  # all values are texts
            listed = root.get("names", [])
        pairs = list(listed.items() if isinstance(listed, dict) else enumerate(listed))
        names = {int(number): name.strip() for number, name in pairs}
        count = int(root.get("nc", len(names)))
        key_points = prod(map(int, root["kpt_shape"])) if "kpt_shape" in root else None
        if not names:
            raise ValueError("it names none")
        if len(set(names.values())) < len(pairs) or "" in names.values():
            raise ValueError("a class has no name, or two have one name or number")
        if count not in (len(names), max(names) + 1):
            raise ValueError(f"nc is {count}, but there are {len(names)} names")
    return names, key_points


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """The lines of a text that are not empty, each with its place, which the notes name: without the folder."""
    with readable(f"{path}: cannot be read as text"):
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    return ((f"{path.name} line {number}", line) for number, line in enumerate(lines, start=1) if line.strip())
