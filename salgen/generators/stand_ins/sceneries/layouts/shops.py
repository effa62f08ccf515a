"""Shops and places to eat."""

from __future__ import annotations

from salgen.generators.stand_ins.sceneries.grammar import Layout, step
from salgen.generators.stand_ins.sceneries.layouts.openings import (
    BOARDS,
    PANELS,
    PLAIN_WALL,
    SLABS,
    TILES,
    on_sides,
    room,
    tubes,
)

SHOPS: dict[str, Layout] = {
    "bakery/shop": [
        *room((2.0, 2.4), TILES, PLAIN_WALL),
        step("grid", name="slab", rows=4, columns=1, u=0.5, z=2.0, v=0.72, w=0.95, h=0.66, ink="wood", gap=0.02),
        step("grid", name="loaf", rows=4, columns=(6, 8), u=0.5, z=2.0, v=0.7, w=0.9, h=0.62, gap=0.04),
        step("box", u=0.5, z=1.3, w=1.1, h=0.42, d=0.3, ink="white", lid="glass"),
        step("grid", name="loaf", rows=2, columns=7, u=0.5, z=1.3, v=0.88, w=1.0, h=0.26, gap=0.06),
        step("thing", times=3, name="pendant", over={"u": (0.15, 0.85)}, z=1.4, v=0.3, w=0.2, h=0.34),
        step("thing", name="board", u=(0.3, 0.7), z=2.0, v=0.06, w=0.6, h=0.14, ink="dark"),
    ],
    "beauty_salon": [
        *room((2.6, 3.2), TILES, PLAIN_WALL),
        *on_sides("mirror", rows=1, columns=4, z=0.9, v=0.6, w=1.7, h=0.4, gap=0.16),
        step("box", both=True, u=0.05, z=0.9, w=0.14, h=0.34, d=1.7, ink="white"),
        step(
            "thing",
            times=4,
            both=True,
            name="armchair",
            u=0.26,
            over={"z": (2.3, 1.1)},
            v=0.98,
            w=0.24,
            h=0.36,
            ink="cloth",
        ),
        step(
            "thing",
            times=4,
            both=True,
            name="disc",
            u=0.26,
            over={"z": (2.3, 1.1)},
            v=0.58,
            w=0.16,
            h=0.14,
            ink="metal",
        ),
        step("grid", name="bottle", rows=2, columns=8, u=0.5, z=2.6, v=0.6, w=0.5, h=0.3),
        tubes(),
    ],
    "bookstore": [
        *room((2.8, 3.4), BOARDS, ("wood", "plain", 0.3)),
        step("grid", name="books", rows=5, columns=7, u=0.5, z=2.8, v=0.95, w=0.95, h=0.85, gap=0.04),
        *on_sides("books", rows=5, columns=(7, 9), z=0.9, v=0.95, w=1.9, h=0.85, gap=0.04),
        step("box", times=2, over={"z": (1.9, 1.2)}, u=(0.42, 0.58), w=0.36, h=0.26, d=0.3, ink="wood2"),
        step("grid", name="books", rows=1, columns=5, u=0.5, z=1.3, v=0.74, w=0.34, h=0.08),
        tubes(),
    ],
    "butchers_shop": [
        *room((1.9, 2.3), TILES, ("white2", "grout", 0.14)),
        step("line", a=(0.0, 0.1, 1.8), b=(1.0, 0.1, 1.8), width=0.03, ink="metal"),
        step("grid", name="carcass", rows=1, columns=(5, 7), u=0.5, z=1.8, v=0.62, w=1.0, h=0.52, gap=0.06),
        step("box", u=0.5, z=1.3, w=1.1, h=0.42, d=0.3, ink="metal", lid="glass"),
        step("grid", name="cut", rows=2, columns=(6, 8), u=0.5, z=1.3, v=0.86, w=1.0, h=0.24, gap=0.05),
        step("thing", name="board", u=(0.3, 0.7), z=1.3, v=0.14, w=0.4, h=0.14, ink="bright"),
    ],
    "candy_store": [
        *room((2.2, 2.6), TILES, ("bright", "stripes", 0.2)),
        step("grid", name="jar", rows=4, columns=(7, 9), u=0.5, z=2.2, v=0.9, w=0.95, h=0.82, gap=0.04),
        *on_sides("jar", rows=4, columns=6, z=0.9, v=0.9, w=1.2, h=0.8, gap=0.04),
        step("box", times=2, over={"z": (1.7, 1.1)}, u=(0.4, 0.6), w=0.4, h=0.22, d=0.3, ink="bright2"),
        step("grid", name="ball", rows=2, columns=7, u=0.5, z=1.1, v=0.82, w=0.44, h=0.12, gap=0.02),
    ],
    "clothing_store": [
        *room((2.6, 3.2), BOARDS, ("white", "plain", 0.3), PANELS),
        *on_sides("garment", rows=2, columns=(6, 8), z=0.9, v=0.95, w=1.8, h=0.9, gap=0.0),
        step("grid", name="garment", rows=2, columns=(5, 7), u=0.5, z=2.6, v=0.92, w=0.9, h=0.85, gap=0.02),
        step("line", a=(0.28, 0.5, 1.4), b=(0.72, 0.5, 1.4), width=0.02, ink="metal"),
        step("grid", name="garment", rows=1, columns=(5, 7), u=0.5, z=1.4, v=0.95, w=0.46, h=0.46, gap=0.0),
        tubes(),
    ],
    "coffee_shop": [
        *room((2.3, 2.7), BOARDS, ("brick", "bricks", 0.2)),
        step("thing", name="board", u=(0.3, 0.7), z=2.3, v=0.3, w=0.6, h=0.26, ink="dark"),
        step("box", u=(0.3, 0.7), z=2.0, w=0.7, h=0.36, d=0.2, ink="wood", lid="wood3"),
        step("box", u=(0.3, 0.7), z=2.0, v=0.64, w=0.24, h=0.16, d=0.15, ink="metal"),
        step("grid", name="window", on="side", rows=1, columns=2, u=1.0, z=0.9, v=0.7, w=1.2, h=0.5),
        step("thing", times=3, name="pendant", over={"u": (0.2, 0.8)}, z=1.6, v=0.28, w=0.16, h=0.3),
        *(
            item
            for u, z in ((0.1, 1.6), (0.85, 1.6), (0.3, 1.1), (0.95, 1.05))
            for item in (
                step("thing", name="chair", u=u - 0.2, z=z, w=0.18, h=0.4, ink="wood2"),
                step("thing", name="round table", u=u, z=z - 0.03, w=0.3, h=0.34),
            )
        ),
    ],
    "food_court": [
        *room((3.2, 3.8), TILES, PLAIN_WALL, ("ceiling", "boards", 0.3)),
        *(
            step("box", u=u, z=3.1, w=0.3, h=0.36, d=0.1, ink=ink)
            for u, ink in ((0.16, "bright"), (0.5, "bright2"), (0.84, "bright3"))
        ),
        step("grid", name="board", rows=1, columns=3, u=0.5, z=3.1, v=0.5, w=1.0, h=0.22, ink="bright*"),
        *(
            item
            for z in (2.5, 1.9, 1.45, 1.08)
            for item in (
                step("grid", name="round table", rows=1, columns=4, u=0.5, z=z, w=1.3, h=0.26, gap=0.14),
                step(
                    "grid", name="chair", rows=1, columns=8, u=0.52, z=z - 0.06, w=1.3, h=0.26, ink="bright4", gap=0.26
                ),
            )
        ),
    ],
    "restaurant": [
        *room((2.4, 2.9), ("floor", "grout", 0.2), ("wall", "plain", 0.3), ("wood", "boards", 0.25)),
        *on_sides("window", rows=1, columns=3, z=1.0, v=0.62, w=1.4, h=0.4),
        step("grid", name="painting", rows=1, columns=2, u=0.5, z=2.4, v=0.5, w=0.7, h=0.28, gap=0.2),
        *(
            item
            for z in (2.0, 1.55, 1.12)
            for u in (0.12, 0.88)
            for item in (
                step("thing", name="chair", u=u - 0.17, z=z + 0.05, w=0.14, h=0.42, ink="wood2"),
                step("thing", name="chair", u=u + 0.17, z=z + 0.05, w=0.14, h=0.42, ink="wood2"),
                step("thing", name="laid table", u=u, z=z, w=0.34, h=0.36),
            )
        ),
        step("thing", times=3, both=True, name="lantern", u=0.25, over={"z": (2.0, 1.2)}, v=0.28, w=0.14, h=0.26),
    ],
    "supermarket": [
        *room((4.0, 5.0), SLABS, ("white", "plain", 0.3), PANELS),
        *(
            step("grid", name="goods", on="side", rows=5, columns=(9, 11), u=u, z=0.85, v=0.98, w=3.0, h=0.78, gap=0.04)
            for u in (0.12, 0.88)
        ),
        step("grid", name="goods", rows=4, columns=8, u=0.5, z=4.0, v=0.95, w=0.7, h=0.7),
        step("thing", times=3, name="slab", over={"z": (3.0, 1.4)}, u=0.5, v=0.2, w=0.3, h=0.12, ink="bright*"),
        step(
            "thing", times=4, name="slab", on="floor", u=0.5, v=0.0, over={"z": (3.6, 0.9)}, w=0.14, h=0.6, ink="lamp"
        ),
        step("box", u=(0.4, 0.6), z=(1.4, 1.8), v=0.92, w=0.2, h=0.18, d=0.3, ink="metal"),
    ],
}
