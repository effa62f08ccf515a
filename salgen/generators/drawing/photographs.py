"""The photographs that scikit-image and scikit-learn ship, as a source of backgrounds.

They are few, so each belongs to one split: no photograph that a model is trained on appears in a test.
"""

import importlib.util
from functools import lru_cache
from pathlib import Path
from salgen.errors import SalgenError
from salgen.generators.drawing.pictures import Pixels, read_rgb
from salgen.sources import Files

PHOTOGRAPHS = "photographs"
SKIMAGE, SKLEARN = ("skimage", "data"), ("sklearn", "datasets/images")
SHIPPED = {
    "astronaut.png": (SKIMAGE, "test"),
    "brick.png": (SKIMAGE, "train"),
    "chelsea.png": (SKIMAGE, "train"),
    "coffee.png": (SKIMAGE, "train"),
    "grass.png": (SKIMAGE, "val"),
    "gravel.png": (SKIMAGE, "test"),
    "hubble_deep_field.jpg": (SKIMAGE, "train"),
    "motorcycle_left.png": (SKIMAGE, "train"),
    "rocket.jpg": (SKIMAGE, "val"),
    "china.jpg": (SKLEARN, "train"),
    "flower.jpg": (SKLEARN, "test"),
}
LICENSE = (
    "astronaut and hubble_deep_field (NASA), rocket (SpaceX) are in the public domain; brick, grass and gravel (CC0 "
    "Textures), chelsea (Stefan van der Walt) and coffee (Rachel Michetti) are CC0, as scikit-image's documentation "
    "says; motorcycle_left is of the Middlebury 2014 stereo benchmark (Scharstein et al.), which scikit-image ships; "
    "china (danielbuechele) and flower (vultilion) are CC BY 2.0, by way of scikit-learn."
)


class Photographs(Files):
    """Photographs; `load` returns a read-only uint8 array (H, W, 3)."""

    def load(self, name: str) -> Pixels:
        """One photograph, read once in a process: samples cut their backgrounds from the same few."""
        return _read(self.files[name])


def open_photographs(generator: str, source: str | None, importer: str) -> Photographs:
    """The shipped photographs, for a generator that takes no other source; `importer` reads a user's own copy."""
    if source not in (None, "", PHOTOGRAPHS):
        raise SalgenError(f"source = {source!r}: {generator} takes {PHOTOGRAPHS}; your own copy is read by {importer}")
    return photographs()


@lru_cache(maxsize=1)
def photographs() -> Photographs:
    """The shipped photographs, divided among train, val and test."""
    files = {name: _folder(*place) / name for name, (place, _) in SHIPPED.items()}
    splits = {name: split for name, (_, split) in SHIPPED.items()}
    counts = {split: list(splits.values()).count(split) for split in ("train", "val", "test")}
    notes = (
        f"Backgrounds are cut from {len(files)} photographs that scikit-image and scikit-learn ship: "
        + ", ".join(f"{count} for {split}" for split, count in counts.items())
        + ". No photograph is in two splits; splits of other names use those of test. So few photographs repeat often."
    )
    return Photographs(PHOTOGRAPHS, LICENSE, notes, files, splits, redistributable=True)


@lru_cache(maxsize=len(SHIPPED))
def _read(file: Path) -> Pixels:
    pixels = read_rgb(file)
    pixels.setflags(write=False)
    return pixels


def of_split(source: Photographs, split: str) -> list[str]:
    """The names of the photographs that a split uses."""
    owner = split if split in source.splits.values() else "test"
    return [name for name in source.names() if source.splits[name] == owner]


def _folder(package: str, inside: str) -> Path:
    spec = importlib.util.find_spec(package)  # located, not imported: importing takes seconds
    assert spec, f"{package} comes with salgen"
    return Path(str(spec.origin)).parent / inside
