"""The annotations of a copy as arrays: read once, and then kept in the user's cache."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
import numpy as np
from numpy.typing import NDArray
from salgen.cache import cached
from salgen.datasets.layouts.detection_datasets.object_boxes import Box, Size, area
from salgen.datasets.layouts.imported import SPLITS
from salgen.datasets.picture_libraries.picture_sampling import listed
from salgen.errors import SalgenError

VERSION = "2"  # changes whenever the same files give another table
COLUMNS = (
    *("items", "splits", "sizes", "starts", "classes", "boxes", "pair_starts", "pair_classes", "run_starts", "runs"),
    *("reasons", "counts"),
)


@dataclass(frozen=True)
class Annotated:
    """An image with its objects."""

    item: str  # its name in the copy
    split: str
    size: Size  # (H, W)
    objects: Sequence[tuple[int, Box]]  # class number and box of each
    runs: Mapping[int, bytes] = field(default_factory=dict)  # class number to its mask's run lengths, if there are such


Read = Callable[[Counter[str]], Iterable[Annotated]]


@dataclass(frozen=True, eq=False)
class ObjectTable:
    """The images of a copy that show an object, with what they show."""

    # ``items``, ``splits`` (place in :data:`SPLITS`) and ``sizes`` by image; ``classes`` and ``boxes`` by object,
    # those of image i from ``starts[i]`` to ``starts[i + 1]``; ``pair_classes`` by image and class that it shows,
    # rising, from ``pair_starts[i]`` on; ``runs``, the bytes of each pair's run lengths from ``run_starts[pair]`` on
    arrays: Mapping[str, NDArray[Any]]

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Item to the image's number."""
        return {item: number for number, item in enumerate(self.arrays["items"].tolist())}

    @property
    def skipped(self) -> Mapping[str, int]:
        """Number of images and annotations passed over, by reason."""
        return dict(zip(self.arrays["reasons"].tolist(), self.arrays["counts"].tolist(), strict=True))

    def images(self, split: str) -> NDArray[np.int64]:
        """The numbers of a split's images, rising."""
        return np.flatnonzero(self.arrays["splits"] == SPLITS.index(split))

    def item(self, image: int) -> str:
        """An image's name in the copy."""
        return str(self.arrays["items"][image])

    def size(self, image: int) -> Size:
        """An image's (H, W)."""
        height, width = self.arrays["sizes"][image].tolist()
        return height, width

    def present(self, image: int) -> tuple[int, ...]:
        """The classes that an image shows, rising."""
        return tuple(self.arrays["pair_classes"][self._rows("pair_starts", image)].tolist())

    def boxes(self, image: int, number: int | None = None) -> list[Box]:
        """The boxes of an image's objects, or of those of one class."""
        boxes = self.arrays["boxes"][self._rows("starts", image)]
        return [tuple(box) for box in (boxes if number is None else boxes[self.classes(image) == number]).tolist()]

    def classes(self, image: int) -> NDArray[np.int64]:
        """The class of each of an image's objects, int64 (objects,)."""
        return self.arrays["classes"][self._rows("starts", image)]

    def main_class(self, image: int) -> int:
        """The class of the object with the largest box; of equal ones the first that is annotated."""
        areas = [area(box, self.size(image)) for box in self.boxes(image)]
        return int(self.classes(image)[int(np.argmax(areas))])

    def runs(self, image: int, number: int) -> bytes:
        """The run lengths of a class's mask."""
        pair = int(self.arrays["pair_starts"][image]) + self.present(image).index(number)
        return self.arrays["runs"][self._rows("run_starts", pair)].tobytes()

    def _rows(self, starts: str, number: int) -> slice:
        """The rows of an image or a pair, by the name of the array that says where they start."""
        return slice(*self.arrays[starts][number : number + 2].tolist())


def table_of(kind: str, depends_on: Any, read: Read) -> ObjectTable:
    """The table of a copy, from the cache by what it depends on (JSON values), else of the images that are read."""
    table = ObjectTable(cached(kind, [VERSION, depends_on], COLUMNS, lambda: _arrays(read)))
    if not len(table.arrays["items"]):
        raise SalgenError(f"no image of the copy can be used. {listed(table.skipped)}".strip())
    return table


def _arrays(read: Read) -> dict[str, NDArray[Any]]:
    skipped: Counter[str] = Counter()
    items, splits, sizes, counts, pairs, runs = [], [], [], [], [], []
    classes, boxes = array("q"), array("d")  # a copy may have a million objects
    for image in read(skipped):
        if not image.objects:
            skipped["image without an object"] += 1
            continue
        items.append(image.item)
        splits.append(SPLITS.index(image.split))
        sizes.append(image.size)
        counts.append(len(image.objects))
        for number, box in image.objects:
            classes.append(number)
            boxes.extend(box)
        pairs.append(sorted({number for number, _ in image.objects}))
        runs += [image.runs.get(number, b"") for number in pairs[-1]]
    reasons = sorted(skipped)
    return {
        "items": np.array(items, dtype=np.str_),
        "splits": np.array(splits, dtype=np.int8),
        "sizes": np.array(sizes, dtype=np.int64).reshape(-1, 2),
        "starts": _starts(counts),
        "classes": np.array(classes, dtype=np.int64),
        "boxes": np.array(boxes, dtype=np.float64).reshape(-1, 4),
        "pair_starts": _starts(list(map(len, pairs))),
        "pair_classes": np.array([number for each in pairs for number in each], dtype=np.int64),
        "run_starts": _starts(list(map(len, runs))),
        "runs": np.frombuffer(b"".join(runs), dtype=np.uint8),
        "reasons": np.array(reasons, dtype=np.str_),
        "counts": np.array([skipped[why] for why in reasons], dtype=np.int64),
    }


def _starts(counts: list[int]) -> NDArray[np.int64]:
    """The offset of each of several runs of rows, and the end of the last one."""
    return np.cumsum([0, *counts], dtype=np.int64)
