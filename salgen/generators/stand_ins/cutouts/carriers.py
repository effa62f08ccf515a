"""Airplane, train and boat."""

from __future__ import annotations

from salgen.generators.stand_ins.cutouts.parts import blob, box, boxes, dots, line, maybe, one_of, poly
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.generators.stand_ins.cutouts.skins import Marking, Skin
from salgen.generators.stand_ins.cutouts.vehicles import BODY

AIRPLANE = Sketch(
    {**BODY, "a": Skin("pale", "gloss"), "b": Skin("vivid", "gloss"), "c": Skin("vivid", "gloss")},
    [
        poly("a", "50,30 62,30 48,4 42,4", shade=0.75),
        poly("b", "4,28 18,28 10,0 1,0"),
        poly("a", "4,30 12,30 2,22 -4,22", shade=0.75),
        blob("a", "-3,30 4,26 20,23 60,22 84,23 94,27 100,33 96,38 84,41 60,42 30,40 10,35"),
        maybe(0.6, blob("c", "-3,31 20,33 60,35 99,34 94,38 84,41 60,42 30,40 10,35", relief=0.1)),
        dots("glass", 1.3, "22,29 27,29 32,29 37,29 42,29 47,29 52,29 57,29 62,29 67,29 72,29 77,29 82,29"),
        blob("glass", "88,27 94,29 96,31 90,31", shade=0.8),
        box("steel", 46, 44, 62, 52, 3.5, shade=0.85),
        box("ink", 59.5, 45, 62.5, 51, 1),
        poly("a", "44,36 66,37 38,66 28,68", shade=0.92),
        box("steel", 36, 52, 50, 60, 3.5),
        box("ink", 47.5, 53, 50.5, 59, 1),
        poly("b", "2,31 14,32 0,42 -8,43", shade=0.85),
    ],
    give=0.7,
    lean=0.18,
)

TRAIN = Sketch(
    BODY,
    [
        poly("a", "58,8 0,28 0,66 58,92", shade=0.8),
        poly("b", "58,60 0,52 0,58 58,74", relief=0.1),
        poly(
            "glass",
            "52,28 43,29 43,46 52,47 / 38,31 30,32 30,45 38,46 / 26,34 19,35 19,45 26,45 / 15,37 9,38 9,45 15,45",
        ),
        poly("ink", "58,84 0,63 0,70 58,98"),
        dots("steel", 4, "46,89 34,83 20,77 10,73", shade=0.7),
        one_of(
            [blob("a", "58,10 58,10 66,3 82,1 96,3 103,10 103,10 106,50 103,92 103,92 58,94 58,94")],
            [poly("a", "58,8 64,2 98,2 103,8 105,92 57,94")],
        ),
        box("glass", 62, 16, 79, 42, 3),
        box("glass", 83, 16, 100, 42, 3),
        poly("b", "57,58 104,58 105,74 57,75", relief=0.2),
        box("ink", 72, 5, 90, 12, 1.5),
        boxes("lamp", "75,7 87,10", relief=0),
        dots("lamp", 4.4, "65,66 97,66"),
        dots("white", 2, "65,66 97,66"),
        poly("ink", "57,88 104,88 101,100 60,100"),
        dots("steel", 4, "68,92 94,92"),
        box("steel", 76, 84, 86, 94, 2),
    ],
    give=0.5,
    lean=0.02,
)

BOAT = Sketch(
    {**BODY, "sail": Skin("pale", "weave", marking=Marking("level", "b", 0.2, 0.35)), "deck": Skin("wood", "wood")},
    [
        one_of(
            [
                line("deck", 2, "48,2 48,78"),
                blob("sail", "46,4 46,4 46,72 46,72 6,70 6,70 26,44", relief=0.4),
                blob("sail", "51,10 51,10 68,40 92,70 92,70 51,72 51,72", shade=0.9, relief=0.4),
                maybe(0.5, poly("red", "48,2 48,-6 60,-2")),
            ],
            [
                box("white", 28, 56, 62, 78, 2),
                boxes("glass", "32,60 41,68 45,60 58,68", relief=0.1),
                box("b", 24, 52, 66, 57, 2),
                line("steel", 1.4, "36,52 36,30 / 36,38 54,52"),
                box("b", 46, 40, 54, 53),
                maybe(0.6, poly("red", "36,30 48,33 36,37")),
                line("steel", 1, "66,64 84,64 98,70 / 76,64 76,76 / 88,66 88,74"),
            ],
        ),
        blob("a", "2,78 2,78 50,79 102,73 102,73 92,90 80,98 80,98 16,98 16,98 8,92"),
        poly("b", "7,90 93,89 89,94 11,94", relief=0.15),
        poly("deck", "1,77 50,78 103,72 102,76 50,82 2,81"),
    ],
    give=0.8,
)

SKETCHES = {
    "airplane": AIRPLANE,
    "train": TRAIN,
    "boat": BOAT,
}
