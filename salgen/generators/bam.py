"""BAM: objects pasted on scenes, with labels of both.

References
----------
Yang and Kim 2019, *Benchmarking attribution methods with relative feature importance*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, sqrt
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from salgen.errors import SalgenError
from salgen.generators.declarations import Context, Edit, Rendered, Scale
from salgen.generators.libraries import Composite
from salgen.generators.painted import Painted, check_edit
from salgen.parameters import param
from salgen.registry import LIBRARIES
from salgen.types import Float64

NAMES = ("bam",)

OBJECTS = ("backpack", "bird", "dog", "elephant", "kite", "pizza", "stop sign", "toilet", "truck", "zebra")
SCENES = (
    *("bamboo_forest", "bedroom", "bowling_alley", "bus_interior", "cockpit", "corn_field", "laundromat", "runway"),
    *("ski_slope", "track/outdoor"),
)
STAND_INS, OWN_COPY = "stand-ins", "own-copy"
OBJECT, SCENE, CORE = "object", "scene", "object_core"
OPAQUE = 128  # of 255: half
SMALLEST = 4  # pixels of an object


@dataclass(frozen=True)
class Bam(Painted):
    """Objects pasted on scenes: what is the object, what is the scene, and which of them does a model use?

    Every image has two labels. A model that learns one of them sees the same pixels as a model that learns the
    other, so their maps can be contrasted (MCS, MCR), and a map of the scene model should not rest on the object
    (IDR). Within a block of images each object stands on each scene once; an object with its size and place is the
    same on all scenes of the block, and a scene is the same under all objects. The twin is the scene alone, and
    `omit=("scene",)` gives the object alone, on black.

    The objects' mask is their alpha: what is black in an object is not transparent. With a folder of your own that
    holds `coco`, `miniplaces` or both in their published layouts as the source, objects are cut out of COCO's
    photographs and pasted on MiniPlaces; what you have no copy of is drawn.
    """

    name: ClassVar[str] = "bam"
    version: ClassVar[str] = "1"
    family: ClassVar[str] = "bam"
    default_source: ClassVar[str] = STAND_INS
    takes: ClassVar[str] = "PATH of a folder with coco, miniplaces or both"
    quick: ClassVar[Mapping[str, Any]] = {"image_size": (32, 32), "pictures": 10}
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale({"train": 2000, "val": 200, "test": 200}, {"pictures": 40}),
        "small": Scale({"train": 9000, "val": 500, "test": 1000}, {}),
        "full": Scale({"train": 90_000, "val": 10_000, "test": 10_000}, {"image_size": (128, 128), "pictures": 900}),
    }

    objects: tuple[str, ...] = param(OBJECTS, "classes of objects")
    scenes: tuple[str, ...] = param(SCENES, "classes of scenes")
    pictures: int = param(
        100, "pictures of each class for training; for each other split a tenth, at least ten", low=10
    )
    area: tuple[float, float] = param(
        (1 / 3, 1 / 2), "least and most of the image that a square object takes", low=0.01, high=1.0
    )

    def __post_init__(self) -> None:
        for what, names in (("objects", self.objects), ("scenes", self.scenes)):
            if len(names) < 2 or len(set(names)) < len(names):
                raise SalgenError(f"{what} = {','.join(names)}: give two classes or more, each once")
        if self.area[0] > self.area[1]:
            raise SalgenError(f"area = {self.area[0]:g},{self.area[1]:g}: the least must not be above the most")
        if floor(min(self.image_size) * self._shares[1]) < SMALLEST:
            raise SalgenError(
                f"area = {self.area[0]:g},{self.area[1]:g}: objects of less than {SMALLEST} pixels show nothing"
            )

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """The object, and the scene."""
        return {OBJECT: self.objects, SCENE: self.scenes}

    def open_source(self, given: str | None) -> Composite:
        """The libraries of objects and of scenes: drawn, or from a folder with copies of COCO and MiniPlaces.

        Raises
        ------
        SalgenError
            If the folder holds neither, a copy is not complete, or a class is unknown.
        """
        longest = max(floor(max(self.image_size) * self._shares[1]), SMALLEST)
        wanted = self.image_size, longest, self.objects, self.scenes, self.pictures
        drawn = given in (None, STAND_INS)
        library = LIBRARIES.load(STAND_INS)(*wanted) if drawn else LIBRARIES.load(OWN_COPY)(Path(str(given)), *wanted)
        found: Composite = library.open()
        return found

    def prepare(self, source: Composite) -> Composite:
        """The source itself, from which pictures are read as they are needed."""
        return source

    def draw(self, context: Context) -> dict[str, Any]:
        """A combination of the block, with the pictures, the size and the place that belong to it."""
        kinds = len(self.objects), len(self.scenes)
        block, place = divmod(context.index, kinds[0] * kinds[1])
        turn, rank = divmod(place, kinds[0])
        thing = int(context.stream("objects", key=block).permutation(kinds[0])[rank])
        scene = int(context.stream("scenes", key=block).permutation(kinds[1])[(turn + rank) % kinds[1]])
        number, pixels = self._picture(context, OBJECT, thing, block)
        height, width = self._size(context, block * kinds[0] + thing, pixels.shape[0], pixels.shape[1])
        space = context.stream("place", key=block * kinds[0] + thing)
        row, column = (
            int(space.integers(side - length + 1, 1)[0])
            for side, length in zip(self.image_size, (height, width), strict=True)
        )
        return {
            OBJECT: thing,
            "object_number": number,
            "height": height,
            "width": width,
            "row": row,
            "column": column,
            **self._scene(context, scene, block),
        }

    def redraw(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same object on another picture of the same scene."""
        return {**parameters, **self._scene(context, parameters[SCENE], context.index)}

    def features(self, parameters: Mapping[str, Any]) -> list[str]:
        """The object."""
        return [OBJECT]

    def scene(self, parameters: Mapping[str, Any], material: Composite) -> Float64:
        """The scene alone, float64 (H, W, 3) in [0, 1]."""
        name, number = material.scenes.classes[parameters[SCENE]], parameters["scene_number"]
        return material.scenes.load(parameters["split"], name, number).astype(np.float64) / 255.0

    def paint(self, canvas: Float64, parameters: Mapping[str, Any], material: Composite, edit: Edit) -> None:
        """Paste the object by its alpha."""
        check_edit(edit, (OBJECT, SCENE), {})
        if SCENE in edit.omit:
            canvas[:] = 0.0
        if OBJECT not in edit.omit:
            pasted, (rows, columns) = _pasted(parameters, material), _frame(parameters)
            alpha = pasted[..., 3:] / 255.0
            canvas[rows, columns] += alpha * (pasted[..., :3] / 255.0 - canvas[rows, columns])

    def describe(self, image: NDArray[Any], parameters: Mapping[str, Any], material: Composite, edit: Edit) -> Rendered:
        """The image with both labels; the regions are where the object is, where it covers, and where it is not."""
        alpha = np.zeros(self.image_size, dtype=np.uint8)
        if OBJECT not in edit.omit:
            alpha[_frame(parameters)] = _pasted(parameters, material)[..., 3]
        labels = {task: parameters[task] for task in self.tasks}
        there = alpha > 0
        scene = ~there if SCENE not in edit.omit else np.zeros_like(there)
        return Rendered(image, labels, {OBJECT: there, CORE: alpha >= OPAQUE, SCENE: scene})

    def counterfactual(self, parameters: Mapping[str, Any]) -> Edit:
        """The scene without the object."""
        return Edit(omit=(OBJECT,))

    def target(self, task: str) -> str:
        """The object's pixels for its class; for the scene's all others."""
        return task

    def region_names(self) -> list[str]:
        """The object, its opaque part, and the scene."""
        return [OBJECT, CORE, SCENE]

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """Size and centre of the object, and the pictures' numbers."""
        names = ("height", "width", "object_number", "scene_number")
        centre = {
            name: parameters[name] + (parameters[length] - 1) / 2
            for name, length in (("row", "height"), ("column", "width"))
        }
        return {**{name: parameters[name] for name in names}, **centre}

    @property
    def _shares(self) -> tuple[float, float]:
        """Least and most of a side that an object's longer relative side takes."""
        return sqrt(self.area[0]), sqrt(self.area[1])

    def _picture(self, context: Context, kind: str, number: int, block: int) -> tuple[int, NDArray[np.uint8]]:
        """The number of a class's picture for a block, and the picture; all are shown before one is shown again."""
        library = context.material.objects if kind == OBJECT else context.material.scenes
        name = library.classes[number]
        count = library.count(context.split, name)
        order = context.stream(f"{kind} pictures", key=number).permutation(count)
        chosen = int(order[block % count])
        return chosen, library.load(context.split, name, chosen)

    def _scene(self, context: Context, number: int, block: int) -> dict[str, Any]:
        chosen, _ = self._picture(context, SCENE, number, block)
        return {SCENE: number, "scene_number": chosen, "split": context.split}

    def _size(self, context: Context, group: int, height: int, width: int) -> tuple[int, int]:
        """(h, w) of an object: its longer side, relative to the image's, is drawn, and its proportions are kept."""
        relative = max(height / self.image_size[0], width / self.image_size[1])
        side = min(self.image_size)
        low, high = (floor(side * share) for share in self._shares)
        drawn = low + int(context.stream("size", key=group).integers(max(high - low, 1), 1)[0])
        scale = drawn / side / relative
        return (
            min(max(round(height * scale), 1), self.image_size[0]),
            min(max(round(width * scale), 1), self.image_size[1]),
        )


def _frame(parameters: Mapping[str, Any]) -> tuple[slice, slice]:
    """Where the object is pasted."""
    row, column = parameters["row"], parameters["column"]
    return slice(row, row + parameters["height"]), slice(column, column + parameters["width"])


def _pasted(parameters: Mapping[str, Any], material: Composite) -> NDArray[np.uint8]:
    """The object at its size, uint8 (h, w, 4); colours are averaged where they are seen, and nowhere else."""
    name = material.objects.classes[parameters[OBJECT]]
    pixels = material.objects.load(parameters["split"], name, parameters["object_number"])
    size = (parameters["width"], parameters["height"])
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BILINEAR))
