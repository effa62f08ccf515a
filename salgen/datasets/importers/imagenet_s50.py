"""ImageNet-S50 from the user's own copy in its published layout.

References
----------
Gao et al. 2022, *Large-scale unsupervised semantic segmentation* (IEEE TPAMI).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from salgen.datasets.importers.layouts.imagenet_s_layout import IGNORE, OTHER, decode, mask_of, read_layout
from salgen.datasets.importers.layouts.imported import Imported, Items, read_own_copy, refuse_edit
from salgen.errors import SalgenError
from salgen.generators.declarations import Edit, Rendered, Scale
from salgen.generators.drawing.pictures import read_levels, read_rgb
from salgen.parameters import param
from salgen.sources import Files

NAMES = ("imagenet-s50",)

# The fifty classes; the n-th has the id n in mask pictures.
WNIDS = (
    *("n01443537", "n01491361", "n01531178", "n01644373", "n02104029", "n02119022", "n02123597", "n02133161"),
    *("n02165456", "n02281406", "n02325366", "n02342885", "n02396427", "n02483362", "n02504458", "n02510455"),
    *("n02690373", "n02747177", "n02783161", "n02814533", "n02859443", "n02917067", "n02992529", "n03014705"),
    *("n03047690", "n03095699", "n03197337", "n03201208", "n03445777", "n03452741", "n03584829", "n03630383"),
    *("n03775546", "n03791053", "n03874599", "n03891251", "n04026417", "n04335435", "n04380533", "n04404412"),
    *("n04447861", "n04507155", "n04522168", "n04557648", "n04562935", "n04612504", "n06794110", "n07749582"),
    *("n07831146", "n12998815"),
)
SPLITS = {"train": 400, "val": 100, "test": 752}
SHORTER, CROP = 256, 224  # pixels of the resized picture's shorter side, and of what is cut out of it


@dataclass(frozen=True)
class ImageNetS50(Imported):
    """Photographs of fifty ImageNet classes, and masks that people drew of what the class names.

    `test` are the 752 annotated validation images; `train` and `val` are the annotated training images of
    `train-semi` where the copy has them, every fifth of a class being for `val`. The shorter side is resized to 256
    pixels (bilinear; nearest for the mask), or as much less as the images are smaller than 224, and the middle is
    cut out. A mask may be empty after that: such a sample is kept and not scored.

    EXIF orientation is ignored, as torchvision ignores it: the published masks lie on the pixels as they are stored.
    """

    name: ClassVar[str] = "imagenet-s50"
    stand_in: ClassVar[str] = "textured-shapes"
    version: ClassVar[str] = "1"
    family: ClassVar[str] = "imagenet-s50"
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale(SPLITS, {"image_size": (64, 64)}),
        "small": Scale(SPLITS, {"image_size": (64, 64)}),
        "full": Scale(SPLITS, {}),
    }
    quick: ClassVar[Mapping[str, Any]] = {"image_size": (32, 32)}

    ignore: str = param("drop", "whether ignored pixels are scored", choices=("drop", "background"))
    classes: tuple[str, ...] = param((), "the class folders in sorted order; those of ImageNet-S50 if empty")

    def __post_init__(self) -> None:
        height, width = self.image_size
        if height != width:
            raise SalgenError(f"{self.name}: image_size = {height}x{width}: images are square here")
        if list(self.classes) != sorted(set(self.classes)):
            raise SalgenError(
                f"{self.name}: classes must be sorted and differ, as mask pictures number them in that order"
            )

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """The class, by its WordNet id."""
        return {"label": self.classes or WNIDS}

    @property
    def valid_region(self) -> str | None:
        """The annotated region, or None for the whole image where ignored pixels count as background."""
        return "annotated" if self.ignore == "drop" else None

    def open_source(self, source: str | None) -> Files:
        """The copy at a path: the folder `ImageNetS50`, or the one that it is in.

        Raises
        ------
        SalgenError
            If it is not the published layout; the message names the path that was expected.
        """
        return read_own_copy(type(self), source, lambda path: read_layout(path, self.tasks["label"]))

    def prepare(self, source: Files) -> Items:
        """The images by split."""
        splits: dict[str, list[str]] = {"train": [], "val": [], "test": []}
        for name in source.names():
            split = source.split_of(name)
            if split is not None:
                splits[split].append(name)
        return Items(source, splits)

    def render(self, parameters: Mapping[str, Any], material: Items, edit: Edit) -> Rendered:
        """The middle of an image, with the mask of its class.

        Raises
        ------
        SalgenError
            If the mask picture is of another size than the image, or holds a number that is not a class id.
        """
        refuse_edit(edit)
        picture, mask = (material.source.files[name] for name in (parameters["item"], mask_of(parameters["item"])))
        label = self.tasks["label"].index(picture.parent.name)
        pixels, levels = read_rgb(picture), read_levels(mask)
        if levels.shape[:2] != pixels.shape[:2]:
            sizes = ["x".join(map(str, shape[:2])) for shape in (levels.shape, pixels.shape)]
            raise SalgenError(
                f"{mask}: has {sizes[0]} pixels, but its image {picture} has {sizes[1]}: restore the file"
            )
        ids = self._ids(levels, mask)
        image = middle(Image.fromarray(pixels), self.image_size[0], Image.Resampling.BILINEAR)
        return Rendered(image, {"label": label}, {"object": ids == label + 1, "annotated": ids != IGNORE})

    def target(self, task: str) -> str:
        """The region of the class."""
        return "object"

    def region_names(self) -> list[str]:
        """The region of the class, and the annotated region."""
        return ["object", "annotated"]

    def _ids(self, levels: NDArray[Any], file: Path) -> NDArray[np.int64]:
        """The ids of a mask picture, in the geometry of the image."""
        classes = len(self.tasks["label"])
        try:
            unknown = sorted(set(np.unique(decode(levels)).tolist()) - {OTHER, *range(1, classes + 1), IGNORE})
            cut = middle(Image.fromarray(levels), self.image_size[0], Image.Resampling.NEAREST)
        except ValueError as error:
            raise SalgenError(
                f"{file}: is not a mask of ImageNet-S ({error}): ids are stored in red and green"
            ) from None
        if unknown:
            raise SalgenError(
                f"{file}: has the id {unknown[0]}, not {OTHER}, 1 to {classes} or {IGNORE}: is it from another set?"
            )
        return decode(cut)


def middle(picture: Image.Image, size: int, resample: Image.Resampling) -> NDArray[np.uint8]:
    """The middle of a picture as torchvision's `Resize` and `CenterCrop` give it, uint8 (size, size, channels).

    The shorter side is resized to 256 pixels for a size of 224, and in proportion for others.
    """
    shorter = (SHORTER * size + CROP // 2) // CROP
    width, height = picture.size
    least = min(width, height)
    resized = picture.resize((shorter * width // least, shorter * height // least), resample)
    left, top = (round((extent - size) / 2) for extent in resized.size)
    return np.asarray(resized.crop((left, top, left + size, top + size)))
