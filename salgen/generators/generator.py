"""A generator with its source: what draws recipes and renders samples and their twins.

A generator plug-in is a frozen dataclass with the members of :class:`GeneratorPlugin`. It makes every
random choice in `draw` and none in `render`; :class:`Generator` adds what all of them share.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from salgen.errors import SalgenError
from salgen.parameters import to_json
from salgen.seeding import Stream
from salgen.sources import Source
from salgen.spec import DatasetSpec
from salgen.types import Mask, Recipe, Sample

BATCH = 16  # larger batches fall out of the processor's cache


@dataclass(frozen=True)
class Scale:
    """A registered set of defaults: parameters that differ from the fields' own, and split sizes."""

    splits: dict[str, int]
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Edit:
    """How a counterfactual differs from its sample: features left out, or shown with another value."""

    omit: tuple[str, ...] = ()
    change: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Rendered:
    """What `render` gives back: a :class:`~salgen.types.Sample` without its names."""

    image: NDArray[Any]
    labels: dict[str, int]
    regions: dict[str, Mask]


@dataclass(frozen=True)
class Context:
    """Where a sample stands, and the random streams that belong to it.

    Attributes
    ----------
    seed, family, split, index
        Name every stream. Generators of one family share draws: the same slice and the same
        lesions on another background.
    material
        What the plug-in's `prepare` made of its source.
    """

    seed: int
    family: str
    split: str
    index: int
    material: Any

    def stream(self, purpose: str, key: int | None = None) -> Stream:
        """The stream for `purpose`, keyed by the sample's index, or by the group `key` that shares it."""
        return Stream(self.seed, self.family, self.split, purpose, index=self.index if key is None else key)

    def balanced(self, purpose: str, classes: int = 2) -> int:
        """A class number such that each run of `classes` samples holds every class once.

        A split of even size is exactly half positive, a longer split begins with a shorter one, and
        a sample asked for alone does not need to know the split's size.
        """
        block, place = divmod(self.index, classes)
        return int(self.stream(purpose, key=block).permutation(classes)[place])


class GeneratorPlugin(Protocol):
    """What a registered generator provides; its dataclass fields are its parameters.

    Attributes
    ----------
    name, version
        Registered name; the version changes whenever pixels do.
    family
        Names the random streams, see :class:`Context`.
    default_source
        Name of the shipped source used when the user gives none; "" for none.
    valid_region
        The region in which maps are scored by default, or None for the whole image.
    quick
        Parameters that make it small, for the conformance checks.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    family: ClassVar[str]
    default_source: ClassVar[str]
    valid_region: ClassVar[str | None]
    scales: ClassVar[Mapping[str, Scale]]
    quick: ClassVar[Mapping[str, Any]]

    @property
    def image_size(self) -> tuple[int, int]:
        """Height and width in pixels."""
        ...

    @property
    def bit_depth(self) -> int:
        """8 or 16."""
        ...

    @property
    def exact(self) -> bool:
        """Whether image and twin are equal outside the mask; False only where authors' code breaks the law."""
        ...

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """Task name to class names, in the order of the labels; the first task is the default one."""
        ...

    def open_source(self, given: str | None) -> Source:
        """The source named or pointed to by `given`, or the default one."""
        ...

    def prepare(self, source: Source) -> Any:
        """What drawing and rendering need from the source; made once per process."""
        ...

    def draw(self, context: Context) -> dict[str, Any]:
        """Every random choice of one sample, as JSON values."""
        ...

    def render(self, parameters: Mapping[str, Any], material: Any, edit: Edit) -> Rendered:
        """The sample that the choices describe, with the edit applied. No random choice is made."""
        ...

    def render_pairs(
        self, batch: Sequence[Mapping[str, Any]], material: Any, twins: bool
    ) -> list[tuple[Rendered, NDArray[Any] | None]]:
        """For each sample what `render` gives, and its twin's image if asked for, equal to `render` bit for bit."""
        ...

    def counterfactual(self, parameters: Mapping[str, Any]) -> Edit | None:
        """The edit that gives the twin, or None where there is nothing to take away."""
        ...

    def target(self, task: str) -> str:
        """The region that is the ground-truth mask of a task."""
        ...

    def region_names(self) -> list[str]:
        """The regions that every sample has."""
        ...

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """Scalars to filter by; the keys are the same for every sample."""
        ...


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
        """What the plug-in prepared from the source, on first use."""
        return self.plugin.prepare(self.source)

    def spec(self, splits: Mapping[str, int], seed: int) -> DatasetSpec:
        """The description of a data set made by this generator."""
        values = to_json(self.plugin)
        height, width = values.pop("image_size")
        depth = values.pop("bit_depth")
        plugin = self.plugin
        return DatasetSpec(
            plugin.name,
            plugin.version,
            values,
            dict(splits),
            seed,
            (height, width),
            depth,
            self.source.name,
            self.source.digest,
        )

    def recipe(self, seed: int, split: str, index: int) -> Recipe:
        """Draw the choices of one sample.

        Raises
        ------
        SalgenError
            If the index is negative.
        """
        if index < 0:
            raise SalgenError(f"index = {index}: must be 0 or more")
        context = Context(seed, self.plugin.family, split, index, self.material)
        return Recipe(self.plugin.name, self.plugin.version, split, index, self.plugin.draw(context))

    def render(self, recipe: Recipe, omit: Collection[str] = (), change: Mapping[str, Any] | None = None) -> Sample:
        """Render a recipe, without the features in `omit` and with the values in `change`.

        Raises
        ------
        SalgenError
            If the recipe belongs to another generator or to another version of this one.
        """
        if (recipe.generator, recipe.version) != (self.plugin.name, self.plugin.version):
            raise SalgenError(
                f"recipe of {recipe.generator} version {recipe.version} cannot be rendered by "
                f"{self.plugin.name} version {self.plugin.version}"
            )
        return self._sample(recipe, self.plugin.render(recipe.parameters, self.material, Edit(tuple(omit), change)))

    def sample(
        self, seed: int, split: str, index: int, omit: Collection[str] = (), change: Mapping[str, Any] | None = None
    ) -> Sample:
        """One sample by its place, without touching the disk.

        Parameters
        ----------
        seed, split, index
            Which sample.
        omit, change
            Features to leave out, or to show with another value, as in the sample's twin.
        """
        return self.render(self.recipe(seed, split, index), omit, change)

    def twin(self, recipe: Recipe) -> Sample | None:
        """The counterfactual twin of a sample, or None where there is nothing to take away."""
        edit = self.plugin.counterfactual(recipe.parameters)
        return None if edit is None else self.render(recipe, edit.omit, edit.change)

    def pairs(
        self, seed: int, split: str, indices: Sequence[int], twins: bool = True
    ) -> Iterator[tuple[Sample, NDArray[Any] | None]]:
        """Samples with their twins' images, rendered in batches: the same pixels as one by one.

        With ``twins=False`` no twin is painted.
        """
        for start in range(0, len(indices), BATCH):
            recipes = [self.recipe(seed, split, index) for index in indices[start : start + BATCH]]
            rendered = self.plugin.render_pairs([recipe.parameters for recipe in recipes], self.material, twins)
            for recipe, (sample, twin) in zip(recipes, rendered, strict=True):
                yield self._sample(recipe, sample), twin

    def _sample(self, recipe: Recipe, rendered: Rendered) -> Sample:
        target = {task: self.plugin.target(task) for task in self.plugin.tasks}
        return Sample(recipe.id, rendered.image, rendered.labels, rendered.regions, target, recipe)


def to_levels(values: NDArray[np.float64], bit_depth: int) -> NDArray[Any]:
    """Intensities in [0, 1] as integer levels of the same shape, rounded once."""
    levels = values * float(2**bit_depth - 1)
    np.rint(levels, out=levels)
    return levels.astype(np.uint8 if bit_depth == 8 else np.uint16)
