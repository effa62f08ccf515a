"""A generator with a planted shortcut: a mark outside the lesions agrees with the label more often than by chance."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar
from unittest.mock import patch
import numpy as np
from salgen.generators.drawing.splines import smooth_field
from salgen.generators.interfaces import Context
from salgen.generators.lesions.brains import BrainBank
from salgen.generators.lesions.lesions import Lesions
from salgen.parameters import param
from salgen.registry import GENERATORS, Entry
from salgen.seeding import Stream
from salgen.types import Float64

NAMES = ("marked-lesions",)

KINDS = ("corner", "brightness", "frame", "texture", "object", "slice")
BRIGHTEST = 0.8  # of the background, where a mark may be brighter
CELL = 4  # pixels over which the grey varies


@dataclass(frozen=True)
class MarkedLesions(Lesions):
    """Lesions on a smooth grey, and a mark elsewhere in the image that tells of the label.

    In redraws the mark is balanced, whatever the label. It is a bright corner of 2x2 pixels, a darker brain, a frame, a
    fine texture, or a bright disc in the lowest third, where no lesion lies. The mark ``slice`` is that disc too, but
    belongs to the slice: it is drawn with the places of the lesions, and redraws keep it.
    """

    name: ClassVar[str] = "marked-lesions"
    version: ClassVar[str] = "1"

    kind: str = param("frame", "what the mark is", choices=KINDS)
    strength: float = param(1.0, "how far it tells of the label: always at 1, not at all at 0", low=0.0, high=1.0)
    variation: float = param(0.2, "largest relative change of the grey from place to place", low=0.0, high=0.99)

    def draw_background(self, context: Context) -> dict[str, Any]:
        mark = {} if self.kind == "slice" else self._draw_mark(context)
        return {"field": context.stream("smooth").key(), **mark}

    def backgrounds(self, batch: Sequence[Mapping[str, Any]], bank: BrainBank) -> Float64:
        cells = (self.image_size[0] // CELL, self.image_size[1] // CELL)
        streams = [Stream.from_key(parameters["field"], "smooth") for parameters in batch]
        return np.stack([1.0 + self.variation * smooth_field(stream, self.image_size, cells) for stream in streams])

    def _draw_places(self, context: Context, count: int) -> dict[str, Any]:
        mark = self._draw_mark(context) if self.kind == "slice" else {}
        return {**super()._draw_places(context, count), **mark}

    def _draw_mark(self, context: Context) -> dict[str, int]:
        """The label, or now and then its opposite; in redraws the label of their own sequence."""
        label = context.balanced("label")
        differs = context.stream("differs").uniform(1)[0] < (1.0 - self.strength) / 2.0
        return {"mark": 1 - label if differs and context.redraws_of is None else label}

    def _scaled_backgrounds(self, batch: Sequence[Mapping[str, Any]], bank: BrainBank) -> Float64:
        values = BRIGHTEST * super()._scaled_backgrounds(batch, bank)
        for background, parameters in zip(values, batch, strict=True):
            if parameters["mark"]:
                self._add_mark(background)
        return values

    def _add_mark(self, background: Float64) -> None:
        rows, columns = np.indices(self.image_size)
        height, width = self.image_size
        if self.kind == "corner":
            background[:2, :2] = 1.0
        elif self.kind == "brightness":
            background *= 0.8
        elif self.kind == "frame":
            background[(rows % (height - 1) == 0) | (columns % (width - 1) == 0)] = 0.6
        elif self.kind == "texture":
            background *= 1.0 + 0.1 * (-1.0) ** (rows + columns)
        else:
            background[np.hypot(rows - 0.75 * height, columns - 0.5 * width) < 0.08 * height] = 1.0


@contextmanager
def registered() -> Iterator[None]:
    """The generator is there under its name, as an entry point of a third party would have it."""
    (name,) = NAMES
    entry = Entry(name, __name__, "Lesions with a shortcut.")
    with patch.dict(GENERATORS.entries, {name: entry}):
        yield
