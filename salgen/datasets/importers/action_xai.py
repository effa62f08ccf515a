"""Importer of Saliency-Bench's Action-XAI: activities of ACT-X."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
import numpy as np
from salgen.datasets.layouts.saliency_bench.marked_images import Found, MarkedImage, found_at, marked_by
from salgen.datasets.layouts.saliency_bench.marked_importer import MarkedImages
from salgen.datasets.picture_libraries.picture_sampling import UnusableError, counted, usable
from salgen.errors import SalgenError, readable
from salgen.generators.drawing.pictures import read_levels
from salgen.parameters import param
from salgen.types import Mask

FOLDER, PARTS = "ACT-X", ("train", "val", "test")
IMAGES = ("images", "mpii_human_pose_v1/images")
SUFFIXES = (".npy", ".png", ".jpg")
LICENSE = "Images of MPII Human Pose, for research, with texts and maps of ACT-X; they may not be passed on."
ABOUT = (
    "ACT-X: images of MPII Human Pose of the activities that at least {least} of them show, of all of ACT-X's parts; a "
    "mask is where the map of what people pointed to, which only val and test have, is above its minimum."
)


@dataclass(frozen=True)
class ActionXai(MarkedImages):
    """Photographs of people's activities, with what others pointed to as evidence: Action-XAI of Saliency-Bench.

    Give your own copy of ACT-X, or a folder that holds it as `ACT-X`, with the folder `images` of MPII Human Pose in
    either. ACT-X holds `textual/exp_train_split.json` (`val` and `test` too), `visual/val` and `visual/test`. Or give a
    folder of Saliency-Bench with `image` and `attention_label`. A map in `visual` is an array (`.npy`) or a picture,
    named as its record or its image. An activity is a class if at least `least` images show it; the benchmark has 127.
    Images without a map, which are all of ACT-X's training part, are trained on, and not scored.

    References
    ----------
    Park et al. 2018, *Multimodal explanations: justifying decisions and pointing to the evidence*,
    doi:10.1109/CVPR.2018.00915. Zhang et al. 2025, *Saliency-Bench: a comprehensive benchmark for evaluating visual
    explanations*, doi:10.1145/3711896.3737414.
    """

    name: ClassVar[str] = "action-xai"
    stand_in: ClassVar[str] = "drawn-actions"
    task: ClassVar[str] = "activity"
    region: ClassVar[str] = "evidence"

    least: int = param(20, "images of an activity that is a class", low=1)

    def read_layout(self, path: Path) -> Found:
        """The images of activities that at least `least` images show, with their maps.

        `path` holds ``textual`` and ``visual``, or ``ACT-X`` with these; MPII's ``images`` lie in either.
        """
        root = path / FOLDER if (path / FOLDER).is_dir() else path
        places = [base / name for base in (path, root) for name in IMAGES]
        named = [root / f"textual/exp_{part}_split.json" for part in PARTS]
        texts = [found_at("ACT-X has its activities there", text) for text in named]
        folder = found_at("the images of MPII Human Pose are expected there", *places)
        maps = {file.stem: file for part in PARTS for file in sorted((root / "visual" / part).glob("*"))
                if file.suffix.lower() in SUFFIXES}  # fmt: skip
        skipped: Counter[str] = Counter()
        told: dict[str, dict[str, list[str]]] = {}
        for text in texts:
            for key, image, activity in _records(text):
                told.setdefault(image, {}).setdefault(activity, []).append(key)
        several = {image for image, activities in told.items() if len(activities) > 1}
        skipped += Counter({"image of several activities": len(several)})
        shown = {image: next(iter(activities.items())) for image, activities in told.items() if image not in several}
        counts = Counter(activity for activity, _ in shown.values())
        classes = tuple(sorted(activity for activity, count in counts.items() if count >= self.least))
        if not classes:
            raise SalgenError(f"{root / 'textual'}: no activity has {self.least} images: give a smaller `least`")
        images: dict[str, MarkedImage] = {}
        used: list[Path] = []
        for image, (activity, keys) in sorted(shown.items()):
            if activity in classes:
                file = next((maps[stem] for stem in (*keys, image) if stem in maps), None)
                used += [file] if file else []
                picture, mask = folder / f"{image}.jpg", None
                with counted(skipped):
                    mask = _mask(file) if file else None
                images[picture.relative_to(path).as_posix()] = marked_by(MarkedImage(picture, activity), mask)
        return Found(path, images, classes, ABOUT.format(least=self.least), LICENSE, skipped, [*texts, *used])


def _records(path: Path) -> Iterator[tuple[str, str, str]]:
    """Key, image and activity of each record."""
    with readable(f"{path} is not a file of ACT-X's explanations"):
        for key, record in json.loads(path.read_text(encoding="utf-8")).items():
            yield key, str(record["iid"]).removesuffix(".jpg"), record["ans"]


def _mask(path: Path) -> Mask:
    """The pixels of a map above its minimum."""
    with usable(path, "map"):
        values = np.load(path, allow_pickle=False) if path.suffix == ".npy" else read_levels(path)
        if values.ndim != 2:
            raise UnusableError("map that is no picture or array of rows")
        return np.asarray(values > values.min())
