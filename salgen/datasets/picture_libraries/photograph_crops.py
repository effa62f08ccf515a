"""Scenes that are crops of a shipped photograph, one of those that look about the same everywhere.

In other photographs something stands at one place, and a crop from elsewhere is not of the same class.
"""

from collections.abc import Sequence

from salgen.datasets.picture_libraries.picture_file import Pixels
from salgen.generators.drawing.photographs import photographs
from salgen.generators.drawing.pictures import resize_rgb
from salgen.seeding import Stream

PREFIX = "photograph/"
FILES = ("brick.png", "grass.png", "gravel.png", "hubble_deep_field.jpg")
NAMES_OF_CROPS = tuple(f"{PREFIX}{name.partition('.')[0]}" for name in FILES)
PARTS = {"train": (0.0, 0.5), "val": (0.5, 0.75), "test": (0.75, 1.0)}  # each split's part of the height
LEAST = 0.6  # least side of a crop, as a share of the longest one in any part
NOTES = " {count} of the kinds of scenes are crops of a photograph each, and each split has a part of it of its own."
LICENCE = "brick, grass and gravel (CC0 Textures) are CC0, hubble_deep_field (NASA) is in the public domain."


def crop(name: str, split: str, stream: Stream, size: tuple[int, int]) -> Pixels:
    """A random crop of a photograph's part for a split, uint8 (H, W, 3); parts do not overlap.

    Crops have the proportions of `size`, and in all splits the same range of lengths.
    """
    whole = photographs().load(FILES[NAMES_OF_CROPS.index(name)])
    (height, width), (tall, wide) = whole.shape[:2], size
    first, end = (int(height * share) for share in PARTS[split])
    longest = min(height / 4 / tall, width / wide)  # in sides of the image: the smallest part is a quarter
    scale = float(stream.uniform(1, LEAST * longest, longest)[0])
    sides = max(int(tall * scale), 1), max(int(wide * scale), 1)
    row = first + int(stream.integers(max(end - first - sides[0], 0) + 1, 1)[0])
    column = int(stream.integers(max(width - sides[1], 0) + 1, 1)[0])
    return resize_rgb(whole[row : row + sides[0], column : column + sides[1]], size)


def digest_of_crops(names: Sequence[str]) -> str:
    """Digest of the photographs, or "" if no crop is among the names."""
    return photographs().digest if any(name in NAMES_OF_CROPS for name in names) else ""


def about_crops(names: Sequence[str]) -> tuple[str, str]:
    """Additions to notes and licence, empty if no crop is among the names."""
    count = sum(name in NAMES_OF_CROPS for name in names)
    return (NOTES.format(count=count), f"Photographs: {LICENCE}") if count else ("", "")
