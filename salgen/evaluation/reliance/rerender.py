"""The samples of a data set rendered again from their recipes, to ask a model about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.datasets.reading.batch import to_unit
from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError
from salgen.evaluation.reliance.reliance import Answers
from salgen.generators.factory import redrawing_generator_of
from salgen.generators.generator import Generator
from salgen.types import Float32, Float64, Recipe

Ask = Callable[[Float32], Float64]  # images (n, C, H, W) in [0, 1] to logits (n, K)


@dataclass(frozen=True)
class Renderer:
    """The generator that made a data set, opened again.

    Attributes
    ----------
    generator
        The generator with its source.
    seed
        The data set's.
    """

    generator: Generator
    seed: int

    @classmethod
    def of(cls, dataset: Dataset, source: str | None, index: int) -> Renderer:
        """The renderer of a data set, tested on one of its samples."""
        renderer = cls(redrawing_generator_of(dataset.spec, source), dataset.spec.seed)
        (batch,) = dataset.batches(1, [index])
        recipe = batch.recipes[0]
        image = renderer.generator.render(recipe).image
        if not np.array_equal(image.transpose(2, 0, 1), batch.levels()[0]):
            raise SalgenError(f"sample {recipe.id}, rendered again, has other pixels than the stored one")
        renderer.generator.features(renderer.generator.redraw(recipe, renderer.seed, 0))
        return renderer

    def answers(self, recipes: Sequence[Recipe], redraws: int, ask: Ask) -> list[Answers]:
        """A model's answers about samples shown in all ways, holding one image and twin per recipe at a time."""
        sample, twins = self._ask_pairs(recipes, ask)
        redrawn = self._ask_again(self.generator.redraw, recipes, redraws, ask)
        moved = self._ask_again(self.generator.move, recipes, redraws, ask) if self.generator.movable else None
        without = self._ask_without_each(recipes, ask)
        return [
            Answers(sample[i], twins[i], *redrawn[i], without[i], *(moved[i] if moved else ()))
            for i in range(len(recipes))
        ]

    def _ask_again(
        self, again: Callable[[Recipe, int, int], Recipe], recipes: Sequence[Recipe], count: int, ask: Ask
    ) -> list[tuple[Float64, Float64 | None]]:
        """For each sample logits (R, K) of its redraws, and of their twins, None where there are none."""
        asked = [
            self._ask_pairs([again(recipe, self.seed, number) for recipe in recipes], ask) for number in range(count)
        ]
        each = [([logits[i] for logits, _ in asked], [twins[i] for _, twins in asked]) for i in range(len(recipes))]
        return [(np.stack(logits), None if twins[0] is None else np.stack(twins)) for logits, twins in each]

    def _ask_pairs(self, recipes: Sequence[Recipe], ask: Ask) -> tuple[Float64, list[Any]]:
        """Logits (n, K) of samples, and of their twins, None where there is none."""
        pairs = list(self.generator.render_pairs(recipes))
        present = [twin for _, twin in pairs if twin is not None]
        logits = iter(ask(_images(present)) if present else ())
        return ask(_images(sample.image for sample, _ in pairs)), [
            None if twin is None else next(logits) for _, twin in pairs
        ]

    def _ask_without_each(self, recipes: Sequence[Recipe], ask: Ask) -> list[dict[str, Float64]]:
        logits_by_feature: list[dict[str, Float64]] = [{} for _ in recipes]
        single = [(i, name) for i, recipe in enumerate(recipes) for name in self.generator.features(recipe)]
        for start in range(0, len(single), len(recipes)):
            part = single[start : start + len(recipes)]
            logits = ask(_images(self.generator.render(recipes[i], omit=(name,)).image for i, name in part))
            for (i, name), answer in zip(part, logits, strict=True):
                logits_by_feature[i][name] = answer
        return logits_by_feature


def _images(levels: Iterable[NDArray[Any]]) -> Float32:
    """Integer levels (H, W, C) as float32 (n, C, H, W) in [0, 1], as a data set's reader gives them."""
    return to_unit(np.stack([image.transpose(2, 0, 1) for image in levels]))
