"""Importer of Saliency-Bench's Disease-XAI: windows of chest CT with and without a nodule."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
import numpy as np
from salgen.cache import cached_json
from salgen.datasets.layouts.broken import mask_picture_faults, stamp_of
from salgen.datasets.layouts.own_images.outlines import MaskPicture, RunLengths, runs_of_mask
from salgen.datasets.layouts.saliency_bench import lidc_annotations as lidc
from salgen.datasets.layouts.saliency_bench import marked_images
from salgen.datasets.layouts.saliency_bench.ct_slices import VolumeSlice
from salgen.datasets.layouts.saliency_bench.dicom_series import open_series, series_of
from salgen.datasets.layouts.saliency_bench.lidc_annotations import SIDE, NoduleReading, Window
from salgen.datasets.layouts.saliency_bench.marked_importer import MarkedImages
from salgen.datasets.picture_libraries.picture_sampling import counted
from salgen.progress import tracked

VERSION = "2"  # changes whenever another window or mask is taken
FOLDER, EXPORTED, TEXTS = "LIDC-IDRI", "lidc2d", "tcia-lidc-xml"
CLASSES = ("clear", "nodule")
WINDOW = (-1000.0, 400.0)  # Hounsfield units
LICENSE = "LIDC-IDRI: CC BY 3.0."
ABOUT = (
    "LIDC-IDRI: windows of 64 x 64 pixels around nodules of 3 mm and more, on the middle slice of the voxels that at "
    "least half of those readers hold who outlined the nodule; a mask is all such pixels in the window. The windows "
    "without a nodule are at the same places of other slices, 5 to 30 mm from all that anybody marked there."
)
ABOUT_EXPORTED = "LIDC-IDRI: slices that the user exported, with masks of the nodules."


@dataclass(frozen=True)
class DiseaseXai(MarkedImages):
    """Windows of chest CT with and without a lung nodule, with the nodule as mask: Disease-XAI of Saliency-Bench.

    Give the folder `LIDC-IDRI` of DICOM files, as The Cancer Imaging Archive has it. The readers' XML lies beside the
    slices or in `tcia-lidc-xml`, at any depth. Or give a folder `lidc2d` that you exported, with `pos/*.png`,
    `neg/*.png` and `masks/`. A mask has the name of its image; names with LIDC-IDRI-0001 and so on keep a patient
    together. Or give a folder of Saliency-Bench with `image` and `attention_label`.

    Outlines are of one nodule if they are no further apart than a slice is thick, as in pylidc. Its voxels are those
    that at least half of the readers hold who outlined it. What is under a line is outside: readers drew the first
    pixel that is not nodule. An outline with `inclusion` FALSE is a hole. A nodule is shown on the middle slice with
    such voxels, by 64 x 64 pixels around it, from -1000 to 400 Hounsfield units. It is in the middle of its image,
    where the control `center` looks. Nodules below 3 mm are single points and never shown. The window without a nodule
    is at the same place of another slice, drawn by `split_seed`. That slice is 5 to 30 mm from all marks there.

    References
    ----------
    Armato et al. 2011, *The Lung Image Database Consortium (LIDC) and Image Database Resource Initiative (IDRI)*,
    doi:10.1118/1.3528204. Zhang et al. 2025, *Saliency-Bench: a comprehensive benchmark for evaluating visual
    explanations*, doi:10.1145/3711896.3737414.
    """

    name: ClassVar[str] = "disease-xai"
    stand_in: ClassVar[str] = "pink-lesions"
    region: ClassVar[str] = "nodule"

    def read_layout(self, path: Path) -> marked_images.Found:
        """Windows with and without a nodule, of the published DICOM files or of slices that the user exported.

        A seed draws the slices without a nodule.
        """
        exported = path / EXPORTED if (path / EXPORTED).is_dir() else path
        if (exported / "pos").is_dir():
            return _exported(exported)
        root = path / FOLDER if (path / FOLDER).is_dir() else path
        scans: dict[Path, list[Path]] = defaultdict(list)
        for file in sorted(root.rglob("*.dcm")):
            scans[file.parent].append(file)
        if not scans:
            expected = path / FOLDER / "LIDC-IDRI-NNNN/STUDY/SERIES/NAME.dcm"
            raise marked_images.missing(expected, f"slices of LIDC-IDRI, or an export {EXPORTED}")
        texts = sorted(path.rglob("*.xml"))
        if not texts:
            expected = path / TEXTS / "NNN/NAME.xml"
            raise marked_images.missing(expected, "the readers' annotations of LIDC-IDRI, which may be beside slices")
        kept = _kept_windows(texts, scans, self.split_seed)
        images = {}
        for file, top, left, *of in kept["windows"]:
            images[f"{Path(file).relative_to(path).as_posix()}:{top},{left}"] = _shown(Path(file), top, left, *of)
        return marked_images.Found(path, images, CLASSES, ABOUT, LICENSE, Counter(kept["skipped"]), texts)


def _shown(path: Path, top: int, left: int, patient: str, runs: list[int]) -> marked_images.MarkedImage:
    """The image of a window, with its nodules."""
    part = slice(top, top + SIDE), slice(left, left + SIDE)
    mask = RunLengths(np.array(runs)).paint((SIDE, SIDE))
    image = VolumeSlice(path, CLASSES[int(mask.any())], cluster=patient, window=WINDOW, part=part)
    return marked_images.marked_by(image, mask)


def _kept_windows(texts: Sequence[Path], scans: Mapping[Path, Sequence[Path]], seed: int) -> dict[str, Any]:
    """The windows of a copy, with their masks' run lengths, and what cannot be used; kept in the user's cache."""

    def look() -> dict[str, Any]:
        skipped: Counter[str] = Counter()
        windows = [
            (str(file), top, left, patient, runs_of_mask(mask).counts.tolist())
            for file, top, left, patient, mask in _windows(texts, scans, seed, skipped)
        ]
        return {"windows": windows, "skipped": skipped}

    stamp = stamp_of([*texts, *(file for files in scans.values() for file in files)])
    kept: dict[str, Any] = cached_json("lidc-windows", [VERSION, stamp, seed], look)
    return kept


def _windows(
    texts: Sequence[Path], folders: Mapping[Path, Sequence[Path]], seed: int, skipped: Counter[str]
) -> Iterator[Window]:
    """Of each nodule a window, and one without; `skipped` counts what cannot be used."""
    annotated: dict[str, list[NoduleReading]] = {}
    for text in texts:
        with counted(skipped):
            series, readings = lidc.read_lidc_xml(text)
            annotated.setdefault(series, readings)
    present = set()
    for paths in tracked("looking at scans", folders.values(), "scans"):
        named = next(filter(None, map(series_of, paths)), "")
        present.add(named)
        if readings := annotated.get(named, []):
            with counted(skipped):
                yield from lidc.windows_of(open_series(paths, skipped), readings, seed, skipped)
    absent = [series for series, readings in annotated.items() if readings and series not in present]
    skipped += Counter({"annotation of a scan that the copy does not hold": len(absent)})


def _exported(root: Path) -> marked_images.Found:
    """Slices in `pos` and `neg`, with masks of the names of the former in `masks`."""
    what = f"an export {EXPORTED} has pos, neg and masks"
    folders = [marked_images.found_at(what, root / part) for part in ("pos", "neg", "masks")]
    files = {f"{folder.name}/{file.name}": file for folder in folders[:2] for file in marked_images.pictures_in(folder)}
    masks = {item: mask for item in files if item.startswith("pos") and (mask := root / f"masks/{item[4:]}").is_file()}
    faults = mask_picture_faults({item: (files[item], mask) for item, mask in masks.items()}, range(256))
    images = {}
    for item, file in files.items():
        if item not in faults:
            patients = re.findall(r"LIDC-IDRI-\d{4}", file.name)
            outlines = (MaskPicture(masks[item], ()),) if item in masks else ()
            label, cluster = CLASSES[item.startswith("pos")], patients[0] if patients else ""
            images[item] = marked_images.MarkedImage(file, label, outlines, cluster=cluster)
    return marked_images.Found(root, images, CLASSES, ABOUT_EXPORTED, LICENSE, Counter(faults.values()))
