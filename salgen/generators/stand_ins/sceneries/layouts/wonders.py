"""Springs, icebergs, arches, volcanoes; and what people dig."""

from __future__ import annotations

from salgen.generators.stand_ins.sceneries.grammar import Layout, step
from salgen.generators.stand_ins.sceneries.layouts.openings import ground, outdoors, water, woods

WONDERS: dict[str, Layout] = {
    "hot_spring": [
        *outdoors(0.34, 0.44),
        step("ridge", ink="rock2", foot=0.55, height=0.25, rough=0.4, cap="snow", haze=0.2),
        woods(0.34, 0.56),
        ground("rock"),
        step("thing", name="disc", on="floor", u=0.5, z=1.08, w=1.5, h=2.2, ink="gold"),
        step("thing", name="disc", on="floor", u=0.5, z=1.12, w=1.34, h=1.9, ink="sand"),
        step("thing", name="disc", on="floor", u=0.5, z=1.16, w=1.2, h=1.6, ink="pool"),
        step("thing", times=12, name="disc", u=[-0.2, 1.2], z=[2.8, 3.4], w=[0.2, 0.4], h=[0.15, 0.3], ink="rock"),
        step("plume", ink="white", x=0.4, top=-0.1, foot=0.7, width=0.16, most=0.7),
        step("plume", ink="white", x=0.65, top=0.1, foot=0.66, width=0.12, most=0.6),
        step(
            "thing",
            times=8,
            both=True,
            name="disc",
            over={"u": (-0.06, 0.3)},
            z=[0.98, 1.08],
            v=1.06,
            w=[0.12, 0.26],
            h=[0.12, 0.22],
            ink="rock*",
        ),
    ],
    "iceberg": [
        *outdoors(0.5, 0.6),
        step("ridge", ink="ice", foot=0.62, height=0.12, rough=0.5, cells=6, haze=0.4),
        step(
            "ridge",
            ink="ice",
            foot=0.66,
            height=(0.4, 0.52),
            shape=((0.14, -0.4), (0.2, 0.4), (0.36, 0.9), (0.5, 0.62), (0.62, 0.74), (0.78, 0.3), (0.82, -0.4)),
            rough=0.1,
            cells=6,
            down=0.66,
        ),
        water(),
        step("mist", ink="white", row=0.66, spread=0.03, most=0.5),
        step("thing", times=(4, 8), name="bowl", u=[-1.0, 2.0], z=[1.6, 3.5], v=1.0, w=[0.2, 0.5], h=0.08, ink="ice"),
    ],
    "rock_arch": [
        *outdoors(0.55, 0.65),
        step("ridge", ink="rock", foot=0.7, height=0.2, rough=0.3, layers=0.1, haze=0.4),
        ground("sand"),
        step(
            "ridge",
            ink="rock2",
            foot=1.0,
            height=0.4,
            shape=((0.0, 0.6), (0.5, 0.5), (1.0, 0.7)),
            rough=0.15,
            layers=0.15,
        ),
        *(
            step("line", a=(x, y, 1.0), b=(p, q, 1.0), width=w, ink="rock2")
            for x, y, p, q, w in ((0.2, 0.4, 0.16, 0.86, 0.2), (0.8, 0.36, 0.86, 0.86, 0.22))
        ),
        *(
            step("thing", name="disc", on="screen", u=u, v=v, w=w, h=h, ink="rock2", light=light)
            for u, v, w, h, light in (
                (0.22, 0.5, 0.26, 0.32, 1.0),
                (0.34, 0.34, 0.3, 0.2, 1.04),
                (0.5, 0.29, 0.34, 0.17, 1.08),
                (0.66, 0.34, 0.32, 0.2, 1.04),
                (0.79, 0.5, 0.28, 0.34, 0.96),
            )
        ),
        step("thing", times=6, name="bush", on="screen", u=[0.05, 0.95], v=[0.84, 1.0], w=0.14, h=0.08),
    ],
    "volcano": [
        *outdoors(0.66, 0.76),
        step("plume", ink="concrete", x=0.5, top=-0.1, foot=0.34, width=(0.1, 0.2), most=0.95),
        step(
            "ridge",
            ink="rock",
            foot=0.8,
            height=0.56,
            shape=(
                (0.0, 0.02),
                (0.3, 0.42),
                (0.43, 0.94),
                (0.48, 0.88),
                (0.53, 0.9),
                (0.57, 0.95),
                (0.7, 0.42),
                (1.0, 0.04),
            ),
            rough=0.03,
            cells=6,
        ),
        step("thing", name="wedge", on="screen", ink="fire", u=0.5, v=0.36, w=0.12, h=0.06),
        *(
            step("line", a=(0.5 + d, 0.33, 1.0), b=(0.5 + 4 * d, 0.68, 1.0), width=0.025, ink="fire")
            for d in (-0.05, -0.01, 0.04)
        ),
        ground("earth"),
        woods(0.72, 0.84, "leaf2", 0.6),
    ],
    "trench": [
        *outdoors(0.3, 0.4),
        step("thing", times=3, name="deadtree", u=[-1.0, 2.0], z=5.0, v=0.9, w=0.6, h=1.2),
        ground("earth", "plain"),
        *(
            step("ribbon", u=u, w=w, v=v, ink="earth", light=light, far=10.0)
            for u, w, v, light in ((0.5, 1.02, 1.1, 0.5), (0.5, 0.7, 1.5, 0.75))
        ),
        step("ribbon", u=0.5, w=0.44, v=1.6, ink="wood", far=10.0),
        *(
            step(
                "line",
                times=9,
                over={"z": (5.0, 0.3)},
                u=u,
                a=(0.0, 0.84, 1.0),
                b=(0.0, 1.7, 1.0),
                width=0.06,
                ink="wood",
            )
            for u in (0.06, 0.94)
        ),
        *(
            step("line", a=(u, v, 0.9), b=(u, v, 8.0), width=0.06, ink="wood2")
            for u in (0.06, 0.94)
            for v in (1.1, 1.35)
        ),
        *(
            step(
                "thing", times=14, both=True, name="disc", over={"z": (6.0, 0.95)}, u=u, v=v, w=0.28, h=0.14, ink="sand"
            )
            for u, v in ((-0.08, 1.0), (0.0, 0.9))
        ),
    ],
}
