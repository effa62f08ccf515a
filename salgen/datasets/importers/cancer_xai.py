"""Importer of Saliency-Bench's Cancer-XAI: slices of CT with and without a tumour of the pancreas."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from salgen.cache import cached_json
from salgen.datasets.layouts.broken import stamp_of
from salgen.datasets.layouts.saliency_bench.ct_slices import CtVolume, SliceMask, VolumeSlice
from salgen.datasets.layouts.saliency_bench.dicom_series import open_series, read_dicom
from salgen.datasets.layouts.saliency_bench.marked_images import Found, missing
from salgen.datasets.layouts.saliency_bench.marked_importer import MarkedImages
from salgen.datasets.picture_libraries.picture_sampling import UnusableError
from salgen.progress import tracked
from salgen.seeding import Stream

VERSION = "2"  # changes whenever another slice is taken
DECATHLON, VOLUMES, LABELS = "Task07_Pancreas", "imagesTr", "labelsTr"
CLASSES = ("healthy", "tumour")
TUMOUR = 2  # in volumes of labels
Drawn = tuple[str, int, str, tuple[int, int]]
WITHDRAWN = {"PANCREAS_0025", "PANCREAS_0070"}
WINDOW = (-100.0, 240.0)  # Hounsfield units
LICENSE = "Slices with a tumour: Medical Segmentation Decathlon, CC BY-SA 4.0; others: NIH Pancreas-CT, CC BY 3.0."
ABOUT = (
    "One slice of each volume, drawn at random: with a tumour of the Medical Segmentation Decathlon, whose mask is the "
    "tumour, without one of NIH Pancreas-CT. Class and source are the same: a model can tell the hospitals apart."
)


@dataclass(frozen=True)
class CancerXai(MarkedImages):
    """Slices of abdominal CT with and without a tumour of the pancreas, with the tumour as mask: Cancer-XAI.

    Give a folder that holds `Task07_Pancreas` of the Medical Segmentation Decathlon, with `imagesTr` and `labelsTr`. At
    any depth it holds NIH Pancreas-CT: for each patient a folder `PANCREAS_0001` and so on of DICOM files, or
    `PANCREAS_0001.nii.gz`. The withdrawn 0025 and 0070 are left out. Or give a folder of Saliency-Bench with `image`
    and `attention_label`. Of each volume `split_seed` draws one slice: of the Decathlon's one that shows the tumour, of
    NIH's any. Slices are shown from -100 to 240 Hounsfield units as radiologists see them, front above and the
    patient's right on the left. Class and source are the same, so accuracy proves little.

    References
    ----------
    Antonelli et al. 2022, *The Medical Segmentation Decathlon*, doi:10.1038/s41467-022-30695-9. Roth et al. 2015,
    *DeepOrgan*, doi:10.1007/978-3-319-24553-9_68. Zhang et al. 2025, *Saliency-Bench: a comprehensive benchmark for
    evaluating visual explanations*, doi:10.1145/3711896.3737414.
    """

    name: ClassVar[str] = "cancer-xai"
    stand_in: ClassVar[str] = "perlin-lesions"
    region: ClassVar[str] = "tumour"

    def read_layout(self, path: Path) -> Found:
        """A slice of each volume of a copy, which a seed draws."""
        root = path / DECATHLON
        with_tumour = {
            _stem(file): (file, root / LABELS / file.name) for file in _volumes(root / VOLUMES, "pancreas_*")
        }
        if not with_tumour or not (root / LABELS).is_dir():
            expected = f"the Medical Segmentation Decathlon has its volumes there, with {LABELS} beside them"
            raise missing(root / VOLUMES / "pancreas_NNN.nii.gz", expected)
        without = _healthy(path)
        if not without:
            raise missing(
                path / "Pancreas-CT/PANCREAS_NNNN",
                "NIH Pancreas-CT is expected there, a folder of DICOM for each patient, or NIfTI of that name",
            )
        volumes: dict[str, tuple[Path, Path | None]] = {
            **with_tumour,
            **{name: (one, None) for name, one in without.items()},
        }
        images = {}
        skipped: Counter[str] = Counter()
        for name, (file, place, fault, size) in _looked_at(volumes, self.split_seed).items():
            volume, labels = volumes[name]
            if fault:
                skipped[fault] += 1
                continue
            marks = (SliceMask(labels, place, TUMOUR),) if labels else ()
            label = CLASSES[labels is not None]
            item = volume.relative_to(path).as_posix()
            canvas = size[0], size[1]
            images[item] = VolumeSlice(
                Path(file), label, marks, cluster=name, canvas=canvas, place=place, window=WINDOW
            )
        return Found(path, images, CLASSES, ABOUT, LICENSE, skipped)


def _volumes(folder: Path, pattern: str) -> list[Path]:
    files = [file for file in folder.glob(pattern) if file.name.endswith((".nii", ".nii.gz")) and file.is_file()]
    return sorted(files)


def _stem(file: Path) -> str:
    return file.name.partition(".")[0]


def _healthy(path: Path) -> dict[str, Path]:
    """NIH's volumes by name: files of NIfTI, else folders with a series of DICOM."""
    found = {_stem(file): file for file in _volumes(path, "**/PANCREAS_*")}
    for folder in sorted(path.glob("**/PANCREAS_*")):
        if _slices(folder):
            found.setdefault(folder.name, folder)
    return {name: volume for name, volume in found.items() if name not in WITHDRAWN}


def _slices(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.dcm"))


def _looked_at(volumes: Mapping[str, tuple[Path, Path | None]], seed: int) -> dict[str, Drawn]:
    """Of each volume the file and place of the slice that is drawn, why there is none or "", and its (H, W)."""

    def look() -> list[Drawn]:
        named = tracked("looking at volumes", volumes.items(), "volumes")
        return [_drawn(name, volume, labels, seed) for name, (volume, labels) in named]

    files = [file for pair in volumes.values() for one in pair if one for file in (_slices(one) or [one])]
    return dict(zip(volumes, cached_json("ct-slices", [VERSION, stamp_of(files), seed], look), strict=True))


def _drawn(name: str, path: Path, labels: Path | None, seed: int) -> Drawn:
    """A slice of a volume; with labels, one of those that show the tumour."""
    try:
        if path.is_dir():
            broken: Counter[str] = Counter()
            series = open_series(_slices(path), broken)
            if broken:
                raise UnusableError(next(iter(broken)))
            file = series.paths[_one_of(range(len(series)), name, seed)]
            height, width = read_dicom(file).shape
            return str(file), 0, "", (height, width)
        volume = CtVolume(path)
        places: Sequence[int] = range(len(volume))
        if labels:
            marked = CtVolume(labels)
            places = [place for place in places if (marked.slice(place) == TUMOUR).any()]
            if not places:
                raise UnusableError("volume of labels without a tumour")
        place = _one_of(places, name, seed)
        height, width = volume.slice(place).shape
        return str(path), place, "", (height, width)
    except UnusableError as error:
        return str(path), 0, str(error), (0, 0)


def _one_of(places: Sequence[int], name: str, seed: int) -> int:
    return places[int(Stream("cancer-xai", name, seed).integers(len(places), 1)[0])]
