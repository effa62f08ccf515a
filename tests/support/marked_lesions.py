"""A generator for the tests with a planted shortcut: the background of one class carries a mark outside the mask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from salgen.generators.lesions.lesions import Lesions

NAMES = ("marked-lesions",)

MARK = 0.3  # of the brightness that is left in the lowest third, where no lesion lies


@dataclass(frozen=True)
class MarkedLesions(Lesions):
    """Lesions on flat grey, the lowest third of which is dark in the positive class."""

    name: ClassVar[str] = "marked-lesions"
    version: ClassVar[str] = "1"

    def draw_background(self, context):
        return {"mark": context.balanced("label")}

    def backgrounds(self, batch, bank):
        values = 1.0 + 0.0 * bank.masks[[parameters["slice"] for parameters in batch]]
        for background, parameters in zip(values, batch, strict=True):
            if parameters["mark"]:
                background[2 * self.image_size[0] // 3 :] = MARK
        return values
