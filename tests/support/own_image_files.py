"""Images of two classes with rectangles as objects, and their annotations in every format that is imported."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
import numpy as np
from PIL import Image
from salgen.generators.factory import generator

H, W = 20, 28
NAMES = ("cat", "dog")
BOXES = {"a0": ("cat", (3, 2, 12, 9)), "a1": ("dog", (10, 5, 27, 19)), "b0": ("dog", (0, 0, 8, 20)),
         "b1": ("cat", (5, 5, 6, 20))}  # fmt: skip
Box = tuple[int, int, int, int]


def opened(images: Any, *masks: Any, labels: Any = None, **parameters: Any) -> Any:
    """The importer of one's own images, by default with all of them for test and in their size."""
    text = "".join([str(images), *(f":masks={path}" for path in masks), *([f":labels={labels}"] if labels else [])])
    return generator("images", source=text, **{"image_size": (H, W), "shares": (0, 0, 1), **parameters})


def samples(made: Any, split: str = "test") -> list[Any]:
    """All samples of a split."""
    return [made.sample(0, split, index) for index in range(made.available[split])]


def by_name(made: Any, split: str = "test") -> dict[str, Any]:
    """The samples of a split by the names of their images."""
    return {sample.recipe.parameters["item"].rpartition(".")[0]: sample for sample in samples(made, split)}


def picture(seed: int) -> Image.Image:
    """Noise in blocks."""
    blocks = np.random.default_rng(seed).integers(0, 256, (H // 4, W // 4, 3), dtype=np.uint8)
    return Image.fromarray(blocks.repeat(4, axis=0).repeat(4, axis=1))


def painted(*boxes: Box) -> Any:
    """The union of boxes, bool (H, W)."""
    mask = np.zeros((H, W), dtype=bool)
    for left, top, right, bottom in boxes:
        mask[top:bottom, left:right] = True
    return mask


def write_images(folder: Path, names: Sequence[str] = tuple(BOXES)) -> Path:
    """Images as PNG, or with the suffix that a name has; names may have folders."""
    for seed, name in enumerate(names):
        path = folder / (name if "." in name else f"{name}.png")
        path.parent.mkdir(parents=True, exist_ok=True)
        picture(seed).save(path)
    return folder


def write_labels(path: Path, labels: Mapping[str, str] | None = None, header: str = "file,label") -> Path:
    """A table of labels; by default those of the boxes."""
    labels = {name: label for name, (label, _) in BOXES.items()} if labels is None else labels
    path.write_text("\n".join([header, *(f"{name},{label}" for name, label in labels.items())]) + "\n")
    return path


def write_masks(folder: Path, level: int = 255) -> Path:
    """A mask picture for each image."""
    folder.mkdir(parents=True)
    for name, (_, box) in BOXES.items():
        Image.fromarray(painted(box).astype(np.uint8) * np.uint8(level)).save(folder / f"{name}.png")
    return folder


def polygon(box: Box) -> list[int]:
    """The corners of a box, x, y, ..."""
    left, top, right, bottom = box
    return [left, top, right, top, right, bottom, left, bottom]


def run_lengths(mask: Any) -> dict[str, Any]:
    """COCO's run lengths without compression, counted pixel by pixel."""
    counts, inside = [0], False
    for pixel in mask.T.ravel():
        if pixel != inside:
            counts.append(0)
            inside = not inside
        counts[-1] += 1
    return {"size": list(mask.shape), "counts": counts}


def coco(kind: str, objects: Sequence[tuple[str, str, Box]] | None = None, **others: Any) -> dict[str, Any]:
    """COCO's instances of (name, class, box), as polygons, rle, compressed run lengths or boxes."""
    objects = [(name, label, box) for name, (label, box) in BOXES.items()] if objects is None else objects
    files = sorted({name for name, _, _ in objects})
    annotations = []
    for name, label, box in objects:
        left, top, right, bottom = box
        entry = {"id": len(annotations), "image_id": files.index(name), "category_id": 7 + NAMES.index(label),
                 "bbox": [left, top, right - left, bottom - top]}  # fmt: skip
        if kind == "polygons":
            entry["segmentation"] = [polygon(box)]
        elif kind == "rle":
            entry["segmentation"] = run_lengths(painted(box))
        elif kind == "compressed":
            from pycocotools import mask

            runs = mask.encode(np.asfortranarray(painted(box).astype(np.uint8)))
            entry["segmentation"] = {"size": [H, W], "counts": runs["counts"].decode()}
        annotations.append(entry)
    images = [{"id": n, "file_name": f"{name}.png", "height": H, "width": W} for n, name in enumerate(files)]
    categories = [{"id": 7 + number, "name": name} for number, name in enumerate(NAMES)]
    return {"images": images, "annotations": annotations, "categories": categories, **others}


def write_coco(path: Path, kind: str = "polygons", objects: Any = None, **others: Any) -> Path:
    path.write_text(json.dumps(coco(kind, objects, **others)))
    return path


def write_yolo(folder: Path, kind: str) -> Path:
    """A text for each image, boxes or polygons, and the classes beside them."""
    folder.mkdir(parents=True)
    for name, (label, box) in BOXES.items():
        left, top, right, bottom = box
        sides = [(left + right) / 2 / W, (top + bottom) / 2 / H, (right - left) / W, (bottom - top) / H]
        corners = [place / (H if odd % 2 else W) for odd, place in enumerate(polygon(box))]
        shares = sides if kind == "boxes" else corners
        (folder / f"{name}.txt").write_text(" ".join(map(str, [NAMES.index(label), *shares])) + "\n")
    (folder / "classes.txt").write_text("\n".join(NAMES))
    return folder


def write_metadata(folder: Path, column: str) -> Path:
    """Hugging Face's table beside the images of each split: a mask's file for each image, or its objects."""
    for number, (name, (label, box)) in enumerate(BOXES.items()):
        split = folder / ("test", "train")[number % 2]
        write_images(split, [name])
        row: dict[str, Any] = {"file_name": f"{name}.png"}
        if column == "objects":
            left, top, right, bottom = box
            row["objects"] = {"bbox": [[left, top, right - left, bottom - top]], "categories": [label]}
        else:
            (split / "them").mkdir(exist_ok=True)
            Image.fromarray(painted(box)).save(split / "them" / f"{name}_mask.png")
            row |= {column: f"them/{name}_mask.png", "label": label}
        with open(split / "metadata.jsonl", "a", encoding="utf-8") as handle:
            handle.write(json.dumps(row) + "\n")
    return folder


def write_boxes(path: Path, header: str = "image,label,x0,y0,x1,y1") -> Path:
    """A CSV file of boxes."""
    rows = [",".join(map(str, [f"{name}.png", label, *box])) for name, (label, box) in BOXES.items()]
    path.write_text("\n".join([header, *rows]))
    return path
