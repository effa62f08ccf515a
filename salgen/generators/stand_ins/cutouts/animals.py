"""Animals of the house and the farm: seen from the side and looking to the right, or sitting."""

from __future__ import annotations

from salgen.generators.stand_ins.cutouts.parts import (
    Item,
    Part,
    blob,
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


def legs(tint: str, hoof: str, places: str, hip: float, knee: float, ground: float, width: float) -> list[Item]:
    """Legs that taper to a hoof; the first half of the places (x of each) are those behind."""
    found: list[Item] = []
    columns = [float(place) for place in places.split()]
    for number, x in enumerate(columns):
        behind = number < len(columns) // 2
        half, back = width / 2, 0.25 * width
        upper = f"{x - half * 1.5},{hip} {x + half * 1.4},{hip} {x + half},{knee} {x - half - back},{knee}"
        lower = f"{x + half * 0.8},{ground} {x - half * 0.8},{ground}"
        shape = blob(
            tint,
            f"{upper.rsplit(' ', 1)[0]} {lower.split()[0]} {lower} {lower.split()[1]} {upper.rsplit(' ', 1)[1]}",
            shade=0.66 if behind else 0.92,
        )
        shoe = poly(
            hoof,
            f"{x - half * 0.9},{ground - width * 0.5} {x + half * 0.9},{ground - width * 0.5} "
            f"{x + half * 1.15},{ground} {x - half},{ground}",
            shade=0.66 if behind else 0.9,
        )
        found.append(swing(x, hip + 0.2 * (knee - hip), 0.1, shape, shoe))
    return found


def eye(x: float, y: float, radius: float) -> list[Part]:
    """A dark eye with a glint."""
    return [dots("ink", radius, f"{x},{y}"), dots("white", radius * 0.35, f"{x + radius * 0.3},{y - radius * 0.3}")]


BIRD = Sketch(
    {
        "a": Skin("plumage", "hide"),
        "b": Skin("plumage", "fur", against="a"),
        "belly": Skin("coat", "hide", against="b"),
        "beak": Skin("yellow"),
    },
    [
        one_of(
            [
                line("beak", 2, "46,68 44,86 52,88 / 44,86 37,87 / 56,68 57,86 65,88 / 57,86 50,87", shade=0.7),
                swing(30, 55, 0.15, blob("b", "38,46 38,46 4,72 0,80 12,82 44,64", shade=0.8)),
                blob("a", "26,58 30,42 46,32 58,20 70,13 82,16 87,27 83,38 80,54 70,66 54,72 38,70"),
                blob("belly", "84,34 82,52 71,64 55,70 48,68 60,58 70,44 76,34", relief=0.2),
                one_of(
                    [
                        blob("b", "68,36 60,36 40,44 22,62 18,70 32,68 52,62 64,50"),
                        curve("b", 1.6, "62,48 46,60 26,66 / 58,42 42,52 24,64", shade=0.6),
                    ],
                    [
                        blob("b", "66,44 54,30 40,8 28,-8 22,-10 20,8 26,30 40,52 56,56"),
                        curve("b", 1.6, "54,46 40,26 26,0 / 46,46 34,32 22,12", shade=0.6),
                    ],
                ),
                poly("beak", "85,20 101,26 85,31"),
                line("beak", 1, "86,26 98,26.5", shade=0.5),
                *eye(78, 23, 2.6),
            ],
            [
                swing(66, 42, 0.2, blob("b", "56,44 60,16 76,-10 88,-18 86,4 78,28 74,42", shade=0.65)),
                poly("b", "16,48 -10,40 -4,48 -12,54 16,56", shade=0.8),
                blob("a", "8,50 30,42 60,38 78,33 90,34 97,42 92,51 72,59 44,61 22,56"),
                blob("belly", "94,47 84,55 60,61 34,59 54,54 76,48", relief=0.2),
                poly("beak", "95,38 108,43 95,47"),
                *eye(88, 40, 2.4),
                swing(
                    54,
                    46,
                    0.3,
                    blob("b", "44,48 30,22 10,0 -2,-6 2,-14 24,-12 48,6 64,28 70,46 58,52"),
                    curve("b", 1.6, "52,44 36,18 14,-4 / 60,42 48,20 28,0", shade=0.6),
                ),
            ],
        ),
    ],
)

CAT = Sketch(
    {
        "a": Skin("coat", "fur", marking=Marking("level", "b", 0.1, 0.5)),
        "b": Skin("coat", against="a"),
        "iris": Skin("leaf", "gloss"),
        "nose": Skin("skin tone"),
    },
    [
        swing(72, 92, 0.2, curve("a", 9, "66,92 84,92 94,80 90,64 96,54", shade=0.8)),
        blob("a", "40,46 30,58 22,78 22,94 34,99 50,97 66,99 78,94 78,78 70,58 60,46"),
        blob("a", "24,82 30,74 38,82 40,97 24,98 / 76,82 70,74 62,82 60,97 76,98", shade=0.9),
        blob("a", "42,62 48,66 49,94 47,99 38,99 38,94 / 58,62 52,66 51,94 53,99 62,99 62,94", shade=1.05),
        maybe(0.5, blob("b", "42,50 58,50 58,64 50,72 42,64")),
        swing(
            50,
            44,
            0.12,
            poly("a", "28,26 27,2 46,15 / 72,26 73,2 54,15", shade=0.85),
            poly("nose", "31,21 30,8 41,16 / 69,21 70,8 59,16", shade=0.75),
            blob("a", "50,12 34,15 26,30 29,42 40,50 50,52 60,50 71,42 74,30 66,15"),
            blob("b", "50,36 43,40 40,46 50,50 60,46 57,40", shade=1.05, relief=0.15),
            oval("iris", 40, 30, 5.4, 4.8, relief=0.1),
            oval("iris", 60, 30, 5.4, 4.8, relief=0.1),
            oval("ink", 40, 30, 2, 4.6),
            oval("ink", 60, 30, 2, 4.6),
            poly("nose", "46,38 54,38 50,42", shade=0.8),
            curve("ink", 1, "50,42 50,45 44,46 / 50,45 56,46"),
            curve("white", 0.8, "42,42 28,40 18,42 / 42,44 28,46 20,50 / 58,42 72,40 82,42 / 58,44 72,46 80,50"),
        ),
    ],
)

DOG = Sketch(
    {
        "a": Skin("coat", "fur", marking=Marking("patches", "b", 0.4, 0.4)),
        "b": Skin("coat", against="a"),
        "collar": Skin("vivid", against="a"),
        "tongue": Skin("red"),
    },
    [
        one_of(
            [
                swing(15, 36, 0.35, curve("a", 6, "18,38 8,30 4,16", shade=0.85)),
                *legs("a", "a", "27 60", 46, 62, 82, 8.5),
                blob("a", "13,40 18,32 32,30 48,32 62,28 72,28 75,38 71,52 62,57 46,53 34,53 24,56 15,52"),
                *legs("a", "a", "20 67", 42, 62, 84, 9.5),
                dots("a", 10, "23,46", shade=1.0),
            ],
            [
                swing(22, 88, 0.3, curve("a", 6, "26,92 8,92 -4,80", shade=0.85)),
                blob("a", "62,60 70,60 71,76 70,94 60,98 56,92", shade=0.66),
                blob("a", "56,38 66,32 77,38 80,52 77,66 72,80 68,92 50,97 28,96 17,88 19,74 28,58 42,46"),
                blob("a", "24,88 22,74 34,64 47,68 52,82 48,94 58,94 61,99 30,99", relief=0.45),
                blob("a", "66,50 79,48 80,66 78,92 85,94 86,99 71,99 69,78"),
            ],
        ),
        swing(
            70,
            34,
            0.15,
            blob("a", "58,38 64,22 72,11 80,7 88,10 91,16 100,19 102,24 98,28 88,30 82,32 78,42 70,50 62,48"),
            maybe(0.5, blob("b", "88,17 100,19 102,24 98,28 87,29", relief=0.2)),
            maybe(0.4, blob("tongue", "91,28 96,28 96,36 93,38 91,35")),
            curve("ink", 1, "88,27 94,26 99,25"),
            one_of(
                [blob("b", "74,8 80,10 81,20 77,30 71,29 69,18", shade=0.75)],
                [poly("b", "71,13 72,-3 82,8", shade=0.75), poly("a", "80,8 83,-2 88,10", shade=0.9)],
            ),
            oval("ink", 100.5, 20, 2.8, 2.4),
            *eye(87, 15, 1.9),
            maybe(0.6, curve("collar", 3.6, "65,30 74,38 82,36")),
        ),
    ],
)

HORSE = Sketch(
    {"a": Skin("coat", "hide"), "b": Skin("coat", "fur", against="a")},
    [
        swing(12, 34, 0.12, blob("b", "14,32 5,38 2,56 4,74 10,66 13,50 17,40", shade=0.9)),
        *legs("a", "ink", "28 58", 50, 70, 99, 6.4),
        blob("a", "11,40 15,30 26,27 44,31 58,28 70,30 72,42 66,54 50,53 34,56 22,55 13,50"),
        *legs("a", "ink", "18 65", 46, 70, 102, 7.2),
        dots("a", 11, "22,43", relief=0.2),
        swing(
            66,
            36,
            0.1,
            blob("a", "56,32 64,16 74,4 82,1 88,6 94,18 99,24 98,30 91,31 86,24 82,23 79,32 72,46 62,50"),
            poly("a", "77,4 79,-6 84,3", shade=0.85),
            blob("b", "82,0 74,-1 64,12 54,30 57,35 63,32 68,26 70,18 77,10 81,8"),
            blob("b", "82,-1 88,4 86,10 82,6"),
            maybe(0.4, blob("white", "87,7 92,15 95,22 92,20 88,13", relief=0.1)),
            oval("ink", 96.5, 26, 1.2, 1),
            *eye(86.5, 12, 1.5),
        ),
    ],
)

COW = Sketch(
    {
        "a": Skin("coat", "hide", marking=Marking("patches", "b", 0.4, 0.75)),
        "b": Skin("coat", against="a"),
        "muzzle": Skin("skin tone"),
        "horn": Skin("pale"),
    },
    [
        curve("a", 2.2, "9,30 4,42 5,58", shade=0.7),
        blob("b", "3,56 7,56 8,66 5,70 2,66"),
        *legs("a", "ink", "24 61", 50, 66, 86, 8),
        blob("a", "8,36 10,27 24,25 44,27 62,24 74,26 78,36 74,52 64,60 46,58 30,56 16,56 8,50"),
        blob("muzzle", "24,54 34,54 34,62 29,65 25,62"),
        *legs("a", "ink", "15 69", 46, 66, 88, 9),
        swing(
            76,
            30,
            0.12,
            blob("a", "66,28 76,22 86,20 84,34 78,46 68,46", shade=0.9),
            curve("horn", 3, "84,16 82,8 87,3 / 92,16 98,10 97,3", shade=0.9),
            blob("a", "84,19 74,16 70,20 76,25 / 93,19 102,16 106,19 100,25", shade=0.75),
            blob("a", "82,17 88,14 95,17 97,26 97,36 93,44 87,44 83,36 81,26"),
            maybe(0.5, blob("white", "87,15 91,15 92,30 90,36 87,30", relief=0.1)),
            blob("muzzle", "84,37 90,35 97,37 98,44 94,48 87,48 83,44"),
            dots("ink", 1.2, "87,42 94,42"),
            *eye(84.5, 26, 1.6),
            *eye(95, 26, 1.6),
        ),
    ],
)

SHEEP = Sketch(
    {"a": Skin("coat", "wool"), "face": Skin("coat", "hide", against="a")},
    [
        *legs("face", "ink", "30 58", 56, 66, 82, 5.6),
        *legs("face", "ink", "24 64", 54, 66, 84, 6),
        dots("a", 11, "14,36 16,48 27,57 40,60 54,59 66,54 74,44 73,32 64,24 50,20 36,20 22,25"),
        blob("a", "10,38 22,22 44,17 66,22 78,36 72,54 54,62 30,62 14,54", relief=0.45),
        dots("a", 4.5, "24,34 38,28 52,30 64,36 30,46 46,44 58,50 40,54", shade=0.88, relief=0.5),
        swing(
            80,
            30,
            0.12,
            blob("face", "76,24 68,26 64,32 72,33 79,30", shade=0.75),
            blob("face", "72,24 80,16 90,18 96,28 100,38 96,43 88,42 80,38 74,34"),
            dots("a", 6.5, "74,21 80,16 86,16 72,28"),
            oval("ink", 97.5, 37, 1.4, 1),
            curve("ink", 1, "90,40 96,40"),
            *eye(87, 26, 1.7),
        ),
    ],
)

SKETCHES = {
    "bird": BIRD,
    "cat": CAT,
    "dog": DOG,
    "horse": HORSE,
    "cow": COW,
    "sheep": SHEEP,
}
