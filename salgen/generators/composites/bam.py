"""BAM: objects pasted on scenes, with labels of both."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import floor, sqrt
from pathlib import Path
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from salgen.errors import SalgenError
from salgen.generators.composites.libraries import Composite, Library, open_library
from salgen.generators.composites.pasting import Pixels, Window, paste
from salgen.generators.drawing.pictures import resize_rgb
from salgen.generators.interfaces import Context, Edit, Rendered, Scale
from salgen.generators.painted_base import Painted, check_edit
from salgen.parameters import param
from salgen.types import Float64

OBJECTS = ("backpack", "bird", "dog", "elephant", "kite", "pizza", "stop sign", "toilet", "truck", "zebra")
SCENES = (
    *("bamboo_forest", "bedroom", "bowling_alley", "bus_interior", "cockpit", "corn_field", "laundromat", "runway"),
    *("ski_slope", "track/outdoor"),
)
STAND_INS, OWN_COPY = "stand-ins", "own-copy"
OBJECT, SCENE, CORE = "object", "scene", "object_core"
OPAQUE = 128  # half of 255
SMALLEST = 4  # pixels of an object
KEPT = 256  # resized objects: more than a block has


@dataclass(frozen=True)
class Bam(Painted):
    """Objects pasted on scenes: what is the object, what is the scene, and which of them does a model use?

    Every image has two labels. Models of either label see the same pixels, so their maps can be contrasted (`mcs`,
    `mcr`). A map of the scene model should not rest on the object (`idr`). Within a block of images each object stands
    on each scene once, with one size and place. A scene is the same under all objects. The twin is the scene alone;
    `omit=("scene",)` gives the object alone, on black.

    The mask is the objects' alpha: what is black in an object is not transparent. A folder of your own as the source
    holds `coco`, `miniplaces` or both in their published layouts. COCO's objects are then cut out and pasted on
    MiniPlaces; what you have no copy of is drawn. Four of scikit-image's photographs can be named as scenes:
    `photograph/brick`, `grass`, `gravel` and `hubble_deep_field`. Pictures are crops of them, and no two splits share a
    part.

    With `common_in=i` objects stand on the first i scenes only, on all images of these, and the one task is the scene.
    The more scenes they stand on, the less a model can need them (relative contrast).

    References
    ----------
    Yang and Kim 2019, *Benchmarking attribution methods with relative feature importance*,
    doi:10.48550/arXiv.1907.09701.
    """

    name: ClassVar[str] = "bam"
    regions: ClassVar[tuple[str, ...]] = (OBJECT, CORE, SCENE)  # the object, its opaque part, and the scene
    default_source: ClassVar[str] = STAND_INS
    takes: ClassVar[str] = "PATH of a folder with coco, miniplaces or both"
    quick: ClassVar[Mapping[str, Any]] = {"image_size": (32, 32), "pictures": 10}
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale({"train": 2000, "val": 200, "test": 200}, {"pictures": 40}),
        "small": Scale({"train": 9000, "val": 500, "test": 1000}, {}),
        "full": Scale({"train": 90_000, "val": 10_000, "test": 10_000}, {"image_size": (128, 128), "pictures": 900}),
    }

    objects: tuple[str, ...] = param(OBJECTS, "classes of objects", distinct=2)
    scenes: tuple[str, ...] = param(SCENES, "classes of scenes", distinct=2)
    pictures: int = param(
        100, "pictures of each class for training; for each other split a tenth, at least ten", low=10
    )
    area: tuple[float, float] = param(
        (1 / 3, 1 / 2), "least and most of the image that a square object takes", low=0.01, high=1.0, rising=True
    )
    common_in: int | None = param(
        None, "number of first scenes with objects; by default all, and both have labels", low=0
    )

    def __post_init__(self) -> None:
        if self.scenes and self.common_in is not None and self.common_in > len(self.scenes):
            raise SalgenError(f"common_in = {self.common_in}: there are only {len(self.scenes)} scenes")
        if floor(min(self.image_size) * self._shares[1]) < SMALLEST:
            raise SalgenError(
                f"area = {self.area[0]:g},{self.area[1]:g}: objects of fewer than {SMALLEST} pixels show nothing"
            )

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """The object, and the scene; the scene alone where not every image has an object."""
        scene = {SCENE: self.scenes}
        return {OBJECT: self.objects, **scene} if self.common_in is None else scene

    @property
    def exact(self) -> bool:
        """True if image and twin are equal outside each task's mask: the scene's mask does not hold the object."""
        return self.common_in is None

    def open_source(self, source: str | None) -> Composite:
        """The libraries of objects and of scenes: drawn, or from a folder with copies of COCO and MiniPlaces."""
        wanted = self.image_size, self._longest, self.objects, self.scenes, self.pictures
        drawn = source in (None, STAND_INS)
        return open_library(STAND_INS, *wanted) if drawn else open_library(OWN_COPY, *wanted, Path(str(source)))

    def draw(self, context: Context) -> dict[str, Any]:
        """A combination of the block, with the pictures, the size and the place that belong to it."""
        kinds = len(self.objects), len(self.scenes)
        block, place = divmod(context.index, kinds[0] * kinds[1])
        turn, rank = divmod(place, kinds[0])
        thing = int(context.stream("objects", key=block).permutation(kinds[0])[rank])
        scene = int(context.stream("scenes", key=block).permutation(kinds[1])[(turn + rank) % kinds[1]])
        number = self._picture(context, OBJECT, thing, block)
        natural = context.material.objects.size(context.split, context.material.objects.classes[thing], number)
        height, width = self._size(context, block * kinds[0] + thing, *natural)
        row, column = self._place(context, block * kinds[0] + thing, height, width)
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
        """The same object on a scene of any kind; of the same kind where the scene is the class."""
        kind = parameters[SCENE]
        if self.common_in is None:
            turn, place = divmod(context.index, len(self.scenes))
            kind = int(context.stream("scenes", key=turn).permutation(len(self.scenes))[place])
        return {**parameters, **self._scene(context, kind, context.index)}

    def move(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same object elsewhere, on another scene."""
        row, column = self._place(context, context.index, parameters["height"], parameters["width"])
        return {**self.redraw(parameters, context), "row": row, "column": column}

    def features(self, parameters: Mapping[str, Any]) -> list[str]:
        """The object, where there is one."""
        return [OBJECT] if self._has_object(parameters) else []

    def scene(self, parameters: Mapping[str, Any], material: Composite) -> Float64:
        """The scene alone, float64 (H, W, 3) in [0, 1]."""
        return scene_of(parameters, material)

    def paint(self, canvas: Float64, parameters: Mapping[str, Any], material: Composite, edit: Edit) -> None:
        """Paste the object by its alpha."""
        check_edit(edit, (OBJECT, SCENE), {})
        if SCENE in edit.omit:
            canvas[:] = 0.0
        if OBJECT not in edit.omit and self._has_object(parameters):
            paste(canvas, _pasted(parameters, material), _window(parameters))

    def describe(self, image: NDArray[Any], parameters: Mapping[str, Any], material: Composite, edit: Edit) -> Rendered:
        """The image with both labels; the regions are where the object is, where it covers, and where it is not."""
        alpha = np.zeros(self.image_size, dtype=np.uint8)
        if OBJECT not in edit.omit and self._has_object(parameters):
            alpha[_window(parameters).slices] = _pasted(parameters, material)[..., 3]
        support = alpha > 0
        scene = ~support if SCENE not in edit.omit else np.zeros_like(support)
        return Rendered(image, self.labels(parameters), {OBJECT: support, CORE: alpha >= OPAQUE, SCENE: scene})

    def labels(self, parameters: Mapping[str, Any]) -> dict[str, int]:
        """Both classes, as they were drawn."""
        return {task: parameters[task] for task in self.tasks}

    def target(self, task: str) -> str:
        """The object's pixels for its class; for the scene's all others."""
        return task

    def cluster(self, parameters: Mapping[str, Any], material: Composite) -> str:
        """The picture of the object, which stands on every scene."""
        return f"{parameters[OBJECT]}-{parameters['object_number']}"

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """Size and centre of the object, if there is one, and the pictures' numbers."""
        values = {name: parameters[name] for name in ("height", "width", "object_number", "scene_number")}
        for name, length in (("row", "height"), ("column", "width")):
            values[name] = parameters[name] + (parameters[length] - 1) / 2
        has_object = self._has_object(parameters)
        return {name: value if has_object or name == "scene_number" else None for name, value in values.items()}

    def _place(self, context: Context, key: int, height: int, width: int) -> tuple[int, int]:
        """Row and column of the first pixel of a window that lies within the image."""
        space, lengths = context.stream("place", key=key), (height, width)
        row, column = (
            int(space.integers(side - length + 1, 1)[0]) for side, length in zip(self.image_size, lengths, strict=True)
        )
        return row, column

    def _has_object(self, parameters: Mapping[str, Any]) -> bool:
        """True if the image has an object."""
        return self.common_in is None or parameters[SCENE] < self.common_in

    @property
    def _longest(self) -> int:
        """The most pixels that an object's longer side takes."""
        return max(floor(max(self.image_size) * self._shares[1]), SMALLEST)

    @property
    def _shares(self) -> tuple[float, float]:
        """Least and most of a side that an object's longer relative side takes."""
        return sqrt(self.area[0]), sqrt(self.area[1])

    def _picture(self, context: Context, kind: str, number: int, block: int) -> int:
        """The number of a class's picture for a block; all are shown before one is shown again."""
        library = context.material.objects if kind == OBJECT else context.material.scenes
        count = library.count(context.split, library.classes[number])
        return int(context.stream(f"{kind} pictures", key=number).permutation(count)[block % count])

    def _scene(self, context: Context, number: int, block: int) -> dict[str, Any]:
        return {SCENE: number, "scene_number": self._picture(context, SCENE, number, block), "split": context.split}

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


def scene_of(parameters: Mapping[str, Any], material: Composite) -> Float64:
    """The picture of a scene, float64 (H, W, 3) in [0, 1]."""
    name, number = material.scenes.classes[parameters[SCENE]], parameters["scene_number"]
    return material.scenes.load(parameters["split"], name, number).astype(np.float64) / 255.0


def _window(parameters: Mapping[str, Any]) -> Window:
    """The window in which the object is pasted."""
    return Window(*(parameters[name] for name in ("row", "column", "height", "width")))


def _pasted(parameters: Mapping[str, Any], material: Composite) -> Pixels:
    """The object at its size, uint8 (h, w, 4); it stands on all scenes of a block, and is therefore kept."""
    picture = material.objects, parameters["split"], parameters[OBJECT], parameters["object_number"]
    return _resized(*picture, parameters["height"], parameters["width"])


@lru_cache(maxsize=KEPT)
def _resized(library: Library, split: str, thing: int, number: int, height: int, width: int) -> Pixels:
    return resize_rgb(library.load(split, library.classes[thing], number), (height, width))
