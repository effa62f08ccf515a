"""The grammar of sceneries: a layout is a list of steps, and a step is a part with choices left open.

Of a step's options, a pair of numbers (low, high) is drawn once; a list [low, high] is drawn anew for each repetition;
`over` runs from its first to its last value as the part is repeated; a list of names is a choice for each repetition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from salgen.generators.stand_ins.sceneries import planes, skies, strokes, structures
from salgen.generators.stand_ins.sceneries.stage import Stage


def camera(stage: Stage, *, x: float, y: float) -> None:
    """Where the eye is: the vanishing point, and for the open air the horizon."""
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


@dataclass(frozen=True)
class Step:
    """A part of a layout.

    Attributes
    ----------
    part
        One of PARTS.
    options
        Its options, with choices.
    times
        How often it is repeated, or a pair of bounds that are both possible.
    over
        Options that run from one value to another over the repetitions.
    both
        Whether each is repeated on the other side (u becomes 1 - u).
    chance
        How likely the step is taken at all.
    """

    part: str
    options: Mapping[str, Any]
    times: int | tuple[int, int] = 1
    over: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    both: bool = False
    chance: float = 1.0


Layout = Sequence[Step]


def step(
    part: str,
    times: int | tuple[int, int] = 1,
    over: Mapping[str, tuple[float, float]] | None = None,
    both: bool = False,
    chance: float = 1.0,
    **options: Any,
) -> Step:
    """A step, its options given as keywords."""
    return Step(part, options, times, over or {}, both, chance)


def play(stage: Stage, layout: Layout) -> None:
    """Take the steps of a layout."""
    for entry in layout:
        if entry.chance < 1.0 and stage.dice.draw() >= entry.chance:
            continue
        _take(stage, entry)
    stage.flush()


def _take(stage: Stage, entry: Step) -> None:
    part = PARTS[entry.part]
    fixed = {name: _drawn(stage, value) if isinstance(value, tuple) else value for name, value in entry.options.items()}
    times = round(_drawn(stage, entry.times)) if isinstance(entry.times, tuple) else entry.times
    for number in range(times):
        share = number / max(times - 1, 1)
        options = {name: _drawn(stage, value) if isinstance(value, list) else value for name, value in fixed.items()}
        for name, (first, last) in entry.over.items():
            options[name] = first + share * (last - first) + options.get(name, 0.0)
        part(stage, **options)
        if entry.both:
            part(stage, **{**options, "u": 1.0 - options["u"]})


def _drawn(stage: Stage, value: Sequence[Any]) -> Any:
    """A value between two numbers, one of some names, or the value itself."""
    if len(value) == 2 and all(isinstance(end, int) for end in value):
        return value[0] + int(stage.dice.draw() * (value[1] - value[0] + 1))
    if len(value) == 2 and all(isinstance(end, int | float) for end in value):
        return stage.dice.between(value[0], value[1])
    if isinstance(value, list):
        return value[int(stage.dice.draw() * len(value))]
    return value
