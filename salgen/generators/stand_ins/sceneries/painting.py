"""A scene from its name and a stream: its layout drawn, then lit and seen through a camera."""

import numpy as np
from numpy.typing import NDArray

from salgen.errors import SalgenError
from salgen.generators.drawing.catalogue import catalogue
from salgen.generators.stand_ins.sceneries.grammar import Layout, play, read_layout
from salgen.generators.stand_ins.sceneries.stage import Stage, places
from salgen.seeding import Stream

FIRST = tuple(sorted(catalogue("scenes/ten.json")))  # BAM's ten
KINDS: tuple[str, ...] = (*FIRST, *sorted(catalogue("scenes/*.json").keys() - set(FIRST)))
LAYOUTS: dict[str, Layout] = {name: read_layout(catalogue("scenes/*.json")[name]) for name in KINDS}


def scenery(name: str, stream: Stream, size: tuple[int, int]) -> NDArray[np.uint8]:
    """A scene of a class; the stream decides all that varies within it.

    Parameters
    ----------
    name
        One of KINDS.
    stream
        The same one gives the same bytes.
    size
        (H, W) in pixels, each at least 16.

    Returns
    -------
    uint8 (H, W, 3): red, green, blue.
    """
    if name not in LAYOUTS:
        raise SalgenError(f"there is no scene {name!r}: it must be one of {', '.join(KINDS)}")
    stage = Stage(stream, size)
    play(stage, LAYOUTS[name])
    return _seen(stage)


def _seen(stage: Stage) -> NDArray[np.uint8]:
    """The canvas under some light, with vignetting and sensor noise; every other one is mirrored."""
    dice, size = stage.dice, stage.image_size
    rows, columns = places(size)
    lean = dice.between(-0.3, 0.3) * (columns - 0.5) + dice.between(-0.25, 0.1) * (rows - 0.5)
    edge = (rows - 0.5) * (rows - 0.5) + (columns - 0.5) * (columns - 0.5)
    light = (0.76 + 0.42 * dice.draw()) * (1.0 + lean - dice.between(0.1, 0.5) * edge + 0.1 * stage.field((2, 2)))
    warmth, tinge, wash = dice.between(-0.14, 0.14), dice.between(-0.06, 0.06), dice.between(0.0, 0.14)
    canvas = stage.canvas * light[..., np.newaxis] * np.array([1.0 + warmth, 1.0 + tinge, 1.0 - warmth])
    canvas += wash * (0.6 - canvas)
    canvas += stage.stream.uniform(size[0] * size[1], -0.016, 0.016).reshape(*size, 1) * dice.between(0.4, 1.2)
    seen = np.rint(np.clip(canvas, 0.0, 1.0) * 255.0).astype(np.uint8)
    return np.ascontiguousarray(seen[:, ::-1]) if dice.draw() < 0.5 else seen
