"""Wild animals, seen from the side and looking to the right."""

from __future__ import annotations

from salgen.generators.stand_ins.cutouts.animals import eye, legs
from salgen.generators.stand_ins.cutouts.parts import blob, curve, dots, line, one_of, oval, swing
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.generators.stand_ins.cutouts.skins import Marking, Skin

ELEPHANT = Sketch(
    {"a": Skin("hide", "hide"), "tusk": Skin("pale", "gloss")},
    [
        curve("a", 2.4, "8,34 3,46 4,60 2,64", shade=0.7),
        *legs("a", "tusk", "26 60", 54, 72, 92, 14),
        blob("a", "6,38 10,24 24,14 44,12 60,16 70,22 74,40 68,60 52,66 34,66 16,64 8,54"),
        *legs("a", "tusk", "15 67", 48, 72, 94, 15),
        dots("a", 12, "17,50", relief=0.15),
        swing(
            76,
            30,
            0.06,
            swing(
                94,
                44,
                0.16,
                one_of(
                    [blob("a", "82,36 97,32 101,48 101,66 99,80 92,88 87,86 87,82 92,79 93,68 90,54 84,50")],
                    [
                        blob(
                            "a",
                            "82,36 97,32 102,50 104,66 110,74 117,70 120,60 124,62 122,76 112,84 102,80 95,68 90,56 "
                            "84,50",
                        )
                    ],
                ),
            ),
            blob("tusk", "88,50 94,50 100,58 108,60 102,63 93,60"),
            blob("a", "64,30 68,14 80,8 92,12 99,24 100,40 95,52 86,56 74,54 66,46"),
            blob("a", "76,18 66,12 56,18 52,34 56,50 64,60 70,56 76,46 80,32", shade=0.82, relief=0.4),
            *eye(89, 29, 1.8),
        ),
    ],
)

BEAR = Sketch(
    {"a": Skin("coat", "fur"), "snout": Skin("coat", "hide", against="a")},
    [
        *legs("a", "a", "28 62", 46, 62, 76, 15),
        blob("a", "5,44 8,28 22,18 40,18 52,16 62,10 74,12 82,24 80,44 70,56 52,58 34,58 16,60 7,54"),
        *legs("a", "a", "15 72", 42, 62, 80, 16),
        dots("ink", 1, "8,79 11,80 14,80 66,79 69,80 72,80"),
        swing(
            80,
            26,
            0.14,
            dots("a", 5.5, "80,9 92,10", shade=0.8),
            dots("snout", 3, "80,9.5 92,10.5", shade=0.7),
            blob("a", "70,26 74,14 84,8 94,12 99,22 98,34 90,42 78,42 71,36"),
            blob("snout", "90,25 98,23 107,27 108,33 102,38 92,38 88,32", relief=0.25),
            oval("ink", 106, 27.5, 3, 2.4),
            curve("ink", 1, "96,35 101,35 105,32"),
            *eye(92, 20, 1.7),
        ),
    ],
)

ZEBRA = Sketch(
    {
        "ground": Skin("pale"),
        "line": Skin("dark"),
        "a": Skin(like="ground", material="hide", marking=Marking("upright", "line", 0.085)),
        "leg": Skin(like="ground", material="hide", marking=Marking("level", "line", 0.06)),
    },
    [
        swing(11, 34, 0.15, curve("leg", 2.6, "11,33 5,42 5,56"), blob("line", "3,54 7,54 8,66 5,72 2,66")),
        *legs("leg", "ink", "27 60", 48, 66, 88, 7),
        blob("a", "10,40 13,29 24,25 44,28 58,26 70,28 74,40 68,53 50,55 34,56 20,54 11,50"),
        *legs("leg", "ink", "18 67", 44, 66, 90, 8),
        swing(
            68,
            36,
            0.12,
            blob("leg", "56,30 64,16 74,5 82,3 89,8 95,19 99,26 97,32 90,32 85,26 82,26 79,34 74,46 62,48"),
            blob("line", "91,22 96,21 100,27 98,33 91,33 88,28", relief=0.25),
            blob("a", "80,0 72,0 62,12 54,27 58,30 66,18 74,8 81,5"),
            blob("ground", "76,5 77,-5 82,-3 83,4", shade=0.85),
            blob("line", "78,3 78.5,-2 81,-1 81,3"),
            *eye(86, 14, 1.6),
        ),
    ],
)

GIRAFFE = Sketch(
    {
        "joint": Skin("pale"),
        "a": Skin(like="joint", material="hide", marking=Marking("tiles", "tile", 0.085)),
        "tile": Skin("coat", against="joint"),
        "plain": Skin(like="tile", material="hide"),
    },
    [
        curve("plain", 1.8, "14,80 8,92 9,104", shade=0.8),
        blob("ink", "7,102 11,102 11,112 8,115"),
        *legs("a", "ink", "26 50", 98, 120, 158, 6),
        blob("a", "12,88 16,78 30,74 44,70 54,66 60,76 58,92 50,102 36,102 24,104 14,100"),
        *legs("a", "ink", "18 55", 94, 120, 162, 6.6),
        swing(
            54,
            80,
            0.08,
            blob("plain", "71,14 69,12 58,36 44,68 47,72 62,42", shade=0.8),
            blob("a", "44,76 54,54 64,32 70,12 78,10 80,16 76,34 68,58 60,88 50,90"),
            line("plain", 1.8, "71,10 70,2 / 76,9 76,1", shade=0.8),
            dots("ink", 1.8, "70,1 76,0"),
            blob("plain", "69,12 61,9 60,13 68,17", shade=0.75),
            blob("a", "68,10 74,6 82,10 90,18 97,22 98,27 93,29 84,27 76,26 69,20", relief=0.2),
            blob("joint", "90,19 97,22 98,27 93,29 88,26", shade=0.85),
            dots("ink", 0.8, "96,23.5"),
            *eye(80, 14, 1.6),
        ),
    ],
    lean=0.03,
)

SKETCHES = {
    "elephant": ELEPHANT,
    "bear": BEAR,
    "zebra": ZEBRA,
    "giraffe": GIRAFFE,
}
