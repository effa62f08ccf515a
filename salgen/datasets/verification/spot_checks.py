"""Drawing and rendering stored samples again, bit for bit."""

from collections.abc import Sequence
from pathlib import Path
import numpy as np
from salgen.datasets.format.manifest import Manifest
from salgen.datasets.format.schema import pixels_digest, present_column, recipe_to_text
from salgen.datasets.format.shards import Shard
from salgen.datasets.reading.batch import Batch
from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError, readable
from salgen.generators.factory import generator_of
from salgen.generators.generator import Generator
from salgen.generators.interfaces import Attributed
from salgen.types import Sample


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
    last = sum(manifest.spec.splits.values()) - 1
    starts = np.cumsum([0] + [manifest.spec.splits[split] for split in manifest.splits])
    places = np.linspace(0, last, count).round().astype(int)
    splits = np.searchsorted(starts, places, side="right") - 1
    return [(manifest.splits[k], int(place - starts[k])) for k, place in zip(splits, places, strict=True)]


def _sample_problems(generator: Generator, dataset: Dataset, index: int) -> list[str]:
    """Differences when one sample is drawn and rendered again."""
    name = f"{dataset.split}-{index:06d}"
    try:
        with readable("its row"):
            (batch,) = dataset.batches(1, [index])
            drawn = generator.recipe(dataset.spec.seed, dataset.split, index)
            if recipe_to_text(batch.recipes[0]) != recipe_to_text(drawn):
                return [f"sample {name}: drawn again, it has another recipe"]
            parts = _differing(generator, dataset, batch)
    except SalgenError as error:
        return [f"sample {name} could not be rendered again: {error}"]
    return [f"sample {name}: rendered again, it differs in {', '.join(parts)}"] if parts else []


def _differing(generator: Generator, dataset: Dataset, batch: Batch) -> list[str]:
    """The parts of a stored sample that differ from what its recipe gives."""
    recipe, manifest = batch.recipes[0], dataset.manifest
    sample = generator.render(recipe)
    drawn = generator.plugin.factors(recipe.parameters)
    factors = {name: np.nan if value is None else float(value) for name, value in drawn.items()}
    same = {
        **{task: int(batch.classes(task)[0]) == sample.labels[task] for task in dataset.tasks},
        **{
            present_column(task): tuple(np.flatnonzero(batch.present(task)[0]).tolist()) == sample.present[task]
            for task in manifest.multi_label
        },
        "factors": batch.factors.keys() == factors.keys()
        and all(np.array_equal(batch.factors[name][0], factors[name], equal_nan=True) for name in factors),
        "cluster": batch.clusters[0] == generator.cluster(recipe),
        **({} if manifest.recipes_only else _pictures_same(generator, sample, batch, manifest)),
    }
    return [part for part, holds in same.items() if not holds]


def _pictures_same(generator: Generator, sample: Sample, batch: Batch, manifest: Manifest) -> dict[str, bool]:
    """Name of each stored picture to True if it is the one that the recipe gives; of an absent image its digest."""
    alternatives = np.array(sample.alternatives, dtype=bool).reshape(-1, *manifest.spec.image_size)
    if manifest.pixels:
        twin = generator.twin(sample.recipe) if manifest.twins else None
        stored = batch.twin_levels()[0]
        same = {
            "image": np.array_equal(batch.levels()[0], sample.image.transpose(2, 0, 1)),
            "twin": stored is None
            if twin is None
            else stored is not None and np.array_equal(stored, twin.image.transpose(2, 0, 1)),
        }
    else:
        same = {"image": pixels_digest(sample.image) == batch.pixel_digests[0]}
    return {
        **same,
        "attribution": not isinstance(generator.plugin, Attributed)
        or np.array_equal(batch.attributions[0], generator.plugin.attribution(sample.recipe.parameters)),
        "alternative_masks": np.array_equal(batch.alternatives[0], alternatives),
        **{region: np.array_equal(batch.regions[region][0], sample.regions[region]) for region in manifest.regions},
    }
