"""A generator with its source: it draws recipes and renders samples and their twins.

A generator plug-in is a frozen dataclass with the members of :class:`GeneratorPlugin`. It makes every
random choice in `draw` and none in `render`; :class:`Generator` adds what all of them share.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
import numpy as np
from numpy.typing import NDArray
from salgen.errors import SalgenError
from salgen.generators.interfaces import Context, Edit, Finite, GeneratorPlugin, Movable, Rendered
from salgen.parameters import to_json
from salgen.sources import Source
from salgen.spec import DatasetSpec
from salgen.types import Recipe, Sample

BATCH = 16  # larger batches fall out of the processor's cache


@dataclass(frozen=True)
class Generator:
    """A plug-in bound to its source.

    Examples
    --------
    >>> import salgen
    >>> generator = salgen.generator("perlin-lesions", image_size=(64, 64))
    >>> sample = generator.sample(seed=0, split="train", index=17)
    >>> sample.image.shape, sample.regions["lesions"].shape
    ((64, 64, 1), (64, 64))
    """

    plugin: GeneratorPlugin
    source: Source

    @cached_property
    def material(self) -> Any:
        """The material that the plug-in prepared from the source, on first use."""
        return self.plugin.prepare(self.source)

    @cached_property
    def available(self) -> Mapping[str, int] | None:
        """Split to the number of samples it has, where the source holds so many and no more."""
        return self.plugin.available(self.material) if isinstance(self.plugin, Finite) else None

    def spec(self, splits: Mapping[str, int], seed: int) -> DatasetSpec:
        """The description of a data set made by this generator."""
        values = to_json(self.plugin)
        size, depth = tuple(values.pop("image_size")), values.pop("bit_depth")
        made_by, source = (self.plugin.name, self.plugin.version), (self.source.name, self.source.digest)
        return DatasetSpec(*made_by, values, dict(splits), seed, size, depth, *source)

    def recipe(self, seed: int, split: str, index: int) -> Recipe:
        """Draw the choices of one sample, whose index is at least 0 and within what the source holds."""
        if self.available is not None and index >= self.available.get(split, 0):
            count = self.available.get(split, 0)
            raise SalgenError(f"index = {index}: split {split!r} of {self.source.name} has {count} samples")
        context = Context(seed, self.plugin.family, split, index, self.material)
        return Recipe(self.plugin.name, self.plugin.version, split, index, self.plugin.draw(context))

    def render(self, recipe: Recipe, omit: Collection[str] = (), change: Mapping[str, Any] | None = None) -> Sample:
        """Render a recipe of this plug-in without the features in `omit`, and with the values in `change`."""
        return self._sample(recipe, self.plugin.render(recipe.parameters, self.material, Edit(tuple(omit), change)))

    def sample(
        self, seed: int, split: str, index: int, omit: Collection[str] = (), change: Mapping[str, Any] | None = None
    ) -> Sample:
        """One sample by its place, without touching the disk; `omit` and `change` as in the sample's twin."""
        return self.render(self.recipe(seed, split, index), omit, change)

    def twin(self, recipe: Recipe) -> Sample | None:
        """The counterfactual twin of a sample, or None where there is nothing to take away."""
        edit = self.plugin.counterfactual(recipe.parameters)
        return None if edit is None else self.render(recipe, edit.omit, edit.change)

    def redraw(self, recipe: Recipe, seed: int, number: int) -> Recipe:
        """The recipe of the same sample on another background, with the seed of its data set.

        Redraws are numbered from 0; any two are independent of one another and of the sample. Draws that are balanced
        over a split are balanced over a sample's redraws.
        """
        again = self._again(recipe, seed, number)
        return replace(recipe, parameters=self.plugin.redraw(recipe.parameters, again))  # type: ignore[attr-defined]

    @cached_property
    def movable(self) -> bool:
        """True if the feature of a sample can be shown elsewhere."""
        return isinstance(self.plugin, Movable)

    def move(self, recipe: Recipe, seed: int, number: int) -> Recipe:
        """The recipe of the same sample with its feature elsewhere, on the background of its redraw of that number."""
        again = self._again(recipe, seed, number)
        return replace(recipe, parameters=self.plugin.move(recipe.parameters, again))  # type: ignore[attr-defined]

    def _again(self, recipe: Recipe, seed: int, number: int) -> Context:
        return Context(seed, self.plugin.family, recipe.split, number, self.material, redraws_of=recipe.index)

    def cluster(self, recipe: Recipe) -> str:
        """The name of the cluster that a sample belongs to, as the column `cluster` holds it: its id if it is alone."""
        name = self.plugin.cluster(recipe.parameters, self.material)
        return recipe.id if name is None else str(name)

    def features(self, recipe: Recipe) -> list[str]:
        """The names of the features that can be left out of a sample one by one; each is a region too."""
        return self.plugin.features(recipe.parameters)

    def pairs(
        self, seed: int, split: str, indices: Sequence[int], twins: bool = True
    ) -> Iterator[tuple[Sample, NDArray[Any] | None]]:
        """Samples with their twins' images, rendered in batches: the same pixels as one by one.

        With ``twins=False`` no twin is painted.
        """
        yield from self.render_pairs([self.recipe(seed, split, index) for index in indices], twins)

    def render_pairs(
        self, recipes: Sequence[Recipe], twins: bool = True
    ) -> Iterator[tuple[Sample, NDArray[Any] | None]]:
        """As :meth:`pairs`, from recipes of this generator."""
        for start in range(0, len(recipes), BATCH):
            batch = recipes[start : start + BATCH]
            rendered = self.plugin.render_pairs([recipe.parameters for recipe in batch], self.material, twins)
            for recipe, (sample, twin) in zip(batch, rendered, strict=True):
                yield self._sample(recipe, sample), twin

    def _sample(self, recipe: Recipe, rendered: Rendered) -> Sample:
        target = {task: self.plugin.target(task) for task in self.plugin.tasks}
        return Sample(id=recipe.id, target=target, recipe=recipe, **vars(rendered))


def to_levels(values: NDArray[np.float64], bit_depth: int) -> NDArray[Any]:
    """Intensities in [0, 1] as integer levels of the same shape, rounded once."""
    return np.rint(values * float(2**bit_depth - 1)).astype(np.uint8 if bit_depth == 8 else np.uint16)
