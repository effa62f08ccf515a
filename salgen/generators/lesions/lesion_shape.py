"""Shape of one lesion, and the places where it may lie."""

from collections.abc import Sequence
from functools import lru_cache
import numpy as np
from numpy.typing import NDArray
from salgen.types import Float64, Mask

WINDOWS = ("hamming", "hann", "flat")
REGIONS = ("top", "bottom", "anywhere")

Centres = NDArray[np.int16]
Window = tuple[slice, slice]


@lru_cache(maxsize=64)
def lesion_profile(diameter: int, window: str) -> Float64:
    """The profile of a lesion, float64 (diameter, diameter): sqrt(h_i h_j), maximum 1 (Budding et al. 2021).

    The symmetric window h is rounded to 40 binary places, so that a platform's cosine does not show.
    """
    turn = 2.0 * np.pi * np.arange(diameter) / (diameter - 1)
    line = {"hamming": 0.54 - 0.46 * np.cos(turn), "hann": 0.5 - 0.5 * np.cos(turn), "flat": np.ones(diameter)}[window]
    line = np.rint(np.maximum(line, 0.0) * 2.0**40) / 2.0**40
    profile = np.sqrt(np.outer(line, line))
    return np.asarray(profile / profile.max())


def window_at(centre: Sequence[int], diameter: int, image_size: tuple[int, int]) -> tuple[Window, Window]:
    """The part of the image that a lesion's square covers, and the part of the square inside the image.

    The square covers rows [r - diameter // 2, r - diameter // 2 + diameter), and columns alike.
    """
    spans = [_span(place - diameter // 2, diameter, extent) for place, extent in zip(centre, image_size, strict=True)]
    return (spans[0][0], spans[1][0]), (spans[0][1], spans[1][1])


def support_at(centre: Sequence[int], profile: Mask, image_size: tuple[int, int]) -> Mask:
    """A lesion's pixels, bool (H, W), where `profile` bool (diameter, diameter) says which count."""
    mask = np.zeros(image_size, dtype=bool)
    inside, part = window_at(centre, len(profile), image_size)
    mask[inside] = profile[part]
    return mask


def find_places(brain: Mask, diameter: int, region: str, *, whole: bool, pair: bool) -> Centres:
    """Every centre in a brain, bool (H, W), that a lesion may have, int16 (n, 2) of row and column.

    `region` is one of :data:`REGIONS`. With `whole` the lesion's whole square lies in the image, and with `pair` there
    is room for a second lesion.
    """
    height, width = brain.shape
    allowed = brain.copy()
    if region == "top":
        allowed[height // 2 :] = False
    elif region == "bottom":
        allowed[: height // 2] = False
    if whole:
        before, after = diameter // 2, diameter - diameter // 2
        inner = np.zeros_like(allowed)
        inner[before : height - after + 1, before : width - after + 1] = True
        allowed &= inner
    places = np.asfortranarray(np.argwhere(allowed).astype(np.int16))  # a column at a time is what apart_from reads
    if not pair or len(places) == 0:
        return places
    room = np.maximum(places.max(axis=0) - places, places - places.min(axis=0)).max(axis=1)
    return np.asfortranarray(places[room >= diameter])


def apart_from(places: Centres, centre: Sequence[int], diameter: int) -> Mask:
    """True for each place whose lesion is clear of the one at `centre`: Chebyshev distance of a diameter."""
    rows, columns = places.T
    return np.asarray((np.abs(rows - centre[0]) >= diameter) | (np.abs(columns - centre[1]) >= diameter))


def _span(first: int, length: int, extent: int) -> tuple[slice, slice]:
    start, stop = max(first, 0), min(first + length, extent)
    return slice(start, stop), slice(start - first, stop - first)
