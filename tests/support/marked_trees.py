"""Tiny trees for the importers of Saliency-Bench: what their tests share."""

import json
from pathlib import PurePosixPath
import numpy as np
import pytest
from PIL import Image
from salgen.errors import SalgenError
from salgen.generators.factory import generator

SIDE = 16


def noise(name, size=(30, 44)):
    """A picture that no other name has."""
    pixels = np.random.default_rng(list(name.encode())).integers(0, 256, (6, 9, 3), dtype=np.uint8)
    return Image.fromarray(pixels.repeat(5, axis=0).repeat(5, axis=1)[: size[0], : size[1]])


def refusal(name, root, **parameters):
    """The one line in which an importer refuses a copy."""
    with pytest.raises(SalgenError) as error:
        assert opened(name, root, **parameters).available
    return str(error.value)


def opened(name, root, **parameters):
    return generator(name, str(root), **{"image_size": (SIDE, SIDE), **parameters})


def samples(made, *splits, seed=0):
    """By item, the samples of some splits; all if none is named."""
    wanted = splits or made.available
    drawn = [made.sample(seed, split, index) for split in wanted for index in range(made.available[split])]
    found = {sample.recipe.parameters["item"]: sample for sample in drawn}
    assert len(found) == len(drawn)
    return found


def nearest(array, size=(SIDE, SIDE)):
    """Each new pixel takes the value of the old one that its centre lies in."""
    rows, columns = (
        [int((place + 0.5) * old / new) for place in range(new)] for old, new in zip(array.shape, size, strict=True)
    )
    return array[np.ix_(rows, columns)]


def attention_map(number, size=(24, 24)):
    """A rectangle that depends on a number."""
    values = np.zeros(size)
    values[2 + number : 12 + number, 3:15] = 0.5
    return values


def write_benchmark(root, classes, count):
    """The benchmark's own folders; of each class the first image has no attention map."""
    rows = []
    for name in classes:
        (root / "image" / name).mkdir(parents=True)
        for number in range(count):
            noise(f"{name}{number}").save(root / "image" / name / f"{name}_{number}.jpg", quality=95)
            if number:
                rows.append((f"{name}_{number}.jpg", json.dumps(attention_map(number).tolist())))
    (root / "attention_label").mkdir()
    write_table(root / "attention_label" / "all.csv", rows)
    return root


def write_table(path, rows, header="img_idx,attention"):
    path.write_text("\n".join([header, *(f'{name},"{text}"' for name, text in rows)]) + "\n")


def name_of(item):
    """An item's file without its folder and suffix."""
    return PurePosixPath(item).stem


def resized(picture, size=(SIDE, SIDE)):
    """Pixels of a picture, or of the file of one, that is resized bilinearly."""
    image = picture if isinstance(picture, Image.Image) else Image.open(picture)
    return np.asarray(image.resize(size[::-1], Image.Resampling.BILINEAR))
