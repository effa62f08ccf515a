"""Drawing and rendering stored samples again, bit for bit."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
import numpy as np
from salgen.datasets.format import png
from salgen.datasets.format.manifest import Manifest
from salgen.datasets.format.shards import Shard, groups_of
from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError, readable
from salgen.generators.factory import generator_of
from salgen.generators.generator import Generator


def rendering_problems(
    folder: Path, manifest: Manifest, sound: Sequence[Shard], source: str | None, count: int
) -> list[str]:
    """Differences when `count` samples, evenly spread over the splits, are rendered again; only of `sound` shards."""
    if not count or lacks_source(manifest, source):
        return []
    try:
        generator = generator_of(manifest.spec, source)
    except SalgenError as error:
        return [f"no sample could be rendered again: {error}"]
    datasets = {split: Dataset(folder, manifest, split, source) for split in manifest.splits}
    return [
        problem
        for split, index in _spread(manifest, count)
        if any(shard.split == split and shard.start <= index < shard.stop for shard in sound)
        for problem in _sample_problems(generator, datasets[split], index)
    ]


def lacks_source(manifest: Manifest, source: str | None) -> bool:
    """True if no sample can be rendered, as the material is somebody's own and is not given."""
    return source is None and (manifest.imported or not manifest.redistributable or not manifest.pixels)


def _spread(manifest: Manifest, count: int) -> list[tuple[str, int]]:
    """Evenly spread places over all samples: split and index."""
    places = [(split, index) for split in manifest.splits for index in range(manifest.spec.splits[split])]
    return [places[place] for place in np.linspace(0, len(places) - 1, count).round().astype(int)]


def _sample_problems(generator: Generator, dataset: Dataset, index: int) -> list[str]:
    """Differences when one sample is drawn and rendered again."""
    name, manifest = f"{dataset.split}-{index:06d}", dataset.manifest
    try:
        with readable("its row"):
            (batch,) = dataset.batches(1, [index])
            (stored,) = batch.rows.to_pylist()
            drawn = next(groups_of(generator, manifest, Shard(dataset.split, 0, 1, index, index + 1)))
            absent = () if manifest.pixels else ("image", "twin")
            parts = [
                column
                for column, (value,) in drawn.items()
                if column in stored and column not in absent and _plain(value) != _plain(stored[column])
            ]
    except SalgenError as error:
        return [f"sample {name} could not be rendered again: {error}"]
    if "recipe" in parts:
        return [f"sample {name}: drawn again, it has another recipe"]
    return [f"sample {name}: rendered again, it differs in {', '.join(parts)}"] if parts else []


def _plain(value: Any) -> Any:
    """The value of a cell, with the pixels of pictures, whose bytes depend on who wrote them."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return png.decode(value["bytes"]).tolist() if isinstance(value, dict) and "bytes" in value else value
