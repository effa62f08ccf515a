"""Bridges, boats and what holds water back."""

from __future__ import annotations

from salgen.generators.stand_ins.sceneries.grammar import Layout, step
from salgen.generators.stand_ins.sceneries.layouts.openings import ground, outdoors, skyline, water, woods

WATERSIDE: dict[str, Layout] = {
    "aqueduct": [
        *outdoors(0.6, 0.7),
        step("ridge", ink="leaf", foot=0.75, height=0.3, rough=0.4, haze=0.3),
        step("thing", name="slab", on="screen", u=0.5, v=0.8, w=1.2, h=(0.5, 0.54), ink="stone"),
        step(
            "grid", name="arch", on="screen", rows=1, columns=(5, 7), u=0.5, v=0.82, w=1.2, h=0.26, ink="glass", gap=0.1
        ),
        step(
            "grid",
            name="arch",
            on="screen",
            rows=1,
            columns=(9, 12),
            u=0.5,
            v=0.52,
            w=1.2,
            h=0.16,
            ink="glass",
            gap=0.13,
        ),
        step("thing", name="slab", on="screen", u=0.5, v=0.56, w=1.2, h=0.03, ink="stone"),
        step("thing", name="slab", on="screen", u=0.5, v=0.33, w=1.2, h=0.04, ink="stone"),
        ground("grass", haze=0.25),
        woods(0.78, 0.92),
    ],
    "boat_deck": [
        *outdoors(0.34, 0.42),
        water(),
        step("thing", name="triangle", on="floor", u=0.5, z=0.7, w=2.1, h=2.0, ink="white"),
        step("thing", name="triangle", on="floor", u=0.5, z=0.7, w=1.9, h=1.8, ink="wood"),
        *(
            step("line", a=(0.5 + d, 1.0, 0.8), b=(0.5 + d * 0.1, 1.0, 2.4), width=0.012, ink="dark")
            for d in (-0.7, -0.5, -0.3, -0.1, 0.1, 0.3, 0.5, 0.7)
        ),
        *(
            step("line", a=(0.5 + s, v, 0.8), b=(0.5, v, 2.6), width=0.03, ink="metal")
            for s in (-0.95, 0.95)
            for v in (0.6, 0.76)
        ),
        *(
            step(
                "line",
                a=(0.5 + s * (1 - k / 6), 0.58, 0.8 + 0.3 * k),
                b=(0.5 + s * (1 - k / 6), 1.0, 0.8 + 0.3 * k),
                width=0.03,
                ink="metal",
            )
            for s in (-0.95, 0.95)
            for k in range(5)
        ),
        step("line", a=(0.5, -0.5, 1.7), b=(0.5, 1.0, 1.7), width=0.07, ink="wood2"),
        step("line", a=(0.5, -0.4, 1.7), b=(0.5, 0.7, 2.6), width=0.015, ink="dark"),
        step("box", u=0.5, z=1.2, w=0.36, h=0.13, d=0.3, ink="white"),
        step("thing", name="ring", u=(0.1, 0.2), z=1.3, v=0.8, w=0.16, h=0.16, ink="bright", chance=0.7),
    ],
    "bridge": [
        *outdoors(0.5, 0.58),
        skyline(7, 6.0, 0.06, 0.16),
        water(),
        *(step("line", a=(u, 0.1, 1.0), b=(u, 0.8, 1.0), width=0.05, ink="clay") for u in (0.2, 0.28, 0.72, 0.8)),
        *(
            step("line", a=(x, v, 1.0), b=(x + 0.1, v, 1.0), width=0.025, ink="clay")
            for x in (0.19, 0.71)
            for v in (0.16, 0.3, 0.44)
        ),
        *(
            step("line", a=(a, b, 1.0), b=(c, d, 1.0), width=0.014, ink="clay")
            for a, b, c, d in (
                (-0.1, 0.5, 0.24, 0.12),
                (0.24, 0.12, 0.38, 0.4),
                (0.38, 0.4, 0.5, 0.46),
                (0.5, 0.46, 0.62, 0.4),
                (0.62, 0.4, 0.76, 0.12),
                (0.76, 0.12, 1.1, 0.5),
            )
        ),
        step("line", times=22, over={"u": (0.0, 1.0)}, a=(0.0, 0.42, 1.0), b=(0.0, 0.56, 1.0), width=0.006, ink="clay"),
        step("thing", name="slab", on="screen", u=0.5, v=0.58, w=1.4, h=0.05, ink="concrete"),
        step("thing", name="sailboat", on="screen", u=(0.4, 0.6), v=0.78, w=0.1, h=0.13, chance=0.6),
    ],
    "dam": [
        *outdoors(0.3, 0.36),
        step("ridge", ink="rock", foot=0.5, height=0.3, rough=0.3, cells=4, haze=0.3),
        step(
            "ridge",
            ink="leaf",
            foot=1.0,
            height=0.9,
            shape=((0.0, 0.9), (0.3, 0.5), (0.7, 0.5), (1.0, 0.9)),
            rough=0.06,
        ),
        step("thing", name="bowl", on="screen", u=0.5, v=0.84, w=0.96, h=0.5, ink="concrete", light=1.1),
        *(
            step("line", a=(0.5 + d, 0.36, 1.0), b=(0.5 + 0.55 * d, 0.82, 1.0), width=0.008, ink="dark")
            for d in (-0.36, -0.24, -0.12, 0.0, 0.12, 0.24, 0.36)
        ),
        step("thing", name="slab", on="screen", u=0.5, v=0.36, w=1.0, h=0.035, ink="concrete2"),
        step("grid", name="slab", on="screen", rows=1, columns=5, u=0.5, v=0.46, w=0.4, h=0.09, ink="dark", gap=0.14),
        *(
            step("thing", name="wedge", on="screen", u=u, v=0.86, w=0.06, h=0.42, ink="white")
            for u in (0.44, 0.5, 0.56)
        ),
        step("plume", ink="white", x=0.5, top=0.7, foot=0.92, width=0.24, most=0.7),
        step("thing", name="disc", on="screen", u=0.5, v=1.12, w=0.9, h=0.28, ink="water"),
    ],
    "harbor": [
        *outdoors(0.4, 0.48),
        step("ridge", ink="leaf", foot=0.5, height=0.12, haze=0.4),
        skyline(9, 6.0, 0.04, 0.1),
        water(),
        step(
            "thing",
            times=5,
            name="sailboat",
            on="screen",
            over={"u": (0.06, 0.94)},
            u=[-0.05, 0.05],
            v=[0.55, 0.6],
            w=0.14,
            h=0.26,
        ),
        step("thing", times=4, name="boat", on="screen", over={"u": (0.12, 0.9)}, v=[0.68, 0.74], w=0.26, h=0.2),
        step("thing", times=2, name="boat", on="screen", over={"u": (0.2, 0.8)}, v=[0.86, 0.92], w=0.36, h=0.28),
        step("thing", name="slab", on="floor", u=-0.1, v=1.0, z=0.8, w=0.44, h=2.4, ink="wood"),
        step("line", times=5, over={"z": (1.8, 0.0)}, a=(0.14, 0.8, 1.0), b=(0.14, 1.1, 1.0), width=0.05, ink="wood"),
    ],
    "swimming_pool/outdoor": [
        *outdoors(0.3, 0.4),
        woods(0.2, 0.46),
        step("box", u=1.6, z=4.6, w=2.0, h=0.9, d=0.6, ink="white"),
        ground("stone", "grout", 0.3, haze=0.25),
        step("thing", name="wedge", on="floor", u=0.5, z=1.02, w=1.5, h=2.4, ink="white"),
        step("thing", name="wedge", on="floor", u=0.5, z=1.06, w=1.36, h=2.2, ink="pool"),
        *(
            step(
                "thing",
                times=7,
                name="slab",
                on="floor",
                u=0.5 + d,
                over={"z": (2.7, 1.12)},
                w=0.025,
                h=0.16,
                ink="bright",
            )
            for d in (-0.3, -0.1, 0.1, 0.3)
        ),
        step(
            "line", times=2, over={"u": (0.9, 1.0)}, a=(0.12, 0.72, 1.3), b=(0.12, 1.04, 1.3), width=0.025, ink="metal"
        ),
        step("thing", times=3, both=True, name="umbrella", u=-0.5, over={"z": (3.0, 1.7)}, w=0.5, h=0.6),
        step("box", times=3, both=True, over={"z": (2.6, 1.4)}, u=-0.25, w=0.16, h=0.08, d=0.3, ink="white"),
    ],
}
