"""Structures on a stage: things on planes, grids of things, boxes, towers, stairs.

A thing stands in a scene or hangs on its wall, and is read from a catalogue. It is a list of pieces, later ones over
earlier ones, in a box with x from -0.5 to 0.5 and y from 0 (top) to 1 (foot). A piece is a row: its shape, its ink (""
for the one that the user of the thing names), the shape's numbers, and its look. Shapes are

- ``block`` left, top, right, bottom;
- ``ring`` x, y and the two radii of an ellipse;
- ``arch`` as a block, and the share of its height that its round top takes;
- ``poly`` points, filled in each row from the leftmost to the rightmost edge;
- ``panes`` rows, columns, left, top, right, bottom, and the share of a pane that is frame.
"""

from collections.abc import Callable, Iterator
from typing import Any
from salgen.generators.drawing.catalogue import catalogue, read_points, read_row
from salgen.generators.drawing.shapes import oval
from salgen.generators.stand_ins.sceneries.stage import Place, Stage

Points = tuple[tuple[float, float], ...]


CIRCLE = tuple((float(x), float(y)) for x, y in oval((0.0, 0.0), (1.0, 1.0))[::2])


def block(left: float, top: float, right: float, bottom: float) -> Points:
    """A rectangle."""
    return ((left, top), (right, top), (right, bottom), (left, bottom))


def ring(x: float, y: float, across: float, down: float) -> Points:
    """An ellipse."""
    return tuple((x + across * a, y + down * b) for a, b in CIRCLE)


def arch(left: float, top: float, right: float, bottom: float, rise: float) -> Points:
    """A rectangle with a round top."""
    middle, half, high = (left + right) / 2, (right - left) / 2, rise * (bottom - top)
    curve = sorted((middle + half * a, top + high * (1 + b)) for a, b in CIRCLE if b <= 0)
    return ((left, bottom), *curve, (right, bottom))


def panes(
    rows: int, columns: int, left: float, top: float, right: float, bottom: float, gap: float
) -> Iterator[Points]:
    """Rectangles in rows and columns."""
    wide, high = (right - left) / columns, (bottom - top) / rows
    for row in range(rows):
        for column in range(columns):
            x, y = left + column * wide, top + row * high
            yield block(x + gap * wide, y + gap * high, x + (1 - gap) * wide, y + (1 - gap) * high)


def poly(points: str) -> Points:
    """A polygon."""
    return tuple((x, y) for x, y in read_points(points)[0].tolist())


SHAPES: dict[str, Callable[..., Points]] = {"block": block, "ring": ring, "arch": arch, "poly": poly}


# Ink, corners and look of each piece of a thing
THINGS: dict[str, list[tuple[str, Points, dict[str, float]]]] = {
    name: [
        (ink, points, look)
        for shape, ink, values, look in map(read_row, rows)
        for points in (panes(*values) if shape == "panes" else [SHAPES[shape](*values)])
    ]
    for name, rows in catalogue("things/*.json").items()
}
Projection = Callable[[float, float], Place]


def plane(
    stage: Stage, *, w: float, h: float, u: float = 0.5, v: float = 1.0, z: float = 1.0, on: str = "back"
) -> Projection:
    """The projection of a thing's box, x from -0.5 to 0.5 and y from 0 to 1, into the image.

    It is `w` wide and `h` high, with the middle of its foot, or of its near end, at (u, v, z). `on` says how it stands:

    - ``back``: it faces the viewer; on a ``screen`` it does too, and u and v are shares of the image.
    - ``side``: it stands along the depth, as on a wall.
    - ``floor``: it lies, and its height is its extent in depth.
    """
    if on == "screen":
        return lambda x, y: (u + x * w, v - h + y * h)
    if on == "side":
        return lambda x, y: stage.at(u, v - h + y * h, z + (x + 0.5) * w)
    if on == "floor":
        return lambda x, y: stage.at(u + x * w, v, z + (1.0 - y) * h)
    return lambda x, y: stage.at(u + x * w, v - h + y * h, z)


def thing(stage: Stage, *, name: str, ink: str = "white", light: float = 1.0, **place: Any) -> None:
    """A thing of THINGS on a :func:`plane`; `ink` is that of the pieces without their own."""
    _put(stage, name, plane(stage, **place), ink, light)


def _put(stage: Stage, name: str, projection: Projection, ink: str, light: float) -> None:
    inks = {}
    for own, points, look in THINGS[name]:
        kind = own or ink
        if kind not in inks:
            inks[kind] = stage.ink(kind)
        places = [projection(x, y) for x, y in points]
        stage.fill(places, inks[kind], look.get("light", 1.0) * light, look.get("fall", 0.0))


def grid(
    stage: Stage,
    *,
    name: str,
    rows: int,
    columns: int,
    ink: str = "white",
    gap: float = 0.08,
    missing: float = 0.0,
    light: float = 1.0,
    **place: Any,
) -> None:
    """Rows and columns of a thing on a :func:`plane`, from the far ones to the near ones."""
    whole = plane(stage, **place)
    order = range(columns - 1, -1, -1) if place.get("on") == "side" else range(columns)
    for row in range(rows):
        for column in order:
            if missing and stage.dice.chance(missing):
                continue
            _put(stage, name, _cell(whole, row / rows, column / columns - 0.5, 1 / rows, 1 / columns, gap), ink, light)


def _cell(whole: Projection, top: float, left: float, high: float, wide: float, gap: float) -> Projection:
    share = 1.0 - 2.0 * gap
    return lambda x, y: whole(left + wide * (0.5 + share * x), top + high * (gap + share * y))


def box(
    stage: Stage,
    *,
    w: float,
    h: float,
    d: float,
    u: float = 0.5,
    v: float = 1.0,
    z: float = 1.0,
    ink: str = "wood",
    lid: str = "",
    face: str = "",
    flank: str = "",
    light: float = 1.0,
) -> None:
    """A box with u in its middle, v at its foot and z at its near face; `face` and `flank` name things on it."""
    paint, left, right, top = stage.ink(ink), u - w / 2, u + w / 2, v - h
    side = left if left > stage.eye[0] else right if right < stage.eye[0] else None
    if side is not None:
        tone = light * (0.68 if (side == left) == stage.mirrored else 0.84)
        corners = [stage.at(side, y, x) for y, x in ((top, z), (top, z + d), (v, z + d), (v, z))]
        stage.fill(corners, paint, tone, 0.15)
        if flank:
            _put(stage, flank, plane(stage, on="side", u=side, v=v, z=z, w=d, h=h), ink, 0.85 * light)
    level = top if top > stage.eye[1] else v if v < stage.eye[1] else None
    if level is not None:
        corners = [stage.at(x, level, y) for x, y in ((left, z + d), (right, z + d), (right, z), (left, z))]
        stage.fill(corners, stage.ink(lid) if lid else paint, light * (1.16 if level == top else 0.55))
    (x0, y0), (x1, y1) = stage.at(left, top, z), stage.at(right, v, z)
    stage.rectangle(x0, y0, x1, y1, paint, 0.98 * light, 0.2)
    if face:
        _put(stage, face, plane(stage, u=u, v=v, z=z, w=w, h=h), ink, light)


def tower(
    stage: Stage,
    *,
    w: float,
    h: float,
    rows: int,
    columns: int,
    u: float = 0.5,
    z: float = 2.0,
    d: float = 0.5,
    ink: str = "concrete",
    pane: str = "dark window",
) -> None:
    """A building with rows of windows on its front and on the side that shows."""
    box(stage, u=u, z=z, w=w, h=h, d=d, ink=ink)
    side = u - w / 2 if u - w / 2 > stage.eye[0] else u + w / 2 if u + w / 2 < stage.eye[0] else None
    panes: dict[str, Any] = {"rows": rows, "columns": columns, "v": 1.0 - 0.04 * h, "z": z, "h": 0.93 * h, "gap": 0.14}
    grid(stage, name=pane, u=u, w=0.94 * w, **panes)
    if side is not None and d > 0.2:
        grid(stage, name=pane, u=side, w=d, on="side", light=0.8, **panes)


def stairs(stage: Stage, *, w: float, steps: int, rise: float, run: float, z: float, runner: str = "") -> None:
    """Steps that rise into the depth, with a carpet if `runner` names its ink."""
    for number in range(steps - 1, -1, -1):
        foot, near = 1.0 - number * rise, z + number * run
        box(stage, v=foot, z=near, w=w, h=rise, d=run, ink="stone", light=0.9 + 0.2 * number / steps)
        if runner:
            box(stage, v=foot, z=near - 0.001, w=0.5 * w, h=rise, d=run, ink=runner)
