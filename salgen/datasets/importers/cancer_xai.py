"""Importer of Saliency-Bench's Cancer-XAI: slices of CT with and without a tumour of the pancreas."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from salgen.datasets.layouts.saliency_bench.marked_images import Found
from salgen.datasets.layouts.saliency_bench.marked_importer import MarkedImages
from salgen.datasets.layouts.saliency_bench.pancreas import read_pancreas

NAMES = ("cancer-xai",)


@dataclass(frozen=True)
class CancerXai(MarkedImages):
    """Slices of abdominal CT with and without a tumour of the pancreas, with the tumour as mask: Cancer-XAI.

    Give the folder of your own copies that holds `Task07_Pancreas` of the Medical Segmentation Decathlon, with
    `imagesTr` and `labelsTr`, and at any depth NIH Pancreas-CT as published: for each patient a folder `PANCREAS_0001`
    and so on of DICOM files, which needs pydicom (`pip install '.[dicom]'` in a clone of salgen), or that converted to
    `PANCREAS_0001.nii.gz`; 0025 and 0070 are withdrawn and left out. Or give a folder of Saliency-Bench with `image`
    and `attention_label`. Of each volume one slice is drawn, by `split_seed`: of the Decathlon's one that shows the
    tumour, of NIH's any. Slices are shown from -100 to 240 Hounsfield units as radiologists see them, front above and
    the patient's right on the left. Class and source are the same, so that accuracy proves little. Of each class 70 %
    of the volumes are for training, 15 % for validation and 15 % for test. Slices are resized as a whole, bilinearly,
    and masks to the nearest pixel. Broken files are skipped, and the card counts them; for that all labels are read,
    once.

    References
    ----------
    Antonelli et al. 2022, *The Medical Segmentation Decathlon* (Nature Communications 13). Roth et al. 2015,
    *DeepOrgan* (MICCAI). Zhang et al. 2025, *Saliency-Bench: a comprehensive benchmark for evaluating visual
    explanations* (KDD).
    """

    name: ClassVar[str] = "cancer-xai"
    version: ClassVar[str] = "1"
    family: ClassVar[str] = "cancer-xai"
    stand_in: ClassVar[str] = "perlin-lesions"
    region: ClassVar[str] = "tumour"

    def read_layout(self, path: Path) -> Found:
        """A slice of each volume of a copy."""
        return read_pancreas(path, self.split_seed)
