"""The scenes of BAM that lie in the open air."""

from __future__ import annotations

from salgen.generators.stand_ins.sceneries.grammar import Layout, step

LANES = (-0.98, -0.28, 0.42, 1.12, 1.82)

TEN_OUTSIDE: dict[str, Layout] = {
    "bamboo_forest": [
        step("camera", x=(0.3, 0.7), y=(0.6, 0.8)),
        step("sky", clouds=0.2),
        step("ground", cover=("earth", "plain", 0.2), haze=0.5),
        step(
            "foliage",
            ink="leaf",
            shape=((0.0, -0.2), (1.0, -0.2)),
            low=(0.7, 0.85),
            holes=(0.05, 0.3),
            light=(0.9, 1.5),
        ),
        step("ribbon", w=(0.2, 0.5), u=(0.2, 0.8), bend=(-0.1, 0.1), sway=(-0.1, 0.1), ink="sand", chance=0.6),
        step(
            "stem",
            times=(10, 16),
            x=[0.0, 1.0],
            w=[0.012, 0.024],
            foot=[0.66, 0.8],
            lean=[-0.05, 0.05],
            joints=3,
            light=(1.05, 1.3),
        ),
        step("mist", ink="white", row=(0.4, 0.7), spread=0.4, most=(0.1, 0.45)),
        step("stem", times=(8, 12), x=[0.0, 1.0], w=[0.03, 0.045], foot=[0.8, 0.92], lean=[-0.06, 0.06], joints=5),
        step("leaf", times=24, x=[0.0, 1.0], y=[-0.02, 0.35], length=[-0.12, 0.12], droop=[0.02, 0.08], light=1.0),
        step("stem", times=(3, 5), x=[0.0, 1.0], w=[0.06, 0.085], lean=[-0.08, 0.08], joints=5),
        step("leaf", times=20, x=[0.0, 1.0], y=[-0.04, 0.16], length=[-0.2, 0.2], droop=[0.04, 0.12], light=0.9),
        step(
            "thing", times=(2, 5), name="fern", on="screen", u=[0.0, 1.0], v=[0.95, 1.05], w=(0.2, 0.35), h=(0.12, 0.2)
        ),
    ],
    "corn_field": [
        step("camera", x=(0.35, 0.65), y=(0.34, 0.5)),
        step("sky", clouds=(0.2, 0.7)),
        step("ridge", ink="leaf2", foot=0.55, height=(0.08, 0.16), haze=0.4, rough=0.3, cells=6),
        step("ground", cover=("earth", "furrows", 0.2), haze=0.2),
        step("thing", name="house", u=(-2.0, 3.0), z=10.0, v=0.95, w=2.2, h=1.5, chance=0.4),
        *(
            step(
                "thing",
                times=11,
                name="corn",
                u=u,
                over={"z": (4.6, 1.05)},
                v=1.03,
                w=[0.42, 0.6],
                h=[0.72, 0.95],
                light=[0.8, 1.1],
            )
            for u in (-1.5, 2.5, -0.95, 1.95, -0.45, 1.45)
        ),
        *(
            step(
                "thing",
                times=11,
                name="corn",
                u=u,
                over={"z": (4.4, 0.95)},
                v=1.05,
                w=[0.34, 0.5],
                h=[0.6, 0.85],
                light=[0.85, 1.15],
            )
            for u in (0.02, 0.98)
        ),
    ],
    "runway": [
        step("camera", x=(0.3, 0.7), y=(0.28, 0.5)),
        step("sky", clouds=(0.2, 0.8)),
        step("ridge", ink="rock", foot=0.52, height=(0.06, 0.16), haze=0.5, rough=0.4, chance=0.5),
        step("foliage", ink="leaf", shape=((0.0, 0.43), (1.0, 0.43)), low=0.53, holes=0.25, cells=20, chance=0.6),
        step("ground", cover=("grass", "plain", 0.3), haze=0.5),
        step("ribbon", u=0.5, w=(1.25, 1.5), ink="concrete", light=1.1),
        step("ribbon", u=0.5, w=(1.05, 1.2), ink="asphalt"),
        *(step("ribbon", u=u, w=0.025, ink="white") for u in (0.03, 0.97)),
        step("thing", times=9, name="slab", on="floor", u=0.5, over={"z": (14.0, 1.9)}, w=0.05, h=0.8, ink="white"),
        step("thing", times=4, name="slab", on="floor", over={"u": (0.1, 0.36)}, z=0.95, w=0.05, h=0.55, ink="white"),
        step("thing", times=4, name="slab", on="floor", over={"u": (0.64, 0.9)}, z=0.95, w=0.05, h=0.55, ink="white"),
        step("thing", both=True, name="slab", on="floor", u=0.24, z=2.6, w=0.1, h=1.2, ink="white", chance=0.8),
        *(
            step("thing", times=9, name="disc", u=u, over={"z": (9.0, 1.1)}, w=0.035, h=0.035, ink="lamp")
            for u in (-0.08, 1.08)
        ),
        step("tower", u=(1.6, 2.8), z=6.0, w=0.35, h=1.3, d=0.3, rows=5, columns=1, ink="white", chance=0.5),
        step("box", u=(-2.0, -1.0), z=7.0, w=2.0, h=0.5, d=1.0, ink="metal", chance=0.5),
        step("thing", name="plane", u=(-0.6, 1.4), z=(3.5, 6.0), w=1.1, h=0.5, chance=0.5),
    ],
    "ski_slope": [
        step("camera", x=(0.4, 0.6), y=(0.3, 0.4)),
        step("sky", clouds=(0.2, 0.7)),
        step(
            "ridge",
            ink="rock",
            cap="snow",
            foot=0.6,
            height=(0.3, 0.5),
            shape=((0.0, 0.6), (0.3, 0.9), (0.6, 0.55), (1.0, 0.8)),
            rough=0.4,
            capped=(0.4, 0.8),
            haze=(0.1, 0.4),
        ),
        step(
            "foliage",
            ink="leaf2",
            shape=((0.0, 0.28), (0.5, 0.5), (1.0, 0.56)),
            low=0.8,
            holes=0.1,
            cells=18,
            light=0.7,
        ),
        step(
            "ridge", ink="snow", foot=1.0, height=1.0, shape=((0.0, 0.66), (0.45, 0.5), (1.0, 0.3)), rough=0.06, cells=3
        ),
        step(
            "ridge", ink="snow", foot=1.0, height=1.0, shape=((0.0, 0.4), (0.5, 0.34), (1.0, 0.14)), rough=0.08, cells=3
        ),
        step(
            "thing", times=(5, 9), name="snowfir", on="screen", u=[0.0, 0.3], v=[0.4, 0.5], w=[0.07, 0.1], h=[0.14, 0.2]
        ),
        step(
            "thing",
            times=(3, 6),
            name="snowfir",
            on="screen",
            u=[0.7, 1.0],
            v=[0.66, 0.74],
            w=[0.09, 0.13],
            h=[0.2, 0.26],
        ),
        *(
            step("line", a=(x, 0.56, 1.0), b=(x + d, 1.02, 1.0), width=0.012, ink="water2", light=1.5)
            for x, d in ((0.34, -0.26), (0.38, -0.2), (0.55, 0.1), (0.6, 0.16), (0.46, -0.05))
        ),
        step("line", a=(-0.05, 0.1, 1.0), b=(1.05, 0.5, 1.0), width=0.01, ink="dark"),
        step(
            "thing",
            times=3,
            name="lift",
            on="screen",
            over={"u": (0.3, 0.92), "v": (0.5, 0.74), "w": (0.1, 0.14), "h": (0.28, 0.3)},
            w=0.0,
            h=0.0,
        ),
        step(
            "thing",
            times=3,
            name="gondola",
            on="screen",
            over={"u": (0.1, 0.8), "v": (0.27, 0.56)},
            u=(0.0, 0.1),
            w=0.08,
            h=0.12,
        ),
        step("thing", times=(2, 4), name="flag", on="screen", u=[0.15, 0.85], v=[0.7, 0.95], w=0.1, h=(0.14, 0.2)),
        step("thing", times=(0, 2), name="snowfir", on="screen", u=[0.0, 0.2], v=(0.95, 1.05), w=0.26, h=(0.4, 0.55)),
    ],
    "track/outdoor": [
        step("camera", x=(0.35, 0.65), y=(0.28, 0.42)),
        step("sky", clouds=(0.2, 0.7)),
        step("foliage", ink="leaf", shape=((0.0, 0.28), (1.0, 0.32)), low=0.5, holes=0.15, cells=14, light=0.9),
        step("ground", cover=("grass", "stripes", 0.6), haze=0.2),
        step("box", u=(-3.0, 0.0), z=9.0, w=7.0, h=(0.9, 1.5), d=1.0, ink="concrete", chance=0.7),
        step("grid", name="head", rows=3, columns=22, u=(-3.0, 0.0), z=9.0, v=0.8, w=6.6, h=0.8, gap=0.12, chance=0.6),
        step("thing", times=2, name="floodlight", over={"u": (-2.2, 3.0)}, z=8.0, w=0.9, h=(3.0, 4.0)),
        step("ribbon", u=0.42, w=2.9, bend=0.16, ink="clay", far=10.0),
        *(step("ribbon", u=u, w=0.035, bend=0.16, ink="white", far=10.0) for u in LANES),
        *(step("ribbon", u=u, w=0.03, bend=0.16, ink="white", far=10.0) for u in (-0.63, 0.07, 0.77, 1.47)),
        step("thing", name="slab", on="floor", u=0.42, z=(1.2, 1.35), w=2.8, h=0.06, ink="white"),
        *(step("thing", name="hurdle", u=u, z=(2.0, 2.4), w=0.3, h=0.32, chance=0.6) for u in (-0.3, 0.4, 1.1)),
        step(
            "grid",
            name="board",
            on="floor",
            rows=1,
            columns=8,
            u=0.42,
            z=1.05,
            w=2.8,
            h=0.12,
            gap=0.32,
            ink="clay",
            chance=0.5,
        ),
    ],
}
