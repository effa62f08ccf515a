"""Vehicles of the road, seen from the side and heading to the right."""

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
    one_of,
    oval,
    poly,
    ring,
    swing,
)
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.generators.stand_ins.cutouts.skins import Marking, Skin

BODY = {
    "a": Skin("vivid", "gloss"),
    "b": Skin("vivid", "gloss", against="a"),
    "lamp": Skin("yellow", "gloss"),
}

LOAD = Skin("vivid", "planks", against="a", marking=Marking("ribs", "white", 0.06, 0.4))


def wheel(x: float, y: float, radius: float, hub: float = 0.55) -> list[Part]:
    """A tyre with a hub."""
    return [
        dots("rubber", radius, f"{x},{y}"),
        dots("steel", radius * hub, f"{x},{y}"),
        dots("ink", radius * hub * 0.3, f"{x},{y}"),
    ]


def spoked(x: float, y: float, radius: float) -> list[Part]:
    """A thin tyre with spokes that one can look through."""
    inner = radius * 0.92
    ends = ((1, 0), (0.866, 0.5), (0.5, 0.866), (0, 1), (-0.5, 0.866), (-0.866, 0.5))
    spokes = " / ".join(f"{x - inner * i},{y - inner * j} {x + inner * i},{y + inner * j}" for i, j in ends)
    return [
        line("steel", 0.8, spokes),
        ring("rubber", x, y, radius, radius, radius * 0.2),
        ring("steel", x, y, radius * 0.82, radius * 0.82, radius * 0.06),
        dots("steel", radius * 0.12, f"{x},{y}", shade=0.7),
    ]


BICYCLE = Sketch(
    BODY,
    [
        *spoked(21, 62, 20),
        *spoked(79, 62, 20),
        line("a", 4.2, "21,62 46,63 37,32 / 21,62 38,36 / 39,38 68,33 / 46,63 69,37 / 67,28 71,44 79,62"),
        line("steel", 2.2, "37,34 35,25"),
        one_of(
            [line("ink", 2.8, "66,29 65,22 76,19 80,24"), curve("ink", 2.8, "79,23 83,27 79,32 74,31")],
            [line("ink", 2.8, "66,29 64,20 57,17 52,19 / 64,20 68,17")],
        ),
        blob("ink", "26,23 34,21 45,23 45,25 38,28 30,27"),
        dots("steel", 5, "46,63"),
        dots("ink", 2.4, "46,63"),
        swing(46, 63, 0.6, line("steel", 1.8, "46,63 52,73"), line("ink", 2.6, "49,73 56,73")),
        line("ink", 0.9, "46,58.5 21,60 / 46,67.5 21,64"),
        maybe(0.25, box("timber", 68, 28, 84, 42, 2), line("ink", 0.7, "68,33 84,33 / 68,38 84,38 / 74,28 74,42")),
    ],
    give=0.4,
)

MOTORCYCLE = Sketch(
    BODY,
    [
        *wheel(20, 60, 18, 0.6),
        *wheel(82, 60, 18, 0.6),
        line("steel", 3, "82,60 70,26"),
        blob("a", "64,48 70,40 82,38 94,42 100,50 92,45 82,43 72,46", shade=0.9),
        blob("steel", "34,42 58,40 64,52 58,66 40,68 32,58", gloss=0.4),
        boxes("ink", "38,46 56,48 39,51 57,53 40,56 57,58", relief=0.1),
        curve("steel", 4.4, "52,62 44,70 26,69 2,65", gloss=0.5),
        blob("ink", "6,34 6,34 18,31 30,33 42,34 48,40 40,45 24,43 12,40"),
        blob("a", "8,40 20,42 34,46 36,54 24,50 12,46 0,46", shade=0.85),
        blob("a", "40,38 44,28 56,23 66,24 72,32 68,40 54,44"),
        blob("b", "46,34 56,30 66,31 56,36", relief=0.15),
        line("ink", 2.8, "70,26 64,17 56,16"),
        blob("lamp", "70,26 76,24 80,28 80,34 74,36 70,33"),
        maybe(0.4, blob("glass", "70,26 74,14 78,12 80,24")),
        maybe(0.6, line("ink", 1.4, "66,18 68,9"), oval("ink", 68, 8, 4, 2.6)),
        dots("red", 2.6, "4,36"),
    ],
    give=0.5,
)

CAR = Sketch(
    BODY,
    [
        one_of(
            [
                blob(
                    "a",
                    "2,44 4,34 4,34 18,31 18,31 30,16 38,13 56,13 64,17 78,31 78,31 94,35 99,44 98,54 98,54 2,54 2,54",
                ),
                poly("glass", "23,31 33,18 46,17 46,31 / 50,17 58,17 65,20 74,31 50,31", relief=0.2),
            ],
            [
                blob("a", "2,44 3,24 7,13 7,13 20,11 52,12 60,16 74,30 74,30 92,34 98,42 98,54 98,54 2,54 2,54"),
                poly("glass", "8,29 11,16 24,15 24,29 / 28,15 44,15 44,29 / 48,15 54,16 59,19 69,29 48,30", relief=0.2),
            ],
        ),
        boxes("a", "2,46 98,56", shade=0.72),
        line("ink", 0.8, "47,31 48,52 / 74,33 72,46 / 24,33 26,45", relief=0),
        line("ink", 1.4, "40,36 44,36 / 66,36 70,36"),
        oval("lamp", 95, 41, 3.4, 3),
        box("red", 1.5, 36, 6, 42, 1),
        dots("ink", 12.4, "21,54 78,54", relief=0.1),
        *wheel(21, 55, 10.6, 0.62),
        *wheel(78, 55, 10.6, 0.62),
    ],
    give=0.55,
)

BUS = Sketch(
    BODY,
    [
        box("a", 0, 4, 110, 56, 5),
        maybe(0.5, box("b", 0, 36, 110, 43, relief=0.15)),
        maybe(0.4, box("white", 1, 5, 109, 11, 3, relief=0.15)),
        boxes("glass", "5,14 18,31 21,14 34,31 37,14 50,31 53,14 66,31 69,14 82,31", relief=0.15),
        box("glass", 98, 12, 110, 38, 2, relief=0.15),
        box("ink", 85, 13, 96, 53, 1, relief=0.1),
        boxes("glass", "86,14.5 90,51 91,14.5 95,51", relief=0.15),
        box("ink", 0, 52, 110, 57, 1),
        oval("lamp", 108, 46, 2, 2.6),
        box("red", 0, 42, 2, 48),
        maybe(0.5, box("ink", 70, 6, 94, 11, 1), boxes("lamp", "73,7.5 82,9.5 84,7.5 91,9.5", relief=0)),
        maybe(0.25, box("a", 0, -26, 110, 6, 5), boxes("glass", "5,-19 26,-4 29,-19 50,-4 53,-19 74,-4 77,-19 108,-4")),
        dots("ink", 10, "25,56 75,56", relief=0.1),
        *wheel(25, 57, 8.6),
        *wheel(75, 57, 8.6),
    ],
    give=0.4,
    lean=0.03,
)

TRUCK = Sketch(
    {**BODY, "load": LOAD},
    [
        one_of(
            [
                box("ink", 4, 56, 106, 63),
                box("load", 0, 4, 72, 57, 1.5),
                line("ink", 0.8, "24,6 24,56 / 48,6 48,56", relief=0),
                blob("a", "74,60 74,60 74,16 74,16 90,14 97,20 103,38 103,38 109,42 109,60 109,60"),
                poly("glass", "82,20 92,20 99,38 82,38", relief=0.2),
                line("ink", 0.9, "80,18 80,58"),
                boxes("steel", "82,43 87,45", relief=0.1),
                box("lamp", 105, 47, 109.5, 53, 1),
                box("steel", 98, 57, 110, 63, 1),
                *wheel(20, 62, 9.5),
                *wheel(41, 62, 9.5),
                *wheel(92, 62, 9.5),
            ],
            [
                blob("a", "0,34 0,34 46,34 46,34 48,14 52,12 70,12 80,32 80,32 104,36 108,44 108,60 108,60 0,60 0,60"),
                poly("ink", "2,34 46,34 46,37 2,37"),
                maybe(0.6, poly("timber", "6,34 40,34 38,24 10,22", shade=0.8), dots("load", 6, "14,28 26,26 34,30")),
                poly("glass", "52,16 61,16 61,32 51,32 / 64,16 69,16 77,32 64,32", relief=0.2),
                line("ink", 0.8, "49,34 50,56 / 79,34 77,50", relief=0),
                boxes("ink", "64,38 69,40"),
                oval("lamp", 105, 44, 3, 3.4),
                box("red", 0, 40, 3, 47),
                box("steel", 98, 56, 110, 62, 1.5),
                dots("ink", 14, "22,60 86,60", relief=0.1),
                *wheel(22, 62, 12),
                *wheel(86, 62, 12),
            ],
            [
                box("ink", 4, 54, 108, 61),
                poly("load", "0,52 4,24 72,18 74,52"),
                line("ink", 1.2, "20,24 18,50 / 38,22 37,50 / 56,20 56,50", relief=0),
                box("a", 77, 8, 106, 58, 3),
                box("glass", 86, 14, 106, 34, 1.5),
                boxes("steel", "98,40 107,50", shade=0.8),
                box("lamp", 102, 51, 107, 56, 1),
                maybe(0.5, box("steel", 75, 0, 78, 54, 1)),
                *wheel(18, 61, 10),
                *wheel(40, 61, 10),
                *wheel(92, 61, 10),
            ],
        ),
    ],
    give=0.45,
    lean=0.03,
)

SKETCHES = {
    "bicycle": BICYCLE,
    "motorcycle": MOTORCYCLE,
    "car": CAR,
    "bus": BUS,
    "truck": TRUCK,
}
