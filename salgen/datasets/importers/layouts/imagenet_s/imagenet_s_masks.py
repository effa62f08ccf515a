"""The mask pictures of ImageNet-S: a class id in each pixel's colour; and its folders, for a stand-in.

References
----------
Gao et al. 2022, *Large-scale unsupervised semantic segmentation* (IEEE TPAMI).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from salgen.errors import SalgenError
from salgen.generators.generator import Generator
from salgen.types import Mask, Sample

FOLDER = "ImageNetS50"
CATEGORIES = "ImageNetS_categories_im50.txt"
OTHER = 0
IGNORE = 1000
PARTS = {"test": ("validation", "ILSVRC2012_val"), "train": ("train-semi", "train")}


def encode(object_mask: Mask, ignore_mask: Mask, class_id: int) -> NDArray[np.uint8]:
    """A mask as the colours uint8 (H, W, 3) that a mask picture stores: id = R + 256 G, and B = 0.

    Parameters
    ----------
    object_mask
        bool (H, W): where the class is.
    ignore_mask
        bool (H, W): what nobody decided on. It gets the id 1000, inside the object too.
    class_id
        1 or more, and not 1000.

    Raises
    ------
    ValueError
        If the class id cannot be told from another, or from what is ignored.
    """
    if not 0 < class_id < 2**16 or class_id == IGNORE:
        raise ValueError(f"class id {class_id}: must be in 1..65535 and not {IGNORE}")
    ids = np.where(ignore_mask, IGNORE, np.where(object_mask, class_id, OTHER))
    return np.stack([ids % 256, ids // 256, np.zeros_like(ids)], axis=-1).astype(np.uint8)


def decode(levels: NDArray[Any]) -> NDArray[np.int64]:
    """The ids int64 (H, W) of a mask picture's colours, uint8 (H, W, 3) or more channels.

    Raises
    ------
    ValueError
        If they are not 8-bit colours.
    """
    if levels.ndim != 3 or levels.shape[2] < 3 or levels.dtype != np.uint8:
        raise ValueError(f"{levels.dtype} of shape {levels.shape}, not 8-bit colours")
    return np.asarray(levels[..., 0].astype(np.int64) + 256 * levels[..., 1].astype(np.int64))


def class_folder(label: int) -> str:
    """What stands for the WordNet id of a stand-in's class; sorted by label, and the id of nothing in WordNet."""
    return f"n{99000000 + label}"


def write_layout(generator: Generator, folder: Path, counts: Mapping[str, int], seed: int = 0) -> Path:
    """Write a stand-in's samples in the folders, and with the mask pictures, of the published data set.

    Parameters
    ----------
    generator
        That of `imagenet-s50` without a source: samples have the regions ``object`` and ``annotated``.
    folder
        Where the folder `ImageNetS50` is made.
    counts
        Split to number of samples: ``test`` becomes `validation`, ``train`` becomes `train-semi`.
    seed
        Of the samples.

    Returns
    -------
    The folder `ImageNetS50`; its class folders are named by :func:`class_folder`.

    Raises
    ------
    SalgenError
        If there is no such split, or there are fewer samples than classes.
    """
    unknown = sorted(set(counts) - set(PARTS))
    if unknown:
        raise SalgenError(f"split {unknown[0]!r}: the layout takes {' and '.join(PARTS)}")
    classes = len(generator.plugin.tasks["label"])
    for split, count in counts.items():
        if count < classes:
            raise SalgenError(
                f"{split} = {count}: the layout takes {classes} or more, so that no class is without images"
            )
    root = folder / FOLDER
    for split, count in counts.items():
        for index in range(count):
            _write(root, split, generator.sample(seed, split, index))
    names = [class_folder(label) for label in range(classes)]
    (root / CATEGORIES).write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    return root


def _write(root: Path, split: str, sample: Sample) -> None:
    part, prefix = PARTS[split]
    label = sample.labels["label"]
    name = f"{prefix}_{sample.recipe.index + 1:08d}"
    picture = root / part / class_folder(label) / f"{name}.JPEG"
    mask = root / f"{part}-segmentation" / class_folder(label) / f"{name}.png"
    for path in (picture, mask):
        path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(sample.image).save(picture, quality=95)
    levels = encode(sample.regions["object"], ~sample.regions["annotated"], label + 1)
    Image.fromarray(levels).save(mask)
