"""The folders of the German Traffic Sign Recognition Benchmark: as torchvision has them, or as its archives unpack."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path, PureWindowsPath

from salgen.errors import SalgenError
from salgen.generators.traffic_signs.pictures import SIGNS

TRAINING, TEST, TABLE = "GTSRB/Training", "GTSRB/Final_Test/Images", "GT-final_test.csv"
TRAININGS = (TRAINING, "GTSRB/Final_Training/Images")  # torchvision's, and that of the benchmark's own archive
TABLES = (TABLE, f"GTSRB/{TABLE}", f"GTSRB/Final_Test/{TABLE}", f"{TEST}/{TABLE}")  # where people unpack it
SIGN_FOLDERS = {f"{sign:05d}": sign for sign in range(SIGNS)}

Items = dict[str, tuple[Path, int]]  # name to file and sign class


def find_folder(root: Path) -> Path:
    """The folder that holds the table and the folder GTSRB."""
    if not root.is_dir():
        fault = "it is a file" if root.exists() else "there is no such folder"
        raise SalgenError(f"{root}: {fault}; give the folder that holds gtsrb/{TRAINING}")
    places = [root / "gtsrb", root, *([root.parent] if root.name == "GTSRB" else [])]
    for folder in places:
        if training_of(folder).is_dir() and table_of(folder).is_file():
            return folder
    for folder in places:
        deep = folder / "GTSRB" / "GTSRB"
        if deep.is_dir():
            raise SalgenError(f"{deep}: one folder too deep; move its contents up into {deep.parent}")
    for folder in places:
        if training_of(folder).is_dir():
            return folder
    raise SalgenError(
        f"{root / 'gtsrb' / TRAINING}: is missing; torchvision.datasets.GTSRB has this folder, and the benchmark's own "
        f"archive {TRAININGS[1]}"
    )


def training_of(folder: Path) -> Path:
    """The folder of the training images, the usual one if there is none."""
    return _first([folder / inside for inside in TRAININGS])


def table_of(folder: Path) -> Path:
    """The table of the test images, the usual one if there is none."""
    return _first([folder / inside for inside in TABLES])


def _first(paths: Sequence[Path]) -> Path:
    return next((path for path in paths if path.exists()), paths[0])


def read_training(folder: Path) -> Items:
    """The training images of each class folder."""
    items: Items = {}
    for inside in filter(Path.is_dir, _listing(folder)):
        if inside.name not in SIGN_FOLDERS:
            raise SalgenError(f"{inside}: expected only folders of sign classes, 00000 to {max(SIGN_FOLDERS)}")
        sign = SIGN_FOLDERS[inside.name]
        images = [path for path in _listing(inside) if path.suffix.lower() == ".ppm"]
        if not images:
            raise SalgenError(f"{inside}: expected images TTTTT_FFFFF.ppm of sign class {sign}, but there is none")
        for path in images:
            items[f"train/{inside.name}/{path.name}"] = path, sign
    if not items:
        raise SalgenError(f"{folder / '00000'}: expected a folder of images for each sign class, but there is none")
    return items


def _listing(folder: Path) -> list[Path]:
    """Sorted contents of a folder, without hidden files such as ``.DS_Store`` and ``._00000.ppm``."""
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise SalgenError(f"{folder}: cannot be read ({error.strerror})") from None


def read_test(folder: Path, table: Path) -> Items:
    """The test images that the table names."""
    items: Items = {}
    for number, row in enumerate(_rows(table), start=2):
        place, file, sign = f"{table}, line {number}", row["Filename"], row["ClassId"]
        if not (sign.isdecimal() and int(sign) < SIGNS):
            raise SalgenError(f"{place}: ClassId {sign!r} is not from 0 to {SIGNS - 1}")
        if not file or PureWindowsPath(file).name != file:  # which knows the separators of all systems
            raise SalgenError(f"{place}: Filename {file!r} is not the plain name of a file in {folder}")
        path = folder / file
        if not (path.is_file() or path.is_symlink()):  # a link to nowhere is skipped and counted with what is broken
            raise SalgenError(f"{place}: names {path}, which is missing")
        _, earlier = items.setdefault(f"test/{file}", (path, int(sign)))
        if earlier != int(sign):
            raise SalgenError(
                f"{place}: {file} has ClassId {sign}, but {earlier} in a line above: remove the wrong one"
            )
    if not items:
        raise SalgenError(f"{table}: expected a row for each image in {folder}, but there is none")
    return items


def _rows(table: Path) -> Iterable[dict[str, str]]:
    """The rows of the table of test images; those columns that are used."""
    try:
        with open(table, encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, delimiter=";")
            columns, rows = list(reader.fieldnames or []), list(reader)
    except FileNotFoundError:
        raise SalgenError(f"{table}: expected the classes of the test images there, but it is missing") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SalgenError(f"{table}: cannot be read ({error})") from None
    if not {"Filename", "ClassId"} <= set(columns):
        raise SalgenError(
            f"{table}: expected columns Filename and ClassId, separated by semicolons; its first line is "
            f"{';'.join(columns)!r}"
        )
    return [{"Filename": row["Filename"] or "", "ClassId": row["ClassId"] or ""} for row in rows]
