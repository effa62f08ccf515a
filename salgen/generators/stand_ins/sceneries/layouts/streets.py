"""Streets, squares and works."""

from __future__ import annotations

from salgen.generators.stand_ins.sceneries.grammar import Layout, step
from salgen.generators.stand_ins.sceneries.layouts.openings import ground, lines, outdoors, skyline, standing, woods

STREETS: dict[str, Layout] = {
    "cemetery": [
        *outdoors(0.36, 0.48),
        woods(0.2, 0.56, light=0.7),
        ground("grass", haze=0.25),
        step("ribbon", u=0.5, w=0.3, ink="sand"),
        *(
            item
            for z in (4.2, 3.2, 2.4, 1.75, 1.25)
            for item in (
                *(
                    step("thing", name="gravestone", u=u, z=z, v=1.0, w=0.28, h=[0.3, 0.44])
                    for u in (-1.4, -0.8, -0.2, 1.2, 1.8, 2.4)
                ),
                step("thing", name="gravecross", u=[0.0, 0.2], z=z - 0.1, w=0.26, h=0.46),
            )
        ),
        step("thing", times=2, name="cypress", over={"u": (-0.9, 1.9)}, z=3.0, w=0.4, h=1.7),
    ],
    "construction_site": [
        *outdoors(0.44, 0.54),
        skyline(6, 6.0, 0.06, 0.18),
        ground("earth", haze=0.25),
        step("thing", name="slab", on="screen", u=0.66, v=0.8, w=0.5, h=0.56, ink="dark"),
        *(step("line", a=(0.4, v, 1.0), b=(0.92, v, 1.0), width=0.03, ink="concrete") for v in (0.26, 0.4, 0.54, 0.68)),
        *(
            step("line", a=(u, 0.2, 1.0), b=(u, 0.82, 1.0), width=0.025, ink="concrete")
            for u in (0.42, 0.54, 0.66, 0.78, 0.9)
        ),
        *(
            step("line", a=(u, 0.12, 1.0), b=(u, 0.28, 1.0), width=0.008, ink="metal")
            for u in (0.42, 0.48, 0.54, 0.6, 0.66, 0.72, 0.78)
        ),
        standing("crane", 0.8, 0.8, 0.84, (0.36, 0.46)),
        step("box", times=3, u=[-0.2, 0.4], z=[1.4, 2.0], w=0.3, h=0.16, d=0.2, ink="brick"),
        step("thing", times=3, name="triangle", u=[-0.3, 1.2], z=1.2, w=0.14, h=0.2, ink="fire"),
        step("thing", name="triangle", u=(0.9, 1.2), z=1.6, w=0.8, h=0.26, ink="sand"),
    ],
    "courtyard": [
        step("camera", x=(0.35, 0.65), y=(0.4, 0.5)),
        step("sky", clouds=0.5),
        ground("stone", "grout", 0.25, haze=0.25),
        step("box", u=0.5, z=3.2, w=2.4, h=1.5, d=0.2, ink="wall"),
        step("grid", name="window", rows=1, columns=5, u=0.5, z=3.2, v=0.2, w=1.6, h=0.4, gap=0.2),
        step("grid", name="lancet", rows=1, columns=5, u=0.5, z=3.2, w=1.6, h=0.7, gap=0.12),
        *(step("box", u=u, z=0.9, w=0.8, h=1.5, d=2.4, ink="wall") for u in (-0.6, 1.6)),
        *(
            step("grid", name="lancet", on="side", rows=1, columns=4, u=u, z=0.95, w=2.2, h=0.7, gap=0.12)
            for u in (-0.2, 1.2)
        ),
        *(
            step("grid", name="window", on="side", rows=1, columns=4, u=u, z=0.95, v=0.15, w=2.2, h=0.4, gap=0.2)
            for u in (-0.2, 1.2)
        ),
        step("box", u=0.5, z=1.7, w=0.5, h=0.14, d=0.4, ink="stone2", lid="leaf"),
        step("thing", name="tree", u=0.5, z=1.9, v=0.9, w=0.6, h=0.9),
        step("thing", both=True, times=2, name="bush", u=0.0, over={"z": (2.4, 1.3)}, w=0.26, h=0.3),
    ],
    "driveway": [
        *outdoors(0.4, 0.48),
        woods(0.24, 0.56),
        ground("grass", haze=0.25),
        step("box", u=0.3, z=3.0, w=2.6, h=0.8, d=0.6, ink="wall"),
        step("thing", name="triangle", u=0.3, z=2.95, v=0.24, w=3.0, h=0.66, ink="roof"),
        step("thing", name="roller door", u=0.5, z=2.95, w=0.9, h=0.6),
        step("thing", name="door", u=-0.3, z=2.95, w=0.28, h=0.56),
        step("grid", name="window", rows=1, columns=1, u=-0.7, z=2.95, v=0.8, w=0.4, h=0.4),
        step("thing", name="wedge", on="floor", u=0.5, z=0.8, w=1.0, h=2.15, ink="concrete", light=1.1),
        step("line", a=(0.5, 1.0, 0.8), b=(0.5, 1.0, 2.9), width=0.012, ink="dark"),
        step("thing", name="car back", u=0.5, z=2.2, w=0.56, h=0.4, chance=0.5),
        step("thing", times=4, both=True, name="bush", u=-0.2, over={"z": (2.6, 1.2)}, w=0.34, h=0.24),
    ],
    "highway": [
        *outdoors(0.34, 0.44),
        step("ridge", ink="leaf", foot=0.5, height=0.14, haze=0.4, chance=0.7),
        ground("grass", haze=0.25),
        step("ribbon", u=-0.25, w=1.3, bend=0.03, ink="asphalt"),
        step("ribbon", u=1.25, w=1.3, bend=0.03, ink="asphalt"),
        *lines((-0.85, 0.36, 0.64, 1.85), bend=0.03),
        *lines((-0.25, 1.25), w=0.02, bend=0.03),
        step("ribbon", u=0.5, w=0.08, bend=0.03, ink="metal", v=0.86),
        step("box", u=0.5, z=3.6, v=-0.3, w=1.8, h=0.5, d=0.05, ink="leaf", face="board"),
        step("line", times=2, over={"u": (-0.7, 1.7)}, a=(0.0, -0.8, 3.6), b=(0.0, 1.0, 3.6), width=0.08, ink="metal"),
        step("thing", times=4, name="car back", over={"z": (6.0, 2.0)}, u=[1.0, 1.5], w=0.42, h=0.34),
        step("thing", times=3, name="car back", over={"z": (5.0, 2.4)}, u=[-0.5, 0.0], w=0.42, h=0.34),
    ],
    "market/outdoor": [
        *outdoors(0.36, 0.44),
        step("box", both=True, u=-0.9, z=1.4, w=1.2, h=1.5, d=4.0, ink="wall"),
        ground("stone", "grout", 0.2, haze=0.25),
        step("thing", times=4, both=True, name="stall", u=-0.05, over={"z": (3.6, 1.4)}, w=0.7, h=0.66),
        step("thing", times=6, name="head", u=[0.3, 0.7], over={"z": (3.5, 1.8)}, v=1.0, w=0.2, h=0.46),
        step("box", both=True, u=0.0, z=1.02, w=0.36, h=0.18, d=0.2, ink="wood"),
        *(
            step("grid", name="fruit", rows=2, columns=4, u=u, z=1.02, v=0.86, w=0.36, h=0.14, gap=0.0)
            for u in (0.0, 1.0)
        ),
        step("line", a=(-0.2, 0.1, 1.5), b=(1.2, 0.14, 1.5), width=0.012, ink="dark"),
        step("thing", times=9, name="triangle", over={"u": (-0.1, 1.1)}, z=1.5, v=0.12, w=0.1, h=-0.12, ink="bright*"),
    ],
    "parking_lot": [
        *outdoors(0.32, 0.4),
        skyline(7, 7.0, 0.04, 0.1),
        woods(0.3, 0.46),
        ground("asphalt", haze=0.25),
        *(
            item
            for z, n in ((4.2, 9), (2.6, 6), (1.5, 4))
            for item in (
                step(
                    "thing",
                    times=n + 1,
                    name="slab",
                    on="floor",
                    over={"u": (0.5 - 0.33 * n, 0.5 + 0.33 * n)},
                    z=0.75 * z,
                    w=0.04,
                    h=0.3 * z,
                    ink="white",
                ),
                step(
                    "thing",
                    times=n,
                    name="car back",
                    over={"u": (0.83 - 0.33 * n, 0.17 + 0.33 * n)},
                    z=z,
                    w=0.46,
                    h=0.36,
                ),
            )
        ),
        step("thing", times=2, name="street lamp", over={"u": (-0.8, 1.8)}, z=3.0, w=0.5, h=1.5),
    ],
    "railroad_track": [
        *outdoors(0.36, 0.46),
        woods(0.24, 0.52),
        ground("grass", haze=0.25),
        step("ribbon", u=0.5, w=1.5, ink="stone"),
        step("thing", times=22, name="slab", on="floor", u=0.5, over={"z": (6.6, 0.85)}, w=0.95, h=0.13, ink="wood"),
        *lines((0.2, 0.8), "metal", 0.06),
        step(
            "line",
            times=4,
            over={"z": (4.0, 0.2)},
            u=-0.5,
            a=(0.0, -0.5, 1.0),
            b=(0.0, 1.0, 1.0),
            width=0.05,
            ink="metal",
        ),
        step("line", times=4, over={"z": (4.0, 0.2)}, a=(-0.5, -0.4, 1.0), b=(0.5, -0.4, 1.0), width=0.03, ink="metal"),
        step("line", a=(0.5, -0.3, 1.0), b=(0.5, -0.3, 20.0), width=0.012, ink="dark"),
        step("thing", times=5, both=True, name="bush", u=-0.8, over={"z": (4.0, 1.3)}, w=0.6, h=0.4),
    ],
    "slum": [
        *outdoors(0.2, 0.28),
        step("ridge", ink="earth", foot=0.5, height=0.36, rough=0.1),
        *(
            step("grid", name="shack", on="screen", rows=1, columns=(5, 7), u=(0.46, 0.54), v=v, w=1.3, h=h, gap=0.0)
            for v, h in ((0.3, 0.13), (0.4, 0.15), (0.5, 0.16), (0.61, 0.18), (0.73, 0.2), (0.86, 0.22))
        ),
        step("grid", name="shack", on="screen", rows=1, columns=5, u=(0.46, 0.54), v=1.0, w=1.3, h=0.24, gap=0.0),
        step("line", a=(0.0, 0.5, 1.0), b=(1.0, 0.44, 1.0), width=0.008, ink="dark"),
        step("line", a=(0.0, 0.6, 1.0), b=(1.0, 0.7, 1.0), width=0.008, ink="white"),
        step("grid", name="garment", on="screen", rows=1, columns=6, u=0.5, v=0.76, w=0.5, h=0.1),
    ],
    "fountain": [
        *outdoors(0.46, 0.54),
        woods(0.36, 0.62),
        ground("stone", "grout", 0.3, haze=0.25),
        step("thing", name="disc", on="screen", u=0.5, v=0.98, w=0.96, h=0.32, ink="stone2"),
        step("thing", name="disc", on="screen", u=0.5, v=0.94, w=0.86, h=0.25, ink="pool"),
        step("thing", name="slab", on="screen", u=0.5, v=0.86, w=0.1, h=0.3, ink="stone2"),
        step("thing", name="bowl", on="screen", u=0.5, v=0.7, w=0.5, h=0.1, ink="stone2"),
        step("thing", name="slab", on="screen", u=0.5, v=0.62, w=0.06, h=0.2, ink="stone2"),
        step("thing", name="bowl", on="screen", u=0.5, v=0.48, w=0.26, h=0.07, ink="stone2"),
        *(
            step("line", a=(0.5 + d, t, 1.0), b=(0.5 + 1.4 * d, f, 1.0), width=0.018, ink="white")
            for d, t, f in (
                (-0.12, 0.42, 0.66),
                (0.12, 0.42, 0.66),
                (-0.24, 0.62, 0.86),
                (0.24, 0.62, 0.86),
                (-0.18, 0.64, 0.88),
                (0.18, 0.64, 0.88),
                (-0.06, 0.4, 0.66),
                (0.06, 0.4, 0.66),
            )
        ),
        step("plume", ink="white", x=0.5, top=0.1, foot=0.46, width=0.06, most=0.9),
    ],
}
