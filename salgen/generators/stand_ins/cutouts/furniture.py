"""Furniture, plants and the toilet."""

from __future__ import annotations

from salgen.generators.stand_ins.cutouts.parts import (
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
    swing,
)
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.generators.stand_ins.cutouts.skins import Marking, Skin

SKINS = {
    "wood": Skin("wood", "wood"),
    "post": Skin("wood", "planks"),
    "a": Skin("vivid", "weave", marking=Marking("level", "b", 0.09, 0.15)),
    "b": Skin("fabric", "weave", against="a"),
    "c": Skin("vivid", "weave", against="a"),
    "linen": Skin("pale", "weave"),
    "pot": Skin("vivid", "hide"),
    "foliage": Skin("leaf", "smooth"),
    "china": Skin("china", "gloss"),
    "lid": Skin(like="china", material="gloss"),
    "vivid lid": Skin("vivid", "gloss"),
}

CHAIR = Sketch(
    SKINS,
    [
        line("post", 5, "30,58 30,92 / 88,58 90,92", shade=0.7),
        one_of(
            [boxes("wood", "22,10 76,18 22,24 76,32 22,38 76,46", shade=0.95)],
            [box("a", 20, 4, 78, 48, 6, relief=0.4)],
            [line("post", 3.4, "32,8 32,56 / 44,8 44,56 / 56,8 56,56 / 68,8 68,56"), boxes("wood", "20,4 78,13")],
        ),
        line("post", 5.4, "20,4 18,102 / 78,4 78,58"),
        poly("wood", "16,56 80,56 94,70 10,70", shade=1.1, relief=0.2),
        maybe(0.5, blob("b", "18,52 50,50 82,54 92,66 50,70 12,66", relief=0.4)),
        poly("wood", "10,69 94,69 94,76 10,76", shade=0.8),
        line("post", 5.4, "14,74 12,114 / 90,74 92,114"),
        maybe(0.5, line("post", 2.6, "13,94 91,94", shade=0.8)),
    ],
    give=0.8,
    lean=0.03,
)

COUCH = Sketch(
    SKINS,
    [
        boxes("post", "10,66 16,76 104,66 110,76"),
        blob("a", "12,40 12,12 20,5 60,3 100,5 108,12 108,40 108,60 12,60", shade=0.85),
        blob("a", "14,12 20,8 58,7 59,40 14,40 / 106,12 100,8 62,7 61,40 106,40", relief=0.45),
        blob("b", "40,16 58,22 54,42 36,38", relief=0.5),
        maybe(0.5, blob("c", "72,20 90,16 94,36 76,40", relief=0.5)),
        blob("a", "14,38 58,38 59,54 14,54 / 106,38 62,38 61,54 106,54", shade=1.12, relief=0.4),
        box("a", 10, 52, 110, 68, 3, shade=0.8),
        blob(
            "a",
            "0,34 4,26 14,26 18,34 18,68 18,68 2,68 2,68 / 120,34 116,26 106,26 102,34 102,68 102,68 118,68 118,68",
            relief=0.45,
        ),
    ],
    lean=0.03,
)

BED = Sketch(
    SKINS,
    [
        box("wood", 0, 4, 12, 76, 3),
        box("wood", 112, 40, 122, 80, 3),
        box("wood", 4, 56, 118, 70, 1, shade=0.85),
        blob("linen", "10,40 10,40 30,36 112,38 116,46 116,58 116,58 10,58 10,58"),
        blob("linen", "12,30 22,24 36,28 40,36 34,42 16,42", shade=1.05, relief=0.45),
        blob("a", "40,36 60,33 100,34 116,40 118,52 116,66 104,63 90,67 76,63 62,67 48,63 42,66 44,50", relief=0.4),
        blob("b", "40,36 50,34 52,48 50,65 42,66 44,50", relief=0.3),
        maybe(0.5, blob("c", "26,22 34,18 46,30 36,36", relief=0.45)),
    ],
    lean=0.03,
)

DINING_TABLE = Sketch(
    SKINS,
    [
        line("post", 5, "24,24 26,66 / 96,24 94,66", shade=0.65),
        one_of(
            [
                poly("wood", "20,14 100,14 118,32 2,32", shade=1.1, relief=0.2),
                poly("wood", "2,31 118,31 118,38 2,38", shade=0.8),
            ],
            [
                poly("a", "20,14 100,14 118,32 2,32", shade=1.1, relief=0.2),
                blob("a", "2,31 2,31 118,31 118,31 116,48 104,44 90,50 76,44 60,50 44,44 30,50 16,44 4,48", shade=0.85),
            ],
        ),
        line("post", 6, "8,40 10,86 / 112,40 110,86"),
        maybe(
            0.6,
            blob("china", "52,20 54,8 51,0 60,-2 69,0 66,8 68,20", relief=0.4),
            curve("foliage", 2, "60,-2 54,-14 / 60,-2 62,-16 / 60,-2 68,-12"),
            dots("c", 4, "54,-14 62,-17 69,-13"),
        ),
        maybe(0.6, oval("china", 32, 24, 12, 3.6), oval("china", 90, 24, 12, 3.6)),
    ],
    give=0.8,
    lean=0.02,
)

TOILET = Sketch(
    SKINS,
    [
        one_of(
            [
                blob("china", "26,60 26,60 30,80 26,98 26,98 74,98 74,98 70,80 74,60 74,60", shade=0.85),
                box("china", 18, 2, 82, 44, 4, relief=0.35),
                box("china", 14, -2, 86, 8, 3, shade=1.05),
                box("steel", 44, -6, 56, -1, 2),
                maybe(
                    0.5,
                    one_of(
                        [blob("lid", "24,40 24,14 34,10 50,9 66,10 76,14 76,40 50,46", shade=0.92)],
                        [blob("vivid lid", "24,40 24,14 34,10 50,9 66,10 76,14 76,40 50,46")],
                    ),
                ),
                blob("china", "14,54 20,44 50,40 80,44 86,54 82,70 70,82 50,86 30,82 18,70", relief=0.45),
                oval("lid", 50, 53, 36, 14, relief=0.2),
                oval("ink", 50, 54, 25, 8.6, shade=1.8, relief=0.1),
                oval("glass", 50, 57, 16, 4.6, shade=1.6, relief=0.2),
            ],
            [
                box("china", 0, 4, 24, 46, 3, relief=0.35),
                box("china", -2, 0, 27, 8, 2.5, shade=1.05),
                dots("steel", 2.4, "6,14"),
                swing(
                    24,
                    46,
                    0.06,
                    one_of(
                        [blob("lid", "24,46 20,8 27,6 34,24 34,46", shade=0.9)],
                        [blob("vivid lid", "24,46 20,8 27,6 34,24 34,46")],
                    ),
                ),
                blob(
                    "china",
                    "10,44 10,44 88,50 88,50 84,64 70,74 58,80 58,96 62,102 62,102 18,102 18,102 22,84 12,66",
                    relief=0.4,
                ),
                blob("lid", "16,42 30,40 74,42 92,46 94,51 76,53 30,52 14,50", shade=1.05),
                oval("ink", 58, 45.6, 26, 2.4, shade=1.6, relief=0),
            ],
        ),
    ],
    lean=0.02,
)

SINK = Sketch(
    SKINS,
    [
        one_of(
            [blob("china", "40,58 40,58 43,80 38,110 38,110 62,110 62,110 57,80 60,58 60,58", shade=0.8)],
            [
                box("wood", 12, 50, 88, 108, 2),
                line("ink", 1, "50,54 50,106", relief=0),
                dots("steel", 2.6, "44,76 56,76"),
            ],
        ),
        blob("china", "2,36 2,36 98,36 98,36 92,54 74,66 50,69 26,66 8,54", relief=0.4),
        box("china", 0, 28, 100, 39, 4, shade=1.05),
        oval("ink", 50, 33.5, 36, 3.4, shade=2.2, relief=0.1),
        curve("steel", 5.5, "50,30 50,10 56,3 66,4 69,14", gloss=0.5),
        line("steel", 3.4, "34,28 34,20 29,18 / 72,28 72,21 78,19", gloss=0.5),
    ],
    lean=0.02,
)

POTTED_PLANT = Sketch(
    SKINS,
    [
        one_of(
            [
                swing(50, 66, 0.1, blob("foliage", "48,68 48,68 40,40 26,14 26,14 50,30 54,68 54,68", shade=0.8)),
                swing(50, 66, 0.1, blob("foliage", "52,68 52,68 58,36 76,12 76,12 64,48 56,68 56,68", shade=0.9)),
                swing(50, 66, 0.1, blob("foliage", "46,68 46,68 30,48 6,36 6,36 38,42 52,66 52,66", shade=1.05)),
                swing(50, 66, 0.1, blob("foliage", "50,68 50,68 68,46 94,36 94,36 78,56 58,68 58,68", shade=1.1)),
                swing(50, 66, 0.1, blob("foliage", "46,68 46,68 46,30 52,2 52,2 60,34 56,68 56,68", shade=1.2)),
            ],
            [
                curve("timber", 2.4, "50,70 46,48 30,34 / 50,70 54,44 70,30 / 50,70 50,36 50,16"),
                dots("foliage", 13, "28,34 72,30 50,16 38,50 64,50", shade=0.75),
                dots("foliage", 10, "36,22 62,18 50,36 20,46 80,44 50,54", shade=0.95, relief=0.5),
                dots(
                    "foliage", 5, "28,24 46,10 70,18 84,36 60,32 38,36 22,38 56,48 42,54 74,48", shade=1.2, relief=0.5
                ),
                maybe(0.4, dots("c", 5, "30,30 52,20 72,34 44,44 64,46")),
            ],
        ),
        oval("ink", 50, 69, 24, 4, shade=1.4),
        poly("pot", "27,74 73,74 66,108 34,108", relief=0.5),
        box("pot", 23, 68, 77, 78, 2.5, shade=1.1, relief=0.5),
    ],
)

SKETCHES = {
    "chair": CHAIR,
    "couch": COUCH,
    "potted plant": POTTED_PLANT,
    "bed": BED,
    "dining table": DINING_TABLE,
    "toilet": TOILET,
    "sink": SINK,
}
