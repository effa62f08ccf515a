"""What the metrics of a run may look at: the maps of a chunk, of its twins and by other models."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from salgen.datasets.reader import Batch
from salgen.evaluation.conventions import PREDICTED
from salgen.evaluation.evidence import COUNTERPARTS, Counterpart, Evidence, Explain
from salgen.evaluation.predictions import Classes
from salgen.evaluation.question import Explained
from salgen.evaluation.score_inputs import explain_again
from salgen.types import Float32, Mask, SaliencyMap

if TYPE_CHECKING:
    from salgen.evaluation.units import SubjectWork


@dataclass(frozen=True, eq=False)
class ChunkEvidence:
    """A chunk of samples as the methods of one group explain it.

    Attributes
    ----------
    work
        Whose model it is.
    batch, predicted, targets
        The samples, the class that the model predicts for each, and the class that is explained.
    calls
        The methods of the group.
    """

    work: SubjectWork
    batch: Batch
    predicted: Classes
    targets: Classes
    calls: tuple[str, ...]

    def of(self, call: str, maps: SaliencyMap, region: str | None) -> Evidence:
        """One method's evidence, scored in a region or in the whole image."""
        plan, needs = self.work.plan, self.work.plan.needs
        asks = bool(needs & {"model", "method"})
        return Evidence(
            maps=maps.values.cpu().numpy(),
            masks=plan.masks(self.batch),
            valid=None if region is None else self.batch.regions[region],
            images=self.batch.images if asks or "image" in needs else None,
            targets=self.targets,
            twins=self.batch.twins if "twin" in needs else None,
            correct=self.predicted == self.batch.labels,
            counterparts={name: self._counterpart(name, call) for name in sorted(needs & set(COUNTERPARTS))},
            view=self.work.view if asks else None,
            max_memory=plan.max_memory,
            explain=self._explain(call) if "method" in needs else None,
            fitted="patterns" in plan.methods[call].needs,
            ids=self.batch.ids,
            seed=plan.conventions.seed,
        )

    def _explain(self, call: str) -> Explain:
        plan = self.work.plan
        conventions = plan.conventions
        return explain_again(
            self.work.view,
            plan.methods[call],
            conventions.reduce,
            conventions.score,
            conventions.seed,
            plan.max_memory,
            self.work.patterns,
        )

    def _counterpart(self, name: str, call: str) -> Counterpart:
        explained, correct, there = self._counterparts[name]
        return Counterpart(explained[call].values.cpu().numpy(), correct, there)

    @cached_property
    def _counterparts(self) -> dict[str, tuple[Explained, Mask, Mask]]:
        """The second maps of all methods of the group, explained together."""
        needed = self.work.plan.needs & set(COUNTERPARTS)
        return {name: self._of_twins() if name == "twin_maps" else self._by_other(name) for name in sorted(needed)}

    def _of_twins(self) -> tuple[Explained, Mask, Mask]:
        there = np.array([twin is not None for twin in self.batch.twins])
        images = np.stack(
            [image if twin is None else twin for image, twin in zip(self.batch.images, self.batch.twins, strict=True)]
        )
        explained = self._explained(self.work, images, self.targets)
        return explained, self.work.predict(images) == self.batch.labels, there

    def _by_other(self, name: str) -> tuple[Explained, Mask, Mask]:
        """Maps by another model: a paired one explains its own task's class, one of permuted labels the same class."""
        other, images = self.work.others[name], self.batch.images
        task = other.subject.task
        labels = self.batch.labels if task is None else self.batch.classes(task)
        predicted, targets = other.predict(images), self.targets
        if name == "paired_maps":
            targets = predicted if other.plan.conventions.target == PREDICTED else labels
        explained = self._explained(other, images, targets)
        return explained, predicted == labels, np.ones(len(images), dtype=bool)

    def _explained(self, work: SubjectWork, images: Float32, targets: Classes) -> Explained:
        return work.plan.explain(work.view, self.calls, images, targets, self.batch, work.patterns)
