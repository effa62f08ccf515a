"""Training for reliance on the feature: in each epoch an image stands on another background, beside two twins.

What the reliance certificate asks of a sample is asked here of every image of a batch: without the feature the score
of its class must be the same on all backgrounds (:mod:`salgen.evaluation.reliance.certificate_rule`). One twin is on
the other background, one on the image's own. No saliency map is looked at.

References
----------
Heinze-Deml & Meinshausen 2021, *Conditional variance penalties and domain shift robustness*, Machine Learning 110, and
Yang et al. 2019, *Invariance-inducing regularization using worst-case transformations suffices to boost accuracy and
spatial robustness*, NeurIPS (relatives of the penalty).
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import one_hot
from torch.utils.data import DataLoader, Dataset
from salgen.datasets.reading import reader
from salgen.datasets.reading.batch import to_unit
from salgen.generators.factory import redrawing_generator_of
from salgen.generators.generator import Generator
from salgen.types import Recipe


class Redrawn(NamedTuple):
    """A batch of images on other backgrounds."""

    images: Tensor  # float32 (n, C, H, W)
    # float32 (m, 2, C, H, W): of the m images that have a twin, that on their own background and that on the other
    twins: Tensor
    has_twin: Tensor  # bool (n,)


REPLACED = "replaced.npy"  # beside images that stand in for a data set's: the pixels that differ, of the split train
RenderBatches = Callable[[Sequence[Sequence[int]]], Iterator[Redrawn]]  # takes batches of indices


@dataclass(frozen=True)
class Redraws(Dataset[Redrawn]):
    """Batches of training images on other backgrounds, by an epoch's number and the images' indices."""

    # generator, seed: the generator that made the data set, and the data set's seed
    generator: Generator
    seed: int
    # those on images' own backgrounds, uint8 or uint16 (C, H, W) or None for each image of the split `train`, if the
    # data set has twins: they are read or rendered once, and not each epoch
    twins: Sequence[NDArray[Any] | None] = ()
    # where a folder's images stand in for the data set's: these, (N, C, H, W), and their replaced pixels, bool (N, 1,
    # H, W). Redraws and twins of an image get the same pixels from it
    given: tuple[NDArray[Any], NDArray[np.bool_]] | None = None

    @classmethod
    def of(cls, dataset: reader.Dataset, images: Path | None = None) -> Redraws:
        """For the training images of a data set; errors are those of :func:`check_redrawable`."""
        generator, split = check_redrawable(dataset), dataset.of_split("train")
        batches = split.batches(split.manifest.rows_per_group) if split.manifest.twins else ()
        given = None if images is None else (np.load(images / "train.npy", mmap_mode="r"), np.load(images / REPLACED))
        return cls(generator, split.spec.seed, [twin for batch in batches for twin in batch.twin_levels()], given)

    def __getitem__(self, wanted: tuple[int, Sequence[int]]) -> Redrawn:
        epoch, indices = wanted
        recipes = [self.generator.recipe(self.seed, "train", index) for index in indices]
        redrawn = [self.generator.redraw(recipe, self.seed, epoch) for recipe in recipes]
        shown = list(self.generator.render_pairs(redrawn))
        images = np.stack([sample.image for sample, _ in shown])
        own = self._own_twins(indices, recipes)
        pairs = [(first, second) for first, (_, second) in zip(own, shown, strict=True) if first is not None]
        twins = np.array(pairs, images.dtype).reshape(-1, 2, *images.shape[1:])  # there may be none
        has_twin = np.array([twin is not None for twin in own])
        if self.given is not None:
            stand_ins, replaced = (np.moveaxis(part[indices], 1, -1) for part in self.given)
            images = np.where(replaced, stand_ins, images)
            twins = np.where(replaced[has_twin][:, None], stand_ins[has_twin][:, None], twins)
        return Redrawn(_unit(images), _unit(twins), torch.from_numpy(has_twin))

    def _own_twins(self, indices: Sequence[int], recipes: Sequence[Recipe]) -> list[NDArray[Any] | None]:
        """The twins on the images' own backgrounds, (H, W, C), or None where there is none."""
        if not self.twins:
            return [twin for _, twin in self.generator.render_pairs(recipes)]
        stored = [self.twins[index] for index in indices]
        return [None if twin is None else np.moveaxis(twin, 0, -1) for twin in stored]


class RedrawLoader:
    """Batches that workers render ahead of use; workers started anew each epoch doubled its time (docs/design.md)."""

    def __init__(self, redraws: Redraws, workers: int) -> None:
        self._wanted: list[tuple[int, Sequence[int]]] = []
        self._loader = DataLoader(
            redraws,
            batch_size=None,
            sampler=self._wanted,
            num_workers=workers,
            persistent_workers=True,
            generator=torch.Generator(),  # the caller's random numbers are left alone
            worker_init_fn=_leave_stopping_to_others,
        )
        iter(self._loader)  # starts the workers

    def epoch(self, number: int, batches: Sequence[Sequence[int]]) -> Iterator[Redrawn]:
        """The batches of an epoch, from 0, in their order; each epoch has backgrounds of its own."""
        self._wanted[:] = [(number, batch) for batch in batches]
        return iter(self._loader)


def check_redrawable(dataset: reader.Dataset) -> Generator:
    """The generator of a data set, which can draw the background of a training image again."""
    spec = dataset.spec
    generator = redrawing_generator_of(spec, dataset.source)
    generator.redraw(generator.recipe(spec.seed, "train", 0), spec.seed, 0)
    return generator


def reliance_penalty(score: Tensor, twins: Tensor) -> Tensor:
    """The mean over images of log(1 + q), with q = max over twins of (s_twin - s̄)² / ((s - s̄)² + 1), s̄ their mean.

    `score` (m,) is that of each image's class, `twins` (m, T) those of the same class on T other backgrounds.
    """
    if not len(score):
        return twins.sum()
    centre = twins.mean(dim=1)
    moved = (twins - centre[:, None]).square().amax(dim=1)
    return torch.log1p(moved / ((score - centre).square() + 1)).mean()


def twin_targets(labels: Tensor, classes: Tensor, count: int) -> Tensor:
    """What a model is to say of twins: float32 (m, K).

    Of two classes the other one, of more all alike, and where an image may show several, those but the one taken away:
    `classes` int64 (m,). `labels` are int64 (m,), or float32 (m, K) of zeros and ones, and K is `count`.
    """
    taken = one_hot(classes, count).float()
    if labels.ndim == 2:
        return labels * (1 - taken)
    return 1 - taken if count == 2 else torch.full_like(taken, 1 / count)


def _unit(levels: NDArray[Any]) -> Tensor:
    """Integer levels (..., H, W, C) as float32 (..., C, H, W) in [0, 1]."""
    return torch.from_numpy(np.ascontiguousarray(to_unit(np.moveaxis(levels, -1, -3))))


def _leave_stopping_to_others(_worker: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
