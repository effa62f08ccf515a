"""A user's copy of the German Traffic Sign Recognition Benchmark, as torchvision lays it out.

References
----------
Stallkamp et al. 2012, *Man vs. computer: benchmarking machine learning algorithms for traffic sign recognition*
(Neural Networks 32).
"""

from __future__ import annotations

import csv
import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from salgen.errors import SalgenError
from salgen.files import cache_folder
from salgen.generators.declarations import Context
from salgen.generators.pictures import Pixels, read_rgb, resize_rgb
from salgen.generators.signs.pictures import SIGNS
from salgen.seeding import Stream
from salgen.sources import Files

GTSRB = "gtsrb"
DOWNLOAD = "download"  # given as the source: fetch it
TRAINING, TEST, TABLE = "GTSRB/Training", "GTSRB/Final_Test/Images", "GT-final_test.csv"
VALIDATION_PERCENT = 15
LICENCE = (
    "German Traffic Sign Recognition Benchmark (Institut fuer Neuroinformatik, Ruhr-Universitaet Bochum): for "
    "research; the images are not redistributed. Cite Stallkamp et al. 2012."
)


@dataclass(frozen=True, eq=False)
class SignFiles(Files):
    """Crops of traffic signs; `load` gives uint8 (H, W, 3).

    Attributes
    ----------
    classes
        Item name to sign class, from 0 to 42.
    """

    classes: Mapping[str, int] = field(default_factory=dict)

    def load(self, name: str) -> Pixels:
        """Read one crop."""
        return read_rgb(self.files[name])


@dataclass(frozen=True, eq=False)
class SignPhotographs:
    """The crops in pairs of one sign class.

    Attributes
    ----------
    source
        The crops.
    pairs
        Split to pairs of items.
    """

    source: SignFiles
    pairs: Mapping[str, list[tuple[str, str]]]

    def available(self) -> Mapping[str, int]:
        """Split to the number of samples."""
        return {split: 2 * len(pairs) for split, pairs in self.pairs.items()}

    def draw(self, context: Context) -> dict[str, Any]:
        """The crop: two consecutive samples have a sign class."""
        pairs = self.pairs[context.split]
        number, member = divmod(context.index, 2)
        order = _order(context.seed, context.family, context.split, context.redraws_of, len(pairs))
        item = pairs[order[number % len(pairs)]][member]
        return {"sign_class": self.source.classes[item], "item": item}

    def picture(self, parameters: Mapping[str, Any], image_size: tuple[int, int]) -> Pixels:
        """The crop, bilinear, uint8 (H, W, 3)."""
        return resize_rgb(self.source.load(parameters["item"]), image_size)


@lru_cache(maxsize=16)
def _order(seed: int, family: str, split: str, redraws_of: int | None, pairs: int) -> tuple[int, ...]:
    """The order of a split's pairs, drawn as a context at its start draws it."""
    context = Context(seed, family, split, 0, None, redraws_of)
    return tuple(context.stream("order", key=0).permutation(pairs).tolist())


def open_gtsrb(given: str) -> SignFiles:
    """The benchmark below a folder, or fetched by torchvision.

    Parameters
    ----------
    given
        The root that ``torchvision.datasets.GTSRB`` takes, its folder ``gtsrb``, or ``"download"``.

    Raises
    ------
    SalgenError
        If something is missing or not as published; the message names the path that was expected.
    """
    folder = _fetched() if given == DOWNLOAD else _folder(Path(given).expanduser())
    training = _training(folder / TRAINING)
    test = _test(folder / TEST, folder / TABLE)
    splits = {**_training_splits(training), **dict.fromkeys(test, "test")}
    classes = {
        **{name: sign for name, (_, sign) in training.items()},
        **{name: sign for name, (_, sign) in test.items()},
    }
    files = {name: path for name, (path, _) in {**training, **test}.items()}
    return SignFiles(GTSRB, LICENCE, _notes(splits, classes), files, splits, classes)


def paired(source: SignFiles) -> SignPhotographs:
    """The crops of each split in pairs of one sign class, in the order of their names; odd ones are left out."""
    return SignPhotographs(source, _pairs(source.splits, source.classes))


def _pairs(splits: Mapping[str, str], classes: Mapping[str, int]) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {split: [] for split in ("train", "val", "test")}
    ordered = sorted(splits, key=lambda name: (splits[name], classes[name], name))
    for (split, _), group in groupby(ordered, key=lambda name: (splits[name], classes[name])):
        names = list(group)
        found[split] += zip(names[0::2], names[1::2], strict=False)
    return found


def _notes(splits: Mapping[str, str], classes: Mapping[str, int]) -> str:
    counts = {split: list(splits.values()).count(split) for split in ("train", "val", "test")}
    left = sum(counts.values()) - 2 * sum(map(len, _pairs(splits, classes).values()))
    return (
        f"{sum(counts.values())} crops of real traffic signs of {len(set(classes.values()))} classes: "
        + ", ".join(f"{count} for {split}" for split, count in counts.items())
        + f". Test is Final_Test; val is {VALIDATION_PERCENT} % of the training tracks of each sign, and no track, "
        "which is one sign seen again and again from a passing car, is in both. Each split is used in pairs of one "
        f"sign, neighbours by file name; {left} crops without a partner are left out."
    )


# Where things are -----------------------------------------------------------------------------------


def _folder(root: Path) -> Path:
    """The folder that holds the table and the folder GTSRB."""
    if not root.is_dir():
        raise SalgenError(f"{root}: there is no such folder; give the one that holds gtsrb/{TRAINING}")
    places = [root / "gtsrb", root, *([root.parent] if root.name == "GTSRB" else [])]
    for folder in places:
        if (folder / TRAINING).is_dir() and (folder / TABLE).is_file():
            return folder
    for folder in places:
        deep = folder / "GTSRB" / "GTSRB"
        if deep.is_dir():
            raise SalgenError(f"{deep}: a folder too deep; move what it holds up into {deep.parent}")
    for folder in places:
        if (folder / TRAINING).is_dir():
            return folder
    raise SalgenError(f"{root / 'gtsrb' / TRAINING}: expected there, as torchvision.datasets.GTSRB has it, but missing")


def _fetched() -> Path:
    root = cache_folder() / "gtsrb"
    try:
        datasets = importlib.import_module("torchvision.datasets")  # loads torch, which nothing else here needs
        for split in ("train", "test"):
            datasets.GTSRB(str(root), split=split, download=True)
    except (ImportError, OSError, RuntimeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SalgenError(
            f"GTSRB could not be downloaded to {root} ({reason}): fetch it on a machine with a network and give "
            f"its folder, which holds gtsrb/{TRAINING}"
        ) from None
    return _folder(root)


Items = dict[str, tuple[Path, int]]  # name to file and sign class


def _training(folder: Path) -> Items:
    items: Items = {}
    for sign in range(SIGNS):
        inside = folder / f"{sign:05d}"
        if not inside.is_dir():
            continue
        images = sorted(inside.glob("*.ppm"))
        if not images:
            raise SalgenError(f"{inside}: expected images TTTTT_FFFFF.ppm of sign class {sign}, but there is none")
        for path in images:
            items[f"train/{inside.name}/{path.name}"] = path, sign
    if not items:
        raise SalgenError(f"{folder / '00000'}: expected a folder of images for each sign class, but there is none")
    return items


def _test(folder: Path, table: Path) -> Items:
    items: Items = {}
    for number, row in enumerate(_rows(table), start=2):
        path, sign = folder / row["Filename"], row["ClassId"]
        if not (sign.isdecimal() and int(sign) < SIGNS):
            raise SalgenError(f"{table}, line {number}: ClassId {sign!r} is not from 0 to {SIGNS - 1}")
        if not path.is_file():
            raise SalgenError(f"{table}, line {number}: names {path}, which is missing")
        items[f"test/{row['Filename']}"] = path, int(sign)
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


def _training_splits(items: Items) -> dict[str, str]:
    """Train or val for each item, by whole tracks of each sign."""
    splits = {}
    tracks = sorted({(sign, _track(path)) for path, sign in items.values()})
    held_out = set()
    for sign, group in groupby(tracks, key=lambda track: track[0]):
        of_sign = list(group)
        count = max(1, round(len(of_sign) * VALIDATION_PERCENT / 100)) if len(of_sign) > 1 else 0
        order = Stream(GTSRB, "validation tracks", index=sign).permutation(len(of_sign))
        held_out |= {of_sign[int(place)] for place in order[:count]}
    for name, (path, sign) in items.items():
        splits[name] = "val" if (sign, _track(path)) in held_out else "train"
    return splits


def _track(path: Path) -> str:
    track, line, frame = path.stem.partition("_")
    if not (line and track.isdecimal() and frame.isdecimal()):
        raise SalgenError(f"{path}: expected a name TTTTT_FFFFF.ppm, the numbers of a track and of a frame in it")
    return track
