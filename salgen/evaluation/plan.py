"""What a run does: data, models, methods, metrics and conventions, fixed before any work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.datasets.reader import Batch, Dataset
from salgen.evaluation.conventions import Conventions
from salgen.evaluation.explaining import explain_all
from salgen.evaluation.model_view import ModelView
from salgen.evaluation.patterns import Patterns
from salgen.evaluation.question import Explained
from salgen.evaluation.subjects import Subject

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
    left_out
        Calls of methods that are not defined for the model, and why.
    max_memory
        GB that explaining may use, or None.
    """

    dataset: Dataset
    models: list[Subject]
    methods: dict[str, Any]
    metrics: dict[str, Any]
    conventions: Conventions
    left_out: dict[str, str]
    max_memory: float | None

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

    @cached_property
    def groups(self) -> list[list[str]]:
        """Calls of the methods that are explained together, since they have passes in common."""
        groups: dict[str, list[str]] = {}
        for call, method in self.methods.items():
            groups.setdefault(method.shares or call, []).append(call)
        return list(groups.values())

    def explain(
        self,
        model: ModelView,
        calls: Sequence[str],
        batch: Batch,
        predicted: Classes | None,
        patterns: Patterns | None,
    ) -> Explained:
        """The maps of some methods for a batch, under the run's conventions.

        `predicted` is int64 (n,), or None where the model has not been asked yet.
        """
        return explain_all(
            model,
            batch.images,
            batch.labels if self.conventions.target == "label" else predicted,
            methods=[self.methods[call] for call in calls],
            reduce=self.conventions.reduce,
            score=self.conventions.score,
            masks=batch.masks,
            ids=batch.ids,
            seed=self.conventions.seed,
            max_memory=self.max_memory,
            patterns=patterns,
        )
