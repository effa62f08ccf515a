"""What sketches are coloured with: palettes, materials and markings.

Palettes are wide and overlap, so that a colour says little about the class.
"""

from __future__ import annotations

from dataclasses import dataclass

Tint = tuple[int, int, int]  # red, green and blue in 0..255

PALETTES: dict[str, tuple[Tint, ...]] = {
    "vivid": (
        *((196, 44, 44), (226, 132, 44), (232, 200, 62), (86, 150, 66), (44, 122, 110), (52, 110, 190), (96, 72, 160)),
        *((196, 84, 140), (60, 60, 70), (226, 226, 220), (122, 82, 54), (28, 62, 108)),
    ),
    "dull": ((92, 98, 108), (126, 104, 82), (70, 84, 72), (150, 144, 134), (60, 64, 84), (110, 70, 64), (44, 44, 50)),
    "coat": (
        *((70, 52, 38), (122, 86, 54), (176, 134, 86), (206, 176, 130), (226, 214, 192), (96, 92, 90), (150, 146, 140)),
        *((48, 46, 50), (160, 88, 44)),
    ),
    "hide": (
        *((112, 106, 104), (134, 124, 114), (90, 96, 114), (128, 98, 76), (150, 142, 136), (84, 74, 72)),
        *((112, 126, 142), (156, 128, 102)),
    ),
    "china": (
        *((236, 236, 232), (226, 220, 206), (214, 222, 228), (224, 178, 182), (158, 178, 148), (150, 178, 202)),
        *((232, 224, 176), (70, 72, 78)),
    ),
    "plumage": (
        *((70, 78, 92), (120, 84, 56), (196, 70, 50), (64, 110, 178), (208, 172, 70), (222, 220, 214), (52, 50, 54)),
        *((98, 128, 76),),
    ),
    "pale": ((236, 236, 232), (226, 220, 206), (214, 222, 228), (240, 228, 214), (206, 208, 206)),
    "wood": ((150, 104, 62), (112, 72, 42), (190, 148, 98), (84, 56, 38), (204, 172, 128)),
    "metal": ((172, 176, 182), (140, 146, 154), (198, 200, 202), (112, 116, 122), (180, 170, 150)),
    "dark": ((30, 30, 34), (44, 44, 48), (22, 24, 30), (54, 48, 46)),
    "crust": ((206, 150, 80), (222, 176, 108), (184, 120, 58), (232, 196, 134), (160, 100, 52)),
    "leaf": ((70, 124, 52), (98, 150, 66), (52, 100, 54), (122, 150, 70), (84, 120, 84)),
    "fabric": (
        *((160, 70, 66), (84, 104, 140), (120, 128, 100), (188, 174, 150), (92, 76, 70), (66, 72, 84), (190, 150, 84)),
        *((132, 96, 128),),
    ),
    "enamel": (
        *((236, 236, 232), (92, 98, 108), (150, 144, 134), (44, 44, 50), (176, 52, 48), (120, 164, 150)),
        *((226, 206, 150), (66, 88, 120)),
    ),
    "screen": ((34, 40, 54), (70, 110, 160), (96, 150, 120), (24, 24, 28), (160, 130, 150)),
    "red": ((190, 34, 40), (206, 52, 46), (168, 28, 44)),
    "fruit red": ((190, 40, 40), (206, 88, 50), (160, 180, 62), (214, 180, 80), (134, 24, 40), (112, 160, 58)),
    "orange": ((236, 136, 36), (226, 112, 26), (244, 160, 60)),
    "yellow": ((238, 206, 66), (226, 184, 50), (232, 214, 110), (186, 190, 78)),
    "sauce": ((190, 62, 36), (208, 96, 44), (172, 44, 34)),
    "cheese": ((240, 206, 118), (236, 190, 92), (246, 224, 160)),
    "meat": ((168, 64, 52), (138, 52, 44), (190, 92, 70), (120, 70, 50)),
    "cocoa": ((84, 50, 34), (226, 140, 160), (238, 226, 204), (120, 74, 46), (190, 210, 220), (220, 190, 120)),
    "glass": ((150, 174, 186), (176, 196, 200), (120, 150, 160), (164, 184, 170)),
    "window": ((52, 66, 82), (88, 112, 132), (34, 42, 50), (126, 152, 168)),
    "skin tone": ((224, 186, 152), (190, 142, 106), (140, 96, 68)),
}


@dataclass(frozen=True)
class Material:
    """Unevenness as smooth fields, and a highlight.

    Attributes
    ----------
    fields
        (cells down, cells across, strength) of each; the strength is a share of the brightness.
    gloss
        Strength of the highlight on every part of this material.
    """

    fields: tuple[tuple[int, int, float], ...]
    gloss: float = 0.0


MATERIALS: dict[str, Material] = {
    "smooth": Material(((3, 3, 0.12),)),
    "gloss": Material(((3, 3, 0.1),), 0.45),
    "fur": Material(((14, 34, 0.3), (4, 5, 0.18))),
    "wool": Material(((15, 15, 0.42),)),
    "hide": Material(((22, 22, 0.2), (5, 5, 0.2))),
    "wood": Material(((28, 3, 0.34), (3, 4, 0.12))),
    "planks": Material(((3, 26, 0.3),)),
    "weave": Material(((40, 3, 0.2), (3, 40, 0.2), (4, 4, 0.12))),
    "metal": Material(((2, 18, 0.2),), 0.35),
    "rough": Material(((20, 20, 0.3), (6, 6, 0.14))),
    "baked": Material(((12, 12, 0.3), (4, 4, 0.25)), 0.12),
}


@dataclass(frozen=True)
class Marking:
    """A second colour on top of a skin's.

    Attributes
    ----------
    kind
        A name of :data:`salgen.generators.stand_ins.cutouts.markings.MARKINGS`.
    tint
        The skin that gives the second colour.
    scale
        Size of the pattern, in shares of the picture's longer side.
    chance
        How often it is there.
    """

    kind: str
    tint: str
    scale: float
    chance: float = 1.0


@dataclass(frozen=True)
class Skin:
    """What a tint of a sketch may look like.

    Attributes
    ----------
    palette
        Two colours of it are mixed.
    material
        A name of :data:`MATERIALS`.
    against
        The skin that it should stand out from, or "".
    marking
        A second colour, or None.
    like
        The earlier skin whose colour it has instead of one of a palette, or "".
    """

    palette: str = ""
    material: str = "smooth"
    against: str = ""
    marking: Marking | None = None
    like: str = ""


COMMON: dict[str, Skin] = {
    "ink": Skin("dark"),
    "white": Skin("pale"),
    "steel": Skin("metal", "metal"),
    "rubber": Skin("dark", "rough"),
    "glass": Skin("window", "gloss"),
    "timber": Skin("wood", "wood"),
    "red": Skin("red", "gloss"),
    "orange": Skin("orange", "gloss"),
    "yellow": Skin("yellow", "gloss"),
    "leaf": Skin("leaf", "rough"),
}
