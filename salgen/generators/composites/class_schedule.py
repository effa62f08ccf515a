"""The schedule of classes that images show together: all equally often, and each image's without the others'."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from salgen.generators.interfaces import Context


@dataclass(frozen=True)
class ImageContent:
    """The classes and the number of objects in an image."""

    classes: tuple[int, ...]  # numbers of its classes, which differ; the first is that of its largest object
    objects: int  # number of objects, at least one of each class


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

    def content(self, context: Context, image: int) -> ImageContent:
        """The classes of an image of the context's split, by its number."""
        block, place = divmod(image, self.images)
        turn, place = divmod(place, self.classes)
        rank = int(self._ranks(context, block, turn)[place])
        number = (turn + rank) % len(self.counts)
        objects, kinds = self.counts[number]
        offsets = context.stream("others", key=block * len(self.counts) + number).permutation(self.classes - 1)
        order = context.stream("classes", key=block).permutation(self.classes)
        apart = np.append(0, 1 + offsets[: kinds - 1])
        return ImageContent(tuple(order[(rank + apart) % self.classes].tolist()), objects)

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
