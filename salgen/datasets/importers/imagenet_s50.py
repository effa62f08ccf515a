"""ImageNet-S50 from the user's own copy in its published layout, whose mask pictures hold a class id in each colour.

References
----------
Gao et al. 2022, *Large-scale unsupervised semantic segmentation* (IEEE TPAMI).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from salgen.datasets.layouts.broken import sound_items
from salgen.datasets.layouts.imported import Items, MaskLimits, UserCopy, about_faults, mask_faults, refuse_edit
from salgen.datasets.picture_libraries.picture_sampling import found_at, listed
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


FOLDER = "ImageNetS50"
IGNORE = 1000  # the id of pixels that are not annotated
MASKS = "-segmentation"
TESTED, TRAINED, UNMASKED = "validation", "train-semi", "train"
PICTURES = (".jpeg", ".jpg", ".png")
EVERY = 5  # one of so many annotated training images is for validation
LICENSE = (
    "The images are ImageNet's, for non-commercial research and education under its terms of access, and may not be "
    "passed on; the masks are ImageNet-S's (Gao et al. 2022)."
)


def read_layout(path: Path, classes: Sequence[str]) -> tuple[dict[str, Path], dict[str, str], str]:
    """Files by path within a copy, the split of each image, and notes; `path` may be the folder around it."""
    root = _root(path)
    pictures: dict[str, tuple[Path, ...]] = {}
    splits: dict[str, str] = {}
    parts = [TESTED, *([TRAINED] if (root / TRAINED).is_dir() else [])]
    for part in parts:
        _check_classes(root, part, classes)
        for name in classes:
            for number, (picture, mask) in enumerate(_pairs(root, part, name)):
                item = picture.relative_to(root).as_posix()
                pictures[item] = picture, mask
                splits[item] = "test" if part == TESTED else "val" if number % EVERY == EVERY - 1 else "train"
    annotated = {(Path(item).parent.name, Path(item).stem) for item in pictures}  # some stand in both parts of training
    for name in filter(lambda name: (root / UNMASKED / name).is_dir(), classes):
        for picture in _visible_files(root / UNMASKED / name, PICTURES):
            if (name, picture.stem) not in annotated:
                pictures[picture.relative_to(root).as_posix()] = (picture,)
    sound, skipped = sound_items(pictures, pictures)
    files = {item: given[0] for item, given in sound.items()}
    files |= {mask_of(item): given[1] for item, given in sound.items() if len(given) > 1}
    unmasked = len(sound.keys() - splits.keys())
    texts = ["The test split is ImageNet-S50's annotated validation images."]
    if TRAINED in parts:
        texts.append(f"Of {TRAINED} every fifth image of a class, by name, is for validation, the others for training.")
    if unmasked:
        texts.append(f"{unmasked:,} training images are those of {UNMASKED} and have no mask.")
    if len(parts) == 1 and not unmasked:
        texts.append(f"The copy has no folder {UNMASKED} or {TRAINED}, so there are no images to train on.")
    about = " ".join(filter(None, [*texts, listed(skipped)]))
    return files, {item: splits.get(item, "train") for item in sorted(sound)}, about


def mask_of(item: str) -> str:
    """The name of an image's mask picture: ``validation-segmentation/n0/a.png`` for ``validation/n0/a.JPEG``."""
    part, name, file = item.split("/")
    return f"{part}{MASKS}/{name}/{Path(file).stem}.png"


def _root(path: Path) -> Path:
    """The folder that holds the parts; an archive unpacked into a folder of its own name doubles it."""
    roots = (path if path.name == FOLDER else path / FOLDER, path, path / FOLDER, path / FOLDER / FOLDER)
    what = f"{FOLDER}, as ImageNet-S's data_preparation.sh makes it, has a folder of masks for each class there"
    return found_at(what, *(root / f"{TESTED}{MASKS}" for root in roots)).parent


def _check_classes(root: Path, part: str, classes: Sequence[str]) -> None:
    """Raise a SalgenError unless a part and its masks have a folder for each class and no other."""
    for folder in (root / part, root / f"{part}{MASKS}"):
        present = {entry.name for entry in folder.iterdir() if entry.is_dir()} if folder.is_dir() else set()
        if differing := sorted(present ^ set(classes)):
            raise SalgenError(
                f"{folder} must have a folder for each of the {len(classes)} classes and no other: {differing[0]} is "
                f"{'not one of them' if differing[0] in present else 'missing'}"
            )


def _pairs(root: Path, part: str, name: str) -> Iterator[tuple[Path, Path]]:
    """Each image of a class with its mask picture, sorted by name."""
    folder = root / part / name
    pictures = {file.stem: file for file in _visible_files(folder, PICTURES)}
    masks = {file.stem: file for file in _visible_files(root / f"{part}{MASKS}" / name, (".png",))}
    if not pictures or pictures.keys() != masks.keys():
        lone = min(pictures.keys() ^ masks.keys(), default="NAME")
        raise SalgenError(f"{folder}: each image needs a mask of its name, and each mask an image: {lone} has none")
    return ((pictures[stem], masks[stem]) for stem in sorted(pictures))


def _visible_files(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    files = sorted(folder.iterdir())
    return [file for file in files if file.suffix.lower() in endings and not file.name.startswith(".")]


def decode(levels: NDArray[Any]) -> NDArray[np.int64]:
    """The ids int64 (H, W) of a mask picture's colours, uint8 (H, W, 3) or more channels."""
    return np.asarray(levels[..., 0].astype(np.int64) + 256 * levels[..., 1].astype(np.int64))
