"""Importer of Saliency-Bench's Pet-XAI: the Oxford-IIIT Pet data set."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from salgen.datasets.layouts.broken import mask_picture_faults
from salgen.datasets.layouts.detection_datasets.voc_annotations import image_names
from salgen.datasets.layouts.own_images.outlines import MaskPicture
from salgen.datasets.layouts.saliency_bench.marked_images import Found, MarkedImage, found_at, pictures_in
from salgen.datasets.layouts.saliency_bench.marked_importer import MarkedImages
from salgen.parameters import param

SPECIES = ("cat", "dog")

FOLDER = "oxford-iiit-pet"  # torchvision unpacks the archives into it
PET, BACKGROUND, BORDER = 1, 2, 3
BREEDS = (  # in the order of the published numbers; the names of cats, and of no dogs, begin with a capital
    *("Abyssinian", "american_bulldog", "american_pit_bull_terrier", "basset_hound", "beagle", "Bengal", "Birman"),
    *("Bombay", "boxer", "British_Shorthair", "chihuahua", "Egyptian_Mau", "english_cocker_spaniel", "english_setter"),
    *("german_shorthaired", "great_pyrenees", "havanese", "japanese_chin", "keeshond", "leonberger", "Maine_Coon"),
    *("miniature_pinscher", "newfoundland", "Persian", "pomeranian", "pug", "Ragdoll", "Russian_Blue", "saint_bernard"),
    *("samoyed", "scottish_terrier", "shiba_inu", "Siamese", "Sphynx", "staffordshire_bull_terrier"),
    *("wheaten_terrier", "yorkshire_terrier"),
)
LICENSE = "Oxford-IIIT Pet, CC BY-SA 4.0; its publishers do not own the copyright of the images."
ABOUT = "Oxford-IIIT Pet: a mask is the pet of the trimap. {border}"
BORDERS = {"foreground": "The trimap's border counts as pet.", "ignore": "The trimap's border is not scored."}


@dataclass(frozen=True)
class PetXai(MarkedImages):
    """Photographs of cats and dogs of 37 breeds, with the animal as mask: Pet-XAI of Saliency-Bench.

    Give your own copy of Oxford-IIIT Pet with `images` and `annotations/trimaps`, or a folder of Saliency-Bench with
    `image` and `attention_label`. The tasks are `breed` and `species`. Images that `annotations/list.txt` leaves out
    have no mask: they are trained on, and not scored.

    References
    ----------
    Parkhi et al. 2012, *Cats and dogs*, doi:10.1109/CVPR.2012.6248092. Zhang et al. 2025, *Saliency-Bench: a
    comprehensive benchmark for evaluating visual explanations*, doi:10.1145/3711896.3737414.
    """

    name: ClassVar[str] = "pet-xai"
    stand_in: ClassVar[str] = "drawn-pets"
    task: ClassVar[str] = "breed"
    region: ClassVar[str] = "pet"

    border: str = param("foreground", "whether the trimap's border is pet, or not scored", choices=tuple(BORDERS))

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """The breed, and the species where all classes are breeds."""
        return {self.task: self.classes, **({"species": SPECIES} if self._breeds else {})}

    @property
    def valid_region(self) -> str | None:
        """All but the border of trimaps if that is ignored, else the whole image."""
        return "annotated" if self.border == "ignore" else None

    def read_layout(self, path: Path) -> Found:
        """The images of a copy, with their trimaps, whose `border` is pet or not; a key of :data:`BORDERS`."""
        places = (path / "annotations/trimaps", path / FOLDER / "annotations/trimaps")
        root = found_at("the trimaps of Oxford-IIIT Pet are expected there", *places).parents[1]
        files = pictures_in(found_at("the images of Oxford-IIIT Pet are expected there", root / "images"))
        breeds = {file: file.stem.rpartition("_")[0] for file in files}
        known = [file for file in files if breeds[file] in BREEDS]
        trimaps = {file: root / f"annotations/trimaps/{file.stem}.png" for file in known}
        listing = root / "annotations/list.txt"  # the images whose trimaps are to be used
        usable = set(image_names(listing)) if listing.is_file() else {file.stem for file in known}
        marked = [file for file in known if trimaps[file].is_file() and file.stem in usable]
        pairs = {file.name: (file, trimaps[file]) for file in marked}
        faults = mask_picture_faults(pairs, (PET, BACKGROUND, BORDER))
        skipped = Counter(faults.values()) + Counter({"image of no known breed": len(files) - len(known)})
        levels = (PET, BORDER) if self.border == "foreground" else (PET,)
        images = {}
        for file in known:
            if file.name not in faults:
                trimap = trimaps[file]
                outlines = (MaskPicture(trimap, levels),) if file.name in pairs else ()
                void = MaskPicture(trimap, (BORDER,)) if outlines and self.border == "ignore" else None
                images[f"images/{file.name}"] = MarkedImage(file, breeds[file], outlines, void)
        about = ABOUT.format(border=BORDERS[self.border])
        return Found(root, images, BREEDS, about, LICENSE, skipped, [listing] if listing.is_file() else [])

    def labels_of(self, number: int) -> dict[str, int]:
        """Breed and species."""
        breed = {self.task: number}
        return breed | {"species": int(self.classes[number][0].islower())} if self._breeds else breed

    @property
    def _breeds(self) -> bool:
        """Whether the classes are breeds, by whose names the species are known; in folders they may be anything."""
        return set(self.classes) <= set(BREEDS)
