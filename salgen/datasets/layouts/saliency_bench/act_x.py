"""The published folders of ACT-X: activities in images of MPII Human Pose, and maps of what people pointed to.

References
----------
Park et al. 2018, *Multimodal explanations: justifying decisions and pointing to the evidence* (CVPR).
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from salgen.datasets.layouts.own_images.outlines import runs_of_mask
from salgen.datasets.layouts.saliency_bench.marked_images import Found, MarkedImage, missing
from salgen.errors import SalgenError, reason
from salgen.generators.drawing.pictures import read_levels
from salgen.types import Mask

FOLDER, PARTS = "ACT-X", ("train", "val", "test")
IMAGES = ("images", "mpii_human_pose_v1/images")
SUFFIXES = (".npy", ".png", ".jpg")
LICENCE = "Images of MPII Human Pose, for research, with texts and maps of ACT-X; they may not be passed on."
ABOUT = (
    "ACT-X: images of MPII Human Pose of the activities that at least {least} of them show, of all of ACT-X's parts; a "
    "mask is where the map of what people pointed to, which only val and test have, is above its minimum."
)


def read_act_x(path: Path, least: int) -> Found:
    """The images of frequent activities, with their maps.

    Parameters
    ----------
    path
        The folder that holds ``textual`` and ``visual``, or one that holds it as ``ACT-X``; MPII's ``images`` lie in
        either.
    least
        Images of an activity that is a class.
    """
    root = path / FOLDER if (path / FOLDER).is_dir() else path
    folder = next((base / name for base in (path, root) for name in IMAGES if (base / name).is_dir()), None)
    texts = [root / f"textual/exp_{part}_split.json" for part in PARTS]
    for text in texts:
        if not text.is_file():
            raise missing(text, "ACT-X has its activities there")
    if folder is None:
        raise missing(path / IMAGES[0], "the images of MPII Human Pose are expected there")
    maps = {file.stem: file for part in PARTS for file in sorted((root / "visual" / part).glob("*"))
            if file.suffix.lower() in SUFFIXES}  # fmt: skip
    skipped: Counter[str] = Counter()
    told: dict[str, dict[str, list[str]]] = {}
    for text in texts:
        for key, image, activity in _records(text, skipped):
            told.setdefault(image, {}).setdefault(activity, []).append(key)
    several = {image for image, activities in told.items() if len(activities) > 1}
    skipped += Counter({"image of several activities": len(several)})
    shown = {image: next(iter(activities.items())) for image, activities in told.items() if image not in several}
    counts = Counter(activity for activity, _ in shown.values())
    classes = tuple(sorted(activity for activity, count in counts.items() if count >= least))
    if not classes:
        raise SalgenError(f"{root / 'textual'}: no activity has {least} images: give a smaller `least`")
    images, used = {}, []
    for image, (activity, keys) in sorted(shown.items()):
        if activity in classes:
            file = next((maps[stem] for stem in (*keys, image) if stem in maps), None)
            mask = _mask(file, skipped) if file else None
            used += [file] if file else []
            marks = (runs_of_mask(mask),) if mask is not None and mask.any() else ()
            picture = folder / f"{image}.jpg"
            canvas = mask.shape if mask is not None else None
            images[picture.relative_to(path).as_posix()] = MarkedImage(picture, activity, marks, canvas=canvas)
    return Found(path, images, classes, ABOUT.format(least=least), LICENCE, skipped, [*texts, *used])


def _records(path: Path, skipped: Counter[str]) -> Iterator[tuple[str, str, str]]:
    """Key, image and activity of each record."""
    try:
        records = json.loads(path.read_text(encoding="utf-8")).items()
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise SalgenError(f"{path} is not a file of ACT-X's explanations ({reason(error)})") from None
    for key, record in records:
        if isinstance(record, dict) and isinstance(record.get("ans"), str) and isinstance(record.get("iid"), str | int):
            yield key, str(record["iid"]).removesuffix(".jpg"), record["ans"]
        else:
            skipped["record without an image or an activity"] += 1


def _mask(path: Path, skipped: Counter[str]) -> Mask | None:
    """The pixels of a map above its minimum; None if it is none, which is counted."""
    try:
        values = np.load(path, allow_pickle=False) if path.suffix == ".npy" else read_levels(path)
        values = values.astype(np.float64)
    except (OSError, ValueError, TypeError, EOFError, SalgenError):
        values = np.zeros(0)
    if values.ndim != 2 or not values.size or not np.isfinite(values).all():
        skipped["map that is no picture or array of rows"] += 1
        return None
    return np.asarray(values > values.min())
