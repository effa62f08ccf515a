"""The scenes of BAM that lie inside."""

from __future__ import annotations

from salgen.generators.stand_ins.sceneries.grammar import Layout, step

TEN_INSIDE: dict[str, Layout] = {
    "bedroom": [
        step("camera", x=(0.2, 0.8), y=(0.28, 0.48)),
        step(
            "room",
            depth=(2.0, 2.6),
            floor=("floor", "boards", 0.12),
            wall=("wall", "plain", 0.2),
            ceiling=("ceiling", "plain", 0.2),
            glow=(-0.2, 0.25),
        ),
        step("thing", name="window", on="side", u=0.0, z=(1.3, 1.5), v=(0.6, 0.7), w=0.4, h=(0.4, 0.5), chance=0.7),
        step("thing", name="curtain", both=True, u=(0.1, 0.2), z=2.0, v=0.85, w=0.16, h=0.75, chance=0.5),
        step("thing", name="painting", u=(0.35, 0.65), z=2.0, v=(0.3, 0.4), w=(0.25, 0.5), h=(0.2, 0.3), chance=0.8),
        step("thing", name="slab", on="floor", u=0.5, z=1.0, w=(0.9, 1.1), h=0.7, ink="cloth2", chance=0.7),
        step("box", both=True, u=(-0.02, 0.06), z=1.75, w=0.2, h=(0.2, 0.26), d=0.2, ink="wood", face="drawers"),
        step("thing", both=True, name="lamp", u=(-0.02, 0.06), z=1.8, v=0.77, w=0.14, h=0.24),
        step("box", u=0.5, z=1.95, w=(0.7, 0.84), h=(0.46, 0.6), d=0.05, ink="wood2"),
        step("box", u=0.5, z=(1.15, 1.3), w=(0.66, 0.78), h=(0.22, 0.28), d=0.7, ink="cloth", lid="white"),
        step("thing", both=True, name="disc", u=0.35, z=1.85, v=(0.7, 0.74), w=0.26, h=0.12, ink="white"),
        step("box", u=0.5, z=(1.14, 1.2), w=0.8, h=(0.27, 0.3), d=(0.3, 0.45), ink="cloth"),
        step("thing", name="pendant", u=(0.4, 0.6), z=1.4, v=(0.16, 0.25), w=0.2, h=0.3, chance=0.5),
    ],
    "bowling_alley": [
        step("camera", x=(0.25, 0.75), y=(0.28, 0.46)),
        step(
            "room",
            depth=(5.5, 6.5),
            floor=("wood", "boards", 0.06),
            wall=("wall", "plain", 0.2),
            ceiling=("ceiling", "grout", 0.25),
            back=("dark", "plain", 0.2),
            glow=(-0.3, 0.2),
        ),
        *(step("ribbon", u=u, w=0.14, ink="dark", far=5.5) for u in (-0.2, 0.27, 0.73, 1.2)),
        *(step("ribbon", u=u, w=0.34, ink="wood2", far=5.5) for u in (0.04, 0.5, 0.96)),
        *(
            step(
                "thing",
                times=5,
                name="triangle",
                on="floor",
                u=u,
                over={"u": (-0.1, 0.1)},
                z=1.9,
                w=0.035,
                h=0.3,
                ink="dark",
            )
            for u in (0.04, 0.5, 0.96)
        ),
        step("box", u=0.5, z=5.3, v=0.62, w=1.2, h=(0.62, 0.8), d=0.2, ink="bright"),
        step("grid", name="screen", rows=1, columns=(3, 5), u=0.5, z=5.2, v=0.4, w=1.15, h=0.42),
        *(
            step("thing", times=4, name="pin", u=u, over={"u": (-0.15, 0.15)}, z=5.2, v=0.93, w=0.11, h=0.36)
            for u in (0.04, 0.5, 0.96)
        ),
        *(
            step("thing", times=3, name="pin", u=u, over={"u": (-0.1, 0.1)}, z=4.9, v=1.0, w=0.12, h=0.38)
            for u in (0.04, 0.5, 0.96)
        ),
        step(
            "thing",
            times=4,
            name="slab",
            on="floor",
            u=(0.3, 0.7),
            v=0.0,
            over={"z": (4.5, 1.2)},
            w=(0.4, 0.9),
            h=0.3,
            ink="lamp",
        ),
        step("box", both=True, u=(0.25, 0.29), z=(0.95, 1.05), w=0.16, h=0.16, d=0.4, ink="metal"),
        step("thing", times=3, both=True, name="ball", u=0.22, over={"u": (0.0, 0.1)}, z=1.0, v=0.86, w=0.08, h=0.08),
        step("thing", name="ball", u=(0.4, 0.6), z=(1.5, 3.5), w=0.13, h=0.13, chance=0.6),
    ],
    "bus_interior": [
        step("camera", x=(0.42, 0.58), y=(0.36, 0.48)),
        step(
            "room",
            depth=(4.5, 6.0),
            floor=("floor", "plain", 0.1),
            wall=("wall", "plain", 0.3),
            ceiling=("ceiling", "stripes", 0.25),
            back=("dark", "plain", 0.2),
            glow=(-0.3, 0.1),
        ),
        *(
            step(
                "grid",
                name="pane",
                on="side",
                rows=1,
                columns=(5, 6),
                u=u,
                z=0.7,
                v=(0.6, 0.66),
                w=4.6,
                h=(0.36, 0.42),
                gap=0.04,
            )
            for u in (0.0, 1.0)
        ),
        step("thing", name="pane", u=0.5, z=4.5, v=0.75, w=0.9, h=0.6),
        step("line", times=2, over={"u": (0.14, 0.86)}, a=(0.0, 0.02, 0.8), b=(0.0, 0.02, 5.0), width=0.05, ink="lamp"),
        step(
            "box",
            times=(6, 7),
            both=True,
            over={"z": (4.3, 1.0)},
            u=0.17,
            w=0.3,
            h=(0.46, 0.54),
            d=0.1,
            ink="cloth",
            lid="dark",
        ),
        step(
            "line",
            times=4,
            over={"z": (3.0, 0.3)},
            u=(0.32, 0.36),
            a=(0.0, 0.0, 1.0),
            b=(0.0, 1.0, 1.0),
            width=0.025,
            ink="gold",
        ),
        step(
            "line",
            times=4,
            over={"z": (2.8, 0.1)},
            u=(0.64, 0.68),
            a=(0.0, 0.0, 1.0),
            b=(0.0, 1.0, 1.0),
            width=0.025,
            ink="gold",
        ),
        *(step("line", a=(u, 0.14, 0.8), b=(u, 0.14, 5.0), width=0.025, ink="gold") for u in (0.34, 0.66)),
        step(
            "thing", times=7, both=True, name="ring", over={"z": (3.6, 1.0)}, u=0.34, v=0.28, w=0.05, h=0.1, ink="white"
        ),
    ],
    "cockpit": [
        step("camera", x=(0.4, 0.6), y=(0.3, 0.44)),
        step("sky", clouds=(0.3, 0.7)),
        step("ground", cover=(("grass"), "plain", 0.3), haze=0.8, chance=0.6),
        step("ridge", ink="rock", foot=0.5, height=(0.05, 0.14), haze=0.5, down=0.46, chance=0.4),
        step("ribbon", u=0.5, w=0.5, ink="asphalt", chance=0.4),
        step("thing", name="wedge", on="screen", ink="dark", u=0.5, v=1.0, w=1.9, h=(0.48, 0.54)),
        step("thing", both=True, name="slab", on="screen", ink="dark", u=(0.0, 0.03), v=1.0, w=(0.09, 0.16), h=1.0),
        step("thing", name="slab", on="screen", ink="dark", u=0.5, v=(0.09, 0.16), w=1.1, h=0.2),
        *(
            step("line", a=(0.5 + s * 0.08, 0.02, 1.0), b=(0.5 + s * 0.05, 0.6, 1.0), width=(0.03, 0.05), ink="dark")
            for s in (-1, 1)
        ),
        *(
            step("line", a=(0.5 + s * 0.47, 0.06, 1.0), b=(0.5 + s * 0.36, 0.6, 1.0), width=0.05, ink="dark")
            for s in (-1, 1)
        ),
        step(
            "grid",
            name="disc",
            on="screen",
            rows=2,
            columns=12,
            ink="lamp",
            u=0.5,
            v=0.11,
            w=0.7,
            h=0.09,
            gap=0.28,
            missing=0.3,
        ),
        step("thing", name="slab", on="screen", ink="metal", u=0.5, v=0.8, w=0.92, h=0.25, light=0.5),
        step("grid", name="display", on="screen", rows=1, columns=2, u=(0.24, 0.27), v=0.79, w=0.36, h=0.22, gap=0.04),
        step("grid", name="display", on="screen", rows=1, columns=2, u=(0.73, 0.76), v=0.79, w=0.36, h=0.22, gap=0.04),
        step("grid", name="dial", on="screen", rows=2, columns=(3, 5), u=0.5, v=0.98, w=(0.36, 0.5), h=0.18, gap=0.04),
        step(
            "grid", name="disc", on="screen", rows=1, columns=14, ink="bright*", u=0.5, v=0.585, w=0.7, h=0.03, gap=0.2
        ),
        *(
            step("thing", name="slab", on="screen", ink="dark", u=u, v=1.02, w=0.05, h=0.2, light=1.5)
            for u in (0.18, 0.82)
        ),
        *(
            step("thing", name="bowl", on="screen", ink="dark", u=u, v=0.9, w=0.24, h=0.1, light=1.7)
            for u in (0.18, 0.82)
        ),
    ],
    "laundromat": [
        step("camera", x=(0.25, 0.75), y=(0.28, 0.46)),
        step(
            "room",
            depth=(3.0, 3.6),
            floor=("floor", "tiles", 0.2),
            wall=("wall", "plain", 0.3),
            ceiling=("ceiling", "grout", 0.25),
            glow=(-0.2, 0.2),
        ),
        step("grid", name="washer", rows=2, columns=(3, 4), u=0.5, z=3.0, v=0.98, w=0.72, h=(0.66, 0.78), gap=0.02),
        step(
            "thing", times=2, name="slab", on="floor", over={"u": (0.3, 0.7)}, v=0.0, z=1.2, w=0.12, h=1.6, ink="lamp"
        ),
        step("box", both=True, u=0.06, z=1.0, w=0.24, h=0.36, d=2.0, ink="white2", v=0.62, chance=0.8),
        *(
            step("grid", name="washer", on="side", rows=1, columns=3, u=u, z=1.0, v=0.62, w=2.0, h=0.36, gap=0.02)
            for u in (0.18, 0.82)
        ),
        step(
            "box",
            both=True,
            times=4,
            over={"z": (2.5, 0.85)},
            u=0.04,
            w=0.36,
            h=0.4,
            d=0.5,
            ink="white2",
            flank="washer",
            face="washer",
        ),
        step("box", u=(0.42, 0.58), z=(1.4, 1.8), w=0.26, h=0.14, d=0.6, ink="wood", chance=0.6),
        step("box", u=(0.4, 0.6), z=(1.05, 1.3), w=0.2, h=0.16, d=0.16, ink="bright", lid="cloth", chance=0.6),
        step("thing", name="board", u=(0.4, 0.6), z=3.0, v=(0.2, 0.26), w=0.4, h=0.16, ink="bright2"),
    ],
}
