"""Grounds for games and shows."""

from __future__ import annotations

from salgen.generators.stand_ins.sceneries.grammar import Layout, step
from salgen.generators.stand_ins.sceneries.layouts.openings import ground, lines, outdoors, skyline, standing, woods

GROUNDS: dict[str, Layout] = {
    "amphitheater": [
        *outdoors(0.3, 0.36),
        step("ridge", ink="leaf", foot=0.4, height=0.14, haze=0.3),
        ground("stone", haze=0.25),
        *(
            step(
                "thing",
                name="bowl",
                on="screen",
                ink="stone",
                u=0.5,
                v=0.86 - 0.004 * k,
                w=1.5 - 0.13 * k,
                h=0.52 - 0.048 * k,
                light=0.62 + 0.5 * (k % 2),
            )
            for k in range(9)
        ),
        step("thing", name="disc", on="screen", u=0.5, v=0.98, w=0.8, h=0.26, ink="sand"),
        step(
            "thing",
            times=5,
            name="slab",
            on="screen",
            over={"u": (0.3, 0.7)},
            v=0.9,
            w=0.03,
            h=(0.14, 0.2),
            ink="stone",
        ),
        step("thing", name="slab", on="screen", u=0.5, v=0.77, w=0.44, h=0.03, ink="stone", chance=0.7),
        *(
            step("line", a=(0.5 + 0.1 * s, 0.62, 1.0), b=(0.5 + 0.6 * s, 0.3, 1.0), width=0.025, ink="sand")
            for s in (-1, 1)
        ),
    ],
    "amusement_park": [
        *outdoors(0.5, 0.6),
        woods(0.5, 0.64),
        ground("asphalt", haze=0.25),
        standing("ferris", 0.7, 0.7, 0.74, (0.25, 0.4)),
        *(
            step("line", a=(0.5 + x, y, 1.0), b=(0.5 + p, q, 1.0), width=0.025, ink="bright2")
            for x, y, p, q in (
                (0.08, 0.5, 0.2, 0.2),
                (0.2, 0.2, 0.28, 0.2),
                (0.28, 0.2, 0.4, 0.56),
                (0.4, 0.56, 0.5, 0.36),
            )
        ),
        step(
            "line", times=8, over={"u": (0.56, 1.0)}, a=(0.0, 0.42, 1.0), b=(0.0, 0.72, 1.0), width=0.012, ink="metal"
        ),
        step("thing", times=3, name="stall", on="screen", over={"u": (0.2, 0.9)}, v=(0.86, 0.92), w=0.26, h=0.24),
        step("thing", times=5, name="ball", on="screen", u=[0.1, 0.9], v=[0.3, 0.6], w=0.05, h=0.06),
        step("thing", times=7, name="head", on="screen", u=[0.0, 1.0], v=1.0, w=0.09, h=[0.12, 0.18]),
    ],
    "baseball_field": [
        *outdoors(0.3, 0.38),
        step("box", u=0.5, z=8.0, w=9.0, h=1.3, d=1.0, ink="concrete"),
        step("grid", name="head", rows=3, columns=24, u=0.5, z=8.0, v=0.9, w=9.0, h=1.1),
        step("thing", times=4, name="floodlight", over={"u": (-3.0, 4.0)}, z=8.0, w=0.9, h=3.4),
        ground("grass", "stripes", 0.4, haze=0.25),
        step("thing", name="disc", on="floor", u=0.5, z=0.9, w=2.4, h=3.2, ink="clay"),
        step("thing", name="triangle", on="floor", u=0.5, z=1.35, w=1.4, h=1.3, ink="grass"),
        step("thing", name="disc", on="floor", u=0.5, z=1.6, w=0.24, h=0.4, ink="clay"),
        *(step("line", a=(0.5, 1.0, 0.98), b=(0.5 + s * 3.0, 1.0, 4.5), width=0.02, ink="white") for s in (-1, 1)),
        step("thing", name="slab", on="floor", u=0.5, z=1.0, w=0.14, h=0.06, ink="white"),
        *(
            step("thing", name="slab", on="floor", u=u, z=z, w=0.12, h=0.1, ink="white")
            for u, z in ((0.0, 1.7), (1.0, 1.7), (0.5, 2.6))
        ),
    ],
    "ice_skating_rink/outdoor": [
        *outdoors(0.32, 0.4),
        skyline(7, 5.0, 0.1, 0.24),
        step("thing", times=6, name="snowfir", u=[-1.5, 2.5], z=4.4, w=0.7, h=1.2),
        ground("snow", haze=0.25),
        step("box", u=0.5, z=3.8, w=3.6, h=0.26, d=0.1, ink="white"),
        step("thing", name="disc", on="floor", u=0.5, z=0.8, w=2.6, h=3.2, ink="ice"),
        step("thing", name="disc", on="floor", u=0.5, z=1.4, w=0.7, h=0.7, ink="clay"),
        step("thing", name="disc", on="floor", u=0.5, z=1.43, w=0.64, h=0.62, ink="ice"),
        step("thing", name="slab", on="floor", u=0.5, z=1.7, w=2.2, h=0.07, ink="water"),
        *(
            step("line", a=(x, 0.45, z), b=(p, 0.45, q), width=0.015, ink="lamp")
            for x, z, p, q in ((-0.6, 1.2, 0.5, 3.4), (1.6, 1.2, 0.5, 3.4))
        ),
        step("thing", times=(4, 7), name="head", u=[-0.2, 1.2], z=[1.5, 3.0], v=1.0, w=0.14, h=[0.36, 0.42]),
    ],
    "playground": [
        *outdoors(0.42, 0.5),
        woods(0.26, 0.58),
        ground("grass", haze=0.25),
        step("thing", name="disc", on="floor", u=0.5, z=0.95, w=1.7, h=1.6, ink="sand"),
        standing("swing", 0.46, 0.42, 0.8, (0.22, 0.3)),
        standing("slide", 0.46, 0.46, 0.86, (0.72, 0.78)),
        step("line", a=(0.3, 0.86, 1.05), b=(0.62, 0.96, 1.05), width=0.035, ink="bright3"),
        step("thing", name="triangle", u=0.46, z=1.04, v=1.0, w=0.1, h=0.1, ink="metal"),
        step("thing", times=2, name="ball", u=[0.3, 0.7], z=1.0, w=0.07, h=0.07),
    ],
    "racecourse": [
        *outdoors(0.34, 0.42),
        woods(0.28, 0.5),
        ground("grass", "stripes", 0.5, haze=0.25),
        step("box", u=-1.6, z=3.4, w=2.0, h=1.2, d=3.0, ink="concrete"),
        step("grid", name="head", rows=4, columns=10, u=-1.6, z=3.4, v=0.85, w=2.0, h=0.8),
        step("thing", name="slab", u=-1.5, z=3.2, v=-0.15, w=2.4, h=0.14, ink="roof"),
        step("ribbon", u=0.6, w=1.6, bend=0.14, ink="earth", far=10.0),
        *(step("ribbon", u=u, w=0.04, v=0.82, bend=0.14, ink="white", far=10.0) for u in (-0.26, 1.46)),
        step(
            "line",
            times=8,
            over={"z": (3.6, 0.0)},
            u=-0.26,
            a=(0.0, 0.82, 1.0),
            b=(0.0, 1.0, 1.0),
            width=0.03,
            ink="white",
        ),
        step("line", a=(0.9, 0.0, 1.7), b=(0.9, 1.0, 1.7), width=0.05, ink="white"),
        step("thing", name="disc", u=0.9, z=1.7, v=0.1, w=0.2, h=0.2, ink="gold"),
    ],
    "stadium/football": [
        *outdoors(0.3, 0.38),
        step("thing", times=4, name="floodlight", over={"u": (-3.5, 4.5)}, z=8.0, v=0.6, w=1.0, h=2.4),
        ground("grass", "stripes", 0.5, haze=0.25),
        step("box", u=0.5, z=6.5, w=8.0, h=1.7, d=1.0, ink="concrete"),
        step("grid", name="head", rows=6, columns=30, u=0.5, z=6.5, v=0.86, w=7.8, h=1.5, gap=0.02),
        step("thing", name="slab", u=0.5, z=6.3, v=-0.72, w=8.4, h=0.24, ink="roof"),
        step("thing", times=11, name="slab", on="floor", over={"z": (5.6, 1.1)}, u=0.5, w=3.4, h=0.05, ink="white"),
        *lines((-1.2, 2.2), far=5.5),
        step("thing", name="posts", u=0.5, z=5.6, w=0.8, h=1.5),
        step(
            "thing",
            times=10,
            both=True,
            name="slab",
            on="floor",
            u=0.2,
            over={"z": (5.0, 1.2)},
            w=0.1,
            h=0.04,
            ink="white",
        ),
    ],
}
