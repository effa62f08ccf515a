"""ImageNet-S50 from the user's own copy in its published layout.

References
----------
Gao et al. 2022, *Large-scale unsupervised semantic segmentation* (IEEE TPAMI).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from salgen.datasets.layouts.imagenet_s_layout import IGNORE, LICENSE, decode, mask_of, read_layout
from salgen.datasets.layouts.imported import Items, UserCopy, refuse_edit
from salgen.datasets.layouts.mask_limits import MaskLimits, about_faults, mask_faults
from salgen.errors import SalgenError
from salgen.generators.drawing.pictures import read_levels, read_rgb
from salgen.generators.interfaces import Edit, Rendered, Scale
from salgen.parameters import param
from salgen.types import Mask

# The fifty classes with ImageNet-S's names; the n-th has the id n in mask pictures.
WORDS = {
    "n01443537": "goldfish", "n01491361": "tiger shark", "n01531178": "goldfinch",
    "n01644373": "tree frog", "n02104029": "kuvasz", "n02119022": "red fox",
    "n02123597": "siamese cat", "n02133161": "american black bear", "n02165456": "ladybug",
    "n02281406": "sulphur butterfly", "n02325366": "wood rabbit", "n02342885": "hamster",
    "n02396427": "wild boar", "n02483362": "gibbon", "n02504458": "african elephant",
    "n02510455": "giant panda", "n02690373": "airliner", "n02747177": "ashcan",
    "n02783161": "ballpoint", "n02814533": "beach wagon", "n02859443": "boathouse",
    "n02917067": "bullet train", "n02992529": "cellular telephone", "n03014705": "chest",
    "n03047690": "clog", "n03095699": "container ship", "n03197337": "digital watch",
    "n03201208": "dining table", "n03445777": "golf ball", "n03452741": "grand piano",
    "n03584829": "iron", "n03630383": "lab coat", "n03775546": "mixing bowl",
    "n03791053": "motor scooter", "n03874599": "padlock", "n03891251": "park bench",
    "n04026417": "purse", "n04335435": "streetcar", "n04380533": "table lamp",
    "n04404412": "television", "n04447861": "toilet seat", "n04507155": "umbrella",
    "n04522168": "vase", "n04557648": "water bottle", "n04562935": "water tower",
    "n04612504": "yawl", "n06794110": "street sign", "n07749582": "lemon",
    "n07831146": "carbonara", "n12998815": "agaric",
}  # fmt: skip
WNIDS = tuple(WORDS)
SHORTER, CROP = 256, 224  # pixels of the resized picture's shorter side, and of what is cut out of it


@dataclass(frozen=True, eq=False)
class ImageNetCopy(UserCopy):
    """A copy of ImageNet-S50, of which some masks are no ground truth at the importer's size."""

    about: str
    importer: "ImageNetS50"

    @cached_property
    def notes(self) -> str:
        """The splits, what was skipped, and the number of masks that are no ground truth, for the data set's card."""
        importer = self.importer

        def fault(item: str) -> int:
            mask, annotated = importer.annotation(self, item)
            return importer.mask_fault(mask, annotated if importer.valid_region else None)

        masked = [item for item in self.splits if mask_of(item) in self.files]
        limits = [importer.min_mask, list(importer.image_size), importer.ignore, list(importer.classes)]
        faults = mask_faults("masks", [self.digest, *limits], masked, fault)
        return f"{self.about} {about_faults(faults)}".strip()


@dataclass(frozen=True)
class ImageNetS50(MaskLimits):
    """Photographs of fifty ImageNet classes, and masks that people drew of what the class names.

    `test` are the 752 annotated validation images. `train` are the images of `train`, most without a mask, and the
    annotated ones of `train-semi`, where the copy has them. Every fifth of a class in `train-semi` is for `val`, and no
    image is there twice. The shorter side is resized to 256 pixels, or as much less as the images are smaller than 224,
    and the middle is cut out. A mask that is empty then, covers all that is scored or has fewer than `min_mask` pixels
    is no ground truth. Such a sample, and a training image without a mask, is kept with an empty mask and not scored.

    EXIF orientation is ignored: the published masks lie on the pixels as they are stored.

    References
    ----------
    Gao et al. 2022, *Large-scale unsupervised semantic segmentation*, doi:10.1109/TPAMI.2022.3218275.
    """

    name: ClassVar[str] = "imagenet-s50"
    regions: ClassVar[tuple[str, ...]] = ("object", "annotated")  # the region of the class, and the annotated region
    stand_in: ClassVar[str] = "textured-shapes"
    version: ClassVar[str] = "2"
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale({"train": 2000, "val": 100, "test": 752}, {"image_size": (64, 64)}),
        "small": Scale({"train": 8000, "val": 100, "test": 752}, {"image_size": (64, 64)}),
        "full": Scale({}, {}),
    }

    ignore: str = param("drop", "whether ignored pixels are scored", choices=("drop", "background"))
    classes: tuple[str, ...] = param((), "the class folders in sorted order; those of ImageNet-S50 if empty")

    def __post_init__(self) -> None:
        height, width = self.image_size
        if height != width:
            raise SalgenError(f"{self.name}: image_size = {height}x{width}: images are square here")
        if list(self.classes) != sorted(set(self.classes)):
            raise SalgenError(f"{self.name}: classes must be sorted and differ: mask pictures number them so")

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """The class, in ImageNet-S's words; a class of another set by its folder."""
        return {"label": tuple(WORDS.get(name, name) for name in self.folders)}

    @property
    def folders(self) -> tuple[str, ...]:
        """The class folders in the order of the labels."""
        return self.classes or WNIDS

    @property
    def valid_region(self) -> str | None:
        """The annotated region, or None for the whole image where ignored pixels count as background."""
        return "annotated" if self.ignore == "drop" else None

    def read_copy(self, path: Path) -> ImageNetCopy:
        """The copy at a path: the folder `ImageNetS50`, or the one that it is in."""
        files, splits, about = read_layout(path, self.folders)
        return ImageNetCopy(LICENSE, files, splits, about, self)

    def render(self, parameters: Mapping[str, Any], material: Items, edit: Edit) -> Rendered:
        """The middle of an image, with the mask of its class."""
        refuse_edit(edit)
        item = parameters["item"]
        pixels = read_rgb(material.source.files[item])
        label = self.folders.index(item.split("/")[1])
        image = middle(Image.fromarray(pixels), self.image_size[0], Image.Resampling.BILINEAR)
        mask, annotated = self.annotation(material.source, item)
        truth = self.ground_truth(mask, annotated if self.valid_region else None)
        return Rendered(image, {"label": label}, {"object": truth, "annotated": annotated})

    def annotation(self, source: ImageNetCopy, item: str) -> tuple[Mask, Mask]:
        """The mask of an image's class and what is annotated."""
        file = source.files.get(mask_of(item))
        if file is None:
            nothing = np.zeros(self.image_size, dtype=bool)
            return nothing, nothing
        ids = decode(middle(Image.fromarray(read_levels(file)), self.image_size[0], Image.Resampling.NEAREST))
        return ids == self.folders.index(item.split("/")[1]) + 1, ids != IGNORE


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
