"""Corridors and rooms to work, train and wait in."""

from __future__ import annotations

from salgen.generators.stand_ins.sceneries.grammar import Layout, step
from salgen.generators.stand_ins.sceneries.layouts.openings import PANELS, PLAIN_WALL, SLABS, on_sides, room, tubes

OFFICES: dict[str, Layout] = {
    "conference_room": [
        *room((2.4, 2.9), ("cloth2", "plain", 0.3), PLAIN_WALL, PANELS),
        step("thing", name="screen", u=0.5, z=2.4, v=0.6, w=0.6, h=0.4),
        step("grid", name="pane", on="side", rows=1, columns=3, u=1.0, z=0.9, v=0.75, w=1.4, h=0.6),
        step("thing", times=4, both=True, name="armchair", u=0.12, over={"z": (2.2, 1.15)}, w=0.22, h=0.42, ink="dark"),
        step("box", u=0.5, z=1.0, w=0.6, h=0.26, d=1.2, ink="wood", lid="wood2"),
        step(
            "thing",
            times=4,
            both=True,
            name="slab",
            on="floor",
            u=0.32,
            over={"z": (2.0, 1.05)},
            v=0.735,
            w=0.12,
            h=0.1,
            ink="white",
        ),
        step("thing", name="slab", on="floor", u=0.5, v=0.0, z=1.2, w=0.3, h=0.9, ink="lamp"),
    ],
    "corridor": [
        *room((6.0, 9.0), SLABS, PLAIN_WALL, PANELS),
        *on_sides("door", rows=1, columns=5, z=0.9, v=1.0, w=5.0, h=(0.66, 0.74), gap=0.22),
        step("thing", name="pane", u=0.5, z=6.0, v=1.0, w=0.5, h=0.75),
        step(
            "thing", times=6, name="slab", on="floor", u=0.5, v=0.0, over={"z": (5.5, 0.9)}, w=0.24, h=0.3, ink="lamp"
        ),
        *(step("line", a=(u, 0.66, 0.8), b=(u, 0.66, 6.0), width=0.03, ink="wood") for u in (0.0, 1.0)),
    ],
    "lobby": [
        *room((3.4, 4.2), ("stone", "tiles", 0.3), ("wall", "grout", 0.5)),
        step("box", u=(0.35, 0.65), z=3.2, w=0.7, h=0.32, d=0.2, ink="wood", lid="stone2"),
        step("thing", times=4, name="disc", over={"u": (0.2, 0.8)}, z=3.4, v=0.4, w=0.1, h=0.1, ink="lamp"),
        step("box", both=True, times=3, over={"z": (3.0, 1.3)}, u=0.06, w=0.13, h=1.0, d=0.13, ink="stone2"),
        step("thing", name="chandelier", u=0.5, z=1.8, v=0.34, w=0.44, h=0.34),
        step("thing", name="slab", on="floor", u=0.5, z=1.1, w=0.55, h=1.1, ink="cloth"),
        step("thing", both=True, name="armchair", u=0.3, z=1.5, w=0.26, h=0.3, ink="cloth2"),
        step("thing", both=True, name="fern", u=0.2, z=2.4, w=0.3, h=0.5),
    ],
    "locker_room": [
        *room((2.8, 3.4), SLABS, ("clay2", "plain", 0.3), PANELS),
        *on_sides("locker", rows=1, columns=(7, 9), z=0.8, v=0.98, w=2.0, h=0.84, gap=0.01),
        step("grid", name="locker", rows=1, columns=(6, 8), u=0.5, z=2.8, v=0.98, w=1.0, h=0.84, gap=0.01),
        step("box", u=0.5, z=1.0, v=0.9, w=0.22, h=0.05, d=1.4, ink="wood"),
        *(step("line", a=(0.5, 0.9, z), b=(0.5, 1.0, z), width=0.05, ink="metal") for z in (2.2, 1.6, 1.05)),
        tubes(),
    ],
    "martial_arts_gym": [
        *room((2.6, 3.2), ("clay", "tiles", 0.5), ("wood", "boards", 0.25), ("ceiling", "boards", 0.3)),
        step("grid", name="mirror", rows=1, columns=3, u=0.5, z=2.6, v=0.75, w=0.8, h=0.5, gap=0.03),
        step("thing", times=4, name="slab", over={"u": (0.1, 0.9)}, z=2.55, v=0.3, w=0.14, h=0.2, ink="bright*"),
        step("thing", times=3, both=True, name="bag", u=0.14, over={"z": (2.2, 1.2)}, v=0.78, w=0.16, h=0.4),
        step("thing", name="slab", on="floor", u=0.5, z=1.2, w=0.6, h=0.8, ink="pool"),
        *on_sides("window", rows=1, columns=3, z=1.0, v=0.4, w=1.5, h=0.22),
    ],
    "office": [
        *room((2.6, 3.2), ("cloth2", "plain", 0.3), PLAIN_WALL, PANELS),
        step("grid", name="pane", rows=1, columns=4, u=0.5, z=2.6, v=0.62, w=0.9, h=0.42),
        *(
            item
            for z in (2.2, 1.7, 1.25)
            for u in (0.1, 0.9)
            for item in (
                step("box", u=u, z=z + 0.2, w=0.5, h=0.42, d=0.02, ink="cloth"),
                step("box", u=u, z=z, w=0.48, h=0.26, d=0.2, ink="wood", lid="white"),
                step("thing", name="computer", u=u, z=z + 0.1, v=0.74, w=0.2, h=0.2),
                step("thing", name="seat", u=u, z=z - 0.06, v=1.02, w=0.18, h=0.36, ink="dark"),
            )
        ),
        tubes(),
    ],
    "subway_station/platform": [
        *room(
            (6.0, 8.0),
            ("concrete", "grout", 0.3),
            ("white", "grout", 0.2),
            ("ceiling", "stripes", 0.4),
            back=("dark", "plain", 0.3),
        ),
        step("thing", name="slab", on="floor", u=0.08, z=0.8, w=0.42, h=7.0, ink="dark"),
        *(step("line", a=(u, 1.0, 0.8), b=(u, 1.0, 7.0), width=0.03, ink="metal") for u in (0.0, 0.16)),
        step("thing", name="slab", on="floor", u=0.33, z=0.8, w=0.05, h=7.0, ink="gold"),
        step("grid", name="carriage", on="side", rows=1, columns=4, u=0.24, z=1.6, v=1.0, w=4.4, h=0.62, gap=0.005),
        step("thing", name="train", u=0.06, z=1.6, v=1.02, w=0.36, h=0.68),
        step("box", times=4, over={"z": (4.6, 1.2)}, u=0.76, w=0.09, h=1.0, d=0.12, ink="metal"),
        step("thing", times=4, name="slab", on="floor", u=0.6, v=0.0, over={"z": (5.0, 1.0)}, w=0.1, h=0.7, ink="lamp"),
        step("box", u=0.9, z=2.0, w=0.12, h=0.14, d=0.6, ink="wood"),
        step("thing", name="slab", u=0.62, z=1.8, v=0.2, w=0.3, h=0.1, ink="bright"),
    ],
}
