"""The stand-in of ImageNet-S50 written in the folders, and with the mask pictures, of the published data set."""

import numpy as np
from PIL import Image
from salgen.datasets.importers.imagenet_s50 import FOLDER, IGNORE

PARTS = {"test": ("validation", "ILSVRC2012_val"), "train": ("train-semi", "train")}


def encode(object_mask, ignore_mask, class_id):
    """The colours uint8 (H, W, 3) of a mask picture: id = R + 256 G, and B = 0; ignored pixels have the id 1000."""
    ids = np.where(ignore_mask, IGNORE, np.where(object_mask, class_id, 0))
    return np.stack([ids % 256, ids // 256, np.zeros_like(ids)], axis=-1).astype(np.uint8)


def class_folder(label):
    """The folder of a class: sorted by label, and the WordNet id of nothing."""
    return f"n{99000000 + label}"


def write_layout(generator, folder, counts, seed):
    """Write samples of the stand-in: ``test`` becomes `validation`, ``train`` becomes `train-semi`."""
    root = folder / FOLDER
    for split, count in counts.items():
        for index in range(count):
            _write(root, split, generator.sample(seed, split, index))


def _write(root, split, sample):
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
