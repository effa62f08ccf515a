"""Woods, waters and gardens."""

from __future__ import annotations

from salgen.generators.stand_ins.sceneries.grammar import Layout, step
from salgen.generators.stand_ins.sceneries.layouts.openings import ground, outdoors, water, woods

GREENS: dict[str, Layout] = {
    "botanical_garden": [
        *outdoors(0.36, 0.46),
        woods(0.22, 0.55),
        ground("grass", "stripes", 0.5),
        step("box", u=0.5, z=6.0, w=3.6, h=1.6, d=1.0, ink="glass"),
        step("grid", name="pane", rows=3, columns=9, u=0.5, z=6.0, w=3.6, h=1.6, gap=0.03),
        step("thing", name="arch", u=0.5, z=6.0, v=-0.5, w=1.6, h=0.8, ink="glass"),
        step("ribbon", u=0.5, w=0.5, ink="sand", far=6.0),
        *(
            step("thing", times=14, both=True, name="flower", over={"z": (4.5, 1.0)}, u=u, w=0.16, h=0.24)
            for u in (-0.5, -0.25, 0.0)
        ),
        step("thing", times=3, both=True, name="palm", over={"z": (4.5, 2.2)}, u=-0.8, w=0.9, h=1.3),
        step("thing", times=4, both=True, name="bush", over={"z": (3.5, 1.2)}, u=-0.75, w=0.5, h=0.4),
    ],
    "campsite": [
        *outdoors(0.4, 0.5),
        step(
            "thing",
            times=9,
            name="fir",
            on="screen",
            over={"u": (0.02, 0.98)},
            u=[-0.05, 0.05],
            v=[0.56, 0.6],
            w=[0.16, 0.24],
            h=[0.4, 0.6],
        ),
        ground("grass", haze=0.1),
        step("thing", name="tent", u=(0.0, 0.3), z=1.6, v=1.0, w=0.7, h=0.56),
        step("thing", name="tent", u=(0.9, 1.2), z=2.2, v=1.0, w=0.7, h=0.56, chance=0.7),
        step("thing", name="campfire", u=(0.55, 0.8), z=1.2, v=1.0, w=0.24, h=0.26),
        step("plume", ink="white", x=0.6, top=0.2, foot=0.72, width=0.06, most=0.4, chance=0.5),
        step("line", a=(0.1, 0.98, 1.05), b=(0.45, 1.0, 1.05), width=0.06, ink="bark"),
        step("thing", times=(0, 2), name="fir", on="screen", u=[0.0, 0.15], v=1.0, w=0.36, h=0.95),
    ],
    "coast": [
        *outdoors(0.34, 0.48),
        water(),
        step(
            "ridge",
            ink="rock",
            foot=0.62,
            height=0.5,
            shape=((0.0, 0.9), (0.22, 0.8), (0.4, 0.2), (0.46, -0.1), (1.0, -0.3)),
            rough=0.12,
            cells=5,
            layers=0.12,
        ),
        step("ribbon", u=1.1, w=1.7, bend=-0.12, ink="white", far=7.0),
        step("ribbon", u=1.2, w=1.66, bend=-0.12, ink="sand", far=6.5),
        step(
            "ridge", ink="sand", foot=1.0, height=0.4, shape=((0.0, -0.1), (0.3, -0.05), (1.0, 0.9)), rough=0.1, cells=3
        ),
        step("thing", times=(1, 4), name="umbrella", on="screen", u=[0.65, 0.95], v=[0.85, 0.98], w=0.14, h=0.2),
    ],
    "golf_course": [
        *outdoors(0.34, 0.44),
        woods(0.24, 0.56),
        ground("grass", "stripes", 0.5),
        step("thing", name="disc", on="floor", u=(0.2, 0.8), z=1.8, w=1.4, h=1.8, ink="stalk", light=1.1),
        step(
            "thing",
            times=3,
            name="disc",
            on="floor",
            over={"u": (-0.6, 1.6)},
            z=[1.5, 3.0],
            w=(0.5, 0.8),
            h=0.5,
            ink="sand",
        ),
        step("line", a=(0.55, 0.35, 2.6), b=(0.55, 1.0, 2.6), width=0.02, ink="white"),
        step("thing", name="triangle", on="screen", u=(0.52, 0.56), v=0.5, w=0.07, h=0.05, ink="bright"),
        step("thing", name="disc", on="floor", u=0.55, z=2.6, w=0.08, h=0.1, ink="dark"),
        step("thing", name="ball", u=(0.3, 0.7), z=1.2, w=0.05, h=0.05),
        step("thing", times=(1, 3), name="tree", u=[-1.0, -0.4], z=3.0, w=1.0, h=1.3),
    ],
    "rainforest": [
        step("camera", x=(0.3, 0.7), y=(0.55, 0.7)),
        step("sky", clouds=0.8),
        step("foliage", ink="leaf", shape=((0.0, -0.2), (1.0, -0.2)), low=1.2, holes=0.12, cells=7, light=(1.0, 1.4)),
        step("mist", ink="white", row=0.5, spread=0.4, most=(0.1, 0.4)),
        step("stem", times=(3, 5), x=[0.0, 1.0], w=[0.05, 0.1], foot=0.95, lean=[-0.2, 0.2], ink="bark"),
        step("line", times=5, u=[0.0, 0.9], a=(0.0, -0.1, 1.0), b=(0.1, 0.7, 1.0), width=0.012, ink="stalk"),
        step(
            "foliage", ink="leaf2", shape=((0.0, 0.5), (0.5, 0.78), (1.0, 0.5)), low=1.2, holes=0.1, cells=9, light=0.8
        ),
        step("thing", times=(5, 8), name="fern", on="screen", u=[0.0, 1.0], v=[0.9, 1.1], w=[0.3, 0.6], h=[0.24, 0.4]),
        step("leaf", times=16, x=[-0.05, 1.05], y=[-0.05, 0.1], length=[-0.3, 0.3], droop=[0.1, 0.3], ink="leaf*"),
    ],
    "river": [
        *outdoors(0.32, 0.42),
        step("ridge", ink="leaf2", foot=0.5, height=0.2, rough=0.4, haze=0.4),
        woods(0.26, 0.5),
        ground("grass"),
        step("ribbon", u=0.45, w=1.4, sway=0.22, ink="earth", far=15.0),
        step("ribbon", u=0.45, w=1.24, sway=0.22, ink="water", far=15.0),
        *(step("ribbon", u=u, w=0.1, sway=0.22, ink="water", light=1.25, far=6.0) for u in (0.2, 0.55, 0.8)),
        step("thing", times=(4, 7), name="disc", u=[0.0, 0.9], z=[1.1, 2.4], w=[0.1, 0.2], h=0.08, ink="rock*"),
        step("thing", times=(3, 6), name="tree", u=[-1.6, -0.7], over={"z": (4.0, 2.0)}, w=0.9, h=1.2),
        step("thing", times=(2, 5), name="tree", u=[1.6, 2.6], over={"z": (4.0, 2.0)}, w=0.9, h=1.2),
    ],
    "swamp": [
        *outdoors(0.4, 0.5),
        woods(0.0, 0.54, "leaf2", 1.1),
        water(),
        step("mist", ink="white", row=0.5, spread=0.14, most=(0.2, 0.5)),
        step("thing", times=(6, 9), name="deadtree", over={"z": (3.6, 1.3)}, u=[-0.4, 1.4], w=(0.6, 0.8), h=[1.2, 1.7]),
        step(
            "thing",
            times=(14, 20),
            name="disc",
            on="floor",
            u=[-0.3, 1.3],
            z=[1.02, 3.0],
            w=[0.1, 0.24],
            h=[0.06, 0.14],
            ink="leaf",
        ),
        step("thing", times=8, name="reed", on="screen", u=[0.0, 1.0], v=[0.9, 1.04], w=0.12, h=[0.2, 0.4]),
    ],
    "yard": [
        *outdoors(0.36, 0.46),
        woods(0.16, 0.5),
        step("thing", times=2, name="tree", u=[-1.0, 2.0], z=3.6, w=1.6, h=2.0),
        ground("grass", "stripes", 0.3),
        step("grid", name="gable", rows=1, columns=(16, 20), u=0.5, z=3.2, w=4.4, h=0.62, ink="white", gap=0.03),
        step("thing", name="tree", u=(-0.3, 0.1), z=2.2, w=0.9, h=1.3),
        step("line", times=2, over={"u": (0.55, 1.25)}, a=(0.0, 0.3, 2.2), b=(0.0, 1.0, 2.2), width=0.04, ink="metal"),
        step("line", a=(0.5, 0.36, 2.2), b=(1.3, 0.36, 2.2), width=0.015, ink="white"),
        step("grid", name="garment", rows=1, columns=4, u=0.9, z=2.2, v=0.66, w=0.6, h=0.3),
        step("thing", times=7, name="flower", over={"u": (0.05, 0.95)}, z=1.08, w=0.1, h=[0.12, 0.2]),
        step("ribbon", u=0.5, w=0.26, sway=0.1, ink="stone", far=3.0),
    ],
}
