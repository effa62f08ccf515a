"""Pasting: an object of 80x80 pixels with alpha on a scene of 128x128, with its mask."""

from dataclasses import dataclass
from typing import Any
import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from benchmarks.timing import Row, medians_us
from salgen.generators.composites.bam import Bam
from salgen.generators.composites.libraries import Composite
from salgen.generators.interfaces import Edit

SIZE, NATURAL, PASTED, CORNER = (128, 128), (110, 110), (80, 80), (20, 30)
KINDS = 10  # of objects and of scenes: each object is pasted on each scene, as in a block of `bam`
BAM = Bam(image_size=SIZE)
Pixels = NDArray[np.uint8]


@dataclass(eq=False)
class Pictures:
    """A library of one picture of each class."""

    pictures: list[Pixels]

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(map(str, range(len(self.pictures))))

    def load(self, split: str, name: str, number: int) -> Pixels:
        return self.pictures[int(name)]


def rows() -> list[Row]:
    """Every comparison of pasting."""
    scenes, things = _pictures()
    source = _source(scenes, things)
    work = {
        "Pillow: resize, alpha_composite, mask": lambda: [by_pillow(s, t) for s in scenes for t in things],
        "cv2: resize, paste in float32, mask": lambda: [by_cv2(s, t) for s in scenes for t in things],
        "salgen": lambda: [by_salgen(source, s, t) for s in range(KINDS) for t in range(KINDS)],
    }
    times = {name: took / KINDS**2 for name, took in medians_us(work, 15).items()}
    ours = times.pop("salgen")
    step = f"object of 80x80 on a scene of 128x128 ({1e6 / ours:,.0f} images per CPU-second)"
    return [Row(step, peer, took, ours, "≥ 1" if "Pillow" in peer else "") for peer, took in times.items()]


def by_salgen(source: Composite, scene: int, thing: int) -> Pixels:
    """As a sample of `bam` is rendered: the image; three regions and the labels come along."""
    kinds = {"object": thing, "object_number": 0, "scene": scene, "scene_number": 0, "split": "train"}
    place = {"height": PASTED[0], "width": PASTED[1], "row": CORNER[0], "column": CORNER[1]}
    return BAM.render({**kinds, **place}, source, Edit()).image


def by_pillow(scene: Pixels, thing: Pixels) -> Image.Image:
    """The image; the three regions come along."""
    small = Image.fromarray(thing).resize(PASTED[::-1], Image.Resampling.BILINEAR)
    canvas = Image.fromarray(scene).convert("RGBA")
    canvas.alpha_composite(small, CORNER[::-1])
    alpha = Image.new("L", SIZE[::-1])
    alpha.paste(small.getchannel("A"), CORNER[::-1])
    opaque = np.asarray(alpha)
    _regions(opaque)
    return canvas.convert("RGB")


def by_cv2(scene: Pixels, thing: Pixels) -> Pixels:
    """The image; the three regions come along. Its resizing neither widens its filter nor weighs colours by alpha."""
    small = cv2.resize(thing, PASTED[::-1], interpolation=cv2.INTER_LINEAR)
    canvas, opaque = scene.copy(), np.zeros(SIZE, dtype=np.uint8)
    place = tuple(slice(first, first + length) for first, length in zip(CORNER, PASTED, strict=True))
    weight = cv2.merge([small[..., 3]] * 3).astype(np.float32) / 255
    under = canvas[place].astype(np.float32)
    canvas[place] = cv2.add(under, cv2.multiply(weight, cv2.subtract(small[..., :3].astype(np.float32), under))).round()
    opaque[place] = small[..., 3]
    _regions(opaque)
    return canvas


def _regions(alpha: Pixels) -> tuple[Any, ...]:
    there = alpha > 0
    return there, alpha >= 128, ~there


def agreement() -> int:
    """The largest difference of a level between what salgen and what Pillow pastes."""
    scenes, things = _pictures()
    source, pairs = _source(scenes, things), [(s, t) for s in range(KINDS) for t in range(KINDS)]
    ours = np.stack([by_salgen(source, *pair) for pair in pairs]).astype(int)
    theirs = np.stack([np.asarray(by_pillow(scenes[s], things[t])) for s, t in pairs])
    return int(np.abs(ours - theirs).max())


def _source(scenes: list[Pixels], things: list[Pixels]) -> Composite:
    libraries: Any = {"objects": Pictures(things), "scenes": Pictures(scenes)}
    return Composite("benchmark", "none", "", True, **libraries)


def _pictures() -> tuple[list[Pixels], list[Pixels]]:
    """Scenes of noise, and discs of noise with a soft rim."""
    rng = np.random.default_rng(0)
    scenes = rng.integers(0, 256, size=(KINDS, *SIZE, 3), dtype=np.uint8)
    down, across = np.indices(NATURAL) - (np.array(NATURAL)[:, None, None] - 1) / 2
    alpha = (np.clip(50 - np.hypot(down, across), 0, 4) / 4 * 255).astype(np.uint8)
    colours = rng.integers(0, 256, size=(KINDS, *NATURAL, 3), dtype=np.uint8)
    return list(scenes), [np.dstack([one, alpha]) for one in colours]


if __name__ == "__main__":
    from benchmarks.timing import table

    print(table(rows()))
    print(f"largest difference from Pillow: {agreement()} levels")
