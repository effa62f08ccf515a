"""A scene from its name and a stream: its layout drawn, then lit and seen through a camera.

A layout is a list of steps, and a step is a part with choices left open. Of a step's options, a pair of numbers
[low, high] is drawn once, and one in `each` anew for each repetition; `over` runs from its first to its last value as
the part is repeated. Whole numbers are drawn where both bounds are whole.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
import numpy as np
from numpy.typing import NDArray
from salgen.generators.drawing.catalogue import catalogue
from salgen.generators.stand_ins.sceneries import planes, skies, strokes, structures
from salgen.generators.stand_ins.sceneries.stage import Stage, places
from salgen.seeding import Stream


def camera(stage: Stage, *, x: float, y: float) -> None:
    """Set the eye: the vanishing point and, in the open air, the horizon."""
    stage.eye = (x, y)


PARTS: dict[str, Callable[..., None]] = {
    part.__name__: part
    for part in (
        *(camera, planes.room, planes.ground),
        *(skies.sky, skies.ridge, skies.foliage, skies.mist, skies.plume),
        *(structures.thing, structures.grid, structures.box, structures.tower, structures.stairs),
        *(strokes.line, strokes.ribbon, strokes.stem, strokes.leaf),
    )
}


Layout = Sequence[tuple[str, Mapping[str, Any]]]
OF_STEPS = {"for", "each", "over", "times", "both", "chance"}


def play(stage: Stage, layout: Layout) -> None:
    """Draw the steps of a layout, rows ``[part, {option: value, ...}]``, on a stage.

    Beside the options a row may hold:

    - ``for``: makes several steps of it: ``{"u": [0.2, 0.8], "w": [1, 2]}`` one with u = 0.2 and w = 1, and one with
      u = 0.8 and w = 2.
    - ``chance``: the probability that the step is taken.
    - ``times``: the number of repetitions, or a pair of inclusive bounds.
    - ``each``: options that are drawn anew for each repetition, as pairs of numbers.
    - ``over``: options that run from one value to another over the repetitions; added to those of the same name.
    - ``both``: true if each is repeated on the other side (u becomes 1 - u).
    """
    for part, row in layout:
        columns = row.get("for", {})
        options = {name: value for name, value in row.items() if name not in OF_STEPS}
        for values in zip(*columns.values(), strict=True) if columns else [()]:
            _take(stage, part, {**options, **dict(zip(columns, values, strict=True))}, row)
    stage.flush()


def _take(stage: Stage, part: str, options: Mapping[str, Any], row: Mapping[str, Any]) -> None:
    if "chance" in row and not stage.dice.chance(row["chance"]):
        return
    once = {name: _drawn(stage, value) for name, value in options.items()}
    times = round(_drawn(stage, row.get("times", 1)))
    for number in range(times):
        share = number / max(times - 1, 1)
        drawn = {**once, **{name: _drawn(stage, value) for name, value in row.get("each", {}).items()}}
        for name, (first, last) in row.get("over", {}).items():
            drawn[name] = first + share * (last - first) + drawn.get(name, 0.0)
        PARTS[part](stage, **drawn)
        if row.get("both"):
            PARTS[part](stage, **{**drawn, "u": 1.0 - drawn["u"]})


def _drawn(stage: Stage, value: Any) -> Any:
    """A number between the two of a pair, or the value itself."""
    if not (isinstance(value, list) and len(value) == 2 and all(isinstance(end, int | float) for end in value)):
        return value
    low, high = value
    if all(isinstance(end, int) for end in value):
        return stage.dice.count(low, high)
    return stage.dice.between(low, high)


FIRST = tuple(sorted(catalogue("scenes/ten.json")))  # BAM's ten
KINDS: tuple[str, ...] = (*FIRST, *sorted(catalogue("scenes/*.json").keys() - set(FIRST)))
LAYOUTS: dict[str, Layout] = catalogue("scenes/*.json")


def scenery(name: str, stream: Stream, size: tuple[int, int]) -> NDArray[np.uint8]:
    """A scene of one of :data:`KINDS`, uint8 (H, W, 3), 16x16 or more; the stream decides all that varies within it."""
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
    return np.ascontiguousarray(seen[:, ::-1]) if dice.chance(0.5) else seen
