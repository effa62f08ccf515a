"""A user's copy of the German Traffic Sign Recognition Benchmark.

References
----------
Stallkamp et al. 2012, *Man vs. computer: benchmarking machine learning algorithms for traffic sign recognition*
(Neural Networks 32).
"""

import importlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from http.client import HTTPException
from itertools import groupby
from pathlib import Path
from typing import Any

from filelock import FileLock

from salgen.datasets.layouts.broken import sound_items
from salgen.datasets.layouts.gtsrb.gtsrb_layout import (
    TEST,
    TRAINING,
    Items,
    find_folder,
    read_test,
    read_training,
    table_of,
    training_of,
)
from salgen.datasets.picture_libraries.picture_sampling import listed
from salgen.errors import SalgenError
from salgen.files import TEMPORARY, cache_folder
from salgen.generators.drawing.pictures import Pixels, read_rgb, resize_rgb
from salgen.generators.interfaces import Context
from salgen.generators.traffic_signs.pictures import SIGNS
from salgen.seeding import Stream
from salgen.sources import Files

GTSRB = "gtsrb"
DOWNLOAD = "download"  # given as the source: fetch it
VALIDATION_PERCENT = 15
LICENCE = (
    "German Traffic Sign Recognition Benchmark (Institut fuer Neuroinformatik, Ruhr-Universitaet Bochum): for "
    "research; the images are not redistributed. Cite Stallkamp et al. 2012."
)


@dataclass(frozen=True, eq=False)
class SignFiles(Files):
    """Crops of traffic signs; `load` gives uint8 (H, W, 3)."""

    classes: Mapping[str, int] = field(default_factory=dict)  # item name to sign class, from 0 to 42

    def load(self, name: str) -> Pixels:
        """Read one crop."""
        return read_rgb(self.files[name])


@dataclass(frozen=True, eq=False)
class SignPhotographs:
    """The crops in pairs of one sign class."""

    source: SignFiles  # the crops
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
    """The benchmark below a folder, or fetched by torchvision.

    Parameters
    ----------
    source
        The root that ``torchvision.datasets.GTSRB`` takes, its folder ``gtsrb``, or ``"download"``.
    """
    if source != DOWNLOAD:
        return _opened(find_folder(Path(source).expanduser()))
    root = _fetched()
    try:
        return _opened(find_folder(root))
    except SalgenError as error:
        raise SalgenError(f"{error}; remove {root} and run it again") from None


def _fetched() -> Path:
    """The benchmark's root in the cache, downloaded if it is not there."""
    try:
        root = cache_folder() / GTSRB
    except OSError as error:
        raise SalgenError(
            f"GTSRB cannot be kept in the cache ({error}); name another folder for it in the variable SALGEN_CACHE"
        ) from None
    try:
        if not root.exists():
            locks = root.parent / "locks"
            locks.mkdir(exist_ok=True)
            with FileLock(locks / f"{GTSRB}.lock"):
                _download(root)
    except (ImportError, OSError, RuntimeError, HTTPException) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SalgenError(
            f"GTSRB could not be downloaded to {root} ({reason}): fetch it on a machine with a network and give "
            f"its folder, which holds gtsrb/{TRAINING}"
        ) from None
    return root


def _download(root: Path) -> None:
    """Download to a folder beside `root`, renamed when complete: torchvision trusts any folder that it finds."""
    if root.exists():  # another process fetched it while this one waited
        return
    partial = root.with_name(f".{root.name}{TEMPORARY}")
    shutil.rmtree(partial, ignore_errors=True)  # left by a process that was killed
    try:
        datasets = importlib.import_module("torchvision.datasets")  # loads torch, which nothing else here needs
        for split in ("train", "test"):
            datasets.GTSRB(str(partial), split=split, download=True)
        partial.replace(root)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _opened(folder: Path) -> SignFiles:
    training = read_training(training_of(folder))
    test = read_test(folder / TEST, table_of(folder))
    items = {**training, **test}
    assigned = {**_training_splits(training), **dict.fromkeys(test, "test")}
    sound, skipped = sound_items(items, {name: [path] for name, (path, _) in items.items()})
    splits = {name: assigned[name] for name in sound}
    classes = {name: sign for name, (_, sign) in sound.items()}
    files = {name: path for name, (path, _) in sound.items()}
    pairs = _pairs(splits, classes)
    for split, inside in (("train", training_of(folder)), ("test", folder / TEST)):
        if not pairs[split]:
            raise SalgenError(f"{inside}: pairs of one sign class are needed, but {split} has none")
    notes = " ".join(filter(None, [_notes(splits, classes), listed(skipped)]))
    return SignFiles(GTSRB, LICENCE, notes, files, splits, classes=classes)


def paired(source: SignFiles) -> SignPhotographs:
    """The crops of each split in pairs of one sign class, in the order of their names; odd ones are left out."""
    return SignPhotographs(source, _pairs(source.splits, source.classes))


def _pairs(splits: Mapping[str, str], classes: Mapping[str, int]) -> dict[str, list[tuple[str, str]]]:
    pairs: dict[str, list[tuple[str, str]]] = {split: [] for split in ("train", "val", "test")}
    ordered = sorted(splits, key=lambda name: (splits[name], classes[name], name))
    for (split, _), group in groupby(ordered, key=lambda name: (splits[name], classes[name])):
        names = list(group)
        pairs[split] += zip(names[0::2], names[1::2], strict=False)
    return pairs


def _notes(splits: Mapping[str, str], classes: Mapping[str, int]) -> str:
    counts = {split: list(splits.values()).count(split) for split in ("train", "val", "test")}
    unpaired = sum(counts.values()) - 2 * sum(map(len, _pairs(splits, classes).values()))
    missing = sorted(set(range(SIGNS)) - set(classes.values()))
    return (
        f"{sum(counts.values())} crops of real traffic signs of {SIGNS - len(missing)} of {SIGNS} sign classes"
        + (f" (missing: {_ranges(missing)}): " if missing else ": ")
        + ", ".join(f"{count} for {split}" for split, count in counts.items())
        + f". Test is Final_Test; val is {VALIDATION_PERCENT} % of the training tracks of each sign, and no track, "
        "which is one sign seen again and again from a passing car, is in both. Each split is used in pairs of one "
        f"sign, neighbours by file name; {unpaired} crops without a partner are left out."
    )


def _ranges(numbers: list[int]) -> str:
    """Sorted numbers for a reader: ``1, 4-11``."""
    runs = groupby(enumerate(numbers), key=lambda item: item[1] - item[0])
    ends = [(run[0][1], run[-1][1]) for run in (list(group) for _, group in runs)]
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in ends)


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
