"""A data set at a glance: what is inside, in words."""

import os
from pathlib import Path
from textwrap import shorten
import numpy as np
from salgen.datasets.format.manifest import Manifest, read_manifest
from salgen.datasets.reading.reader import Dataset, open_dataset

LICENSE_WIDTH = 80
UNITS = ("bytes", "kB", "MB", "GB", "TB")


def describe(path: str | os.PathLike[str]) -> str:
    """Summarize a data set folder in a few lines."""
    folder = Path(path)
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
        "on disk": _size(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())),
    }
    wide = max(map(len, facts))
    return "\n".join([f"{folder}: {manifest.summary}", *(f"  {name:<{wide}}  {fact}" for name, fact in facts.items())])


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


def _size(count: float) -> str:
    unit = 0
    while count >= 1000 and unit < len(UNITS) - 1:
        count, unit = count / 1000, unit + 1
    return f"{count:.3g} {UNITS[unit]}"
