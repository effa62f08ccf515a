"""The laws that every generator keeps."""

import numpy as np
from salgen.generators.factory import generator, plugin_class
from salgen.generators.generator import Generator
from salgen.generators.interfaces import Labelled, Redrawable
from salgen.types import Mask, Sample

COUNT = 8
SEED = 3


def check_generator(name: str, source: str | None = None) -> None:
    """Check a registered generator, or an importer of images with twins, with its `quick` parameters, against the laws.

    - Image and twin are equal, bit for bit, outside the target mask.
    - A sample alone equals itself in a batch of any size, regions included.
    - `render` of a recipe gives the sample again, and the twin is the render of the counterfactual.
    - Every run of as many samples as there are classes holds each class once, unless images are those of a source.
    - Labels, regions, image size and depth are what the generator declares.
    - Recipes and factors are JSON, and another seed gives other pixels.
    - On a redrawn background the class and the regions are the same. The image is the same only if the recipe is.
      Image and twin are equal outside the mask.
    - With its feature elsewhere a sample has the same class. Image and twin are equal outside the mask. One of a few
      draws has another mask, if there is any.
    - Without one of its features a sample differs in that feature's region, and nowhere else, and its
      own region is empty.

    The last three hold for generators that are :class:`~salgen.generators.interfaces.Redrawable`, or
    :class:`~salgen.generators.interfaces.Movable`.

    Raises
    ------
    AssertionError
        If a law is broken; the message names it.
    """
    made = generator(name, source, **plugin_class(name).quick)
    pairs = list(made.pairs(SEED, "train", range(COUNT)))
    for index, (sample, twin) in enumerate(pairs):
        check_declarations(made, sample)
        alone = made.sample(SEED, "train", index)
        check_equal(sample, alone, f"{name}: sample {index} alone differs from itself in a batch")
        counterfactual = made.twin(sample.recipe)
        assert (twin is None) == (counterfactual is None), f"{name}: batch and single disagree on having a twin"
        if twin is not None and counterfactual is not None:
            assert np.array_equal(twin, counterfactual.image), f"{name}: twin {index} differs alone and in a batch"
            _check_exact(made, sample, twin)
        if isinstance(made.plugin, Redrawable):
            _check_redraws(made, sample)
            _check_features(made, sample)
        if made.movable:
            _check_moves(made, sample)
    last = pairs[-1][0]
    (single, _) = next(iter(made.pairs(SEED, "train", [last.recipe.index])))
    check_equal(single, last, f"{name}: a batch of one differs from a batch of {COUNT}")
    if source is None:
        _check_balance(made, [sample for sample, _ in pairs])
    reseeded = made.sample(4, "train", 0)
    assert reseeded.recipe.parameters != pairs[0][0].recipe.parameters, f"{name}: the seed changes nothing"


def check_declarations(made: Generator, sample: Sample) -> None:
    """Check that a sample is what its plug-in declares."""
    plugin, name = made.plugin, made.plugin.name
    height, width = plugin.image_size
    assert sample.image.shape[:2] == (height, width), f"{name}: image of shape {sample.image.shape}"
    assert sample.image.shape[2] in (1, 3), f"{name}: {sample.image.shape[2]} channels"
    assert sample.image.dtype == (np.uint8 if plugin.bit_depth == 8 else np.uint16), f"{name}: {sample.image.dtype}"
    assert list(sample.regions) == plugin.region_names(), f"{name}: regions {list(sample.regions)}"
    assert all(mask.dtype == bool and mask.shape == (height, width) for mask in sample.regions.values())
    assert set(sample.labels) == set(plugin.tasks), f"{name}: labels for {sorted(sample.labels)}"
    if isinstance(plugin, Labelled):
        assert plugin.labels(sample.recipe.parameters) == sample.labels, f"{name}: labels() are not those of render"
    for task, label in sample.labels.items():
        assert 0 <= label < len(plugin.tasks[task]), f"{name}: label {label} of {task}"
        assert sample.target[task] in sample.regions, f"{name}: target of {task} is not a region"
    if plugin.valid_region is not None:
        scored = sample.regions[plugin.valid_region]
        assert not (_feature(sample) & ~scored).any(), f"{name}: its mask is not within {plugin.valid_region}"


def _check_exact(made: Generator, sample: Sample, twin: np.ndarray) -> None:
    outside = ~np.any([sample.regions[region] for region in set(sample.target.values())], axis=0)
    same = np.array_equal(sample.image[outside], twin[outside])
    assert same, f"{made.plugin.name}: {sample.id} differs from its twin outside the mask"


def _feature(sample: Sample) -> Mask:
    """The first task's target, bool (H, W)."""
    return sample.regions[next(iter(sample.target.values()))]


def _class(sample: Sample) -> int:
    """The first task's class."""
    return sample.labels[next(iter(sample.target))]


def _check_redraws(made: Generator, sample: Sample) -> None:
    for number in range(2):
        recipe = made.redraw(sample.recipe, SEED, number)
        label = f"{made.plugin.name}: redraw {number} of {sample.id}"
        assert recipe == made.redraw(sample.recipe, SEED, number), f"{label} differs the second time"
        assert recipe.id == sample.id, f"{label} is called {recipe.id}"
        redrawn, twin = made.render(recipe), made.twin(recipe)
        assert _class(redrawn) == _class(sample), f"{label} is of another class"
        alike = [np.array_equal(redrawn.regions[name], sample.regions[name]) for name in sample.regions]
        assert all(alike), f"{label} has other regions"
        outside = ~_feature(sample)
        same = np.array_equal(redrawn.image[outside], sample.image[outside])
        assert same == (recipe == sample.recipe), f"{label}: image and recipe do not change together"
        if twin is not None:
            _check_exact(made, redrawn, twin.image)


def _check_moves(made: Generator, sample: Sample) -> None:
    label = f"{made.plugin.name}: {sample.id} with its feature elsewhere"
    differ = []
    for number in range(3):
        recipe = made.move(sample.recipe, SEED, number)
        assert recipe == made.move(sample.recipe, SEED, number), f"{label} differs the second time"
        moved, twin = made.render(recipe), made.twin(recipe)
        assert _class(moved) == _class(sample), f"{label} is of another class"
        if twin is not None:
            _check_exact(made, moved, twin.image)
        differ.append(not np.array_equal(_feature(moved), _feature(sample)))
    assert any(differ) == _feature(sample).any(), f"{label} is where it was"


def _check_features(made: Generator, sample: Sample) -> None:
    for name in made.features(sample.recipe):
        label = f"{made.plugin.name}: {sample.id} without {name}"
        without = made.render(sample.recipe, omit=(name,))
        changed = (without.image != sample.image).any(axis=2)
        assert changed.any(), f"{label} is the same"
        assert not (changed & ~sample.regions[name]).any(), f"{label} differs outside the region {name}"
        assert not without.regions[name].any(), f"{label} still has the region {name}"


def _check_balance(made: Generator, samples: list[Sample]) -> None:
    task, classes = next(iter(made.plugin.tasks.items()))
    for start in range(0, len(samples) - len(classes) + 1, len(classes)):
        labels = sorted(sample.labels[task] for sample in samples[start : start + len(classes)])
        assert labels == list(range(len(classes))), f"{made.plugin.name}: samples {start}.. hold labels {labels}"


def check_equal(first: Sample, second: Sample, message: str) -> None:
    """Check that two samples are one."""
    assert first.recipe == second.recipe, message
    assert first.labels == second.labels, message
    assert np.array_equal(first.image, second.image), message
    assert all(np.array_equal(first.regions[name], second.regions[name]) for name in first.regions), message
