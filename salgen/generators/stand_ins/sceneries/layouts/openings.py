"""What layouts begin with, and steps that many of them share."""

from __future__ import annotations

from typing import Any

from salgen.generators.stand_ins.sceneries.grammar import Step, step

PLAIN_WALL = ("wall", "plain", 0.3)
BOARDS = ("floor", "boards", 0.12)
TILES = ("floor", "tiles", 0.2)
SLABS = ("floor", "grout", 0.25)
PANELS = ("ceiling", "grout", 0.25)


def room(
    depth: tuple[float, float], floor: Any, wall: Any, ceiling: Any = ("ceiling", "plain", 0.2), **more: Any
) -> list[Step]:
    """A camera in a room."""
    return [
        step("camera", x=(0.28, 0.72), y=(0.3, 0.46)),
        step("room", depth=depth, floor=floor, wall=wall, ceiling=ceiling, glow=(-0.25, 0.2), **more),
    ]


def tubes(times: int = 3) -> Step:
    """Lamps under the ceiling, one behind the other."""
    options: dict[str, Any] = {"name": "slab", "on": "floor", "u": (0.4, 0.6), "v": 0.0, "w": (0.1, 0.4), "h": 0.4}
    return step("thing", times=times, over={"z": (3.0, 1.1)}, ink="lamp", **options)


def on_sides(name: str, **options: Any) -> list[Step]:
    """A grid of things on both walls."""
    return [step("grid", name=name, on="side", u=u, **options) for u in (0.0, 1.0)]


def outdoors(low: float = 0.34, high: float = 0.5) -> list[Step]:
    """A camera in the open air, its horizon between two rows, and the sky."""
    return [step("camera", x=(0.3, 0.7), y=(low, high)), step("sky", clouds=(0.2, 0.7))]


def ground(ink: str, pattern: str = "plain", period: float = 0.4, **more: Any) -> Step:
    """The ground to the horizon."""
    return step("ground", cover=(ink, pattern, period), **more)


def water() -> Step:
    """Water to the horizon, with what stands above it upside down."""
    return step("ground", cover=("water", "ripples", 0.16), mirror=(0.3, 0.6), haze=0.3)


def woods(row: float, low: float, ink: str = "leaf", light: Any = 0.9) -> Step:
    """A line of trees."""
    return step("foliage", ink=ink, shape=((0.0, row), (1.0, row + 0.03)), low=low, holes=0.1, cells=14, light=light)


def standing(name: str, w: Any, h: Any, v: Any = 0.76, u: Any = (0.38, 0.62)) -> Step:
    """The thing that the scene is about."""
    return step("thing", name=name, on="screen", u=u, v=v, w=w, h=h)


def skyline(times: int, z: float, low: float, high: float) -> Step:
    """Houses from left to right, their heights in shares of the image."""
    sides: dict[str, Any] = {"u": [-0.2, 0.2], "w": [0.11 * z, 0.17 * z], "h": [low * z, high * z], "d": 0.6}
    over = {"u": (0.5 - 0.5 * z, 0.5 + 0.5 * z)}
    return step("tower", times=times, over=over, z=z, rows=6, columns=3, ink="concrete*", **sides)


def lines(places: tuple[float, ...], ink: str = "white", w: float = 0.03, **more: Any) -> list[Step]:
    """Lines along the ground."""
    return [step("ribbon", u=u, w=w, ink=ink, **more) for u in places]
