"""Sources of brain volumes: the MNI152 template that salgen ships, or the user's own folder.

A user's folder is read by the naming rules of BIDS. Volumes belong to splits by subject, as ``participants.csv`` says
or, without one, by a fixed order of their names.
"""

import csv
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
import numpy as np
from salgen.errors import SalgenError, readable
from salgen.generators.lesions.brain_files import choose_brains, mask_of, subject_of
from salgen.generators.lesions.nifti import Volume, load_volume
from salgen.sources import Files
from salgen.spec import SPLIT_NAME_RULE, is_split_name

MNI152 = "mni152"
MNI152_FILE = "mni_icbm152_t1_tal_nlin_sym_09a_converted.nii.gz"
MNI152_LICENSE = (
    "Copyright (C) 1993-2004 Louis Collins, McConnell Brain Imaging Centre, Montreal Neurological Institute, "
    "McGill University. Permission to use, copy, modify, and distribute this software and its documentation for any "
    "purpose and without fee is hereby granted, provided that the above copyright notice appear in all copies. The "
    "authors and McGill University make no representations about the suitability of this software for any purpose. "
    'It is provided "as is" without express or implied warranty. The authors are not responsible for any data loss, '
    "equipment damage, property loss, or injury to subjects or patients resulting from the use or misuse of this "
    "software package. (Notice of the ICBM 152 nonlinear atlases, version 2009, "
    "https://nist.mni.mcgill.ca/icbm-152-nonlinear-atlases-2009; nilearn, which ships the volume, "
    "gives its license as unknown.)"
)
MNI152_NOTES = (
    "All slices come from one anatomy: the MNI ICBM152 2009a nonlinear symmetric T1 template (Fonov et al. 2011), an "
    "average of 152 adults whose halves mirror each other, as shipped with nilearn. Splits are not by subject: they "
    "use different slices of that one brain, so a test slice resembles training slices more than a new patient would."
)
USER_LICENSE = (
    "Not known to salgen: the terms of whoever gave you the volumes. Publish pixels made from them only where those "
    "terms allow it."
)
PARTICIPANTS, SUBJECTS = "participants.csv", "participants.tsv"
BRAIN_LITRES = (0.5, 2.2)  # from a small child's to more than the largest healthy adult's with its membranes
FEWEST_VALUES = 32  # distinct ones above 0; masks and most segmentations have fewer, 8-bit images have more
SHARES = {"train": 0.70, "val": 0.15, "test": 0.15}


@dataclass(frozen=True, eq=False)
class Volumes(Files):
    """Brain volumes as a source; `load` gives a :class:`~salgen.generators.lesions.nifti.Volume`."""

    # volume to the item that masks its brain; a volume without one is skull-stripped
    masks: Mapping[str, str] = field(default_factory=dict)

    def names(self) -> list[str]:
        """The volumes' names, sorted."""
        return sorted(self.files.keys() - set(self.masks.values()))

    def load(self, name: str) -> Volume:
        """Read one volume."""
        path, mask = self.files[name], self.masks.get(name)
        volume = load_volume(path, None if mask is None else self.files[mask])
        _check_brain(volume, path)
        return volume


def open_brains(source: str) -> Volumes:
    """The source of brain volumes: ``"mni152"``, or the path of a ``.nii`` or ``.nii.gz`` file or of a folder of them.

    :func:`~salgen.generators.lesions.brain_files.choose_brains` takes a folder's brains. It may hold a
    ``participants.csv`` with columns `path` and `split`, or BIDS's ``participants.tsv`` with a column `participant_id`;
    what these do not list is not used.
    """
    if source == MNI152:
        shipped = Path(str(resources.files("salgen.generators")), "assets", MNI152_FILE)
        return Volumes(MNI152, MNI152_LICENSE, MNI152_NOTES, {MNI152_FILE: shipped}, {}, True)
    path = Path(source).expanduser()
    if path.is_dir():
        return _open_folder(path)
    if not path.is_file() or not _is_volume(path):
        raise SalgenError(f"source {source!r}: must be {MNI152!r}, a .nii or .nii.gz file, or a folder of them")
    return _user_volumes({path.name: path}, {path.name: None}, {}, "", {})


def _open_folder(folder: Path) -> Volumes:
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if _is_volume(path)}
    files = {name: path for name, path in found.items() if path.is_file()}
    skipped = Counter({"link to a file that is not there": len(found) - len(files)})
    table = folder / PARTICIPANTS
    if table.exists():
        splits = _read_participants(table, files)
        unused = len(files) - len(splits)
        source = f"{PARTICIPANTS} assigns them to splits" + (f" and leaves out {unused} others" if unused else "")
        return _user_volumes(files, {name: mask_of(name, files) for name in splits}, splits, source, skipped)
    masks, others = choose_brains(files)
    skipped.update(others)
    if (folder / SUBJECTS).exists():
        listed = {row["participant_id"].strip() for _, row in _rows(folder / SUBJECTS, ("participant_id",), "\t")}
        for name in [name for name in masks if subject_of(name) not in listed]:
            del masks[name]
            skipped[f"volume of a subject that {SUBJECTS} does not list"] += 1
    if not masks:
        raise SalgenError(
            f"{folder}: holds no brain volume among {len(found)} files ({_counted(skipped)}); give T1-weighted brains, "
            "such as sub-01_T1w.nii.gz with sub-01_desc-brain_mask.nii.gz beside it"
        )
    why = f"salgen assigned them to splits, as {PARTICIPANTS} is absent"
    return _user_volumes(files, masks, assign_splits(masks), why, skipped)


def _user_volumes(
    files: Mapping[str, Path],
    masks: Mapping[str, str | None],
    splits: Mapping[str, str],
    source: str,
    skipped: Mapping[str, int],
) -> Volumes:
    """The user's volumes, the keys of `masks`, with notes that say how they are split."""
    subjects = {subject_of(name) for name in masks}
    if splits:
        counts = ", ".join(f"{count} {split}" for split, count in sorted(Counter(splits.values()).items()))
        how = f"{source} ({counts}); splits are by subject."
    else:
        how = "Fewer than three subjects, so all splits share them and use different slices: splits are not by subject."
    masked = {name: mask for name, mask in masks.items() if mask is not None}
    cut = f" The mask beside a volume says what is brain in {len(masked)} of them." if masked else ""
    left = f" Skipped: {_counted(skipped)}." if any(skipped.values()) else ""
    notes = f"Slices of {len(masks)} brain volumes of {len(subjects)} subjects of the user. {how}{cut}{left}"
    used = {name: files[name] for name in (*masks, *masked.values())}
    return Volumes("volumes", USER_LICENSE, notes, used, splits, masks=masked)


def _counted(skipped: Mapping[str, int]) -> str:
    return ", ".join(f"{count} x {reason}" for reason, count in sorted(skipped.items()) if count)


def _is_volume(path: Path) -> bool:
    return path.name.lower().endswith((".nii", ".nii.gz")) and not path.name.startswith(".")


def _check_brain(volume: Volume, path: Path) -> None:
    """Raise a SalgenError for what is no brain: a mask, a segmentation, a head with its skull, a part of a brain."""
    inside = volume.values[volume.values > 0]
    values = len(np.unique(inside))
    if values < FEWEST_VALUES:
        raise SalgenError(
            f"{path}: {values} distinct values above 0, but a brain has {FEWEST_VALUES} or more: it is a mask or a "
            "segmentation; give T1-weighted brains"
        )
    litres = len(inside) * float(np.prod(volume.voxel_size)) / 1e6
    low, high = BRAIN_LITRES
    if not low <= litres <= high:
        raise SalgenError(
            f"{path}: {litres:.2f} litres are above 0, but a brain has {low:g} to {high:g}: give a skull-stripped "
            "volume, or put the mask of its brain beside it (NAME_mask.nii.gz for NAME.nii.gz)"
        )


def assign_splits(names: Iterable[str]) -> dict[str, str]:
    """Volumes to train, val and test, about 70, 15 and 15 %, by subject and in an order fixed by the names.

    Empty when there are fewer than three subjects, too few to give each split its own.
    """
    names = list(names)
    subjects = sorted({subject_of(name) for name in names}, key=lambda s: hashlib.sha256(s.encode()).digest())
    if len(subjects) < len(SHARES):
        return {}
    split = dict(zip(subjects, spread_splits(len(subjects)), strict=True))
    return {name: split[subject_of(name)] for name in names}


def spread_splits(count: int) -> list[str]:
    """Split names for `count` (three or more) things in a row: every split has at least one."""
    val = max(1, round(SHARES["val"] * count))
    test = max(1, round(SHARES["test"] * count))
    return ["train"] * (count - val - test) + ["val"] * val + ["test"] * test


def _read_participants(table: Path, files: Mapping[str, Path]) -> dict[str, str]:
    """Volume name to split; every fault names the line."""
    splits: dict[str, str] = {}
    of_subject: dict[str, str] = {}
    for line, row in _rows(table, ("path", "split")):
        name, split = row["path"].strip().replace("\\", "/").removeprefix("./"), row["split"].strip()
        faults = {
            f"no volume {name!r} in that folder; write paths relative to {table.parent}": name not in files,
            f"split {split!r}; use {SPLIT_NAME_RULE}": not is_split_name(split),
            f"{subject_of(name)} is in another split above": of_subject.setdefault(subject_of(name), split) != split,
        }
        if fault := next((fault for fault, holds in faults.items() if holds), None):
            raise SalgenError(f"{table}, line {line}: {fault}")
        splits[name] = split
    if not splits:
        raise SalgenError(f"{table}: lists no volume")
    return splits


def _rows(table: Path, columns: Sequence[str], delimiter: str = ",") -> list[tuple[int, dict[str, str]]]:
    """Line number and fields of each row that is not blank."""
    what = f"{table}: cannot be read as a table with the columns {' and '.join(columns)}"
    with readable(what), open(table, encoding="utf-8-sig", newline="") as handle:
        reader = csv.DictReader(handle, restval="", delimiter=delimiter)
        if missing := set(columns) - set(reader.fieldnames or ()):
            raise ValueError(f"it has no column {min(missing)!r}")
        return [(reader.line_num, row) for row in reader]
