"""Which pixels of a mask are the object: one rule for pictures, for arrays from Python and for files to score.

Two levels are clear: all but 0. More of them are the soft edges of one object, or numbers of classes, of which 255 is
void. They are told apart by where they lie: a number fills an area, a soft edge is a pixel or two wide.
"""

from typing import Any, NamedTuple
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from salgen.errors import SalgenError
from salgen.generators.drawing.pictures import levels_of
from salgen.types import Mask

VOID, VOID_COLOUR = 255, (224, 224, 192)  # VOC's
NUMBERS = 64  # levels below may be numbers of classes beside void
FEW, FEWEST = 256, 8  # colours of a picture without soft edges; levels, more of which are no numbers by chance
LOSSY = ("JPEG", "MPO", "WEBP", "AVIF", "HEIF", "JPEG2000")
BETWEEN = 1 / 3  # largest share of pixels that are soft edges
FILLED = 0.5  # least share of in-between pixels with equal neighbours where levels are class numbers

SOFT = "mask with soft or lossy edges, cut at half of its greatest level"
CLASSES = "mask with several levels or colours, of which all but 0 or black are the object"
WITH_VOID = "mask with a void label (255), which is not the object"
OPACITY = "mask that is a picture's opacity"
MOSTLY = "mask of more than half of its image and all corners: if the object is black, set mask_values=0"


class Told(NamedTuple):
    """The object in a mask."""

    mask: Mask  # bool (H, W)
    said: str = ""  # how it was told apart; "" if that is clear
    level: float = 0.0  # its greatest level; 0 where that is no number: in colours, of one bit, or if all is full


def object_of(picture: Image.Image, values: tuple[int, ...], place: str) -> Told:
    """The object in an open picture, which messages call `place`; a SalgenError if it fits two readings or none.

    `values` are the object's levels as they are stored: greys, or numbers of a palette. If empty, they are told by the
    rule above; palettes are looked up then, and black is no object.
    """
    lossy, palette = picture.format in LOSSY, picture.mode == "P"
    if values and lossy:
        raise SalgenError(f"{place}: {picture.format} changes levels, so mask_values cannot name them: save it as PNG")
    levels = rgb = levels_of(picture)
    if (palette and not values) or levels.ndim == 3 or picture.mode in ("LA", "La"):
        rgb = np.asarray(picture.convert("RGB"))
    grey = rgb.ndim == 2 or bool((rgb == rgb[..., :1]).all())
    if values:
        if not grey:
            raise SalgenError(f"{place}: has colours, so mask_values cannot name any: leave it out, or save it as grey")
        return Told(np.isin(rgb if rgb.ndim == 2 else rgb[..., 0], values))
    if grey:
        told = told_apart(rgb if rgb.ndim == 2 else rgb[..., 0], place, lossy)
    else:
        void = (rgb == VOID_COLOUR).all(axis=2)
        if palette and np.unique(levels[rgb.any(axis=2)]).size > 1:
            void |= levels == VOID
        colours = np.where(void, 0, rgb.max(axis=2))
        few = not lossy and (palette or picture.getcolors(FEW) is not None)
        mask, said, _ = told_apart(colours, place, lossy, coloured=few)
        shown = rgb[mask]
        told = Told(mask, WITH_VOID if void.any() else said or ("" if (shown == shown[:1]).all() else CLASSES))
    if picture.has_transparency_data:
        opacity = np.asarray(picture.convert("RGBA").getchannel("A"))
        if opacity.min() < opacity.max():
            opaque = told_apart(opacity, place).mask
            if (rgb == rgb[:1, :1]).all():
                return Told(opaque, OPACITY)
            if not np.array_equal(told.mask, opaque):
                raise SalgenError(
                    f"{place}: its colours mark {told.mask.sum():,} pixels and its opacity {opaque.sum():,}, so it "
                    "fits two readings: save the mask as black and white"
                )
    return told


def told_apart(levels: NDArray[Any], place: str, lossy: bool = False, coloured: bool = False) -> Told:
    """The object among levels (H, W), which messages call `place`; a SalgenError if they fit two readings or none.

    They are `lossy` if a file's format changed them, and `coloured` if they stand for colours, none of which is void.
    """
    numbers = np.unique(levels)
    low, top = numbers[0].item(), numbers[-1].item()
    if low < 0 or not np.isfinite(top):
        raise SalgenError(f"{place}: a mask has levels from {low:g} to {top:g}: save it with 0 outside the object")
    if len(numbers) <= 2:
        return Told(levels > 0, "", float(top) if low == 0 and levels.dtype != bool else 0.0)
    whole = not lossy and bool((numbers == np.rint(numbers)).all())
    if lossy and top < NUMBERS:
        raise SalgenError(f"{place}: a lossy format changed its levels, the greatest of which is {top}: save it as PNG")
    inner = (levels > 0) & (levels < top)
    if whole and (top < NUMBERS or (coloured and _filled(inner, levels) >= FILLED)):
        return Told(levels > 0, CLASSES, top)
    if whole and not coloured and top == VOID and numbers[-2] < NUMBERS:
        filled = _filled(inner, levels)
        if filled >= FILLED / 2:
            return Told(inner, WITH_VOID, numbers[-2].item())
        if len(numbers) > FEWEST and inner.sum() < (levels == top).sum() / 2:
            return Told(levels >= top / 2, SOFT, top)
        raise _two_readings(place, numbers)
    between = (levels > top / 8) & (levels < top * 7 / 8)
    inner = inner if len(numbers) <= FEWEST else between
    if whole and inner.any() and _filled(inner, levels) >= FILLED:
        if top in (VOID, 65535) and not coloured:
            raise _two_readings(place, numbers)
        return Told(levels > 0, CLASSES, top)
    if between.mean() > BETWEEN:
        raise SalgenError(
            f"{place}: {between.mean():.0%} of its pixels lie between black and white, as in a photograph or a map of "
            "probabilities: save a mask of two levels"
        )
    return Told(levels >= top / 2, SOFT, top)


def _filled(where: Mask, levels: NDArray[Any]) -> float:
    """The share of pixels `where` whose right and lower neighbours have the same level."""
    here = levels[:-1, :-1]
    equal = (here == levels[1:, :-1]) & (here == levels[:-1, 1:])
    return float((equal & where[:-1, :-1]).sum() / max(where.sum(), 1))


def _two_readings(place: str, numbers: NDArray[Any]) -> SalgenError:
    some = ", ".join(map(str, numbers[:: max(len(numbers) // 8, 1)].tolist()))
    return SalgenError(
        f"{place}: levels such as {some} fit two readings: greys of one object, or numbers of classes and void: name "
        f"the object's by --set mask_values={numbers[-2]} or {numbers[-1]}"
    )
