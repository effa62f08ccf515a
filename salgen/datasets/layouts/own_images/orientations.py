"""Annotations of images that an EXIF orientation turns: of the pixels as they are stored, or as they are shown.

Pillow, torchvision and pycocotools leave pixels as they are stored; browsers, drawing tools and OpenCV turn them. Sizes
tell which it is where an image is turned by a quarter and not square. Others are as those of the same annotator.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from salgen.datasets.layouts.own_images.annotations import Annotations
from salgen.datasets.layouts.own_images.image_tree import Skipped
from salgen.datasets.layouts.own_images.outlines import MaskPicture, Turned
from salgen.datasets.layouts.own_images.upright_pictures import Header, header_of
from salgen.errors import SalgenError

STORED, UPRIGHT = "stored", "upright"
SAID = {
    STORED: "annotation of stored pixels, turned as the EXIF orientation of its image says",
    UPRIGHT: "annotation of an image as its EXIF orientation turns it",
}


def turned(marked: Annotations, path: Path, headers: Mapping[str, Header], exif: str, noted: Skipped) -> Annotations:
    """What an annotator marked, in images as they are shown; `noted` counts what it was of.

    Parameters
    ----------
    marked, path
        The annotations, and where they are.
    headers
        Item to the header of its image, of those that can be used.
    exif
        ``"stored"`` or ``"upright"``, for images whose sizes do not tell; ``"sizes"`` refuses them.
    """
    ways: dict[str, str] = {}
    for item, listed in marked.objects.items():
        header = headers.get(item)
        if listed and header and header.orientation > 1:
            outline, size = listed[0].outline, next((one.size for one in listed if one.size), None)
            mask = header_of(outline.path) if isinstance(outline, MaskPicture) else None
            if mask is None or mask.orientation == 1:  # else it is turned by its own
                size = mask.size if mask else size
                tells = size is not None and header.size != header.stored
                ways[item] = "" if not tells else STORED if size == header.stored else UPRIGHT
    known = set(ways.values()) - {""}
    usual = exif if exif in SAID else min(known) if len(known) == 1 else ""
    unknown = [item for item, way in ways.items() if not way]
    if unknown and not usual:
        raise SalgenError(
            f"{unknown[0]}: its EXIF orientation turns it, and {path} may be of its pixels as stored (Pillow, "
            "torchvision, pycocotools) or upright (browsers, OpenCV): say --set exif=stored or --set exif=upright "
            f"({len(unknown):,} such images)"
        )
    objects = dict(marked.objects)
    for item, way in ways.items():
        noted.add(SAID[way or usual], item)
        if (way or usual) == STORED:
            by = headers[item].orientation
            objects[item] = [replace(one, outline=Turned(one.outline, by)) for one in objects[item]]
    return replace(marked, objects=objects)
