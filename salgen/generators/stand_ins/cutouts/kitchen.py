"""Kitchen machines."""

from __future__ import annotations

from salgen.generators.stand_ins.cutouts.parts import blob, box, boxes, dots, line, maybe, one_of, oval, poly
from salgen.generators.stand_ins.cutouts.screens import keys
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.generators.stand_ins.cutouts.skins import Skin

SKINS = {
    "case": Skin("enamel", "gloss"),
    "a": Skin("vivid", "gloss"),
    "b": Skin("vivid", "gloss", against="a"),
    "metal": Skin("metal", "metal"),
    "crust": Skin("crust", "baked"),
    "key": Skin("pale"),
    "green": Skin("leaf"),
}

MICROWAVE = Sketch(
    SKINS,
    [
        boxes("ink", "8,66 18,72 92,66 102,72"),
        box("metal", 0, 0, 110, 68, 3),
        box("case", 4, 5, 80, 63, 2),
        box("ink", 10, 11, 68, 57, 4, relief=0.1),
        box("glass", 13, 14, 65, 54, 3, relief=0.2),
        maybe(0.4, oval("yellow", 39, 48, 22, 4, shade=0.9), blob("crust", "26,46 30,34 48,34 52,46")),
        line("steel", 3, "74,12 74,56", gloss=0.5),
        box("ink", 84, 8, 106, 20, 1, relief=0),
        line("green", 2.2, "88,14 93,14 / 97,14 102,14", relief=0),
        one_of(
            [boxes("key", keys(85, 107, "25 34 43", 3, 2, 6.4))],
            [dots("key", 8, "95,32"), line("ink", 1.6, "95,32 99,27")],
        ),
        box("case", 86, 54, 104, 62, 1.5),
    ],
    give=0.6,
    lean=0.02,
)

OVEN = Sketch(
    SKINS,
    [
        boxes("ink", "6,104 94,110"),
        maybe(
            0.6, box("case", 0, -12, 100, 8), box("ink", 38, -8, 62, 2, 1), line("green", 2, "43,-3 57,-3", relief=0)
        ),
        poly("ink", "4,4 96,4 100,12 0,12"),
        maybe(0.7, oval("metal", 26, 7, 14, 2.4, shade=0.5), oval("metal", 74, 7, 14, 2.4, shade=0.5)),
        box("case", 0, 10, 100, 106, 2),
        box("metal", 2, 12, 98, 28, 1),
        dots("ink", 4.6, "13,20 29,20 71,20 87,20"),
        line("key", 1.2, "13,20 13,16 / 29,20 32,17 / 71,20 71,16 / 87,20 84,17", relief=0),
        box("ink", 44, 16, 56, 24, 1, relief=0),
        box("case", 4, 32, 96, 88, 2, shade=1.15),
        line("steel", 3.4, "12,38 88,38", gloss=0.5),
        box("ink", 16, 46, 84, 80, 3, relief=0.1),
        box("glass", 19, 49, 81, 77, 2, relief=0.2),
        line("steel", 1, "20,62 80,62 / 20,70 80,70", relief=0),
        box("case", 4, 91, 96, 103, 2, shade=0.9),
    ],
    give=0.6,
    lean=0.02,
)

TOASTER = Sketch(
    SKINS,
    [
        maybe(
            0.75,
            blob("crust", "24,30 24,30 22,8 24,0 36,-3 48,0 50,8 48,30 48,30", shade=0.9),
            blob("crust", "54,30 54,30 52,8 54,0 66,-3 78,0 80,8 78,30 78,30"),
        ),
        boxes("ink", "14,82 28,90 76,82 90,90"),
        one_of(
            [blob("a", "4,84 4,84 5,46 12,28 24,22 80,22 92,28 99,46 100,84 100,84", relief=0.4, gloss=0.4)],
            [blob("metal", "4,84 4,84 5,46 12,28 24,22 80,22 92,28 99,46 100,84 100,84", relief=0.4, gloss=0.4)],
        ),
        box("ink", 20, 24, 84, 28, 2),
        line("ink", 3, "93,46 93,70", relief=0),
        box("ink", 90, 50, 106, 57, 2),
        dots("ink", 6, "80,68"),
        line("key", 1.4, "80,68 84,64", relief=0),
        box("case", 4, 78, 100, 86, 2),
        maybe(0.5, line("b", 2.4, "14,58 70,58 / 14,66 70,66", relief=0)),
    ],
    lean=0.03,
)

REFRIGERATOR = Sketch(
    {**SKINS, "skin": Skin("pale", "metal"), "side": Skin(like="skin"), "vivid": Skin("vivid", "gloss")},
    [
        boxes("ink", "12,146 22,152 60,146 70,152"),
        poly("side", "76,2 90,8 90,142 76,148", shade=0.6),
        one_of(
            [
                box("skin", 6, 2, 77, 148, 3),
                boxes("ink", "6,50 77,52.5", relief=0),
                line("steel", 3.4, "14,20 14,44 / 14,60 14,96", shade=0.7),
            ],
            [
                box("vivid", 6, 2, 77, 148, 6),
                boxes("ink", "6,44 77,46.5", relief=0),
                line("steel", 4, "14,20 14,38 / 14,54 14,80", shade=0.9),
            ],
            [
                box("skin", 6, 2, 77, 148, 3),
                boxes("ink", "40.5,2 42.5,100 6,100 77,102", relief=0),
                line("steel", 3, "37,30 37,80 / 46,30 46,80 / 24,108 60,108", shade=0.6),
                box("ink", 15, 40, 30, 62, 1),
            ],
        ),
        maybe(
            0.4, boxes("white", "48,62 64,80", relief=0), dots("a", 2.4, "56,62"), boxes("b", "30,70 42,80", relief=0)
        ),
    ],
    give=0.6,
    lean=0.015,
)

SKETCHES = {
    "microwave": MICROWAVE,
    "oven": OVEN,
    "toaster": TOASTER,
    "refrigerator": REFRIGERATOR,
}
