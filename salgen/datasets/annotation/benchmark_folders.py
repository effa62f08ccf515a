"""What is drawn in the form of Saliency-Bench's own folders, which other loaders read.

References
----------
Zhang et al. 2025, *Saliency-Bench: a comprehensive benchmark for evaluating visual explanations* (KDD).
"""

import csv
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from salgen.datasets.annotation.images_to_annotate import ImageToAnnotate
from salgen.datasets.format.png import encode
from salgen.datasets.layouts.own_images.upright_pictures import read_picture
from salgen.datasets.layouts.saliency_bench.attention_folders import COLUMNS
from salgen.datasets.layouts.saliency_bench.marked_images import ATTENTION, IMAGES
from salgen.files import atomic_path, write_bytes
from salgen.generators.drawing.pictures import resize_nearest, resize_rgb
from salgen.types import Mask

SIZE = (224, 224)  # size of the published images and maps


def write_benchmark(folder: Path, images: Sequence[ImageToAnnotate], mask_of: Callable[[str], Mask | None]) -> None:
    """Write ``image/CLASS/NUMBER-NAME.png`` and ``attention_label/masks.csv`` in place of older ones.

    Images are resized to 224 x 224 bilinearly, and masks to the nearest pixel. A mask is a JSON list of rows of 0 and
    1; an image without one has no row. Names begin with a number, since the benchmark tells images by their files'
    names alone, whatever the folder. A slash in the name of a class becomes ``%2F``.

    Parameters
    ----------
    folder
        Where they go.
    images
        In order.
    mask_of
        Gives the mask of an item, bool (H, W), or None.
    """
    shutil.rmtree(folder, ignore_errors=True)
    table = folder / ATTENTION / "masks.csv"
    table.parent.mkdir(parents=True)
    with atomic_path(table) as temporary, open(temporary, "w", encoding="utf-8", newline="") as handle:
        rows = csv.writer(handle, lineterminator="\n")
        rows.writerow(COLUMNS)
        for number, image in enumerate(images):
            file = folder / IMAGES / image.label.replace("/", "%2F") / f"{number:06d}-{image.path.stem}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(file, encode(resize_rgb(read_picture(image.path), SIZE)))
            if (mask := mask_of(image.item)) is not None:
                values = resize_nearest(mask, SIZE).astype(np.uint8).tolist()
                rows.writerow([file.name, json.dumps(values, separators=(",", ":"))])
