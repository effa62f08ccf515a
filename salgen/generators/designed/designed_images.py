"""Base of generators whose images have an exact attribution by a designed network."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
import numpy as np
from salgen.errors import SalgenError
from salgen.generators.interfaces import Scale
from salgen.generators.painted_base import Drawn

NEUTRAL = 16  # a grey level that no feature of a designed image has


@dataclass(frozen=True)
class DesignedImages(Drawn):
    """Base of images that a network with weights in closed form is made for.

    A subclass has an `attribution`, see :class:`~salgen.generators.interfaces.Attributed`. There is nothing to
    train: splits `train` and `val` are there for patterns and as in other data sets.
    """

    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale({"train": 200, "val": 50, "test": 100}, {}),
        "small": Scale({"train": 400, "val": 100, "test": 400}, {}),
        "full": Scale({"train": 2000, "val": 400, "test": 2000}, {}),
    }

    def _check_divides(self, name: str, side: int) -> None:
        if any(extent % side for extent in self.image_size):
            height, width = self.image_size
            raise SalgenError(f"{self.name}: {name} = {side} must divide the image, which is {height}x{width}")


def enlarged(cells: np.ndarray[Any, Any], side: int) -> np.ndarray[Any, Any]:
    """Each cell of an array (rows, columns, ...) as `side` x `side` pixels."""
    return np.asarray(cells.repeat(side, axis=0).repeat(side, axis=1))
