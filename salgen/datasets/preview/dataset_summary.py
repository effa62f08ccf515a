"""A data set at a glance: what is inside, in words."""

import os
from pathlib import Path
from textwrap import shorten
import numpy as np
from rich.filesize import decimal
from salgen.datasets.archives.unpacking import unpacked
from salgen.datasets.format.manifest import Manifest, read_manifest
from salgen.datasets.reading.reader import Dataset, open_dataset

LICENSE_WIDTH = 80


def describe(path: str | os.PathLike[str]) -> str:
    """Summarize the folder or archive of a data set in a few lines."""
    folder = unpacked(Path(path))
    manifest = read_manifest(folder)
    spec = manifest.spec
    height, width = spec.image_size
    target = manifest.targets[manifest.default_task]
    regions = ", ".join([f"{target} (ground truth)", *(name for name in manifest.regions if name != target)])
    scored = f"; maps are scored within {manifest.valid_region}" if manifest.valid_region else ""
    license = shorten(manifest.license or "license not stated", LICENSE_WIDTH, placeholder=" ...")
    facts = {
        "generator": f"{spec.generator} version {spec.generator_version}, seed {spec.seed}",
        "images": f"{height} x {width} pixels, {'grey' if manifest.channels == 1 else 'colour'}, {spec.bit_depth} bits",
        **{f"split {split}": _split(open_dataset(folder, split)) for split in manifest.splits},
        **({"pictures": "rendered from the recipes as they are read"} if manifest.recipes_only else {}),
        "regions": f"{regions}{scored}",
        "twins": _twins(manifest),
        "parameters": ", ".join(
            f"{name}={','.join(map(str, value)) if isinstance(value, list) else value}"
            for name, value in spec.parameters.items()
        ),
        "source": f"{spec.source} ({license})" if spec.source_digest else "none",
        **({"notes": manifest.notes} if manifest.notes else {}),
        "fingerprint": spec.fingerprint,
        "on disk": decimal(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())),
    }
    return _in_lines(f"{path}: {manifest.summary}", facts)


def describe_sample(dataset: Dataset, name: str) -> str:
    """Say in a few lines what a sample shows: its classes, mask, twin, and the numbers to filter by."""
    (batch,) = dataset.batches(1, [dataset.index(name)])
    mask, twin = batch.masks[0], batch.twin_levels()[0]
    classes = {task: names[batch.classes(task)[0]] for task, names in dataset.tasks.items()}
    for task in dataset.manifest.multi_label:
        shown = np.flatnonzero(batch.present(task)[0])
        classes[task] += f"; the image shows {', '.join(dataset.tasks[task][number] for number in shown)}"
    changed = None if twin is None else int((twin != batch.levels()[0]).any(axis=0).sum())
    facts = {
        **({"file": batch.file_names[0]} if dataset.manifest.own_images else {}),
        **classes,
        "mask": f"{mask.sum():,} of {mask.size:,} pixels are {dataset.manifest.targets[dataset.manifest.default_task]}",
        **({"other masks": str(len(batch.alternatives[0]))} if len(batch.alternatives[0]) else {}),
        "twin": "none" if changed is None else f"differs from the image in {changed:,} pixels",
        "cluster": batch.clusters[0],
        **{factor: f"{values[0]:g}" for factor, values in batch.factors.items() if np.isfinite(values[0])},
    }
    return _in_lines(f"{name} of {dataset.name}", facts)


def _in_lines(title: str, facts: dict[str, str]) -> str:
    wide = max(map(len, facts))
    return "\n".join([title, *(f"  {name:<{wide}}  {fact}" for name, fact in facts.items())])


def _split(dataset: Dataset) -> str:
    """The number of samples, and how many each class of each task has."""
    tasks = []
    for task, names in dataset.tasks.items():
        counts = np.bincount(np.asarray(dataset.column(task), dtype=np.int64), minlength=len(names))
        tasks.append(", ".join(f"{count:,} {name}" for name, count in zip(names, counts, strict=True)))
    counted = "samples" if dataset.manifest.multi_label else "images"
    return f"{len(dataset):,} {counted}: " + "; ".join(tasks)


def _twins(manifest: Manifest) -> str:
    if manifest.imported:
        return "none, as the images were imported"
    if not manifest.pixels:
        return "none, as the data set was published without pixels"
    if not manifest.twins:
        return "not stored"
    kept = "rendered" if manifest.recipes_only else "stored"
    return f"{kept}: {'equal to the image' if manifest.exact else 'these parameters let them differ'} outside the mask"
