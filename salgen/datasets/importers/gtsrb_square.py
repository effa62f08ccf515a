"""Importer of the German Traffic Sign Recognition Benchmark, whose signs get a square.

A copy is as torchvision has it, or as the benchmark's archives unpack.
"""

import csv
import importlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar
from salgen.cache import cache_errors
from salgen.datasets.format.output_folder import workplace
from salgen.datasets.layouts.broken import sound_items
from salgen.datasets.layouts.imported import SPLITS, read_own_copy
from salgen.datasets.picture_libraries.picture_sampling import listed
from salgen.errors import SalgenError, readable
from salgen.files import cache_folder
from salgen.generators.drawing.pictures import Pixels, read_rgb, resize_rgb
from salgen.generators.interfaces import Context
from salgen.generators.traffic_signs.drawn_signs import SignsWithSquare
from salgen.generators.traffic_signs.pictures import SIGNS
from salgen.seeding import Stream
from salgen.sources import Files

GTSRB = "gtsrb"
DOWNLOAD = "download"  # given as the source: fetch it
TRAINING, TEST, TABLE = "GTSRB/Training", "GTSRB/Final_Test/Images", "GT-final_test.csv"
TRAININGS = (TRAINING, "GTSRB/Final_Training/Images")  # torchvision's, and that of the benchmark's own archive
TABLES = (TABLE, f"GTSRB/{TABLE}", f"GTSRB/Final_Test/{TABLE}", f"{TEST}/{TABLE}")  # where people unpack it
SIGN_FOLDERS = {f"{sign:05d}": sign for sign in range(SIGNS)}
VALIDATION_PERCENT = 15
LICENSE = (
    "German Traffic Sign Recognition Benchmark (Institut fuer Neuroinformatik, Ruhr-Universitaet Bochum): for "
    "research; the images are not redistributed. Cite Stallkamp et al. 2012."
)

Crops = dict[str, tuple[Path, int]]  # name to file and sign class


@dataclass(frozen=True, eq=False)
class SignFiles(Files):
    """Crops of traffic signs; `load` gives uint8 (H, W, 3)."""

    classes: Mapping[str, int] = field(default_factory=dict)  # item name to sign class, from 0 to 42

    def load(self, name: str) -> Pixels:
        """Read one crop."""
        return read_rgb(self.files[name])


@dataclass(frozen=True, eq=False)
class SignPhotographs:
    """The crops of each split in pairs of one sign class, in the order of their names; odd ones are left out."""

    source: SignFiles
    pairs: Mapping[str, list[tuple[str, str]]]  # split to pairs of items

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

    def track(self, parameters: Mapping[str, Any]) -> str:
        """The track, whose frames show one sign; test crops are of one track each, and have no frame's number."""
        return f"{parameters['sign_class']}-{self.source.files[parameters['item']].stem.partition('_')[0]}"

    def picture(self, parameters: Mapping[str, Any], image_size: tuple[int, int]) -> Pixels:
        """The crop, bilinear, uint8 (H, W, 3)."""
        return resize_rgb(self.source.load(parameters["item"]), image_size)


@lru_cache(maxsize=16)
def _order(seed: int, family: str, split: str, redraws_of: int | None, pairs: int) -> tuple[int, ...]:
    """The order of a split's pairs, drawn in the context of its first sample."""
    context = Context(seed, family, split, 0, None, redraws_of)
    return tuple(context.stream("order", key=0).permutation(pairs).tolist())


def open_gtsrb(source: str) -> SignFiles:
    """The benchmark in the root that torchvision takes, in ``gtsrb`` there, or for ``"download"`` fetched by it."""
    if source != DOWNLOAD:
        return _opened(Path(source).expanduser())
    root = _fetched()
    try:
        return _opened(root)
    except SalgenError as error:
        raise SalgenError(f"{error}; remove {root} and run it again") from None


def pairs_of(splits: Mapping[str, str], classes: Mapping[str, int]) -> dict[str, list[tuple[str, str]]]:
    """The pairs of each split; see :class:`SignPhotographs`."""
    pairs: dict[str, list[tuple[str, str]]] = {split: [] for split in SPLITS}
    ordered = sorted(splits, key=lambda name: (splits[name], classes[name], name))
    for (split, _), group in groupby(ordered, key=lambda name: (splits[name], classes[name])):
        names = list(group)
        pairs[split] += zip(names[0::2], names[1::2], strict=False)
    return pairs


def _opened(root: Path) -> SignFiles:
    folder = _find_folder(root)
    training_folder = _first(folder, TRAININGS)
    training = _read_training(training_folder)
    test = _read_test(folder / TEST, _first(folder, TABLES))
    items = {**training, **test}
    assigned = {**_training_splits(training), **dict.fromkeys(test, "test")}
    sound, skipped = sound_items(items, {name: [path] for name, (path, _) in items.items()})
    splits = {name: assigned[name] for name in sound}
    classes = {name: sign for name, (_, sign) in sound.items()}
    pairs = pairs_of(splits, classes)
    for split, inside in (("train", training_folder), ("test", folder / TEST)):
        if not pairs[split]:
            raise SalgenError(f"{inside}: pairs of one sign class are needed, but {split} has none")
    counts = Counter(splits.values())
    missing = sorted(set(range(SIGNS)) - set(classes.values()))
    notes = (
        f"{len(splits)} crops of real traffic signs of {SIGNS - len(missing)} of {SIGNS} sign classes"
        + (f" (missing: {_ranges(missing)}): " if missing else ": ")
        + ", ".join(f"{counts[split]} for {split}" for split in SPLITS)
        + f". Test is Final_Test; val is {VALIDATION_PERCENT} % of the training tracks of each sign, and no track, "
        "which is one sign seen again and again from a passing car, is in both. Each split is used in pairs of one "
        f"sign, neighbours by file name; {len(splits) - 2 * sum(map(len, pairs.values()))} crops without a partner are "
        "left out."
    )
    files = {name: path for name, (path, _) in sound.items()}
    return SignFiles(GTSRB, LICENSE, f"{notes} {listed(skipped)}".strip(), files, splits, classes=classes)


def _find_folder(root: Path) -> Path:
    """The folder that holds the table and the folder GTSRB."""
    places = [root / "gtsrb", root, *([root.parent] if root.name == "GTSRB" else [])]
    trained = [folder for folder in places if _first(folder, TRAININGS).is_dir()]
    if not trained:
        raise SalgenError(
            f"{root / 'gtsrb' / TRAINING}: is missing; torchvision.datasets.GTSRB has this folder, and the benchmark's "
            f"own archive {TRAININGS[1]}"
        )
    return max(trained, key=lambda folder: _first(folder, TABLES).is_file())


def _first(folder: Path, places: Sequence[str]) -> Path:
    """The first of some places in a folder that is there, or the usual one."""
    return next((folder / place for place in places if (folder / place).exists()), folder / places[0])


def _read_training(folder: Path) -> Crops:
    """The training images of each class folder."""
    return {
        f"train/{name}/{path.name}": (path, sign)
        for name, sign in SIGN_FOLDERS.items()
        for path in sorted((folder / name).glob("*.[pP][pP][mM]"))
        if not path.name.startswith(".")  # as macOS leaves them
    }


def _read_test(folder: Path, table: Path) -> Crops:
    """The test images that the table names."""
    items: Crops = {}
    what = f"expected the columns Filename and ClassId, separated by semicolons, the latter from 0 to {SIGNS - 1}"
    with readable(f"{table}: {what}"), open(table, encoding="utf-8-sig", newline="") as lines:
        for row in csv.DictReader(lines, delimiter=";"):
            file, sign = row["Filename"], int(row["ClassId"])
            items[f"test/{file}"] = folder / file, sign
    return items


def _training_splits(items: Crops) -> dict[str, str]:
    """Train or val for each item, by whole tracks of each sign."""
    tracks = {name: (sign, path.stem.partition("_")[0]) for name, (path, sign) in items.items()}
    held_out = set()
    for sign, group in groupby(sorted(set(tracks.values())), key=lambda track: track[0]):
        of_sign = list(group)
        count = max(1, round(len(of_sign) * VALIDATION_PERCENT / 100)) if len(of_sign) > 1 else 0
        order = Stream(GTSRB, "validation tracks", index=sign).permutation(len(of_sign))
        held_out |= {of_sign[int(place)] for place in order[:count]}
    return {name: "val" if track in held_out else "train" for name, track in tracks.items()}


def _ranges(numbers: list[int]) -> str:
    """Sorted numbers for a reader: ``1, 4-11``."""
    runs = [list(group) for _, group in groupby(enumerate(numbers), key=lambda item: item[1] - item[0])]
    ends = [(run[0][1], run[-1][1]) for run in runs]
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in ends)


def _fetched() -> Path:
    """The benchmark's root in the cache, downloaded if it is not there: torchvision trusts any folder that it finds."""
    with cache_errors("GTSRB"):
        root = cache_folder() / GTSRB
    if not root.exists():
        advice = f": fetch it on a machine with a network and give its folder, which holds gtsrb/{TRAINING}"
        with workplace(root) as place, readable(f"GTSRB could not be downloaded to {root}", advice):
            datasets = importlib.import_module("torchvision.datasets")  # loads torch, which nothing else here needs
            for split in ("train", "test"):
                datasets.GTSRB(str(place / GTSRB), split=split, download=True)
            (place / GTSRB).rename(root)
    return root


@dataclass(frozen=True)
class GtsrbSquare(SignsWithSquare):
    """Photographs of real traffic signs, half of them with a green square that is painted on them.

    Give your own copy of GTSRB: as torchvision lays it out (`gtsrb/GTSRB/Training`), or as the benchmark's archives
    unpack (`GTSRB/Final_Training/Images`). The test images `GTSRB/Final_Test/Images` are in both, and their classes in
    `GT-final_test.csv`. With `--set source=download` torchvision fetches it.

    The square, its splits and its regions are those of `drawn-signs`. It is painted, so its mask and the twin without
    it are exact.

    References
    ----------
    Stallkamp et al. 2012, *Man vs. computer: benchmarking machine learning algorithms for traffic sign recognition*,
    doi:10.1016/j.neunet.2012.02.016. Szczepankiewicz et al. 2023, *Ground truth based comparison of saliency maps
    algorithms*, doi:10.1038/s41598-023-42946-w (the square).
    """

    name: ClassVar[str] = "gtsrb-square"
    default_source: ClassVar[str] = ""
    stand_in: ClassVar[str] = "drawn-signs"
    takes: ClassVar[str] = "PATH of GTSRB, or download"

    def open_source(self, source: Any) -> SignFiles:
        """The copy at a path, or a fetched one."""
        return read_own_copy(type(self), source, lambda path: open_gtsrb(str(path)))

    def prepare(self, source: SignFiles) -> SignPhotographs:
        """The crops in pairs of one sign."""
        return SignPhotographs(source, pairs_of(source.splits, source.classes))
