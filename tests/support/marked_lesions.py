"""A generator for the tests with a planted shortcut: the background of one class carries a mark outside the mask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from salgen.generators.lesions.lesions import Lesions
from salgen.registry import GENERATORS, Entry

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


@pytest.fixture(autouse=True, scope="module")
def registered():
    """Register the generator for a module's tests, as an entry point of a third party would."""
    with pytest.MonkeyPatch.context() as patch:
        entry = Entry("marked-lesions", __name__, "Lesions with a shortcut.")
        patch.setitem(vars(GENERATORS), "entries", {**GENERATORS.entries, "marked-lesions": entry})
        yield
