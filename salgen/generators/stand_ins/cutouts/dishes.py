"""Dishes and cutlery."""

from __future__ import annotations

from salgen.generators.stand_ins.cutouts.parts import blob, box, curve, dots, line, maybe, one_of, oval, poly, ring
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.generators.stand_ins.cutouts.skins import Marking, Skin

WARE = {
    "a": Skin("vivid", "gloss", marking=Marking("level", "b", 0.16, 0.25)),
    "b": Skin("vivid", "gloss", against="a"),
    "clear": Skin("glass", "gloss"),
    "drink": Skin("fruit red", "gloss"),
    "dark drink": Skin("cocoa"),
    "grip": Skin("vivid", "gloss"),
    "food": Skin("crust", "baked"),
    "green": Skin("leaf", "rough"),
}

BOTTLE = Sketch(
    WARE,
    [
        one_of(
            [
                blob(
                    "a",
                    "42,14 42,14 42,36 36,48 29,58 28,70 28,132 32,138 50,139 68,138 72,132 72,70 71,58 64,48 "
                    "58,36 58,14 58,14",
                    gloss=0.3,
                )
            ],
            [
                blob(
                    "clear",
                    "43,14 43,14 42,50 34,66 31,78 31,132 34,138 50,139 66,138 69,132 69,78 66,66 58,50 57,14 57,14",
                    gloss=0.4,
                )
            ],
        ),
        box("b", 40.5, 2, 59.5, 16, 2),
        maybe(0.8, box("white", 28, 78, 72, 112, 1, relief=0.4), box("b", 28, 86, 72, 104, relief=0.4)),
        maybe(0.5, dots("white", 6, "50,95", relief=0)),
        line("white", 1.6, "36,64 34,74", relief=0),
    ],
)

WINE_GLASS = Sketch(
    WARE,
    [
        oval("clear", 50, 116, 24, 5),
        blob("clear", "47,66 47,66 48,100 42,115 58,115 52,100 53,66 53,66", shade=0.9),
        blob("clear", "28,4 28,4 22,26 26,48 38,64 50,69 62,64 74,48 78,26 72,4 72,4", shade=1.15),
        blob("drink", "24,32 24,32 27,48 38,62 50,66 62,62 73,48 76,32 76,32", relief=0.45),
        oval("drink", 50, 32, 26, 4, shade=1.35, relief=0.1),
        oval("clear", 50, 4.5, 22, 3.6, shade=0.8, relief=0.1),
        line("white", 2, "31,16 29,28 / 33,40 38,52", relief=0),
    ],
    give=0.8,
)

CUP = Sketch(
    WARE,
    [
        maybe(0.5, oval("b", 48, 93, 52, 8), oval("b", 48, 91, 40, 5, shade=0.8)),
        maybe(0.4, curve("white", 2.2, "40,8 36,0 42,-8 38,-16 / 54,8 50,-2 56,-10 52,-20", relief=0)),
        ring("a", 82, 46, 20, 23, 6.5, shade=0.9),
        blob("a", "14,18 14,18 17,60 24,84 34,92 62,92 72,84 79,60 82,18 82,18", relief=0.45),
        oval("a", 48, 18, 34, 8, shade=1.12, relief=0.1),
        oval("dark drink", 48, 19.5, 29, 5.6, relief=0.1),
    ],
)

BOWL = Sketch(
    WARE,
    [
        maybe(
            0.8,
            one_of(
                [dots("food", 10, "22,20 36,14 50,12 64,14 78,20 30,24 46,22 62,22 72,26", relief=0.5)],
                [
                    blob("green", "8,26 14,8 24,14 34,2 46,8 58,0 70,10 84,6 94,26", relief=0.4),
                    dots("drink", 6, "30,18 62,14 78,20"),
                ],
                [blob("food", "8,26 24,12 50,7 76,12 92,26", relief=0.4)],
            ),
        ),
        blob("a", "0,22 0,22 6,48 22,66 36,71 64,71 78,66 94,48 100,22 100,22 78,30 50,32 22,30", relief=0.45),
        box("a", 34, 68, 66, 77, 2, shade=0.8),
        curve("b", 2.4, "0,23 22,31 50,33 78,31 100,23", relief=0.1),
    ],
)

FORK = Sketch(
    WARE,
    [
        blob(
            "steel",
            "42,0 44,0 45,22 47,22 47.5,0 49,0 49.5,22 51,22 51.5,0 53,0 53.5,22 55.5,22 56,0 58,0 "
            "59,28 56,38 52,46 48,46 44,38 41,28",
        ),
        one_of(
            [blob("steel", "48,42 47,70 45,116 47,122 50,124 53,122 55,116 53,70 52,42", gloss=0.4)],
            [box("steel", 48, 42, 52, 70), box("grip", 45.5, 66, 54.5, 124, 4)],
        ),
    ],
    lean=0.55,
)

KNIFE = Sketch(
    WARE,
    [
        one_of(
            [blob("steel", "46,74 46,74 45,20 48,4 53,0 53,0 60,20 60,50 55,74 55,74", gloss=0.4)],
            [poly("steel", "45,76 45,0 50,10 62,40 62,76", gloss=0.4)],
        ),
        box("steel", 45, 72, 56, 78, 1, shade=0.7),
        one_of([box("grip", 44.5, 76, 56.5, 124, 4)], [box("timber", 44.5, 76, 56.5, 124, 4)]),
        dots("steel", 1.6, "50.5,86 50.5,100 50.5,114"),
    ],
    lean=0.55,
)

SPOON = Sketch(
    WARE,
    [
        one_of(
            [blob("steel", "48.5,34 47.5,70 45,116 47,122 50,124 53,122 55,116 52.5,70 51.5,34", gloss=0.4)],
            [box("steel", 48, 32, 52, 70), box("grip", 45.5, 66, 54.5, 124, 4)],
            [box("timber", 47, 32, 53, 124, 3)],
        ),
        blob("steel", "50,0 42,4 37,18 39,32 46,42 54,42 61,32 63,18 58,4", gloss=0.3),
        blob("steel", "50,4 44,8 40,18 42,30 47,37 53,37 58,30 60,18 56,8", shade=0.72, gloss=0.5),
    ],
    lean=0.55,
)

SKETCHES = {
    "bottle": BOTTLE,
    "wine glass": WINE_GLASS,
    "cup": CUP,
    "bowl": BOWL,
    "fork": FORK,
    "knife": KNIFE,
    "spoon": SPOON,
}
