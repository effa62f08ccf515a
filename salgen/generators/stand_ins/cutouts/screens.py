"""Things with a screen, and what goes with them."""

from __future__ import annotations

from salgen.generators.stand_ins.cutouts.parts import Item, blob, box, boxes, curve, dots, line, maybe, one_of, poly
from salgen.generators.stand_ins.cutouts.sketch import Sketch
from salgen.generators.stand_ins.cutouts.skins import Skin

SKINS = {
    "case": Skin("dull", "gloss"),
    "a": Skin("vivid", "gloss"),
    "b": Skin("vivid", "gloss", against="a"),
    "metal": Skin("metal", "metal"),
    "screen": Skin("screen", "gloss"),
    "hill": Skin("leaf", "rough"),
    "key": Skin("pale"),
}


def keys(left: float, right: float, rows: str, across: int, gap: float, height: float) -> str:
    """Places of rectangles in rows; `rows` gives the top of each."""
    step = (right - left) / across
    tops = [float(top) for top in rows.split()]
    places = [(left + number * step, top) for top in tops for number in range(across)]
    return " ".join(f"{x:.2f},{y:.2f} {x + step - gap:.2f},{y + height:.2f}" for x, y in places)


def shown(left: float, top: float, right: float, bottom: float) -> Item:
    """What a screen may show."""
    width, height = right - left, bottom - top
    low = bottom - 0.3 * height
    text = " / ".join(
        f"{left + 0.1 * width},{top + s * height} {right - e * width},{top + s * height}"
        for s, e in ((0.2, 0.4), (0.4, 0.15), (0.6, 0.25), (0.8, 0.5))
    )
    return one_of(
        [],
        [
            poly(
                "hill",
                f"{left},{bottom} {left},{low} {left + 0.3 * width},{top + 0.4 * height} {left + 0.55 * width},{low} "
                f"{left + 0.75 * width},{top + 0.5 * height} {right},{low} {right},{bottom}",
                relief=0.15,
            ),
            dots("yellow", 0.09 * width, f"{left + 0.78 * width},{top + 0.25 * height}", relief=0),
        ],
        [line("key", 0.04 * width, text, relief=0)],
    )


TV = Sketch(
    {**SKINS, "wood": Skin("wood", "wood"), "post": Skin("wood")},
    [
        one_of(
            [
                box("case", 46, 66, 74, 78),
                box("case", 28, 75, 92, 81, 2.5),
                box("ink", 0, 0, 120, 70, 2),
                box("screen", 3.5, 3.5, 116.5, 64.5, relief=0.2),
                shown(4, 4, 116, 64),
            ],
            [
                line("steel", 1.6, "52,6 34,-20 / 56,6 78,-22"),
                line("post", 4, "18,84 14,96 / 94,84 98,96"),
                box("wood", 2, 4, 110, 86, 7),
                box("ink", 9, 11, 82, 78, 8),
                box("screen", 12, 14, 79, 75, 8, relief=0.4),
                shown(20, 20, 71, 69),
                dots("steel", 5.5, "96,24 96,42"),
                line("ink", 1.4, "89,56 103,56 / 89,62 103,62 / 89,68 103,68", relief=0),
            ],
        ),
    ],
    give=0.5,
    lean=0.02,
)

LAPTOP = Sketch(
    SKINS,
    [
        poly("case", "16,0 106,0 102,60 18,60"),
        poly("ink", "19,3 103,3 99.5,57 21,57", relief=0.1),
        poly("screen", "21,5 101,5 98,55 23,55", relief=0.2),
        shown(26, 9, 95, 52),
        poly("metal", "18,60 102,60 120,86 0,86", shade=1.05, relief=0.2),
        poly("case", "0,86 120,86 118,91 2,91", shade=0.7),
        line("ink", 3, "21,65 99,65 / 18,70 102,70 / 15,75 105,75", relief=0),
        line(
            "metal",
            0.8,
            "28,62 24,77 / 38,62 35,77 / 48,62 46,77 / 60,62 60,77 / 72,62 74,77 / 82,62 85,77 / 92,62 96,77",
            relief=0,
        ),
        poly("metal", "48,79 72,79 74,85 46,85", shade=0.75, relief=0.1),
    ],
    give=0.6,
    lean=0.03,
)

MOUSE = Sketch(
    SKINS,
    [
        maybe(0.65, curve("ink", 2.6, "50,20 48,4 56,-8 48,-22 54,-34")),
        blob("a", "50,10 34,14 25,32 22,60 26,86 38,99 50,101 62,99 74,86 78,60 75,32 66,14", relief=0.5),
        curve("ink", 1.4, "24,48 36,53 50,54 64,53 76,48 / 50,11 50,54", relief=0),
        box("ink", 46, 22, 54, 40, 3.6),
        box("metal", 47.4, 24, 52.6, 38, 2.4),
    ],
    lean=0.5,
)

REMOTE = Sketch(
    SKINS,
    [
        box("case", 30, 0, 70, 126, 9),
        box("case", 33, 3, 67, 123, 7, shade=0.7, relief=0.15),
        dots("red", 4.6, "41,13"),
        dots("key", 3.4, "59,13"),
        dots("key", 4, "39,28 50,28 61,28 39,39 50,39 61,39 39,50 50,50 61,50"),
        dots("metal", 13, "50,74"),
        dots("case", 5.4, "50,74"),
        boxes("b", "37,94 46,100 54,94 63,100"),
        dots("key", 3.4, "39,110 50,110 61,110"),
    ],
    give=0.6,
    lean=0.5,
)

KEYBOARD = Sketch(
    SKINS,
    [
        box("case", 0, 0, 150, 54, 4),
        box("ink", 3, 3, 147, 51, 2, relief=0.1),
        one_of(
            [
                boxes("key", keys(5, 110, "5 14 23 32", 11, 1.6, 7), relief=0.15),
                boxes("key", keys(114, 146, "5 14 23 32 41", 3, 1.6, 7), relief=0.15),
            ],
            [
                boxes("a", keys(5, 110, "5 14 23 32", 11, 1.6, 7), relief=0.15),
                boxes("b", keys(114, 146, "5 14 23 32 41", 3, 1.6, 7), relief=0.15),
            ],
        ),
        boxes("key", "5,41 22,48 24,41 82,48 84,41 94,48 96,41 108.5,48", relief=0.15),
    ],
    give=0.6,
    lean=0.15,
)

CELL_PHONE = Sketch(
    SKINS,
    [
        one_of(
            [
                box("case", 26, 0, 74, 98, 7),
                box("ink", 28, 2, 72, 96, 6, relief=0.1),
                box("screen", 30, 8, 70, 88, 1, relief=0.2),
                shown(32, 12, 68, 50),
                maybe(0.6, boxes("b", keys(34, 69, "56 68", 4, 2.6, 6.4), relief=0.1)),
                box("key", 43, 79, 57, 82, 1.4, relief=0),
                line("metal", 1.2, "45,5 55,5"),
            ],
            [
                box("case", 36, -14, 43, 6, 2),
                box("a", 30, 0, 70, 100, 8),
                box("screen", 36, 10, 64, 40, 2, relief=0.3),
                boxes("key", keys(35, 67, "50 61 72 83", 3, 2.6, 7)),
                line("ink", 1.2, "45,5 55,5"),
            ],
        ),
    ],
    give=0.6,
    lean=0.35,
)

SKETCHES = {
    "tv": TV,
    "laptop": LAPTOP,
    "mouse": MOUSE,
    "remote": REMOTE,
    "keyboard": KEYBOARD,
    "cell phone": CELL_PHONE,
}
