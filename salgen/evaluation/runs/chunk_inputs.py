"""What the metrics of a run may look at: the maps of a chunk, of its twins, of these with a patch, by other models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from salgen.datasets.reading.reader import Batch
from salgen.evaluation.metrics.inputs.metric_inputs import COUNTERPARTS, Counterpart, Explain, MetricInputs
from salgen.evaluation.runs.artifacts.conventions import PREDICTED
from salgen.evaluation.runs.artifacts.predictions import Classes
from salgen.evaluation.runs.artifacts.saved_maps import OF_SAMPLES, SavedMaps
from salgen.evaluation.runs.insignificant_patch import insignificant_patches
from salgen.evaluation.scoring.score_inputs import explain_again
from salgen.types import Float32, Mask

if TYPE_CHECKING:
    from salgen.evaluation.runs.model_runner import ModelRunner


class ImageSet(NamedTuple):
    """The images that are explained, whether each sample has one, and what is wrong with some, by their names."""

    images: Float32
    there: Mask
    faults: Mapping[str, str]


class ExplainTask(NamedTuple):
    """Whose model is to explain what, and which of the maps count."""

    work: ModelRunner
    shown: ImageSet
    targets: Classes
    correct: Mask


@dataclass(frozen=True, eq=False)
class ChunkInputs:
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
    patched
        The twins with patches that a model ignores, by the kind of their maps; the same for all groups.
    """

    work: ModelRunner
    batch: Batch
    predicted: Classes
    targets: Classes
    calls: tuple[str, ...]
    chunk: int
    patched: dict[str, ImageSet] = field(default_factory=dict, repr=False)
    _known: dict[str, dict[str, SavedMaps]] = field(default_factory=dict, repr=False)

    @property
    def correct(self) -> Mask:
        """Bool (N,): whether the model classifies each sample rightly."""
        return np.asarray(self.predicted == self.batch.labels)

    def of(self, call: str, region: str | None) -> MetricInputs:
        """One method's evidence, scored in a region or in the whole image."""
        plan, needs = self.work.plan, self.work.plan.needs
        asks = bool(needs & {"model", "method"})
        return MetricInputs(
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
        faults = [found.faults.get(sample, "") for sample in self.batch.ids] if found.faults else ()
        return Counterpart(found.values, found.correct, found.there, faults)

    def found(self, kind: str) -> dict[str, SavedMaps]:
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

    def _explained(self, kind: str, calls: tuple[str, ...]) -> dict[str, SavedMaps]:
        """The maps of some methods, explained together."""
        work, shown, targets, correct = self._asked(kind)
        explained = work.plan.explain(work.view, calls, shown.images, targets, self.batch, work.patterns)
        return {
            call: SavedMaps(
                ids=self.batch.ids,
                targets=targets,
                correct=correct,
                there=shown.there,
                values=np.asarray(maps.values.cpu().numpy()),
                reduction=str(maps.reduction),
                native_resolution=maps.native_resolution,
                seconds=explained.seconds[call],
                faults=shown.faults,
            )
            for call, maps in explained.items()
        }

    def _asked(self, kind: str) -> ExplainTask:
        work, shown = self._who(kind), self._shown(kind)
        labels = self._labels(work)
        if kind == OF_SAMPLES:
            return ExplainTask(work, shown, self.targets, self.correct)
        return ExplainTask(work, shown, self._targets(kind, labels), work.predict(shown.images, labels) == labels)

    def _who(self, kind: str) -> ModelRunner:
        """Whose maps they are."""
        return self.work if kind in (OF_SAMPLES, "twin_maps", "patched_maps") else self.work.others[kind]

    def _shown(self, kind: str) -> ImageSet:
        if "patched" in kind:
            if kind not in self.patched:
                self.patched[kind] = self._with_patches(self._who(kind))
            return self.patched[kind]
        return (
            self._twins() if "twin" in kind else ImageSet(self.batch.images, np.ones(len(self.batch), dtype=bool), {})
        )

    def _twins(self) -> ImageSet:
        """The twins, and where there is none the image."""
        pairs = list(zip(self.batch.images, self.batch.twins, strict=True))
        there = np.array([twin is not None for _, twin in pairs])
        return ImageSet(np.stack([image if twin is None else twin for image, twin in pairs]), there, {})

    def _with_patches(self, work: ModelRunner) -> ImageSet:
        """The twins with a patch each in the feature's place that a model ignores."""
        plan, twins = self.work.plan, self._twins()
        chosen = np.flatnonzero(twins.there)
        found = insignificant_patches(
            work.view,
            self.batch.images[chosen],
            twins.images[chosen],
            plan.masks(self.batch)[chosen, 0],
            self._labels(work)[chosen],
            plan.max_memory,
        )
        images = twins.images.copy()
        images[chosen] = found.images
        faults = {self.batch.ids[i]: fault for i, fault in zip(chosen, found.faults, strict=True) if fault}
        return ImageSet(images, twins.there, faults)

    def _labels(self, work: ModelRunner) -> Classes:
        task = work.subject.task
        return self.batch.labels if task is None else self.batch.classes(task)

    def _targets(self, kind: str, labels: Classes) -> Classes:
        """What second maps explain: a paired model its own task's class, one of permuted labels the same class."""
        if not kind.startswith("paired"):
            return self.targets
        other = self._who(kind)
        return other.predict(self.batch.images, labels) if other.plan.conventions.target == PREDICTED else labels
