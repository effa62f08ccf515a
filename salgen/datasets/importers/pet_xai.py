"""Importer of Saliency-Bench's Pet-XAI: the Oxford-IIIT Pet data set."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from salgen.datasets.layouts.saliency_bench.marked_images import Found
from salgen.datasets.layouts.saliency_bench.marked_importer import MarkedImages
from salgen.datasets.layouts.saliency_bench.pet_trimaps import BORDERS, BREEDS, read_pets
from salgen.parameters import param

NAMES = ("pet-xai",)

SPECIES = ("cat", "dog")


@dataclass(frozen=True)
class PetXai(MarkedImages):
    """Photographs of cats and dogs of 37 breeds, with the animal as mask: Pet-XAI of Saliency-Bench.

    Give the folder of your own copy of Oxford-IIIT Pet that holds `images` and `annotations/trimaps`, or one of
    Saliency-Bench with `image` and `attention_label`. The tasks are `breed` and `species`. Images that
    `annotations/list.txt` leaves out have no mask: they are trained on, and not scored. Of each breed 70 % of the
    images are for training, 15 % for validation and 15 % for test. Images are resized as a whole, bilinearly, and masks
    to the nearest pixel. Broken files are skipped, and the card counts them.

    References
    ----------
    Parkhi et al. 2012, *Cats and dogs* (CVPR). Zhang et al. 2025, *Saliency-Bench: a comprehensive benchmark for
    evaluating visual explanations* (KDD).
    """

    name: ClassVar[str] = "pet-xai"
    version: ClassVar[str] = "1"
    family: ClassVar[str] = "pet-xai"
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
        """The images and trimaps of a copy."""
        return read_pets(path, self.border)

    def labels_of(self, number: int) -> dict[str, int]:
        """Breed and species."""
        breed = {self.task: number}
        return breed | {"species": int(self.classes[number][0].islower())} if self._breeds else breed

    @property
    def _breeds(self) -> bool:
        """Whether the classes are breeds, by whose names the species are known; in folders they may be anything."""
        return set(self.classes) <= set(BREEDS)
