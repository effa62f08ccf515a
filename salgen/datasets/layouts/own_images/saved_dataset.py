"""A dataset of torch, or anything like it, written to files that the importer `images` reads."""

import csv
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from salgen.datasets.layouts.mask_levels import Told, object_of, told_apart
from salgen.datasets.layouts.own_images.annotations import in_order
from salgen.datasets.layouts.own_images.image_tree import Skipped
from salgen.datasets.layouts.own_images.outlines import runs_of_mask
from salgen.errors import SalgenError, readable, warn
from salgen.generators.drawing.pictures import rgb_of
from salgen.progress import tracked
from salgen.types import Mask

FORMS = (
    "(image, label, mask), or (image, target) with target a dict of 'labels' and 'masks' or 'boxes' "
    "(torchvision.datasets.wrap_dataset_for_transforms_v2 gives these), or VOCDetection's 'annotation'"
)


def save_datasets(given: Any, folder: Path, classes: Sequence[str], mask_values: tuple[int, ...]) -> Path:
    """Write images as PNG, masks as COCO's run lengths and labels as a table into a new folder, which is returned.

    `given` is a dataset, or split to dataset; `classes` name the numbers in labels, else the dataset does.
    """
    if folder.exists():
        raise SalgenError(f"{folder} exists: remove it, or use it:  salgen make images OUT --set source={folder}")
    datasets = given if isinstance(given, Mapping) else {"": given}
    temporary = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        saver = _Saver(temporary, mask_values)
        for split, dataset in datasets.items():
            saver.save(split, dataset, tuple(classes) or tuple(map(str, getattr(dataset, "classes", ()))))
        saver.finish()
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


class _Saver:
    """Writes items one by one, and at the end what says their labels and masks."""

    def __init__(self, folder: Path, mask_values: tuple[int, ...]) -> None:
        self.folder, self.mask_values = folder, mask_values
        self.images: list[dict[str, Any]] = []
        self.objects: list[tuple[int, dict[str, Any]]] = []  # annotator, and COCO's keys with the name of the class
        self.known: dict[str, None] = {}  # names of classes that are stated, in their order
        self.rows: list[tuple[str, str]] = []
        self.noted = Skipped("Noted")

    def save(self, split: str, dataset: Any, classes: tuple[str, ...]) -> None:
        with readable(f"images = {type(dataset).__name__}", ": give a folder, or a dataset with a length and indices"):
            count = len(dataset)
        if len(set(classes)) < len(classes):
            raise SalgenError("two classes of the dataset have one name: give others by parameters={'classes': [...]}")
        self.known |= dict.fromkeys(classes)
        for index in tracked(f"writing {split or 'images'}", range(count), "images"):
            with readable(f"item {index} of {split or 'the dataset'} cannot be read", f"; an item is {FORMS}"):
                self._item(f"{split}/{index:06d}.png".lstrip("/"), dataset[index], classes)

    def finish(self) -> None:
        """Write the annotations and labels."""
        if self.noted.places:
            warn(self.noted.sentence)
        if not self.images:
            raise SalgenError("images = a dataset without items: give one with at least one image of each class")
        others = {each["name"] for _, each in self.objects} - self.known.keys()
        numbers = {name: number for number, name in enumerate([*self.known, *in_order(others)])}
        categories = [{"id": number, "name": name} for name, number in numbers.items()]
        for annotator in range(1 + max((number for number, _ in self.objects), default=0)):
            marked = [each for number, each in self.objects if number == annotator]
            annotations = [{**each, "category_id": numbers[each["name"]]} for each in marked]
            whole = {"images": self.images, "annotations": annotations, "categories": categories}
            name = f"masks-{annotator + 1}.json" if annotator else "masks.json"
            (self.folder / name).write_text(json.dumps(whole), encoding="utf-8")
        if self.rows:
            with open(self.folder / "labels.csv", "w", encoding="utf-8", newline="") as handle:
                csv.writer(handle).writerows([("file", "label"), *self.rows])

    def _item(self, name: str, item: Any, classes: tuple[str, ...]) -> None:
        image, *target = item
        pixels = _pixels(image)
        size = pixels.shape[:2]
        path = self.folder / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(path)
        self.images.append({"id": len(self.images), "file_name": name, "height": size[0], "width": size[1]})
        if len(target) == 1 and isinstance(target[0], Mapping):
            for label, outline in _objects(target[0], size, name, self.noted):
                self._add(0, self._named(label, classes), outline)
            return
        label, mask = target[0] if len(target) == 1 else target
        self.rows.append((name, self._named(label, classes)))
        told = _masks(mask, size, self.mask_values, f"mask of {name}")
        for said in {each.said for each in told if each.said}:
            self.noted.add(said, name)
        for annotator, each in enumerate(one.mask for one in told if one.mask.any()):
            self._add(annotator, self.rows[-1][1], _run_lengths(each))

    def _add(self, annotator: int, name: str, outline: Mapping[str, Any]) -> None:
        self.objects.append((annotator, {"image_id": len(self.images) - 1, "name": name, **outline}))

    def _named(self, label: Any, classes: tuple[str, ...]) -> str:
        if isinstance(label, str):
            return label
        number = int(label)
        if classes and not 0 <= number < len(classes):
            raise ValueError(f"label {number} is none of the {len(classes)} classes")
        return classes[number] if classes else str(number)


def _pixels(image: Any) -> NDArray[np.uint8]:
    """An image as uint8 (H, W, 3) or (H, W)."""
    if isinstance(image, Image.Image):
        return rgb_of(image, Path("the image"))
    pixels = np.asarray(image)
    if pixels.ndim == 3 and pixels.shape[0] in (1, 3) and pixels.shape[2] not in (1, 3):
        pixels = pixels.transpose(1, 2, 0)
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] not in (1, 3)):
        raise ValueError(f"the image has shape {pixels.shape}")
    if np.issubdtype(pixels.dtype, np.floating):
        if not (pixels.min() >= 0 and pixels.max() <= 1):
            raise ValueError("the image has values outside of 0 to 1: leave its normalisation out")
        pixels = np.rint(pixels * 255)
    if pixels.min() < 0 or pixels.max() > 255:
        raise ValueError("the image has values outside of 0 to 255")
    return np.ascontiguousarray(pixels.squeeze(2) if pixels.shape[2:] == (1,) else pixels).astype(np.uint8)


def _masks(mask: Any, size: tuple[int, ...], values: tuple[int, ...], place: str) -> list[Told]:
    """The objects of acceptable masks."""
    if mask is None:
        return []
    is_picture = isinstance(mask, Image.Image)
    levels = np.empty(mask.size[::-1], dtype=bool) if is_picture else np.asarray(mask)
    if levels.shape[-2:] != size or levels.ndim not in (2, 3):
        raise ValueError(f"the mask has shape {levels.shape}, but the image has {size[0]} x {size[1]} pixels")
    if is_picture:
        return [object_of(mask, values, place)]
    arrays = levels.reshape(-1, *size)
    return [Told(np.isin(each, values)) if values else told_apart(each, place) for each in arrays]


def _objects(
    target: Mapping[str, Any], size: tuple[int, ...], name: str, noted: Skipped
) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Label and outline of each object of torchvision's detection targets, or of VOC's, whose corners count from 1."""
    if "annotation" in target:
        for entry in target["annotation"].get("object", ()):
            left, top, right, bottom = (float(entry["bndbox"][name]) for name in ("xmin", "ymin", "xmax", "ymax"))
            yield entry["name"], _bbox(left - 1, top - 1, right, bottom)
        return
    labels = np.asarray(target["labels"]).tolist()
    if "masks" in target:
        masks = np.asarray(target["masks"])
        if masks.shape != (len(labels), *size):
            raise ValueError(f"masks have shape {masks.shape}, but there are {len(labels)} labels and {size} pixels")
        for label, mask in zip(labels, masks, strict=True):
            told = told_apart(mask, f"mask of {name}")
            if told.said:
                noted.add(told.said, name)
            yield label, _run_lengths(told.mask)
        return
    form = getattr(getattr(target["boxes"], "format", None), "name", "XYXY")  # torchvision's BoundingBoxes have one
    if form != "XYXY":
        raise ValueError(f"the boxes are {form}: convert them to XYXY")
    boxes = np.clip(np.asarray(target["boxes"]).reshape(-1, 4), 0, [*size[::-1], *size[::-1]]).tolist()
    yield from ((label, _bbox(*box)) for label, box in zip(labels, boxes, strict=True))


def _bbox(left: float, top: float, right: float, bottom: float) -> dict[str, Any]:
    """A box in COCO's form."""
    return {"bbox": [left, top, right - left, bottom - top]}


def _run_lengths(mask: Mask) -> dict[str, Any]:
    """A mask in COCO's form without compression."""
    return {"segmentation": {"size": list(mask.shape), "counts": runs_of_mask(mask).counts.tolist()}}
