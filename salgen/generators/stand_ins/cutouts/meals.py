"""What is baked, filled or iced."""

from __future__ import annotations

from salgen.generators.stand_ins.cutouts.parts import blob, curve, dots, line, maybe, one_of, oval, poly, ring, swing
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.generators.stand_ins.cutouts.skins import Skin

SKINS = {
    "crust": Skin("crust", "baked"),
    "dark crust": Skin("crust", "baked", against="crust"),
    "cheese": Skin("cheese", "baked"),
    "sauce": Skin("sauce", "baked"),
    "meat": Skin("meat", "baked"),
    "icing": Skin("cocoa", "gloss"),
    "crumb": Skin("cocoa", "rough"),
    "sprinkle": Skin("vivid", against="icing"),
    "other sprinkle": Skin("vivid", against="sprinkle"),
    "plate": Skin("pale", "gloss"),
    "olive": Skin("dark", "gloss"),
    "green": Skin("leaf", "gloss"),
}

SANDWICH = Sketch(
    {**SKINS, "ham": Skin("skin tone", "smooth"), "bread": Skin("crust", "baked")},
    [
        one_of(
            [
                poly("bread", "4,66 50,78 98,62 98,74 50,92 4,78"),
                blob("green", "0,60 12,68 24,64 36,74 48,72 58,76 72,66 86,68 102,56 96,66 50,84 6,70"),
                poly("ham", "4,56 50,68 98,52 98,60 50,76 4,64"),
                poly("sauce", "6,52 50,63 96,48 96,54 50,70 6,58"),
                poly("cheese", "3,48 50,58 99,44 98,50 84,56 76,64 70,58 50,66 3,54"),
                poly("crust", "4,36 50,46 98,32 98,46 50,61 4,49", shade=0.85),
                poly("bread", "4,36 62,8 98,32 50,48", shade=1.18, relief=0.2),
            ],
            [
                blob("crust", "6,68 6,68 50,70 94,68 94,68 94,80 82,88 50,90 18,88 6,80"),
                blob("meat", "4,58 20,56 50,58 80,56 96,58 96,68 80,70 50,70 20,70 4,68"),
                poly("cheese", "4,54 96,54 98,59 80,62 72,70 62,61 30,61 22,67 14,60 2,59"),
                blob(
                    "green",
                    "0,50 12,46 26,50 40,45 54,50 68,45 82,50 100,47 96,56 84,54 70,58 54,55 40,58 24,55 10,58 2,56",
                ),
                blob("crust", "5,48 5,48 8,30 26,16 50,12 74,16 92,30 95,48 95,48", relief=0.45),
                maybe(0.7, dots("cheese", 1.7, "26,28 36,22 48,20 60,22 72,27 40,32 54,30 66,36 80,37", shade=1.1)),
            ],
        ),
    ],
)

HOT_DOG = Sketch(
    {**SKINS, "mustard": Skin("yellow", "gloss")},
    [
        blob("crust", "4,34 10,22 30,16 60,14 88,18 98,28 96,42 80,52 20,54 6,46", shade=0.8),
        blob(
            "meat", "-5,38 0,31 14,28 50,26 86,28 101,31 106,38 100,45 86,49 50,51 14,49 0,46", relief=0.55, gloss=0.5
        ),
        one_of(
            [curve("mustard", 3.4, "6,38 14,33 22,41 30,33 38,41 46,33 54,41 62,33 70,41 78,33 86,41 94,37")],
            [curve("sauce", 3.4, "6,38 16,34 26,40 36,34 46,40 56,34 66,40 76,34 86,40 94,37")],
        ),
        blob("crust", "3,48 3,42 14,46 50,49 86,46 97,42 98,52 90,64 70,70 30,70 10,64", relief=0.5),
    ],
    lean=0.25,
)

PEPPERONI = "34,30 60,26 74,46 28,54 50,50 64,70 40,72 20,42"

PIZZA = Sketch(
    SKINS,
    [
        one_of(
            [
                maybe(0.3, oval("plate", 50, 52, 60, 58), oval("plate", 50, 52, 52, 50, shade=0.9)),
                blob(
                    "crust", "50,0 72,5 90,20 99,42 97,64 85,85 66,97 44,99 22,92 7,76 0,54 4,30 18,12 34,3", relief=0.4
                ),
                oval("sauce", 50, 50, 43, 43, relief=0.1),
                blob(
                    "cheese",
                    "50,9 68,13 82,25 90,42 88,62 78,78 62,89 44,91 27,84 14,70 9,52 12,34 24,19 38,11",
                    relief=0.15,
                ),
                swing(
                    50,
                    50,
                    0.9,
                    dots("meat", 7, PEPPERONI, relief=0.1),
                    dots("sauce", 2, "32,28 58,24 72,44 26,52 48,48 62,68 38,70"),
                ),
                maybe(
                    0.6,
                    swing(
                        50,
                        50,
                        0.9,
                        dots("olive", 3, "46,36 62,56 34,62 80,60 48,82"),
                        dots("cheese", 1.3, "46,36 62,56 34,62 80,60 48,82"),
                    ),
                ),
                maybe(
                    0.6,
                    swing(
                        50,
                        50,
                        0.9,
                        blob(
                            "green",
                            "44,20 50,16 56,18 50,24 / 70,32 77,30 80,36 73,38 / 24,66 29,62 34,66 28,72 / 54,60 60,60 "
                            "58,66 52,66",
                        ),
                    ),
                ),
                maybe(0.5, line("dark crust", 1.2, "50,2 50,98 / 8,26 92,74 / 8,74 92,26", shade=0.7, relief=0)),
            ],
            [
                poly("sauce", "8,16 92,16 52,102 48,102", shade=0.85),
                poly("cheese", "7,14 93,14 51,98", relief=0.2),
                dots("meat", 9, "32,32 62,30 48,54 50,78", relief=0.1),
                dots("olive", 3.4, "46,30 62,48 38,48"),
                maybe(0.6, blob("green", "70,22 78,20 76,28 / 54,64 60,60 60,68 / 22,22 26,18 30,24")),
                blob("crust", "0,14 4,4 26,0 50,-2 74,0 96,4 100,14 92,20 70,17 50,16 30,17 8,20", relief=0.45),
            ],
        ),
    ],
    lean=0.4,
)

SPRINKLES = (
    "22,30 27,26 / 44,14 50,15 / 70,22 74,27 / 86,46 85,52 / 76,72 71,76 / 52,84 46,85 / 26,74 22,69 / 12,52 14,46",
    "34,20 38,24 / 60,12 64,17 / 82,34 77,36 / 82,62 77,60 / 62,82 60,77 / 36,82 37,77 / 16,62 20,60 / 26,40 21,42",
)

DONUT = Sketch(
    SKINS,
    [
        ring("crust", 50, 50, 50, 49, 33, relief=0.5),
        ring("icing", 50, 48, 44, 43, 26.5, relief=0.4, gloss=0.3),
        dots("icing", 7, "14,66 30,80 52,86 74,78 88,62 8,46 92,44", relief=0.3),
        ring("dark crust", 50, 49, 19, 18.5, 3, shade=0.8),
        maybe(
            0.65,
            line("sprinkle", 2.4, SPRINKLES[0], relief=0.1),
            line("other sprinkle", 2.4, SPRINKLES[1], relief=0.1),
        ),
    ],
    lean=0.6,
)

CAKE = Sketch(
    SKINS,
    [
        maybe(0.6, oval("plate", 52, 84, 60, 12), oval("plate", 52, 82, 46, 8, shade=0.85)),
        one_of(
            [
                poly("icing", "0,34 0,76 58,90 58,48", shade=0.8),
                poly("crumb", "58,48 58,90 100,66 100,26"),
                poly("crumb", "2,40 2,74 58,88 58,50"),
                poly("icing", "2,54 2,60 58,72 58,66 / 58,66 58,72 100,50 100,44", relief=0.1),
                poly("icing", "0,32 84,16 102,26 58,50", shade=1.1, relief=0.2),
                poly("icing", "0,32 58,49 58,55 0,38 / 58,49 102,26 102,32 58,55", relief=0.2),
                dots("plate", 9, "60,26"),
                dots("red", 6, "60,17", gloss=0.5),
            ],
            [
                line("sprinkle", 3, "34,26 34,6 / 50,30 50,10 / 66,26 66,6"),
                blob("yellow", "34,-4 37,2 34,6 31,2 / 50,0 53,6 50,10 47,6 / 66,-4 69,2 66,6 63,2", relief=0),
                blob("crumb", "8,32 8,32 8,78 24,87 50,89 76,87 92,78 92,32 92,32", relief=0.4),
                oval("icing", 50, 31, 42, 13, shade=1.1, relief=0.15),
                blob(
                    "icing",
                    "8,31 8,31 8,46 13,50 18,45 24,52 30,58 36,50 43,54 50,62 57,54 63,52 70,59 76,52 82,46 "
                    "88,51 92,44 92,31 92,31 76,40 50,44 24,40",
                ),
                line("sprinkle", 3, "34,34 34,16 / 50,38 50,16 / 66,34 66,16"),
                dots("other sprinkle", 3.6, "12,80 22,85 34,87 46,88 58,88 70,87 80,84 89,80"),
            ],
        ),
    ],
)

SKETCHES = {
    "sandwich": SANDWICH,
    "hot dog": HOT_DOG,
    "pizza": PIZZA,
    "donut": DONUT,
    "cake": CAKE,
}
