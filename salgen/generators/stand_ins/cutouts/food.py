"""Fruit and vegetables."""

from __future__ import annotations

from salgen.generators.stand_ins.cutouts.parts import blob, curve, dots, line, maybe, one_of, poly, swing
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.generators.stand_ins.cutouts.skins import Skin

APPLE = Sketch(
    {"a": Skin("fruit red", "gloss"), "b": Skin("fruit red", "rough")},
    [
        blob(
            "a",
            "50,24 36,15 18,18 7,36 8,60 20,84 36,95 50,91 64,95 80,84 92,60 93,36 82,18 64,15",
            relief=0.5,
            gloss=0.2,
        ),
        maybe(0.5, blob("b", "60,24 76,24 86,40 84,62 74,78 66,66 70,44", relief=0.4)),
        blob("ink", "40,22 50,27 60,22 54,30 46,30", relief=0.1),
        swing(50, 26, 0.2, curve("timber", 3.6, "50,27 51,14 56,3")),
        maybe(0.7, blob("leaf", "52,14 52,14 62,2 82,2 82,2 74,14 62,18"), line("ink", 0.7, "54,14 76,5", relief=0)),
    ],
)

ORANGE = Sketch(
    {"a": Skin("orange", "rough"), "flesh": Skin("orange", "planks"), "pith": Skin("pale")},
    [
        one_of(
            [
                dots("a", 48, "50,52", relief=0.55, gloss=0.4),
                dots("leaf", 4.5, "52,10", shade=0.7),
                maybe(0.6, blob("leaf", "52,9 52,9 62,-6 84,-8 84,-8 76,8 64,12")),
            ],
            [
                dots("a", 48, "50,52", shade=0.9),
                dots("pith", 43, "50,52", relief=0.1),
                dots("flesh", 40, "50,52", relief=0.2, gloss=0.3),
                line("pith", 1.8, "10,52 90,52 / 50,12 50,92 / 22,24 78,80 / 78,24 22,80", relief=0),
                dots("pith", 4, "50,52", relief=0),
            ],
        ),
    ],
    give=0.6,
    lean=0.3,
)

BANANA = Sketch(
    {"a": Skin("yellow", "smooth"), "tip": Skin("dark")},
    [
        maybe(0.5, blob("a", "4,14 12,14 20,30 38,44 60,48 86,40 96,36 94,44 80,58 56,64 30,58 12,42", shade=0.78)),
        blob("a", "2,14 10,12 14,34 28,56 52,66 80,62 96,50 101,54 96,66 76,84 46,88 20,74 5,48", relief=0.45),
        curve("tip", 1, "6,18 12,46 28,68 52,77 78,73 98,56", relief=0, shade=1.8),
        poly("tip", "1,14 3,4 9,2 11,13", relief=0.2),
        blob("tip", "95,50 101,49 104,55 99,60", relief=0.2),
        maybe(0.6, blob("tip", "30,70 36,72 34,74 / 56,80 64,80 60,82 / 44,72 48,73 46,75", relief=0)),
    ],
    lean=0.3,
)

CARROT = Sketch(
    {"a": Skin("orange", "rough"), "line": Skin(like="a")},
    [
        swing(82, 20, 0.2, curve("leaf", 4, "80,22 92,8 96,-10"), dots("leaf", 5, "96,-10 90,2 98,0")),
        swing(
            82,
            20,
            0.2,
            curve("leaf", 4, "80,22 98,14 114,12"),
            dots("leaf", 5, "114,12 104,8 106,18"),
            curve("leaf", 4, "80,22 98,6 110,-4"),
            dots("leaf", 5, "110,-4 102,-2 104,6"),
        ),
        blob("a", "70,10 82,12 90,20 90,32 80,44 58,64 32,84 8,98 0,100 2,92 16,68 36,42 56,18", relief=0.5),
        curve(
            "line",
            1.3,
            "62,16 66,20 68,26 / 46,32 52,38 54,42 / 70,52 64,48 62,44 / 30,52 34,56 36,62 / 48,70 "
            "44,66 43,62 / 18,72 22,76",
            shade=0.65,
            relief=0,
        ),
    ],
    lean=0.4,
)

BROCCOLI = Sketch(
    {"head": Skin("leaf", "rough"), "stem": Skin("leaf", "smooth")},
    [
        blob("stem", "40,52 40,52 41,78 37,97 50,100 64,97 60,78 62,52 62,52", shade=1.35),
        curve("stem", 8, "48,72 34,60 24,50 / 54,72 68,60 78,50", shade=1.25),
        dots("head", 15, "18,40 82,40 30,22 70,22 50,15", shade=0.75),
        dots("head", 16, "30,44 70,44 50,48 36,32 64,32 50,30", shade=0.92, relief=0.45),
        dots("head", 6, "12,36 22,28 32,14 46,8 60,8 72,16 86,32 26,42 40,24", shade=1.2, relief=0.5),
        dots("head", 6, "54,24 66,28 76,40 60,44 44,42 34,52 50,54 18,50 84,50", shade=1.05, relief=0.5),
        dots("head", 2.6, "30,32 46,33 58,34 70,36 40,48 56,50 24,36 50,18 64,18 38,16", shade=0.65, relief=0.3),
    ],
)

SKETCHES = {
    "banana": BANANA,
    "apple": APPLE,
    "orange": ORANGE,
    "broccoli": BROCCOLI,
    "carrot": CARROT,
}
