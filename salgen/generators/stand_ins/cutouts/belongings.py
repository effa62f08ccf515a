"""Things that people carry or wear."""

from __future__ import annotations

from salgen.generators.stand_ins.cutouts.parts import (
    blob,
    box,
    boxes,
    curve,
    dots,
    frame,
    line,
    maybe,
    one_of,
    oval,
    swing,
)
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.generators.stand_ins.cutouts.skins import Marking, Skin

CLOTH = {
    "a": Skin("vivid", "weave", marking=Marking("checks", "b", 0.09, 0.15)),
    "b": Skin("fabric", "weave", against="a"),
    "c": Skin("vivid", "gloss", against="a"),
}

BACKPACK = Sketch(
    CLOTH,
    [
        curve("b", 4.5, "42,12 42,2 50,-2 58,2 58,12"),
        curve("b", 6, "24,30 10,46 9,72 20,88 / 76,30 90,46 91,72 80,88", shade=0.75),
        blob("a", "50,6 32,9 22,22 18,50 18,88 24,97 50,99 76,97 82,88 82,50 78,22 68,9"),
        blob("a", "18,58 10,62 9,84 15,92 20,92 / 82,58 90,62 91,84 85,92 80,92", shade=0.8),
        curve("ink", 1.4, "24,50 25,28 34,15 50,12 66,15 75,28 76,50", relief=0),
        blob("b", "28,60 28,58 40,56 60,56 72,58 72,60 75,80 70,92 50,94 30,92 25,80", shade=1.05, relief=0.4),
        curve("ink", 1.4, "28,66 40,63 60,63 72,66", relief=0),
        line("steel", 1.8, "58,64 58,71"),
        maybe(0.6, boxes("c", "36,52 41,80 59,52 64,80"), boxes("steel", "35,72 42,77 58,72 65,77")),
        maybe(0.5, box("c", 41, 26, 59, 38, 2), line("white", 1, "45,32 55,32", relief=0)),
        maybe(0.4, dots("c", 5, "50,78")),
    ],
)

UMBRELLA = Sketch(
    {"a": Skin("vivid", "weave", marking=Marking("spots", "b", 0.1, 0.2)), "b": Skin("vivid", "weave", against="a")},
    [
        line("steel", 2, "50,2 50,84"),
        curve("timber", 3.6, "50,82 50,94 45,99 38,98 35,91"),
        blob("a", "50,6 50,6 26,12 8,30 1,50 1,50 12,45 22,48 26,52 26,52 37,46 50,46 50,46", shade=0.95),
        blob("a", "50,6 50,6 74,12 92,30 99,50 99,50 88,45 78,48 74,52 74,52 63,46 50,46 50,46", shade=0.8),
        blob("b", "50,6 50,6 34,20 27,36 26,52 26,52 37,46 50,46 63,46 74,52 74,52 73,36 66,20"),
        blob("b", "50,6 50,6 25,14 10,30 1,50 1,50 3,36 18,14", shade=0.85),
        curve("ink", 0.8, "50,6 34,20 26,52 / 50,6 66,20 74,52 / 50,6 50,46", relief=0),
        line("steel", 2, "50,0 50,6"),
    ],
    lean=0.25,
)

HANDBAG = Sketch(
    {**CLOTH, "a": Skin("vivid", "hide", marking=Marking("spots", "b", 0.08, 0.12))},
    [
        curve("a", 4.4, "30,44 30,18 38,4 50,0 62,4 70,18 70,44", shade=0.75),
        blob("a", "20,38 50,35 80,38 80,38 90,62 95,88 90,96 50,98 10,96 5,88 20,38 20,38"),
        blob("a", "20,37 50,34 80,37 80,37 86,56 74,64 50,66 26,64 14,56 20,37 20,37", shade=1.12, relief=0.4),
        curve("ink", 1, "10,84 50,87 90,84", relief=0),
        box("steel", 43, 58, 57, 72, 2.5, gloss=0.5),
        dots("ink", 2, "50,65"),
        dots("steel", 2.6, "30,42 70,42"),
        maybe(0.4, swing(78, 44, 0.3, line("c", 1.4, "78,44 80,56"), oval("c", 80, 60, 4, 6))),
    ],
)

TIE = Sketch(
    {
        "a": Skin("vivid", "weave", marking=Marking("level", "b", 0.1, 0.6)),
        "b": Skin("vivid", against="a"),
        "plain": Skin(like="a", material="weave"),
    },
    [
        maybe(
            0.5,
            blob(
                "white",
                "34,10 34,10 14,-6 10,6 22,26 22,26 40,16 / 66,10 66,10 86,-6 90,6 78,26 78,26 60,16",
                shade=0.95,
            ),
        ),
        blob("a", "46,120 46,120 40,124 50,146 50,146 60,124", shade=0.7),
        blob("a", "45,20 45,20 37,70 30,126 30,126 50,152 50,152 70,126 70,126 63,70 55,20 55,20"),
        blob("plain", "36,2 36,2 50,0 64,2 64,2 57,20 57,20 50,23 43,20 43,20", shade=0.9, relief=0.45),
    ],
    lean=0.1,
)

SUITCASE = Sketch(
    {
        "a": Skin("vivid", "hide", marking=Marking("ribs", "ink", 0.1, 0.6)),
        "b": Skin("fabric", "weave", against="a"),
        "plain": Skin(like="a", material="hide"),
    },
    [
        one_of(
            [
                line("steel", 2.6, "34,22 34,-8 66,-8 66,22"),
                line("ink", 4.6, "36,-8 64,-8"),
                dots("rubber", 6, "24,120 76,120"),
                box("plain", 14, 16, 86, 118, 8, shade=0.8),
                box("a", 16, 18, 84, 116, 7),
                box("ink", 40, 12, 60, 18, 2),
                box("b", 40, 30, 60, 38, 2),
            ],
            [
                frame("ink", 38, 6, 62, 26, 4),
                box("plain", 0, 20, 100, 82, 7, shade=0.85),
                box("a", 1.5, 22, 98.5, 80, 6),
                boxes("b", "14,21 23,82 77,21 86,82"),
                boxes("steel", "13,44 24,52 76,44 87,52"),
                line("ink", 1, "1,50 99,50", relief=0),
                maybe(0.5, box("white", 40, 58, 60, 70, 1, relief=0), dots("red", 4, "50,64")),
            ],
        ),
    ],
)

SKETCHES = {
    "backpack": BACKPACK,
    "umbrella": UMBRELLA,
    "handbag": HANDBAG,
    "tie": TIE,
    "suitcase": SUITCASE,
}
