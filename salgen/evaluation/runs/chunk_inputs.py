"""The inputs of models and metrics for a chunk of samples: images, twins, patches, targets, maps."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple
import numpy as np
from salgen.datasets.reading.reader import Batch
from salgen.evaluation.metrics.inputs.metric_inputs import PAIRED, Counterpart, Explain, MapKind, MetricInputs
from salgen.evaluation.runs.artifacts.predictions import Classes
from salgen.evaluation.runs.artifacts.saved_maps import SavedMaps
from salgen.evaluation.runs.conventions import PREDICTED
from salgen.evaluation.runs.evaluated_models import EvaluatedModel
from salgen.evaluation.runs.insignificant_patch import insignificant_patches
from salgen.evaluation.runs.plan import Plan
from salgen.types import Float32, Mask


class ImageSet(NamedTuple):
    """Images to explain, float32 (N, C, H, W); whether each sample has one; and the faults of some, by sample id."""

    images: Float32
    exists: Mask
    faults: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class ChunkInputs:
    """A chunk of samples, or a piece of one, under one model."""

    plan: Plan
    model: EvaluatedModel
    # the samples, and the class that the model predicts for each
    batch: Batch
    predicted: Classes
    _patched: dict[MapKind, ImageSet] = field(default_factory=dict, repr=False)

    @cached_property
    def targets(self) -> Classes:
        """The class that is explained for each sample, int64 (N,)."""
        return self.plan.targets(self.batch.labels, lambda: self.predicted)

    @property
    def correct(self) -> Mask:
        """Bool (N,), True where the model classifies the sample correctly."""
        return np.asarray(self.predicted == self.batch.labels)

    def task(self, kind: MapKind, model: EvaluatedModel) -> tuple[ImageSet, Classes, Mask]:
        """The images and classes that maps of a kind explain, and whether the model of these maps is right on each."""
        if kind is MapKind.SAMPLES:
            return self._samples, self.targets, self.correct
        image_set = self._twins if kind.of_twins else self._samples
        if kind.patched:
            if kind not in self._patched:
                self._patched[kind] = self._with_patches(model)
            image_set = self._patched[kind]
        labels, targets = self._labels(model), self.targets
        if kind.model == PAIRED:
            own = self.plan.conventions.target == PREDICTED
            targets = model.predict(self.batch.images, labels) if own else labels
        return image_set, targets, model.predict(image_set.images, labels) == labels

    def metric_inputs(
        self, maps: Mapping[MapKind, SavedMaps], region: str | None, explain: Explain | None, fitted: bool
    ) -> MetricInputs:
        """The inputs of metrics that score one method's maps, of all needed kinds, in a region or the whole image."""
        plan, needs = self.plan, self.plan.needs
        runs_model = bool(needs & {"model", "method"})
        return MetricInputs(
            maps=maps[MapKind.SAMPLES].values,
            masks=plan.masks(self.batch),
            valid=None if region is None else self.batch.region(region),
            images=self.batch.images if runs_model or "image" in needs else None,
            targets=self.targets,
            twins=self.batch.twins if "twin" in needs else None,
            correct=self.correct,
            attributions=self._attributions if "attribution" in needs else None,
            counterparts={kind: self._counterpart(maps[kind]) for kind in maps if kind is not MapKind.SAMPLES},
            view=self.model.view if runs_model else None,
            max_memory=plan.max_memory,
            explain=explain if "method" in needs else None,
            fitted=fitted,
            ids=self.batch.ids,
            seed=plan.conventions.seed,
        )

    def _counterpart(self, maps: SavedMaps) -> Counterpart:
        faults = [maps.faults.get(sample, "") for sample in self.batch.ids] if maps.faults else ()
        return Counterpart(np.asarray(maps.values), maps.correct, maps.there, faults)

    @cached_property
    def _attributions(self) -> Float32:
        """Exact attributions of what is explained, float32 (N, rows, columns): of a logit, or of a margin."""
        rows, exact = np.arange(len(self.batch)), self.batch.attributions
        if self.plan.conventions.score == "logit":
            return np.asarray(exact[rows, self.targets])
        others = self.model.logits(self.batch.images).cpu().numpy()  # probabilities may all be 0
        others[rows, self.targets] = -np.inf
        return np.asarray(exact[rows, self.targets] - exact[rows, others.argmax(axis=1)])

    @cached_property
    def _samples(self) -> ImageSet:
        return ImageSet(self.batch.images, np.ones(len(self.batch), dtype=bool), {})

    @cached_property
    def _twins(self) -> ImageSet:
        """The twins, or the image itself where a sample has none."""
        pairs = list(zip(self.batch.images, self.batch.twins, strict=True))
        exists = np.array([twin is not None for _, twin in pairs])
        return ImageSet(np.stack([image if twin is None else twin for image, twin in pairs]), exists, {})

    def _with_patches(self, model: EvaluatedModel) -> ImageSet:
        """The twins, each with a patch in the feature's place that the model ignores."""
        chosen = np.flatnonzero(self._twins.exists)
        patched = insignificant_patches(
            model.view,
            self.batch.images[chosen],
            self._twins.images[chosen],
            self.plan.masks(self.batch)[chosen, 0],
            self._labels(model)[chosen],
            self.plan.max_memory,
        )
        images = self._twins.images.copy()
        images[chosen] = patched.images
        faults = {self.batch.ids[i]: fault for i, fault in zip(chosen, patched.faults, strict=True) if fault}
        return ImageSet(images, self._twins.exists, faults)

    def _labels(self, model: EvaluatedModel) -> Classes:
        return self.batch.labels if model.task is None else self.batch.classes(model.task)
