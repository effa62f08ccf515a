"""What the metrics of a run may look at: the maps of a chunk, of its twins and by other models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from salgen.datasets.reader import Batch
from salgen.evaluation.conventions import PREDICTED
from salgen.evaluation.evidence import COUNTERPARTS, Counterpart, Evidence, Explain
from salgen.evaluation.kept_maps import OF_SAMPLES, KeptMaps
from salgen.evaluation.predictions import Classes
from salgen.evaluation.score_inputs import explain_again
from salgen.types import Float32, Mask

if TYPE_CHECKING:
    from salgen.evaluation.units import SubjectWork


class Asked(NamedTuple):
    """Whose model is to explain what, and which of the maps count."""

    work: SubjectWork
    images: Float32
    targets: Classes
    correct: Mask
    there: Mask


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
    chunk
        The chunk's place among the scored samples.
    """

    work: SubjectWork
    batch: Batch
    predicted: Classes
    targets: Classes
    calls: tuple[str, ...]
    chunk: int
    _known: dict[str, dict[str, KeptMaps]] = field(default_factory=dict, repr=False)

    @property
    def correct(self) -> Mask:
        """Bool (N,): whether the model classifies each sample rightly."""
        return np.asarray(self.predicted == self.batch.labels)

    def of(self, call: str, region: str | None) -> Evidence:
        """One method's evidence, scored in a region or in the whole image."""
        plan, needs = self.work.plan, self.work.plan.needs
        asks = bool(needs & {"model", "method"})
        return Evidence(
            maps=self.found(OF_SAMPLES)[call].values,
            masks=plan.masks(self.batch),
            valid=None if region is None else self.batch.regions[region],
            images=self.batch.images if asks or "image" in needs else None,
            targets=self.targets,
            twins=self.batch.twins if "twin" in needs else None,
            correct=self.correct,
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
        found = self.found(name)[call]
        return Counterpart(found.values, found.correct, found.there)

    def found(self, kind: str) -> dict[str, KeptMaps]:
        """The maps of all methods of the group: those of the samples, or the second ones of `COUNTERPARTS`.

        Maps that were kept are read; the others are explained together, and kept where the run keeps its maps.
        """
        if kind not in self._known:
            there = {call: self.work.kept(kind, call, self.chunk, self.batch.ids) for call in self.calls}
            known = {call: maps for call, maps in there.items() if maps is not None}
            missing = tuple(call for call in self.calls if call not in known)
            for call, maps in self._explained(kind, missing).items() if missing else ():
                self.work.keep(kind, call, self.chunk, maps)
                known[call] = maps
            self._known[kind] = known
        return self._known[kind]

    def _explained(self, kind: str, calls: tuple[str, ...]) -> dict[str, KeptMaps]:
        """The maps of some methods, explained together."""
        work, images, targets, correct, there = self._asked(kind)
        explained = work.plan.explain(work.view, calls, images, targets, self.batch, work.patterns)
        return {
            call: KeptMaps(
                ids=self.batch.ids,
                targets=targets,
                correct=correct,
                there=there,
                values=np.asarray(maps.values.cpu().numpy()),
                reduction=str(maps.reduction),
                native_resolution=maps.native_resolution,
                seconds=explained.seconds[call],
            )
            for call, maps in explained.items()
        }

    def _asked(self, kind: str) -> Asked:
        if kind == OF_SAMPLES:
            everywhere = np.ones(len(self.batch), dtype=bool)
            return Asked(self.work, self.batch.images, self.targets, self.correct, everywhere)
        return self._of_twins() if kind == "twin_maps" else self._by_other(kind)

    def _of_twins(self) -> Asked:
        there = np.array([twin is not None for twin in self.batch.twins])
        images = np.stack(
            [image if twin is None else twin for image, twin in zip(self.batch.images, self.batch.twins, strict=True)]
        )
        return Asked(self.work, images, self.targets, self.work.predict(images) == self.batch.labels, there)

    def _by_other(self, name: str) -> Asked:
        """Maps by another model: a paired one explains its own task's class, one of permuted labels the same class."""
        other, images = self.work.others[name], self.batch.images
        task = other.subject.task
        labels = self.batch.labels if task is None else self.batch.classes(task)
        predicted, targets = other.predict(images), self.targets
        if name == "paired_maps":
            targets = predicted if other.plan.conventions.target == PREDICTED else labels
        return Asked(other, images, targets, predicted == labels, np.ones(len(images), dtype=bool))
