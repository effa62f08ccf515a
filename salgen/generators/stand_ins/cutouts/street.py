"""Things that stand in streets."""

from __future__ import annotations

from salgen.generators.stand_ins.cutouts.parts import (
    Part,
    blob,
    box,
    boxes,
    curve,
    dots,
    line,
    maybe,
    moved,
    one_of,
    poly,
)
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.generators.stand_ins.cutouts.skins import Skin


def lamps(lit: int) -> list[Part]:
    """Three lamps of a traffic light, of which one is lit."""
    tints = ("red", "yellow", "green")
    found = []
    for number, tint in enumerate(tints):
        y = 22 + 24 * number
        found += [
            dots("ink", 12, f"50,{y}", shade=0.8),
            dots(tint, 9.4, f"50,{y}", shade=1.25 if number == lit else 0.34, relief=0.1, gloss=0.7 * (number == lit)),
            blob(
                "housing",
                f"37,{y - 2} 39,{y - 12} 50,{y - 16} 61,{y - 12} 63,{y - 2} 58,{y - 9} 50,{y - 11} 42,{y - 9}",
                shade=0.6,
            ),
        ]
    return found


TRAFFIC_LIGHT = Sketch(
    {"housing": Skin("dull"), "green": Skin("leaf", "gloss"), "edge": Skin("vivid")},
    [
        maybe(0.6, box("steel", 47, 84, 53, 124)),
        maybe(0.4, box("edge", 28, -2, 72, 90, 8)),
        box("housing", 33, 3, 67, 86, 6),
        one_of(lamps(0), lamps(1), lamps(2)),
    ],
    give=0.5,
)

FIRE_HYDRANT = Sketch(
    {"a": Skin("vivid", "gloss"), "b": Skin("vivid", "gloss", against="a")},
    [
        box("a", 22, 88, 78, 98, 3, shade=0.85),
        box("a", 30, 34, 70, 90, 3),
        box("b", 25, 80, 75, 86, 2),
        box("a", 10, 44, 34, 60, 3, shade=0.9),
        box("a", 66, 44, 90, 60, 3, shade=0.9),
        box("b", 6, 42, 14, 62, 3),
        box("b", 86, 42, 94, 62, 3),
        dots("a", 13, "50,54", shade=1.05, relief=0.5),
        dots("b", 9, "50,54", relief=0.5),
        poly("ink", "46,51 54,51 56,55 50,60 44,55"),
        blob("b", "27,32 27,32 30,20 40,11 50,9 60,11 70,20 73,32 73,32"),
        box("a", 23, 29, 77, 36, 3),
        box("b", 44, 1, 56, 11, 2),
        line("steel", 1.4, "72,62 76,70 74,78 70,80"),
        dots("ink", 1.6, "30,93 42,93 58,93 70,93"),
    ],
    give=0.7,
)

LETTERS = (  # STOP in four boxes
    "30,41 24,40 21,43 23,48 28,50 30,54 27,59 20,58 / 35,40 46,40 / 40.5,40 40.5,59 / "
    "55,40 59,43 60,50 59,56 55,59 51,56 50,50 51,43 55,40 / 67,59 67,40 74,41 76,45 74,50 67,51"
)

OCTAGON = "-0.414,-1 0.414,-1 1,-0.414 1,0.414 0.414,1 -0.414,1 -1,0.414 -1,-0.414"

STOP_SIGN = Sketch(
    {"face": Skin("red", "smooth"), "pole": Skin("dull", "metal")},
    [
        maybe(0.65, one_of([box("pole", 46, 90, 54, 150)], [box("timber", 45, 90, 55, 150)])),
        moved(poly("white", OCTAGON), 50, 50, 49, relief=0.15),
        moved(poly("face", OCTAGON), 50, 50, 44.5, relief=0.2),
        one_of(
            [line("white", 4.2, LETTERS, relief=0)],
            [box("white", 16, 41, 84, 59, relief=0)],
            [line("white", 4.2, LETTERS, relief=0)],
        ),
        maybe(0.5, dots("steel", 1.6, "50,14 50,86")),
    ],
    give=0.5,
    lean=0.1,
    mirrored=False,
)

PARKING_METER = Sketch(
    {"a": Skin("dull", "metal"), "b": Skin("vivid", "gloss"), "face": Skin("pale")},
    [
        box("steel", 45, 74, 55, 150, shade=0.8),
        blob("a", "26,34 26,14 38,3 50,1 62,3 74,14 74,34 72,66 66,76 58,80 42,80 34,76 28,66"),
        blob("glass", "31,30 31,16 40,9 50,7 60,9 69,16 69,30 69,30 31,30 31,30", relief=0.2),
        poly("face", "36,29 38,18 50,14 62,18 64,29", relief=0.1),
        line("red", 1.8, "50,29 57,19"),
        boxes("b", "33,36 67,48"),
        boxes("ink", "46,53 54,56", relief=0),
        dots("steel", 5, "50,64"),
        line("ink", 1.6, "50,60 50,68"),
        box("a", 36, 78, 64, 84, 2, shade=0.7),
    ],
    give=0.7,
)

BENCH = Sketch(
    {"slat": Skin("wood", "wood"), "iron": Skin("dull")},
    [
        line("iron", 3.4, "12,4 15,48 11,84 / 88,4 85,48 89,84 / 15,56 26,86 / 85,56 74,86", shade=0.85),
        boxes("slat", "2,6 98,14 2,18 98,26 2,30 98,38"),
        poly("slat", "6,46 94,46 95,51 5,51", shade=0.8),
        poly("slat", "4,52 96,52 97,58 3,58", shade=0.95),
        poly("slat", "2,59 98,59 100,66 0,66", shade=1.1),
        maybe(0.6, curve("iron", 3.4, "10,36 3,38 1,46 4,66 / 90,36 97,38 99,46 96,66")),
    ],
    give=0.6,
    lean=0.03,
)

SKETCHES = {
    "traffic light": TRAFFIC_LIGHT,
    "fire hydrant": FIRE_HYDRANT,
    "stop sign": STOP_SIGN,
    "parking meter": PARKING_METER,
    "bench": BENCH,
}
