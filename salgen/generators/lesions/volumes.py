"""Sources of brain volumes: the MNI152 template that salgen ships, or the user's own folder.

A user's volumes belong to splits by subject, as ``participants.csv`` says or, without one, by a fixed
order of their names.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path

from salgen.errors import SalgenError, reason
from salgen.generators.lesions.nifti import Volume, load_volume
from salgen.sources import Files, Source
from salgen.spec import SPLIT_NAME_RULE

MNI152 = "mni152"
MNI152_FILE = "mni_icbm152_t1_tal_nlin_sym_09a_converted.nii.gz"
MNI152_LICENCE = (
    "Copyright (C) 1993-2004 Louis Collins, McConnell Brain Imaging Centre, Montreal Neurological Institute, "
    "McGill University. Permission to use, copy, modify, and distribute this software and its documentation for any "
    "purpose and without fee is hereby granted, provided that the above copyright notice appear in all copies. The "
    "authors and McGill University make no representations about the suitability of this software for any purpose. "
    'It is provided "as is" without express or implied warranty. The authors are not responsible for any data loss, '
    "equipment damage, property loss, or injury to subjects or patients resulting from the use or misuse of this "
    "software package. (Notice of the ICBM 152 nonlinear atlases, version 2009, "
    "https://nist.mni.mcgill.ca/icbm-152-nonlinear-atlases-2009; nilearn, which ships the volume, "
    "gives its licence as unknown.)"
)
MNI152_NOTES = (
    "All slices come from one anatomy: the MNI ICBM152 2009a nonlinear symmetric T1 template (Fonov et al. 2011), an "
    "average of 152 adults whose halves mirror each other, as shipped with nilearn. Splits are not by subject: they "
    "use different slices of that one brain, so a test slice resembles training slices more than a new patient would."
)
USER_LICENCE = (
    "Not known to salgen: the terms of whoever gave you the volumes. Publish pixels made from them only where those "
    "terms allow it."
)
PARTICIPANTS = "participants.csv"
SHARES = {"train": 0.70, "val": 0.15, "test": 0.15}


class Volumes(Files):
    """Skull-stripped brain volumes as a source; `load` gives a :class:`~salgen.generators.lesions.nifti.Volume`."""

    def load(self, name: str) -> Volume:
        """Read one volume."""
        return load_volume(self.files[name])


def open_brains(source: str) -> Source:
    """The source of brain volumes that `source` names.

    Parameters
    ----------
    source
        ``"mni152"``, or the path of a volume or of a folder of ``.nii`` and ``.nii.gz`` files, which may
        hold a ``participants.csv`` with columns `path` and `split`. Files that it does not list are not
        used.

    Raises
    ------
    SalgenError
        If there is no such source, the folder holds no volumes, or the table is wrong.
    """
    if source == MNI152:
        shipped = Path(str(resources.files("salgen.generators")), "assets", MNI152_FILE)
        return Volumes(MNI152, MNI152_LICENCE, MNI152_NOTES, {MNI152_FILE: shipped}, {}, True)
    path = Path(source).expanduser()
    if path.is_dir():
        return _open_folder(path)
    if not path.exists():
        raise SalgenError(f"source {source!r}: no such file or folder; give {MNI152!r} or a folder of brain volumes")
    if not _is_volume(path):
        raise SalgenError(f"source {source!r}: must be {MNI152!r}, a .nii or .nii.gz file, or a folder of them")
    return _user_volumes({path.name: path}, {}, "")


def _open_folder(folder: Path) -> Volumes:
    paths = (path for path in folder.rglob("*") if _is_volume(path) and path.is_file())
    files = {path.relative_to(folder).as_posix(): path for path in paths}
    if not files:
        raise SalgenError(f"{folder}: holds no .nii or .nii.gz file")
    table = folder / PARTICIPANTS
    if not table.exists():
        return _user_volumes(
            files, assign_splits(files), f"salgen assigned them to splits, as {PARTICIPANTS} is absent"
        )
    splits = _read_participants(table, files)
    unused = len(files) - len(splits)
    source = f"{PARTICIPANTS} assigns them to splits" + (f" and leaves out {unused} others" if unused else "")
    return _user_volumes({name: files[name] for name in splits}, splits, source)


def _user_volumes(files: Mapping[str, Path], splits: Mapping[str, str], source: str) -> Volumes:
    """The user's volumes with notes that say how they are split."""
    if splits:
        counts = ", ".join(f"{count} {split}" for split, count in sorted(Counter(splits.values()).items()))
        how = f"{source} ({counts}); splits are by subject."
    else:
        how = "Fewer than three subjects, so all splits share them and use different slices: splits are not by subject."
    return Volumes("volumes", USER_LICENCE, f"Slices of {len(files)} brain volumes of the user. {how}", files, splits)


def _is_volume(path: Path) -> bool:
    return path.name.lower().endswith((".nii", ".nii.gz")) and not path.name.startswith(".")


def _subject(name: str) -> str:
    """The BIDS subject label in a name, or the name itself: two scans of one subject stay in one split."""
    label = re.search(r"(?:^|[/_])(sub-[A-Za-z0-9]+)", name)
    return label[1] if label else name


def assign_splits(names: Iterable[str]) -> dict[str, str]:
    """Volumes to train, val and test, about 70, 15 and 15 %, by subject and in an order fixed by the names.

    Empty when there are fewer than three subjects, too few to give each split its own.
    """
    names = list(names)
    subjects = sorted({_subject(name) for name in names}, key=lambda s: hashlib.sha256(s.encode()).digest())
    if len(subjects) < len(SHARES):
        return {}
    split = dict(zip(subjects, spread_splits(len(subjects)), strict=True))
    return {name: split[_subject(name)] for name in names}


def spread_splits(count: int) -> list[str]:
    """Split names for `count` (three or more) things in a row: every split has at least one."""
    val = max(1, round(SHARES["val"] * count))
    test = max(1, round(SHARES["test"] * count))
    return ["train"] * (count - val - test) + ["val"] * val + ["test"] * test


def _read_participants(table: Path, files: Mapping[str, Path]) -> dict[str, str]:
    """Volume name to split; every fault names the line."""
    splits: dict[str, str] = {}
    of_subject: dict[str, str] = {}
    for line, path, split in _rows(table):
        name = path.replace("\\", "/").removeprefix("./")
        if name not in files:
            raise SalgenError(
                f"{table}, line {line}: no volume {path!r} in that folder; write paths relative to {table.parent}"
            )
        if not split.isidentifier() or not split.isascii() or split.startswith("_"):
            raise SalgenError(f"{table}, line {line}: split {split!r}; use {SPLIT_NAME_RULE}")
        if name in splits:
            raise SalgenError(f"{table}, line {line}: {path!r} is listed twice")
        if of_subject.setdefault(_subject(name), split) != split:
            raise SalgenError(
                f"{table}, line {line}: {_subject(name)} is in split {split!r} and in {of_subject[_subject(name)]!r}; "
                "a subject belongs to one split"
            )
        splits[name] = split
    if not splits:
        raise SalgenError(f"{table}: lists no volume")
    return splits


def _rows(table: Path) -> list[tuple[int, str, str]]:
    """Line number, path and split of each row that is not blank."""
    try:
        with open(table, encoding="utf-8-sig", newline="") as handle:
            reader = csv.DictReader(handle, restval="")
            missing = {"path", "split"} - set(reader.fieldnames or ())
            if missing:
                raise SalgenError(f"{table}: has no column {sorted(missing)[0]!r}; it needs path and split")
            return [(reader.line_num, row["path"].strip(), row["split"].strip()) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SalgenError(f"{table}: cannot be read as CSV ({reason(error)})") from None
