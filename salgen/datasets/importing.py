"""Importing a user's own images: `salgen import`, and the same from Python, where datasets of torch are taken too."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from salgen.datasets.format.manifest import read_manifest
from salgen.datasets.importers.images import ImagesImporter
from salgen.datasets.layouts.own_images.saved_dataset import save_datasets
from salgen.datasets.making import make
from salgen.errors import SalgenError, warn
from salgen.parameters import build

StrPath = str | os.PathLike[str]


def import_images(
    images: StrPath | Any,
    out: StrPath | None = None,
    *,
    masks: StrPath | Sequence[StrPath] = (),
    labels: StrPath | None = None,
    parameters: Mapping[str, Any] | None = None,
    seed: int = 0,
    workers: int | None = None,
) -> Path:
    """Make a data set of your own images: ``salgen.make("images", ...)`` with the source in parts.

    Parameters
    ----------
    images
        A folder; or a dataset, which is anything with a length and indices such as a `torch.utils.data.Dataset`; or a
        mapping from splits (``"train"``, ``"val"``, ``"test"``) to datasets. An item of a dataset is
        ``(image, label, mask)``, or ``(image, target)`` as torchvision's detection models take it: `target` is a dict
        with ``labels`` and ``masks`` (n, H, W) or ``boxes`` (n, 4), left, top, right, bottom in pixels
        (`torchvision.datasets.wrap_dataset_for_transforms_v2` gives these), or torchvision's `VOCDetection`. The image
        is a PIL image, uint8 (H, W, C), or a tensor (C, H, W), uint8 or from 0 to 1; the mask is (H, W), or (K, H, W)
        if any of K is acceptable, and empty or None where there is none. Labels are names or numbers.
    out
        The folder of the data set; if None, ``IMAGES-salgen`` where `images` is a folder. A dataset's images, masks and
        labels are written to ``OUT-source`` first, which is the source that `salgen verify` takes.
    masks, labels
        Where masks or annotations and the table of labels are; see docs/own_images.md. Not given with a dataset.
    parameters
        Parameters of the importer `images`, such as ``{"image_size": (128, 128), "classes": ["cat", "dog"]}``: images
        are resized to 224 x 224 unless `image_size` (height, width) says otherwise. With a dataset, `classes` are the
        names of the numbers in its labels; without it, those of its attribute `classes`.
    seed, workers
        As in :func:`salgen.make`.

    Returns
    -------
    The folder of the data set.

    Raises
    ------
    SalgenError
        If something is missing or does not belong together; the message names it.

    Examples
    --------
    >>> import_images("photos", masks="photos.json", labels="labels.csv")  # doctest: +SKIP
    PosixPath('photos-salgen')
    """
    chosen = dict(parameters or {})
    if isinstance(images, str | os.PathLike):
        given = [masks] if isinstance(masks, str | os.PathLike) else masks
        named = [*(f":masks={path}" for path in given), f":labels={labels}" if labels is not None else ""]
        source = "".join([os.fspath(images), *named])
        folder = Path(images) if Path(images).name else Path(images).resolve()
        target = folder.with_name(f"{folder.name}-salgen") if out is None else Path(out)
    else:
        if out is None or masks or labels:
            raise SalgenError("a dataset holds its masks and labels: give `out`, and neither `masks` nor `labels`")
        target = Path(out)
        importer = build(ImagesImporter, chosen)
        saved = save_datasets(images, target.with_name(f"{target.name}-source"), importer.classes, importer.mask_values)
        chosen.pop("mask_values", None)  # they chose the pixels that were saved
        source = str(saved)
    made = make("images", target, scale="full", seed=seed, parameters=chosen, source=source, workers=workers)
    for task, names in read_manifest(made).tasks.items():
        if len(names) == 1:
            warn(f"all images have the {task} {names[0]!r}: no network can be trained on them; evaluate a trained one")
    return made
