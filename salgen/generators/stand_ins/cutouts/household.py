"""Small things of a home."""

from __future__ import annotations

from salgen.generators.stand_ins.cutouts.parts import (
    blob,
    box,
    boxes,
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

TEDDY_BEAR = Sketch(
    {"a": Skin("coat", "wool"), "b": Skin("pale", "wool", against="a"), "bow": Skin("vivid", "weave", against="a")},
    [
        dots("a", 12, "26,12 74,12", shade=0.9),
        dots("b", 7, "26,12 74,12", shade=0.9),
        swing(28, 58, 0.25, blob("a", "32,52 16,58 4,74 4,82 12,85 24,78 34,68")),
        swing(72, 58, 0.25, blob("a", "68,52 84,58 96,74 96,82 88,85 76,78 66,68")),
        oval("a", 50, 76, 27, 28),
        oval("b", 50, 79, 17, 19, relief=0.25),
        swing(30, 98, 0.12, blob("a", "36,90 20,90 8,98 8,110 18,115 32,112 40,104"), oval("b", 17, 103, 7, 8.5)),
        swing(70, 98, 0.12, blob("a", "64,90 80,90 92,98 92,110 82,115 68,112 60,104"), oval("b", 83, 103, 7, 8.5)),
        oval("a", 50, 30, 31, 27),
        oval("b", 50, 39, 13.5, 11, relief=0.25),
        oval("ink", 50, 34.5, 5, 3.6, gloss=0.5),
        curve("ink", 1.4, "50,38 50,42 44,45 / 50,42 56,45", relief=0),
        dots("ink", 3.4, "38,25 62,25", gloss=0.6),
        maybe(0.6, poly("bow", "50,58 36,52 36,66 / 50,58 64,52 64,66"), dots("bow", 4, "50,58")),
    ],
)

BOOK = Sketch(
    {"a": Skin("vivid", "weave"), "b": Skin("vivid", against="a"), "page": Skin("pale", "smooth")},
    [
        one_of(
            [
                poly("a", "4,6 14,0 76,0 70,8 70,98 8,98", shade=0.75),
                poly("page", "8,8 15,2 82,2 82,92 74,99 10,99", shade=0.85),
                line("ink", 0.5, "76,9 76,97 / 78.5,7 78.5,95 / 80.5,4 80.5,93", relief=0),
                box("a", 4, 6, 74, 100, 1.5),
                boxes("a", "4,6 12,100", shade=0.7),
                box("b", 22, 22, 64, 48, 1, relief=0.15),
                line("page", 2.4, "28,31 58,31 / 33,39 53,39", relief=0),
                maybe(0.6, dots("b", 9, "43,74", relief=0.2)),
            ],
            [
                poly("a", "-2,26 50,34 102,26 104,86 50,96 -4,86", shade=0.85),
                blob("page", "0,22 0,22 20,16 38,20 50,30 50,30 50,92 50,92 36,82 18,78 -2,82 -2,82"),
                blob("page", "100,22 100,22 80,16 62,20 50,30 50,30 50,92 50,92 64,82 82,78 102,82 102,82", shade=0.92),
                curve(
                    "ink",
                    1,
                    "8,30 24,26 42,34 / 8,39 24,35 42,43 / 8,48 24,44 42,52 / 8,57 24,53 42,61 / 8,66 24,62 42,70",
                    relief=0,
                ),
                curve(
                    "ink", 1, "92,30 76,26 58,34 / 92,39 76,35 58,43 / 92,57 76,53 58,61 / 92,66 76,62 58,70", relief=0
                ),
                maybe(0.4, poly("b", "60,30 66,28 66,96 63,92 60,97")),
            ],
        ),
    ],
    lean=0.2,
)

SCISSORS = Sketch(
    {"a": Skin("vivid", "gloss")},
    [
        swing(
            50,
            60,
            0.07,
            poly("steel", "47,64 58,56 36,2 33,0", shade=0.85),
            line("a", 5, "52,60 62,76"),
            ring("a", 68, 91, 13.5, 17.5, 7),
        ),
        swing(
            50,
            60,
            0.07,
            poly("steel", "53,64 42,56 64,2 67,0"),
            line("a", 5, "48,60 38,76"),
            ring("a", 32, 91, 13.5, 17.5, 7),
        ),
        dots("ink", 2.8, "50,60"),
    ],
    lean=0.5,
)

TOOTHBRUSH = Sketch(
    {"a": Skin("vivid", "gloss"), "b": Skin("vivid", "gloss", against="a"), "hair": Skin("pale", "planks")},
    [
        box("hair", 4, 0, 26, 13, 1),
        boxes("b", "9,0 14,12 20,0 23,12", shade=1.1, relief=0.15),
        maybe(0.5, blob("glass", "4,-2 10,-5 20,-6 27,-2 22,2 8,2", shade=1.3)),
        blob("a", "2,13 2,13 28,12 28,12 46,15 70,14 110,11 126,12 130,16 126,21 108,22 70,20 46,20 28,18 4,18"),
        blob("b", "76,14.5 104,12.5 120,14 122,17 108,19.5 78,18.5", relief=0.15),
    ],
    lean=0.6,
)

CLOCK = Sketch(
    {"a": Skin("vivid", "gloss"), "face": Skin("pale")},
    [
        maybe(
            0.35,
            dots("a", 13, "22,10 78,10"),
            line("steel", 3, "22,94 14,104 / 78,94 86,104"),
            box("steel", 46, -6, 54, 6),
        ),
        one_of([dots("a", 50, "50,50", relief=0.5)], [dots("a", 50, "50,50")], [box("a", 0, 0, 100, 100, 9)]),
        dots("face", 42, "50,50", relief=0.12),
        line("ink", 2.6, "50,12 50,18 / 50,82 50,88 / 12,50 18,50 / 82,50 88,50", relief=0),
        line("ink", 1.6, "69,17 67,21 / 83,31 79,33 / 83,69 79,67 / 69,83 67,79", relief=0),
        line("ink", 1.6, "31,17 33,21 / 17,31 21,33 / 17,69 21,67 / 31,83 33,79", relief=0),
        swing(50, 50, 2.0, line("ink", 4, "50,54 50,30")),
        swing(50, 50, 2.0, line("ink", 2.8, "50,56 50,18")),
        maybe(0.5, swing(50, 50, 2.0, line("red", 1, "50,60 50,15"))),
        dots("ink", 3.6, "50,50"),
    ],
    give=0.3,
    mirrored=False,
)

VASE = Sketch(
    {
        "a": Skin("vivid", "gloss", marking=Marking("level", "b", 0.13, 0.3)),
        "b": Skin("vivid", "gloss", against="a"),
        "c": Skin("vivid", "rough"),
    },
    [
        maybe(
            0.65,
            curve("leaf", 1.8, "50,40 46,10 34,-14 / 50,40 52,6 52,-24 / 50,40 58,14 70,-10"),
            blob("leaf", "48,20 36,14 30,4 40,8 / 54,16 64,10 68,4 58,6"),
            moved(dots("c", 5, "0,-7 6.7,-2.2 4.1,5.7 -4.1,5.7 -6.7,-2.2"), 33, -16),
            moved(dots("c", 5, "0,-7 6.7,-2.2 4.1,5.7 -4.1,5.7 -6.7,-2.2"), 52, -27, shade=1.1),
            moved(dots("c", 5, "0,-7 6.7,-2.2 4.1,5.7 -4.1,5.7 -6.7,-2.2"), 71, -13, shade=0.9),
            dots("yellow", 3.6, "33,-16 52,-27 71,-13"),
        ),
        one_of(
            [
                blob(
                    "a",
                    "36,26 36,26 40,40 28,56 22,76 30,98 36,106 36,106 64,106 64,106 70,98 78,76 72,56 60,40 "
                    "64,26 64,26",
                    relief=0.45,
                )
            ],
            [blob("a", "30,24 30,24 36,56 42,80 34,106 34,106 66,106 66,106 58,80 64,56 70,24 70,24", relief=0.45)],
        ),
        oval("a", 50, 25, 15, 3.4, shade=0.7, relief=0.1),
        oval("ink", 50, 25, 11.5, 2.2, relief=0),
    ],
)

HAIR_DRIER = Sketch(
    {"a": Skin("vivid", "gloss"), "b": Skin("dull", "gloss", against="a")},
    [
        maybe(0.6, curve("ink", 2.4, "34,84 38,96 54,94 62,104 80,100")),
        swing(
            34,
            44,
            0.1,
            blob("a", "26,40 26,40 25,62 29,84 29,84 41,84 41,84 44,62 46,40 46,40", shade=0.85),
            box("ink", 38, 50, 43, 62, 1.5),
        ),
        poly("b", "84,14 100,8 100,46 84,42"),
        blob("a", "8,28 10,12 24,4 44,4 86,13 86,13 86,43 86,43 50,52 24,52 10,44", relief=0.4),
        oval("b", 12, 28, 6, 16),
        line("ink", 1.2, "10,18 10,38 / 13,16 13,40", relief=0),
    ],
    lean=0.2,
)

SKETCHES = {
    "teddy bear": TEDDY_BEAR,
    "book": BOOK,
    "scissors": SCISSORS,
    "toothbrush": TOOTHBRUSH,
    "clock": CLOCK,
    "vase": VASE,
    "hair drier": HAIR_DRIER,
}
