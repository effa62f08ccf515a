"""Halls and rooms for many people."""

from __future__ import annotations

from salgen.generators.stand_ins.sceneries.grammar import Layout, step
from salgen.generators.stand_ins.sceneries.layouts.openings import BOARDS, PLAIN_WALL, on_sides, room, tubes

HALLS: dict[str, Layout] = {
    "airport_terminal": [
        *room(
            (4.0, 5.0),
            ("floor", "grout", 0.4),
            ("metal", "grout", 0.8),
            ("ceiling", "boards", 0.15),
            back=("glass", "grout", 0.12),
        ),
        *(
            step("grid", name="pane", on="side", rows=2, columns=6, u=u, z=0.7, v=0.85, w=3.6, h=0.8, gap=0.03)
            for u in (0.0,)
        ),
        step("thing", name="plane", u=(0.4, 0.6), z=4.0, v=0.85, w=0.8, h=0.35),
        step("grid", name="screen", rows=1, columns=3, u=(0.5, 0.7), z=2.0, v=0.22, w=0.7, h=0.2),
        step("grid", name="seat", rows=1, columns=6, u=0.62, z=2.6, w=0.8, h=0.26, ink="cloth"),
        step("grid", name="seat", rows=1, columns=6, u=0.66, z=1.7, w=0.8, h=0.28, ink="cloth"),
        step("grid", name="seat", rows=1, columns=5, u=0.72, z=1.1, w=0.8, h=0.3, ink="cloth"),
        tubes(4),
    ],
    "aquarium": [
        *room(
            (2.2, 2.8),
            ("dark", "plain", 0.3),
            ("dark", "plain", 0.3),
            ("dark", "plain", 0.3),
            back=("pool", "ripples", 0.3),
        ),
        *on_sides("slab", rows=1, columns=2, z=0.9, v=0.8, w=1.2, h=0.6, ink="pool"),
        step("thing", times=6, name="fern", u=[0.1, 0.9], z=2.2, v=(0.95, 1.0), w=0.3, h=[0.2, 0.5]),
        step("thing", times=5, name="disc", u=[0.05, 0.95], z=2.2, v=1.06, w=0.3, h=0.2, ink="rock"),
        step("thing", times=(9, 14), name="fish", u=[0.1, 0.9], z=2.2, v=[0.15, 0.85], w=[0.1, 0.24], h=[0.07, 0.13]),
        step("thing", times=12, name="disc", u=[0.1, 0.9], z=2.2, v=[0.1, 0.8], w=0.025, h=0.025, ink="white"),
        step("thing", times=4, name="head", u=[0.1, 0.9], z=1.5, v=1.0, w=0.18, h=[0.24, 0.4]),
    ],
    "art_gallery": [
        *room((2.6, 3.4), BOARDS, ("white", "plain", 0.3), ("white2", "plain", 0.3)),
        *on_sides("painting", rows=1, columns=3, z=1.0, v=(0.62, 0.7), w=1.7, h=(0.3, 0.4), gap=0.14),
        step("grid", name="painting", rows=1, columns=(1, 3), u=0.5, z=2.6, v=0.66, w=0.8, h=0.36, gap=0.12),
        step("box", u=(0.4, 0.6), z=1.6, w=0.4, h=0.13, d=0.3, ink="wood"),
        step("line", times=2, over={"u": (0.3, 0.7)}, a=(0.0, 0.0, 0.9), b=(0.0, 0.0, 2.6), width=0.02, ink="dark"),
        step("thing", times=5, name="disc", u=[0.2, 0.8], z=[1.2, 2.4], v=0.04, w=0.07, h=0.05, ink="lamp"),
    ],
    "assembly_line": [
        *room((4.0, 5.0), ("concrete", "grout", 0.5), ("metal", "stripes", 0.4), ("dark", "grout", 0.4)),
        step("line", times=4, over={"z": (3.5, 0.2)}, a=(0.0, 0.08, 1.0), b=(1.0, 0.08, 1.0), width=0.06, ink="gold"),
        step("box", u=0.5, z=0.8, w=0.5, h=0.22, d=3.4, ink="metal", lid="dark"),
        step("line", times=2, over={"u": (0.25, 0.75)}, a=(0.0, 0.78, 0.8), b=(0.0, 0.78, 4.2), width=0.03, ink="gold"),
        step("box", times=6, over={"z": (3.8, 1.0)}, u=0.5, v=0.78, w=0.26, h=(0.14, 0.24), d=0.2, ink="bright"),
        step("box", times=4, both=True, over={"z": (3.4, 1.2)}, u=0.1, w=0.16, h=0.5, d=0.25, ink="gold"),
        step("box", times=4, both=True, over={"z": (3.4, 1.2)}, u=0.24, v=0.58, w=0.34, h=0.08, d=0.16, ink="gold"),
        tubes(),
    ],
    "auditorium": [
        *room((3.2, 3.8), ("cloth2", "plain", 0.3), ("wood", "boards", 0.2), ("ceiling", "stripes", 0.3)),
        step("box", u=0.5, z=3.1, w=1.0, h=0.16, d=0.2, ink="wood"),
        step("thing", name="slab", u=0.5, z=3.1, v=0.72, w=0.7, h=0.5, ink="white"),
        step("thing", name="slab", u=(0.3, 0.7), z=3.0, v=0.86, w=0.08, h=0.18, ink="wood2"),
        *(
            step("grid", name="seat", rows=1, columns=9, u=0.5, z=z, v=1.08, w=1.25, h=0.36, ink="cloth", gap=0.03)
            for z in (2.6, 2.2, 1.85, 1.55, 1.3, 1.05, 0.88)
        ),
    ],
    "ballroom": [
        *room((2.8, 3.4), ("wood", "tiles", 0.3), ("gold", "stripes", 0.4), ("white", "grout", 0.5)),
        *on_sides("lancet", rows=1, columns=4, z=0.9, v=0.85, w=2.0, h=0.7, gap=0.16),
        step("grid", name="lancet", rows=1, columns=4, u=0.5, z=2.8, v=0.9, w=0.95, h=0.75, gap=0.16),
        *(
            step("thing", name="chandelier", u=u, z=z, v=0.32, w=0.44, h=0.32)
            for u, z in ((0.2, 2.3), (0.8, 2.3), (0.5, 1.5))
        ),
        step("thing", times=4, both=True, name="curtain", u=0.02, over={"z": (2.6, 1.1)}, v=0.9, w=0.12, h=0.85),
        step("thing", name="disc", on="floor", u=0.5, z=1.1, w=0.6, h=0.9, ink="wood2"),
    ],
    "banquet_hall": [
        *room((3.0, 3.6), ("cloth", "grout", 0.3), PLAIN_WALL),
        step("grid", name="curtain", rows=1, columns=6, u=0.5, z=3.0, v=0.95, w=1.0, h=0.9, gap=0.03),
        *(step("thing", name="chandelier", u=u, z=2.0, v=0.24, w=0.3, h=0.24) for u in (0.25, 0.75)),
        *(
            step("thing", name="laid table", u=u, z=z, v=1.0, w=0.46, h=0.3)
            for z in (2.6, 2.0, 1.5, 1.1)
            for u in (0.0, 0.5, 1.0)
        ),
    ],
    "boxing_ring": [
        *room((3.0, 3.6), ("dark", "plain", 0.3), ("dark", "plain", 0.3), ("dark", "plain", 0.3)),
        step("grid", name="head", rows=4, columns=12, u=0.5, z=2.9, v=0.86, w=1.2, h=0.5, gap=0.05),
        step(
            "thing", times=4, name="slab", on="floor", over={"u": (0.2, 0.8)}, v=0.0, z=1.4, w=0.14, h=0.6, ink="lamp"
        ),
        step("box", u=0.5, z=1.15, w=0.95, h=0.18, d=0.9, ink="clay", lid="white"),
        step("thing", name="disc", on="floor", u=0.5, v=0.82, z=1.4, w=0.35, h=0.4, ink="bright"),
        *(
            step("line", a=(x, 0.4, z), b=(x, 0.84, z), width=0.05, ink=ink)
            for x, z, ink in ((0.05, 2.0, "bright"), (0.95, 2.0, "bright2"))
        ),
        *(step("line", a=(0.04, v, 2.0), b=(0.96, v, 2.0), width=0.025, ink="white") for v in (0.45, 0.57, 0.69)),
        *(
            step("line", a=(x, v, 2.0), b=(x, v, 1.15), width=0.022, ink="white")
            for x in (0.04, 0.96)
            for v in (0.45, 0.57, 0.69)
        ),
        *(step("line", a=(0.04, v, 1.15), b=(0.96, v, 1.15), width=0.022, ink="bright3") for v in (0.45, 0.57, 0.69)),
        *(
            step("line", a=(x, 0.4, 1.15), b=(x, 0.86, 1.15), width=0.06, ink=ink)
            for x, ink in ((0.04, "bright2"), (0.96, "bright"))
        ),
    ],
    "museum/indoor": [
        *room((3.0, 3.8), ("stone", "grout", 0.3), PLAIN_WALL, ("white", "grout", 0.4)),
        step("thing", name="lancet", u=0.5, z=3.0, v=1.0, w=0.36, h=0.8),
        *on_sides("lancet", rows=1, columns=3, z=1.1, v=0.9, w=1.9, h=0.7, gap=0.2),
        step("thing", times=4, both=True, name="statue", u=0.2, over={"z": (2.8, 1.15)}, w=0.24, h=(0.6, 0.7)),
        step("box", u=0.5, z=1.5, w=0.34, h=0.22, d=0.3, ink="wood"),
        step("box", u=0.5, z=1.52, v=0.78, w=0.3, h=0.26, d=0.26, ink="glass"),
        step("thing", name="bowl", u=0.5, z=1.5, v=0.78, w=0.14, h=0.16, ink="gold"),
        step("line", a=(0.26, 0.84, 1.2), b=(0.74, 0.84, 1.2), width=0.025, ink="clay"),
        step("thing", times=3, name="slab", over={"u": (0.26, 0.74)}, z=1.2, w=0.03, h=0.2, ink="gold"),
    ],
    "stage/indoor": [
        *room(
            (2.2, 2.6),
            ("wood", "boards", 0.1),
            ("dark", "plain", 0.3),
            ("dark", "plain", 0.3),
            back=("cloth2", "stripes", 0.12),
        ),
        step(
            "thing",
            times=2,
            name="wedge",
            over={"u": (0.3, 0.7)},
            z=2.1,
            v=0.98,
            w=0.24,
            h=0.96,
            ink="cloth2",
            light=(1.3, 1.6),
        ),
        step(
            "thing",
            times=2,
            name="disc",
            on="floor",
            over={"u": (0.3, 0.7)},
            z=1.6,
            w=0.36,
            h=0.5,
            ink="lamp",
            light=0.8,
        ),
        step("box", both=True, u=0.12, z=1.7, w=0.2, h=0.4, d=0.2, ink="dark", face="ring"),
        step("thing", times=3, name="ball", over={"u": (0.4, 0.6)}, z=1.8, v=0.94, w=0.16, h=0.16),
        step("thing", times=4, name="disc", over={"u": (0.15, 0.85)}, z=1.7, v=0.06, w=0.09, h=0.08, ink="lamp"),
        step("thing", both=True, name="curtain", u=(0.0, 0.06), z=1.15, v=0.84, w=(0.3, 0.4), h=1.0),
        step("grid", name="curtain", rows=1, columns=5, u=0.5, z=1.12, v=0.14, w=1.3, h=0.24, gap=0.0),
        step("thing", name="slab", u=0.5, z=1.4, v=0.95, w=0.02, h=0.34, ink="metal"),
        step("box", u=0.5, z=1.05, v=1.1, w=1.4, h=0.2, d=0.05, ink="wood2"),
        step(
            "grid",
            name="head",
            rows=1,
            columns=9,
            u=0.5,
            z=1.0,
            v=1.04,
            w=1.1,
            h=0.17,
            gap=0.06,
            ink="dark",
            light=0.35,
        ),
    ],
}
