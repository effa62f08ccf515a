"""Importer of Saliency-Bench's Disease-XAI: windows of chest CT with and without a nodule."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from salgen.datasets.layouts.saliency_bench.lidc import read_lidc
from salgen.datasets.layouts.saliency_bench.marked_images import Found
from salgen.datasets.layouts.saliency_bench.marked_importer import MarkedImages

NAMES = ("disease-xai",)


@dataclass(frozen=True)
class DiseaseXai(MarkedImages):
    """Windows of chest CT with and without a lung nodule, with the nodule as mask: Disease-XAI of Saliency-Bench.

    Give the folder of your own copy of LIDC-IDRI as The Cancer Imaging Archive has it: the folder `LIDC-IDRI` of DICOM
    files, and the readers' XML beside the slices or in `tcia-lidc-xml`, at any depth. pydicom is needed
    (`pip install '.[dicom]'` in a clone of salgen). Or give a folder `lidc2d` that you exported, with `pos/*.png`,
    `neg/*.png` and `masks/`, where a mask has the name of its image; names with LIDC-IDRI-0001 and so on keep a patient
    together. Or one of Saliency-Bench with `image` and `attention_label`.

    Outlines are of one nodule if they are no further apart than a slice is thick, as in pylidc. Its voxels are those
    that at least half of the readers hold who outlined it. What is under a line is outside: readers drew the first
    pixel that is not nodule. An outline with `inclusion` FALSE is a hole. A nodule is shown on the middle one of the
    slices with such voxels, by 64 x 64 pixels around it, from -1000 to 400 Hounsfield units; it is in the middle of its
    image, where the control `center` looks. Nodules below 3 mm are single points and never shown. The window without a
    nodule is at the same place of a slice 5 to 30 mm from all that anybody marked there, drawn by `split_seed`; at
    another place it would often show no lung. Of the patients 70 % are for training, 15 % for validation and 15 % for
    test. Broken files and outlines are skipped, and the card counts them; for that the headers of all slices are read,
    once.

    References
    ----------
    Armato et al. 2011, *The Lung Image Database Consortium (LIDC) and Image Database Resource Initiative (IDRI)*
    (Medical Physics 38). Zhang et al. 2025, *Saliency-Bench: a comprehensive benchmark for evaluating visual
    explanations* (KDD).
    """

    name: ClassVar[str] = "disease-xai"
    version: ClassVar[str] = "1"
    family: ClassVar[str] = "disease-xai"
    stand_in: ClassVar[str] = "pink-lesions"
    region: ClassVar[str] = "nodule"

    def read_layout(self, path: Path) -> Found:
        """The windows of a copy."""
        return read_lidc(path, self.split_seed)
