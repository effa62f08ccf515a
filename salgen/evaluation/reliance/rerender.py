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
from salgen.evaluation.reliance.certificate_rule import STEP, Answers
from salgen.generators.factory import redrawing_generator_of
from salgen.generators.generator import Generator
from salgen.types import Float32, Float64, Mask, Recipe

Ask = Callable[[Float32], Float64]  # images (n, C, H, W) in [0, 1] to logits (n, K)


@dataclass(frozen=True)
class Renderer:
    """The generator that made a data set, opened again."""

    generator: Generator  # the generator with its source
    seed: int  # the data set's

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
        """A model's answers about samples shown in all ways, holding a few images per recipe at a time."""
        images, twins, feature = self._pairs(recipes)
        said = {"sample": ask(images), "twin": ask(twins), "feature_step": ask(_step(images, twins))}
        said |= _stacked([self._ask_redraw(recipes, number, images, feature, ask) for number in range(redraws)])
        if self.generator.movable:
            said |= _stacked([self._ask_move(recipes, number, ask) for number in range(redraws)])
        without = self._ask_without_each(recipes, ask)
        answers = []
        for i, recipe in enumerate(recipes):
            logits: dict[str, Any] = {name: array[i] for name, array in said.items()}
            if self.generator.plugin.counterfactual(recipe.parameters) is None:
                logits["twin"] = None
            answers.append(Answers(**logits, without=without[i]))
        return answers

    def _ask_redraw(
        self, recipes: Sequence[Recipe], number: int, images: Float32, feature: Mask, ask: Ask
    ) -> dict[str, Float64]:
        redraws, twins, _ = self._pairs([self.generator.redraw(recipe, self.seed, number) for recipe in recipes])
        held = np.where(feature, images, twins)
        return {
            "redraws": ask(redraws),
            "redraw_twins": ask(twins),
            "held": ask(held),
            "background_step": ask(_step(images, held)),
        }

    def _ask_move(self, recipes: Sequence[Recipe], number: int, ask: Ask) -> dict[str, Float64]:
        moved, twins, _ = self._pairs([self.generator.move(recipe, self.seed, number) for recipe in recipes])
        return {"moved": ask(moved), "moved_twins": ask(twins)}

    def _pairs(self, recipes: Sequence[Recipe]) -> tuple[Float32, Float32, Mask]:
        """Images and twins (n, C, H, W), the image itself where it has none, and the feature's pixels (n, 1, H, W)."""
        pairs = list(self.generator.render_pairs(recipes))
        images = _images(sample.image for sample, _ in pairs)
        twins = _images(sample.image if twin is None else twin for sample, twin in pairs)
        masks = np.stack([sample.regions[next(iter(sample.target.values()))] for sample, _ in pairs])
        return images, twins, masks[:, np.newaxis] | (images != twins).any(axis=1, keepdims=True)

    def _ask_without_each(self, recipes: Sequence[Recipe], ask: Ask) -> list[dict[str, Float64]]:
        logits_by_feature: list[dict[str, Float64]] = [{} for _ in recipes]
        single = [(i, name) for i, recipe in enumerate(recipes) for name in self.generator.features(recipe)]
        for start in range(0, len(single), len(recipes)):
            part = single[start : start + len(recipes)]
            logits = ask(_images(self.generator.render(recipes[i], omit=(name,)).image for i, name in part))
            for (i, name), answer in zip(part, logits, strict=True):
                logits_by_feature[i][name] = answer
        return logits_by_feature


def _step(images: Float32, others: Float32) -> Float32:
    """Images on the way to others."""
    return images + np.float32(STEP) * (others - images)


def _stacked(said: Sequence[dict[str, Float64]]) -> dict[str, Float64]:
    """Logits (n, R, K) of (n, K) for each of R redraws."""
    return {name: np.stack([one[name] for one in said], axis=1) for name in said[0]}


def _images(levels: Iterable[NDArray[Any]]) -> Float32:
    """Integer levels (H, W, C) as float32 (n, C, H, W) in [0, 1], as a data set's reader gives them."""
    return to_unit(np.stack([image.transpose(2, 0, 1) for image in levels]))
