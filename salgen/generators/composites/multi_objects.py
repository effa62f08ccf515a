"""Several objects in an image: each class that it shows is a sample of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import floor, sqrt
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from salgen.errors import SalgenError
from salgen.generators.composites.bam import CORE, OBJECT, OBJECTS, OPAQUE, SCENES, SMALLEST, STAND_INS, scene_of
from salgen.generators.composites.libraries import Composite, open_library
from salgen.generators.composites.pasting import Pixels, Window, filled_box, paste, placed
from salgen.generators.drawing.pictures import resize_rgb
from salgen.generators.interfaces import Context, Edit, Rendered, Scale
from salgen.generators.painted_base import Painted, check_edit
from salgen.parameters import param
from salgen.types import Float64

BOXES, OTHERS = "boxes", "others"
ONCE = ("train", "val")  # splits that hold each image once
LONGEST = 0.9  # largest side of a window, as a share of the image's
NEXT = (0.4, 0.9)  # least and largest share of the largest window that each other one takes


@dataclass(frozen=True)
class MultiObjects(Painted):
    """Up to four objects on a scene, of which an image shows one class or several: where is what makes it this one?

    The unit of evaluation is an image with a class that it shows. In `test` an image with three classes is three
    samples, one after the other, of the same pixels with another label and mask. Its number is the factor `image`. In
    `train` and `val` each image is there once, labelled with the class of its largest object. `object_present` holds
    all classes that it shows, for a model of several labels. Every class is shown equally often, and the scene says
    nothing about the classes.

    The mask (`object`) is the support of all objects of the class, of which there may be two. `boxes` is the union of
    their tight boxes and `object_core` where alpha is a half or more. `others` is the support of all other objects. The
    twin lacks the objects of the class. Objects lie in random places and cover no other; one for which there is no
    place is made smaller.

    A stand-in for voc-2012 and coco-2017; with `objects_per_image=1,1` and twenty `objects` for object-xai (Object-XAI
    of Saliency-Bench). A number from these drawings is not a number on any of them.
    """

    name: ClassVar[str] = "multi-objects"
    # the objects of the class, their opaque part, their boxes, and the other objects
    regions: ClassVar[tuple[str, ...]] = (OBJECT, CORE, BOXES, OTHERS)
    default_source: ClassVar[str] = STAND_INS
    quick: ClassVar[Mapping[str, Any]] = {"image_size": (32, 32), "pictures": 10}
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale({"train": 3000, "val": 200, "test": 360}, {"objects_per_image": (1, 3)}),
        "small": Scale({"train": 8000, "val": 500, "test": 960}, {}),
        "full": Scale({"train": 40_000, "val": 4000, "test": 16_000}, {"image_size": (224, 224), "pictures": 500}),
    }

    objects: tuple[str, ...] = param(OBJECTS, "classes of objects", distinct=2)
    scenes: tuple[str, ...] = param(SCENES, "kinds of scenes, which no label is of", distinct=1)
    objects_per_image: tuple[int, int] = param((1, 4), "least and most objects of an image", low=1, high=8, rising=True)
    area: tuple[float, float] = param(
        (0.25, 0.6),
        "least and most of the image that the largest object's window takes, times the objects",
        low=0.01,
        high=0.8,
        rising=True,
    )
    pictures: int = param(
        100, "pictures of each class for training; for each other split a tenth, at least ten", low=10
    )

    def __post_init__(self) -> None:
        most = self.objects_per_image[1]
        if most > len(self.objects):
            raise SalgenError(
                f"objects_per_image = {most}: objects has {len(self.objects)} classes; give at least as many"
            )
        if min(self.image_size) * sqrt(self.area[0] / most) < SMALLEST:
            raise SalgenError(
                f"area = {self.area[0]:g}: windows of fewer than {SMALLEST} pixels show nothing; give a larger area"
            )

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """The class of objects that a sample is about."""
        return {OBJECT: self.objects}

    def open_source(self, source: str | None) -> Composite:
        """The libraries of drawn objects and scenes."""
        if source not in (None, STAND_INS):
            raise SalgenError(
                f"source = {source!r}: {self.name} is drawn, give none; voc-2012 and coco-2017 are imported"
            )
        longest = max(floor(max(self.image_size) * LONGEST), SMALLEST)
        return open_library(STAND_INS, self.image_size, longest, self.objects, self.scenes, self.pictures)

    def draw(self, context: Context) -> dict[str, Any]:
        """The class that the sample is about, and the image: the same for all samples of one image."""
        image, place = (context.index, 0) if context.split in ONCE else self._rounds.pair(context, context.index)
        classes, objects = self._rounds.content(context, image)
        return {
            OBJECT: classes[place],
            "image": image,
            **self._objects(context, image, classes, objects),
            **self._scene(context, image),
        }

    def redraw(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same objects on another scene."""
        return {**parameters, **self._scene(context, context.index)}

    def move(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same objects at other places on another scene."""
        sizes = [(height, width) for *_, height, width in parameters["windows"]]
        windows = placed(sizes, self.image_size, context.stream("places"))
        return {**self.redraw(parameters, context), "windows": [_corners(window) for window in windows]}

    def features(self, parameters: Mapping[str, Any]) -> list[str]:
        """The objects of the class, and all others where there are any."""
        return [OBJECT, OTHERS] if set(parameters["classes"]) != {parameters[OBJECT]} else [OBJECT]

    def scene(self, parameters: Mapping[str, Any], material: Composite) -> Float64:
        """The scene alone, float64 (H, W, 3) in [0, 1]."""
        return scene_of(parameters, material)

    def paint(self, canvas: Float64, parameters: Mapping[str, Any], material: Composite, edit: Edit) -> None:
        """Paste the objects by their alpha; they do not overlap, so their order does not matter."""
        check_edit(edit, (OBJECT, OTHERS), {})
        for _, window, picture in _pasted(parameters, material, edit):
            paste(canvas, picture, window)

    def describe(self, image: NDArray[Any], parameters: Mapping[str, Any], material: Composite, edit: Edit) -> Rendered:
        """The image with its class and all that it shows; the regions are of the objects that are painted."""
        alpha, others_alpha = np.zeros((2, *self.image_size), dtype=np.uint8)
        boxes = np.zeros(self.image_size, dtype=bool)
        present = set()
        for number, window, picture in _pasted(parameters, material, edit):
            present.add(number)
            if number == parameters[OBJECT]:
                alpha[window.slices] = picture[..., 3]
                boxes[window.slices] = filled_box(picture[..., 3] > 0)
            else:
                others_alpha[window.slices] = picture[..., 3]
        regions = {OBJECT: alpha > 0, CORE: alpha >= OPAQUE, BOXES: boxes, OTHERS: others_alpha > 0}
        return Rendered(image, {OBJECT: parameters[OBJECT]}, regions, present={OBJECT: tuple(sorted(present))})

    def cluster(self, parameters: Mapping[str, Any], material: Composite) -> int:
        """The image, which counts once for each class that it shows."""
        return int(parameters["image"])

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """The image's number, what it shows, and size and centre of the largest object of the class."""
        classes = parameters["classes"]
        first = classes.index(parameters[OBJECT])
        row, column, height, width = parameters["windows"][first]
        return {
            "image": parameters["image"],
            "objects": classes.count(parameters[OBJECT]),
            "other_objects": len(classes) - classes.count(parameters[OBJECT]),
            "classes": len(set(classes)),
            "height": height,
            "width": width,
            "row": row + (height - 1) / 2,
            "column": column + (width - 1) / 2,
            "scene": parameters["scene"],
        }

    @cached_property
    def _rounds(self) -> ClassRounds:
        return ClassRounds.of(len(self.objects), self.objects_per_image)

    def _objects(self, context: Context, image: int, shown: tuple[int, ...], count: int) -> dict[str, Any]:
        """Class, picture and window of each object; the largest is first, and of the first class that is shown."""
        more = context.stream("twice", key=image).integers(len(shown), count)
        classes = [*shown, *(shown[number] for number in more[len(shown) :])]
        library, numbers = context.material.objects, context.stream("pictures", key=image)
        names = [library.classes[number] for number in classes]
        pictures = [int(numbers.integers(library.count(context.split, name), 1)[0]) for name in names]
        sizes = [library.size(context.split, *each) for each in zip(names, pictures, strict=True)]
        windows = placed(self._sizes(context, image, sizes), self.image_size, context.stream("places", key=image))
        return {"classes": classes, "pictures": pictures, "windows": [_corners(window) for window in windows]}

    def _sizes(self, context: Context, image: int, pictures: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """(h, w) of each object's window, falling in area, with its picture's proportions."""
        drawn = context.stream("sizes", key=image).uniform(len(pictures))
        least, most = (share / len(pictures) for share in self.area)
        first = self._window(pictures[0], (least + (most - least) * drawn[0]) * np.prod(self.image_size))
        shares = np.sort(NEXT[0] + (NEXT[1] - NEXT[0]) * drawn[1:])[::-1]
        smaller = zip(pictures[1:], shares.tolist(), strict=True)
        return [first, *(self._window(picture, share * first[0] * first[1]) for picture, share in smaller)]

    def _window(self, picture: tuple[int, int], area: float) -> tuple[int, int]:
        """(h, w) of a window of about an area in pixels and no more, and no longer than most of the image."""
        height, width = picture
        longest = min(LONGEST * side / length for side, length in zip(self.image_size, picture, strict=True))
        scale = min(sqrt(area / (height * width)), longest)
        return max(floor(height * scale), 1), max(floor(width * scale), 1)

    def _scene(self, context: Context, key: int) -> dict[str, Any]:
        """A scene: every kind once in as many images as there are kinds."""
        block, place = divmod(key, len(self.scenes))
        kind = int(context.stream("scenes", key=block).permutation(len(self.scenes))[place])
        count = context.material.scenes.count(context.split, self.scenes[kind])
        number = int(context.stream("scene pictures", key=key).integers(count, 1)[0])
        return {"scene": kind, "scene_number": number, "split": context.split}


def _corners(window: Window) -> list[int]:
    return [window.row, window.column, window.height, window.width]


def _pasted(parameters: Mapping[str, Any], material: Composite, edit: Edit) -> Iterator[tuple[int, Window, Pixels]]:
    """Class, window and picture, uint8 (h, w, 4), of each object that an edit leaves."""
    objects = zip(parameters["classes"], parameters["pictures"], parameters["windows"], strict=True)
    for number, picture, window in objects:
        if (OBJECT if number == parameters[OBJECT] else OTHERS) not in edit.omit:
            name, place = material.objects.classes[number], Window(*window)
            pixels = material.objects.load(parameters["split"], name, picture)
            yield number, place, resize_rgb(pixels, (place.height, place.width))


@dataclass(frozen=True)
class ClassRounds:
    """Blocks of images, each made of rounds of as many images as there are classes.

    The images of a round show equally many objects and classes, and in each place (largest object, second class, ...)
    every class once. So a block shows every class equally often, and holds a fixed number of pairs of an image
    and a class that it shows. The rounds are interleaved: every run of as many images as there are classes has every
    class once as that of the largest object.
    """

    classes: int  # number of classes
    counts: tuple[tuple[int, int], ...]  # for each round the number of objects and of classes in its images

    @classmethod
    def of(cls, classes: int, objects: tuple[int, int]) -> ClassRounds:
        """Rounds of each number of objects, with a class for each of them and, from two on, with two of one class."""
        numbers = range(objects[0], objects[1] + 1)
        return cls(classes, tuple((count, kinds) for count in numbers for kinds in sorted({count, max(count - 1, 1)})))

    @property
    def images(self) -> int:
        """Images of a block."""
        return self.classes * len(self.counts)

    @property
    def pairs(self) -> int:
        """Pairs of an image and a class that it shows, of a block."""
        return self.classes * sum(kinds for _, kinds in self.counts)

    def content(self, context: Context, image: int) -> tuple[tuple[int, ...], int]:
        """The classes of an image by its number, that of its largest object first, and its number of objects."""
        block, place = divmod(image, self.images)
        turn, place = divmod(place, self.classes)
        rank = int(self._ranks(context, block, turn)[place])
        number = (turn + rank) % len(self.counts)
        objects, kinds = self.counts[number]
        offsets = context.stream("others", key=block * len(self.counts) + number).permutation(self.classes - 1)
        order = context.stream("classes", key=block).permutation(self.classes)
        apart = np.append(0, 1 + offsets[: kinds - 1])
        return tuple(order[(rank + apart) % self.classes].tolist()), objects

    def pair(self, context: Context, index: int) -> tuple[int, int]:
        """The image's number, and the place of the class among those that it shows, of the pair with a number."""
        block, place = divmod(index, self.pairs)
        kinds, turns = np.array([kinds for _, kinds in self.counts]), range(len(self.counts))
        ends = np.cumsum([kinds[(turn + self._ranks(context, block, turn)) % len(kinds)] for turn in turns])
        image = int(np.searchsorted(ends, place, side="right"))
        return block * self.images + image, place - int(ends[image - 1] if image else 0)

    def _ranks(self, context: Context, block: int, turn: int) -> NDArray[np.int64]:
        """The order of a turn's images, int64 (classes,)."""
        return context.stream("turns", key=block * len(self.counts) + turn).permutation(self.classes)
