"""Things of sports and play."""

from __future__ import annotations

import numpy as np

from salgen.generators.stand_ins.cutouts.parts import (
    blob,
    box,
    curve,
    dots,
    line,
    maybe,
    moved,
    one_of,
    oval,
    poly,
    ring,
    swing,
)
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.generators.stand_ins.cutouts.skins import Marking, Skin

BOARD = {
    "a": Skin("vivid", "gloss", marking=Marking("ribs", "b", 0.12, 0.3)),
    "b": Skin("vivid", "gloss", against="a"),
    "c": Skin("vivid", "gloss", against="b"),
}

KITE = Sketch(
    {
        "a": Skin("vivid", "weave", marking=Marking("checks", "b", 0.16, 0.15)),
        "b": Skin("vivid", "weave", against="a"),
        "c": Skin("vivid", "weave", against="b"),
    },
    [
        one_of(
            [
                curve("ink", 1.2, "50,88 58,102 44,116 56,130 46,146"),
                poly("b", "50,0 20,36 50,36"),
                poly("a", "50,0 80,36 50,36", shade=1.05),
                poly("a", "20,36 50,36 50,92", shade=0.92),
                poly("c", "80,36 50,36 50,92"),
                line("timber", 1.4, "50,0 50,92 / 20,36 80,36"),
                swing(54, 106, 0.4, poly("c", "54,106 46,100 47,112 / 54,106 62,100 61,112")),
                swing(48, 122, 0.4, poly("a", "48,122 40,116 41,128 / 48,122 56,116 55,128")),
                swing(48, 140, 0.4, poly("b", "48,140 40,134 41,146 / 48,140 56,134 55,146")),
            ],
            [
                curve("b", 3, "36,56 30,76 40,94 32,112", shade=0.9),
                curve("c", 3, "64,56 70,76 60,94 68,112", shade=0.9),
                poly("a", "50,4 0,54 36,58 50,50"),
                poly("b", "50,4 100,54 64,58 50,50", shade=0.95),
                poly("c", "50,4 38,50 50,62 62,50"),
                line("timber", 1.3, "50,4 0,54 / 50,4 100,54 / 50,4 50,60"),
            ],
        ),
    ],
    lean=0.3,
)

SKATEBOARD = Sketch(
    BOARD,
    [
        box("steel", 22, 27, 30, 37, shade=0.8),
        box("steel", 70, 27, 78, 37, shade=0.8),
        dots("c", 6.6, "20,38 33,38 67,38 80,38"),
        dots("steel", 2.6, "20,38 33,38 67,38 80,38"),
        curve("a", 7.5, "2,14 12,23 24,26 76,26 88,23 98,14"),
        curve("ink", 3, "2,11 12,20 24,23 76,23 88,20 98,11", relief=0.1),
        maybe(0.5, line("b", 1.6, "34,28.5 66,28.5", relief=0)),
    ],
    lean=0.2,
)

SNOWBOARD = Sketch(
    {**BOARD, "dark": Skin("dull")},
    [
        blob(
            "a", "50,0 36,4 31,16 35,40 36,80 32,128 32,142 40,152 50,154 60,152 68,142 68,128 64,80 65,40 69,16 64,4"
        ),
        blob("b", "50,4 40,8 36,20 50,26 64,20 60,8", relief=0.15),
        blob("c", "36,128 50,134 64,128 63,142 50,149 37,142", relief=0.15),
        swing(
            50, 50, 0.15, box("ink", 30, 43, 70, 57, 3), box("steel", 34, 46, 42, 54, 1), box("dark", 58, 41, 74, 59, 3)
        ),
        swing(
            50,
            104,
            0.15,
            box("ink", 30, 97, 70, 111, 3),
            box("steel", 34, 100, 42, 108, 1),
            box("dark", 58, 95, 74, 113, 3),
        ),
    ],
    lean=0.35,
)

SURFBOARD = Sketch(
    {**BOARD, "a": Skin("pale", "gloss", marking=Marking("ribs", "b", 0.12, 0.3)), "d": Skin("vivid", "gloss")},
    [
        poly("ink", "44,146 50,160 56,146"),
        blob("a", "50,0 50,0 40,14 31,46 29,86 33,124 42,150 42,150 50,152 58,150 58,150 67,124 71,86 69,46 60,14"),
        one_of(
            [blob("b", "50,0 50,0 40,14 32,44 50,30 68,44 60,14", relief=0.2)],
            [blob("d", "31,60 50,84 69,60 71,86 50,108 29,86", relief=0.2)],
            [blob("d", "33,124 50,110 67,124 58,150 58,150 50,152 42,150 42,150", relief=0.2)],
        ),
        line("c", 1.4, "50,3 50,150", relief=0),
    ],
    lean=0.4,
)


def strings() -> str:
    """The strings of a racket whose head is an ellipse of 27 by 36 around (50, 38)."""
    places = np.arange(-5, 6) / 6
    ends = np.sqrt(1 - places * places)
    down = [
        f"{50 + 27 * p:.1f},{38 - 36 * e:.1f} {50 + 27 * p:.1f},{38 + 36 * e:.1f}"
        for p, e in zip(places, ends, strict=True)
    ]
    across = [
        f"{50 - 27 * e:.1f},{38 + 36 * p:.1f} {50 + 27 * e:.1f},{38 + 36 * p:.1f}"
        for p, e in zip(places, ends, strict=True)
    ]
    return " / ".join(down + across)


TENNIS_RACKET = Sketch(
    {"a": Skin("vivid", "gloss"), "grip": Skin("dull", "weave", marking=Marking("level", "ink", 0.03, 0.7))},
    [
        line("white", 1.2, strings(), relief=0.1),
        line("a", 5, "34,68 48,92 / 66,68 52,92"),
        ring("a", 50, 38, 31, 40, 6.4),
        box("a", 46, 88, 54, 104),
        box("grip", 45, 100, 55, 142, 2.5),
    ],
    lean=0.4,
)

PENTAGON = "0,-1 0.951,-0.309 0.588,0.809 -0.588,0.809 -0.951,-0.309"

SPORTS_BALL = Sketch(
    {
        "ball": Skin("orange", "hide"),
        "fuzz": Skin("yellow", "wool"),
        "a": Skin("vivid", "gloss"),
        "b": Skin("vivid", "gloss", against="a"),
    },
    [
        one_of(
            [
                dots("white", 50, "50,50", gloss=0.4, relief=0.5),
                moved(poly("ink", PENTAGON, relief=0.1), 50, 50, 17),
                poly("ink", "44,2 56,2 62,9 50,15 38,9 / 96,36 99,50 97,58 86,50 88,38 / 4,36 1,50 3,58 14,50 12,38"),
                poly("ink", "72,93 84,85 84,76 71,76 66,86 / 28,93 16,85 16,76 29,76 34,86"),
                line("ink", 1.3, "50,33 50,15 / 66,45 87,42 / 60,64 70,78 / 40,64 30,78 / 34,45 13,42", relief=0),
                curve(
                    "ink", 1.3, "62,9 78,20 88,38 / 38,9 22,20 12,38 / 85,52 86,66 80,76 / 15,52 14,66 20,76", relief=0
                ),
                line("ink", 1.3, "34,86 66,86", relief=0),
            ],
            [
                dots("ball", 50, "50,50", relief=0.55),
                curve("ink", 2.2, "50,0 52,30 50,70 50,100 / 0,50 30,47 70,51 100,50", relief=0),
                curve("ink", 2.2, "14,16 34,32 38,50 34,68 14,84 / 86,16 66,32 62,50 66,68 86,84", relief=0),
            ],
            [
                dots("fuzz", 50, "50,50", relief=0.55),
                curve("white", 3, "24,7 42,24 44,44 34,62 16,70 2,66 / 98,34 78,36 64,48 62,66 70,82 84,86", relief=0),
            ],
            [
                dots("a", 50, "50,50", relief=0.55, gloss=0.4),
                blob("b", "50,1 50,1 40,22 40,44 50,52 50,52 62,42 80,36 98,40 98,40 84,14", relief=0.3),
                blob("white", "50,52 50,52 44,70 26,86 26,86 50,100 76,92 92,76 66,70", relief=0.3),
            ],
        ),
    ],
    give=0.25,
    lean=0.5,
)

BASEBALL_BAT = Sketch(
    {"a": Skin("wood", "planks"), "b": Skin("vivid", "weave")},
    [
        blob("a", "50,0 42,3 40,16 41,50 46,100 46,140 54,140 54,100 59,50 60,16 58,3"),
        box("b", 45.6, 104, 54.4, 140, 1),
        box("a", 42, 138, 58, 146, 3.5),
        maybe(0.6, oval("ink", 50, 34, 4, 6, relief=0)),
    ],
    lean=0.45,
)

SKETCHES = {
    "kite": KITE,
    "skateboard": SKATEBOARD,
    "snowboard": SNOWBOARD,
    "surfboard": SURFBOARD,
    "tennis racket": TENNIS_RACKET,
    "sports ball": SPORTS_BALL,
    "baseball bat": BASEBALL_BAT,
}
