"""A small importer for the tests: pictures `PATH/<split>/<class>-<name>.png`, each with two acceptable masks."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
import numpy as np
from PIL import Image
from salgen.datasets.layouts.imported import Imported, Items, refuse_edit
from salgen.errors import SalgenError
from salgen.generators.drawing.pictures import read_rgb, resize_rgb
from salgen.generators.interfaces import Edit, Rendered, Scale
from salgen.parameters import param
from salgen.sources import OWN_COPY, Files

NAMES = ("tiles",)


@dataclass(frozen=True)
class Tiles(Imported):
    """Coloured tiles."""

    name: ClassVar[str] = "tiles"
    version: ClassVar[str] = "1"
    family: ClassVar[str] = "tiles"
    tasks: ClassVar[Mapping[str, tuple[str, ...]]] = {"label": ("dark", "bright")}
    scales: ClassVar[Mapping[str, Scale]] = {"small": Scale({}, {}), "demo": Scale({"train": 4}, {})}
    quick: ClassVar[Mapping[str, Any]] = {}

    image_size: tuple[int, int] = param((16, 16), "height and width")

    def open_source(self, source: str | None) -> Files:
        paths = sorted(Path(source or "").glob("*/*.png"))
        if not paths:
            raise SalgenError(f"{source}: expected {source}/<split>/<class>-<name>.png")
        names = {f"{path.parent.name}/{path.name}": path for path in paths}
        return Files(OWN_COPY, "CC0-1.0", "Tiles.", names, {name: name.partition("/")[0] for name in names})

    def prepare(self, source: Files) -> Items:
        splits: dict[str, list[str]] = {}
        for name in source.names():
            splits.setdefault(source.splits[name], []).append(name)
        return Items(source, splits)

    def render(self, parameters: Mapping[str, Any], material: Items, edit: Edit) -> Rendered:
        refuse_edit(edit)
        item = parameters["item"]
        image = resize_rgb(read_rgb(material.source.files[item]), self.image_size)
        left, top, all_but = (np.zeros(self.image_size, dtype=bool) for _ in range(3))
        left[:, :8], top[:8], all_but[1:] = True, True, True
        alternatives = (top, all_but) if "bright" in item else ()
        return Rendered(image, {"label": int("bright" in item)}, {"left": left, "top": top}, alternatives)

    def target(self, task: str) -> str:
        return "left"

    def region_names(self) -> list[str]:
        return ["left", "top"]


def write_tiles(folder: Path, counts: Mapping[str, int]) -> Path:
    """A copy of tiles with so many pictures of each split, every other one bright."""
    random = np.random.default_rng(0)
    for split, count in counts.items():
        (folder / split).mkdir(parents=True)
        for number in range(count):
            low, high, name = ((0, 100, "dark"), (150, 250, "bright"))[number % 2]
            pixels = random.integers(low, high, (20, 24, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(folder / split / f"{name}-{number}.png")
    return folder
