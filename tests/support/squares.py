"""A small generator for the tests: noise, with a bright soft square in the positive class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
import numpy as np
from salgen.errors import SalgenError
from salgen.generators.generator import to_levels
from salgen.generators.interfaces import Context, Edit, Rendered, Scale
from salgen.parameters import param
from salgen.seeding import Stream
from salgen.sources import Nothing

NAMES = ("squares",)


NOTHING = Nothing("nothing", "", "CC0-1.0", "There is no outside material.")


@dataclass(frozen=True)
class Squares:
    """A bright square on coloured noise."""

    name: ClassVar[str] = "squares"
    version: ClassVar[str] = "1"
    family: ClassVar[str] = "squares"
    default_source: ClassVar[str] = ""
    tasks: ClassVar[Mapping[str, tuple[str, ...]]] = {"label": ("empty", "square"), "corner": ("left", "right")}
    valid_region: ClassVar[str | None] = "frame"
    scales: ClassVar[Mapping[str, Scale]] = {
        "small": Scale({"train": 12, "val": 4, "test": 6}, {}),
        "demo": Scale({"train": 4, "test": 2}, {"side": 3}),
    }
    quick: ClassVar[Mapping[str, Any]] = {}

    image_size: tuple[int, int] = param((12, 16), "height and width", low=1)
    bit_depth: int = param(8, "bits per pixel", choices=(8, 16))
    channels: int = param(1, "1 or 3", choices=(1, 3))
    side: int = param(4, "side of the square", low=1)
    leaky: bool = param(False, "whether the square darkens the rest, as a flawed paper might")
    fail_at: int = param(-1, "index at which drawing fails")

    @property
    def exact(self) -> bool:
        return not self.leaky

    def open_source(self, source: str | None) -> Nothing:
        if source not in (None, "", "nothing"):
            raise SalgenError(f"{source!r} is not a source of squares")
        return NOTHING

    def prepare(self, source: Nothing) -> int:
        if self.side > min(self.image_size):
            raise SalgenError(f"side = {self.side}: no place for the square")
        return 7

    def draw(self, context: Context) -> dict[str, Any]:
        if context.index == self.fail_at:
            raise SalgenError(f"no place for the square in sample {context.index}")
        height, width = self.image_size
        row, column = (
            int(context.stream(axis).integers(extent - self.side + 1, 1)[0])
            for axis, extent in (("row", height), ("column", width))
        )
        return {
            "label": context.balanced("label"),
            "row": row,
            "column": column,
            "noise": context.stream("noise").key(),
        }

    def render(self, parameters: Mapping[str, Any], material: int, edit: Edit) -> Rendered:
        height, width = self.image_size
        shape = (self.channels, height, width)
        noise = Stream.from_key(parameters["noise"], "noise").uniform(self.channels * height * width).reshape(shape)
        mask = np.zeros((height, width), dtype=bool)
        if parameters["label"]:
            row, column = parameters["row"], parameters["column"]
            mask[row : row + self.side, column : column + self.side] = True
        values = 0.2 + 0.3 * noise
        if "square" not in edit.omit:
            values = np.where(mask, values + 0.4, values * (0.5 if self.leaky and mask.any() else 1.0))
        image = to_levels(np.moveaxis(values, 0, -1), self.bit_depth)
        labels = {"label": parameters["label"], "corner": int(parameters["column"] * 2 >= width)}
        frame = np.ones_like(mask)
        frame[0, 0] = False
        return Rendered(image, labels, {"square": mask, "frame": frame})

    def render_pairs(
        self, batch: Sequence[Mapping[str, Any]], material: int, twins: bool
    ) -> list[tuple[Rendered, np.ndarray[Any, Any] | None]]:
        return [
            (
                self.render(parameters, material, Edit()),
                self.render(parameters, material, Edit(("square",))).image if twins and parameters["label"] else None,
            )
            for parameters in batch
        ]

    def counterfactual(self, parameters: Mapping[str, Any]) -> Edit | None:
        return Edit(omit=("square",)) if parameters["label"] else None

    def target(self, task: str) -> str:
        return {"label": "square", "corner": "frame"}[task]

    def region_names(self) -> list[str]:
        return ["square", "frame"]

    def cluster(self, parameters: Mapping[str, Any], material: int) -> None:
        return None

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        present = bool(parameters["label"])
        return {"row": parameters["row"] if present else None, "column": parameters["column"] if present else None}
