"""What a run does: data, models, methods, metrics and conventions, fixed before any work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.datasets.reader import Batch, Dataset
from salgen.evaluation.checkpoints import Trained
from salgen.evaluation.conventions import Conventions
from salgen.evaluation.explaining import explain
from salgen.evaluation.model_view import ModelView
from salgen.types import SaliencyMap

WHOLE_IMAGE = "region:image"

Classes = NDArray[np.int64]


@dataclass(frozen=True)
class Predictions:
    """What a model says of every sample of a split.

    Attributes
    ----------
    labels, predicted
        int64 (N,): the true and the most likely class.
    """

    labels: Classes
    predicted: Classes

    @property
    def accuracy(self) -> float:
        """Share of samples whose predicted class is the true one."""
        return float(np.mean(self.labels == self.predicted))


@dataclass(frozen=True)
class Plan:
    """All that a run's scores depend on.

    Attributes
    ----------
    methods, metrics
        Display call to plug-in instance.
    """

    dataset: Dataset
    models: list[Trained]
    methods: dict[str, Any]
    metrics: dict[str, Any]
    conventions: Conventions

    @cached_property
    def task(self) -> str:
        """The data set's default task."""
        return next(iter(self.dataset.tasks))

    @cached_property
    def considered(self) -> int:
        """How many samples from the split's start on are looked at."""
        limit = self.conventions.limit
        return len(self.dataset) if limit is None else min(limit, len(self.dataset))

    @cached_property
    def scored(self) -> list[int]:
        """The considered samples that have a ground-truth mask: what is absent cannot be found."""
        present = self.dataset.mask_present()
        return [index for index in range(self.considered) if present[index]]

    @cached_property
    def variants(self) -> dict[str, str | None]:
        """Variant name to the region that is scored, None for the whole image; the headline first."""
        valid = self.dataset.valid_region
        return {**({f"region:{valid}": valid} if valid else {}), WHOLE_IMAGE: None}

    def targets(self, said: Predictions, batch: Batch, indices: Sequence[int]) -> Classes:
        """int64 (n,): the classes that are explained for the samples at `indices`."""
        explained = batch.labels if self.conventions.target == "label" else said.predicted[list(indices)]
        return np.asarray(explained, dtype=np.int64)

    def explain(self, model: ModelView, call: str, batch: Batch, targets: Classes) -> SaliencyMap:
        """The maps of one method for a batch, under the run's conventions."""
        return explain(
            model,
            batch.images,
            targets,
            method=self.methods[call],
            reduce=self.conventions.reduce,
            score=self.conventions.score,
            masks=batch.masks,
            ids=batch.ids,
            seed=self.conventions.seed,
        )
