"""Rooms to live in and to be looked after."""

from __future__ import annotations

from salgen.generators.stand_ins.sceneries.grammar import Layout, step
from salgen.generators.stand_ins.sceneries.layouts.openings import BOARDS, PANELS, PLAIN_WALL, TILES, room

HOMES: dict[str, Layout] = {
    "bathroom": [
        *room((1.7, 2.1), TILES, ("white2", "grout", 0.12)),
        step("thing", name="mirror", u=(0.3, 0.4), z=1.7, v=0.5, w=0.32, h=0.36),
        step("thing", name="basin", u=(0.3, 0.4), z=1.62, v=1.0, w=0.36, h=0.44),
        step("box", u=0.82, z=1.1, w=0.36, h=0.3, d=0.55, ink="white", lid="pool"),
        step("thing", name="curtain", on="side", u=0.64, z=1.1, v=0.95, w=0.25, h=0.85, chance=0.6),
        step("line", a=(0.64, 0.08, 1.0), b=(0.64, 0.08, 1.7), width=0.02, ink="metal"),
        step("thing", name="slab", on="floor", u=0.35, z=1.1, w=0.3, h=0.35, ink="cloth"),
        step("thing", name="slab", on="side", u=0.0, z=1.3, v=0.6, w=0.2, h=0.2, ink="cloth2"),
    ],
    "dining_room": [
        *room((2.0, 2.4), BOARDS, ("wall", "stripes", 0.08)),
        step("thing", name="painting", u=(0.3, 0.7), z=2.0, v=0.45, w=0.36, h=0.28),
        step("box", u=(0.2, 0.8), z=1.9, w=0.4, h=0.32, d=0.1, ink="wood2", face="drawers"),
        step("thing", name="slab", on="floor", u=0.5, z=1.0, w=1.0, h=0.8, ink="cloth2"),
        step("thing", both=True, times=2, name="chair", u=0.16, over={"z": (1.7, 1.35)}, w=0.2, h=0.5, ink="wood3"),
        step("box", u=0.5, z=1.2, w=0.56, h=0.28, d=0.5, ink="wood", lid="white"),
        step(
            "thing",
            times=2,
            both=True,
            name="disc",
            on="floor",
            u=0.34,
            over={"z": (1.5, 1.25)},
            v=0.72,
            w=0.14,
            h=0.14,
            ink="glass",
        ),
        step("thing", name="flower", u=0.5, z=1.4, v=0.72, w=0.12, h=0.2),
        step("grid", name="chair", rows=1, columns=2, u=0.5, z=1.08, w=0.5, h=0.54, ink="wood3", gap=0.14),
        step("thing", name="chandelier", u=0.5, z=1.4, v=0.32, w=0.34, h=0.34),
    ],
    "hospital_room": [
        *room((1.9, 2.3), ("floor", "plain", 0.3), ("white2", "plain", 0.3), PANELS),
        step("thing", name="window", u=(0.6, 0.75), z=1.9, v=0.6, w=0.3, h=0.36),
        step("line", a=(0.3, 0.06, 1.2), b=(0.3, 0.06, 1.9), width=0.02, ink="metal"),
        step("thing", name="curtain", on="side", u=0.1, z=1.2, v=0.95, w=0.5, h=0.88),
        step("line", a=(0.8, 0.3, 1.5), b=(0.8, 1.0, 1.5), width=0.02, ink="metal"),
        step("thing", name="slab", u=0.8, z=1.5, v=0.46, w=0.08, h=0.14, ink="glass"),
        step("thing", name="computer", u=0.92, z=1.6, v=0.6, w=0.2, h=0.22),
        step("box", u=0.48, z=1.8, w=0.4, h=0.52, d=0.04, ink="metal"),
        step("box", u=0.48, z=1.15, v=0.86, w=0.38, h=0.16, d=0.65, ink="white", lid="glass"),
        step("thing", name="disc", u=0.48, z=1.75, v=0.72, w=0.24, h=0.08, ink="white"),
        step("grid", name="slab", rows=1, columns=6, u=0.48, z=1.12, v=0.86, w=0.4, h=0.28, ink="metal", gap=0.42),
        step("thing", both=True, name="disc", u=0.32, z=1.12, v=1.0, w=0.06, h=0.06, ink="dark"),
    ],
    "kindergarden_classroom": [
        *room((2.2, 2.6), ("bright4", "tiles", 0.3), PLAIN_WALL),
        step("grid", name="painting", rows=2, columns=(4, 6), u=0.5, z=2.2, v=0.6, w=0.9, h=0.42, gap=0.1),
        step("grid", name="goods", rows=2, columns=(6, 8), u=0.5, z=2.1, v=0.96, w=0.9, h=0.26, gap=0.08),
        step("thing", name="disc", on="floor", u=0.5, z=1.15, w=0.7, h=0.7, ink="bright"),
        *(
            item
            for u, z in ((0.12, 1.6), (0.88, 1.6), (0.25, 1.1), (0.85, 1.08))
            for item in (
                step("thing", name="round table", u=u, z=z, w=0.36, h=0.2),
                *(
                    step("thing", name="stool", u=u + d, z=z - 0.04, w=0.1, h=0.13, ink="bright*")
                    for d in (-0.2, 0.0, 0.2)
                ),
            )
        ),
        step("thing", times=6, name="ball", u=[0.3, 0.7], z=[1.1, 1.8], w=0.07, h=0.07),
        step("line", a=(0.0, 0.1, 1.7), b=(1.0, 0.1, 1.7), width=0.01, ink="dark"),
        step("thing", times=9, name="triangle", over={"u": (0.06, 0.94)}, z=1.7, v=0.1, w=0.09, h=-0.1, ink="bright*"),
    ],
    "kitchen": [
        *room((1.9, 2.3), TILES, ("wall", "grout", 0.1)),
        step("grid", name="slab", rows=1, columns=(4, 5), u=0.5, z=1.9, v=0.36, w=1.0, h=0.3, ink="wood", gap=0.03),
        step("grid", name="slab", rows=1, columns=(4, 5), u=0.5, z=1.85, v=1.0, w=1.0, h=0.36, ink="wood", gap=0.02),
        step("thing", name="stove", u=(0.4, 0.6), z=1.84, v=1.0, w=0.28, h=0.4),
        step("line", a=(0.0, 0.62, 1.84), b=(1.0, 0.62, 1.84), width=0.05, ink="stone"),
        step("thing", name="window", u=(0.2, 0.35), z=1.9, v=0.54, w=0.24, h=0.26),
        step("box", u=0.94, z=1.3, w=0.24, h=0.4, d=0.6, ink="wood", lid="stone"),
        step("box", u=0.02, z=1.4, w=0.3, h=0.8, d=0.3, ink="metal", face="fridge"),
        step("box", u=0.5, z=1.15, w=0.44, h=0.3, d=0.3, ink="wood2", lid="stone"),
        step("thing", times=3, name="pendant", over={"u": (0.3, 0.7)}, z=1.3, v=0.34, w=0.14, h=0.36),
        step("thing", times=3, name="fruit", u=[0.35, 0.65], z=1.2, v=0.72, w=0.1, h=0.07),
    ],
    "living_room": [
        *room((2.0, 2.4), BOARDS, PLAIN_WALL),
        step("thing", name="window", u=(0.2, 0.4), z=2.0, v=0.62, w=0.34, h=0.46, chance=0.7),
        step("thing", name="painting", u=(0.65, 0.8), z=2.0, v=0.44, w=0.3, h=0.24),
        step("thing", name="lamp", u=0.95, z=1.8, v=1.0, w=0.2, h=0.66),
        step("box", u=0.5, z=1.75, w=0.84, h=0.44, d=0.1, ink="cloth"),
        step("box", u=0.5, z=1.5, w=0.9, h=0.24, d=0.24, ink="cloth"),
        step("box", both=True, u=0.08, z=1.48, w=0.14, h=0.34, d=0.28, ink="cloth"),
        step("thing", times=3, name="disc", over={"u": (0.25, 0.75)}, z=1.6, v=0.76, w=0.16, h=0.14, ink="bright*"),
        step("thing", name="slab", on="floor", u=0.5, z=0.95, w=0.9, h=0.45, ink="cloth3"),
        step("box", u=0.5, z=1.15, w=0.46, h=0.15, d=0.22, ink="wood", lid="wood2"),
        step("thing", name="armchair", u=-0.02, z=1.15, w=0.34, h=0.42, ink="cloth2", chance=0.6),
        step("thing", name="bush", u=(0.98, 1.1), z=1.5, w=0.22, h=0.5, chance=0.7),
    ],
    "shower": [
        *room((1.3, 1.6), ("white2", "grout", 0.08), ("pool", "grout", 0.1)),
        step("thing", name="shower head", u=(0.4, 0.6), z=1.3, v=0.8, w=0.5, h=0.7),
        step(
            "line",
            times=9,
            over={"u": (-0.08, 0.08)},
            a=(0.68, 0.24, 1.3),
            b=(0.68, 0.85, 1.3),
            width=0.006,
            ink="white",
        ),
        step("thing", times=2, name="disc", over={"u": (0.44, 0.56)}, z=1.3, v=0.62, w=0.07, h=0.07, ink="metal"),
        step("thing", name="disc", on="floor", u=0.55, z=1.05, w=0.14, h=0.1, ink="metal"),
        step("line", a=(-0.1, 0.05, 1.0), b=(1.1, 0.05, 1.0), width=0.025, ink="metal"),
        step(
            "grid", name="slab", rows=1, columns=5, u=(0.0, 0.08), v=1.0, z=1.0, w=0.34, h=0.95, ink="cloth", gap=0.04
        ),
        step("thing", times=3, name="bottle", over={"u": (0.75, 0.9)}, z=1.3, v=0.75, w=0.1, h=0.16),
    ],
    "staircase": [
        *room((2.4, 3.0), ("stone", "tiles", 0.2), PLAIN_WALL),
        step("thing", name="window", u=0.5, z=2.4, v=0.24, w=0.4, h=0.36),
        step("stairs", u=0.5, w=(0.6, 0.8), steps=(9, 11), rise=0.065, run=0.1, z=1.15, ink="stone", runner="cloth"),
        *(
            step(
                "line",
                times=9,
                over={"z": (0.9, 0.0)},
                u=u,
                a=(0.0, 0.3, 1.15),
                b=(0.0, 0.75, 1.15),
                width=0.018,
                ink="dark",
            )
            for u in (0.14, 0.86)
        ),
        *(step("line", a=(u, 0.62, 1.1), b=(u, 0.1, 2.15), width=0.04, ink="wood") for u in (0.14, 0.86)),
        step("box", both=True, u=0.14, z=1.1, w=0.07, h=0.45, d=0.06, ink="wood"),
    ],
    "bar": [
        *room((1.9, 2.3), BOARDS, ("wood", "boards", 0.2), ("dark", "boards", 0.2)),
        step("grid", name="slab", rows=3, columns=1, u=0.5, z=1.9, v=0.62, w=0.95, h=0.56, ink="glass", gap=0.03),
        step("grid", name="bottle", rows=3, columns=(10, 13), u=0.5, z=1.9, v=0.61, w=0.92, h=0.55, gap=0.02),
        step("box", u=0.5, z=1.35, w=1.2, h=0.44, d=0.2, ink="wood2", lid="wood3"),
        step("grid", name="stool", rows=1, columns=(4, 6), u=0.5, z=1.1, v=1.02, w=1.0, h=0.42, ink="cloth", gap=0.2),
        step("thing", times=4, name="pendant", over={"u": (0.1, 0.9)}, z=1.3, v=0.3, w=0.14, h=0.32),
    ],
    "classroom": [
        *room((2.4, 2.9), BOARDS, PLAIN_WALL, PANELS),
        step("thing", name="board", u=0.5, z=2.4, v=0.62, w=0.75, h=0.4, ink="leaf"),
        step("grid", name="window", on="side", rows=1, columns=3, u=0.0, z=0.9, v=0.6, w=1.4, h=0.45),
        step("box", u=(0.3, 0.7), z=2.2, w=0.26, h=0.24, d=0.1, ink="wood2"),
        *(
            step(
                "grid", name="chair", rows=1, columns=4, u=0.5, z=z + 0.08, v=1.0, w=1.1, h=0.36, ink="bright", gap=0.24
            )
            for z in (1.9,)
        ),
        *(
            item
            for z in (1.85, 1.45, 1.1)
            for item in (
                *(
                    step("box", u=u, z=z, w=0.2, h=0.24, d=0.18, ink="wood", lid="wood3")
                    for u in (0.05, 0.35, 0.65, 0.95)
                ),
                step(
                    "grid",
                    name="chair",
                    rows=1,
                    columns=4,
                    u=0.5,
                    z=z - 0.1,
                    v=1.02,
                    w=1.2,
                    h=0.36,
                    ink="bright",
                    gap=0.3,
                ),
            )
        ),
    ],
}
