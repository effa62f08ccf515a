"""What a run does: data, models, methods, metrics and conventions, fixed before any work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from salgen.datasets.reading.reader import Batch, Dataset
from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.attribution.batch_explainer import Explained
from salgen.evaluation.attribution.explaining import explain_all
from salgen.evaluation.attribution.patterns import Patterns
from salgen.evaluation.metrics.inputs.metric import Metric
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.runs.artifacts.conventions import CHUNK, LABEL, PREDICTED, Conventions
from salgen.evaluation.runs.artifacts.predictions import Classes
from salgen.evaluation.runs.artifacts.saved_maps import KINDS, OF_SAMPLES
from salgen.evaluation.runs.evaluated_models import EvaluatedModel
from salgen.types import Float32, Mask

if TYPE_CHECKING:
    from salgen.evaluation.runs.source_run import SourceRun

WHOLE_IMAGE = "region:image"


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
    paired
        Training seed to a second model, for metrics that contrast two.
    shuffled
        Training seed to a model that was trained with it on permuted labels.
    keep_maps
        Whether the maps stay on disk.
    given
        The run whose maps are scored, where nothing is explained.
    device
        The type of device on which predictions and maps are made, where others than this process make them.
    """

    dataset: Dataset
    models: list[EvaluatedModel]
    methods: dict[str, Any]
    metrics: dict[str, Metric]
    conventions: Conventions
    left_out: dict[str, str]
    max_memory: float | None
    paired: Mapping[int, EvaluatedModel] = field(default_factory=dict)
    shuffled: Mapping[int, EvaluatedModel] = field(default_factory=dict)
    keep_maps: bool = False
    given: SourceRun | None = None
    device: str | None = None

    def changed(self, **fields: Any) -> Plan:
        """The same plan with other values of fields that leave the scored samples as they are."""
        plan = replace(self, **fields)
        vars(plan).update(scored=self.scored, chunks=self.chunks)  # which takes reading all masks
        return plan

    def of(self, subject: EvaluatedModel) -> Plan:
        """The plan for one of its models alone, and those that stand beside it."""
        seed = subject.seed
        beside = {"paired": self.paired, "shuffled": self.shuffled}
        return self.changed(
            models=[subject], **{name: {seed: m[seed]} if seed in m else {} for name, m in beside.items()}
        )

    @cached_property
    def task(self) -> str:
        """The data set's default task."""
        return next(iter(self.dataset.tasks))

    @cached_property
    def mask(self) -> str:
        """The region that is the ground truth.

        Raises
        ------
        SalgenError
            If the data set has no such region.
        """
        given = self.conventions.mask
        if given is not None and given not in self.dataset.region_names:
            raise unknown_name(f"region of {self.dataset.path}", given, self.dataset.region_names)
        return self.dataset.manifest.targets[self.task] if given is None else given

    def masks(self, batch: Batch) -> Mask:
        """The masks that count as correct, bool (N, K, H, W)."""
        return batch.acceptable if self.conventions.mask is None else batch.region(self.mask)[:, np.newaxis]

    @cached_property
    def named_class(self) -> int | None:
        """The one class that is explained for every sample, if the conventions name one.

        Raises
        ------
        SalgenError
            If the task has no such class.
        """
        target, classes = self.conventions.target, self.dataset.tasks[self.task]
        if target in (LABEL, PREDICTED):
            return None
        if target not in classes:
            raise unknown_name("target", target, [LABEL, PREDICTED, *classes])
        return classes.index(target)

    def targets(self, labels: Classes, predicted: Callable[[], Classes]) -> Classes:
        """The class that is explained for each sample, int64 (N,); `predicted` is asked only where it is needed."""
        if self.named_class is not None:
            return np.full(len(labels), self.named_class, dtype=np.int64)
        return labels if self.conventions.target == LABEL else predicted()

    @cached_property
    def considered(self) -> int:
        """How many samples from the split's start on are looked at."""
        limit = self.conventions.limit
        return len(self.dataset) if limit is None else min(limit, len(self.dataset))

    @cached_property
    def scored(self) -> list[int]:
        """The considered samples that have a ground-truth mask: what is absent cannot be found."""
        present = self.dataset.present(self.mask, self.considered)
        return [index for index in range(self.considered) if present[index]]

    def check_scored(self) -> None:
        """Raise a SalgenError if there is nothing to score."""
        if not self.scored:
            advice = "raise limit" if self.considered < len(self.dataset) else "name another region, as mask"
            raise SalgenError(f"none of the {self.considered} samples has a ground-truth mask ({self.mask}): {advice}")

    @cached_property
    def chunks(self) -> list[tuple[int, ...]]:
        """The scored samples, `CHUNK` at a time."""
        return [tuple(self.scored[start : start + CHUNK]) for start in range(0, len(self.scored), CHUNK)]

    @cached_property
    def variants(self) -> dict[str, str | None]:
        """Variant name to the region that is scored, None for the whole image; the headline first.

        Where no metric is scored within a region, there is the whole image alone.
        """
        valid = self.dataset.valid_region if any(metric.regional for metric in self.of_maps.values()) else None
        return {**({f"region:{valid}": valid} if valid else {}), WHOLE_IMAGE: None}

    @cached_property
    def of_maps(self) -> dict[str, Metric]:
        """The metrics that are scored map by map, without training again."""
        return {name: metric for name, metric in self.metrics.items() if "training" not in metric.needs}

    @cached_property
    def needs(self) -> frozenset[str]:
        """All that these need."""
        return frozenset().union(*(metric.needs for metric in self.of_maps.values()))

    @cached_property
    def kinds(self) -> list[str]:
        """The kinds of maps that are scored."""
        return [kind for kind in KINDS if kind == OF_SAMPLES or kind in self.needs]

    def metrics_in(self, variant: str) -> dict[str, Metric]:
        """Those that are scored in a variant: some look at the whole image only."""
        return {name: m for name, m in self.of_maps.items() if m.regional or self.variants[variant] is None}

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
        images: Float32,
        targets: Classes | None,
        batch: Batch,
        patterns: Patterns | None,
    ) -> Explained:
        """The maps of some methods, under the run's conventions.

        Parameters
        ----------
        images, targets
            float32 (n, C, H, W), of the batch's samples, and the classes to explain; None for the predicted.
        batch
            Whose masks and ids they are.
        """
        return explain_all(
            model,
            images,
            targets,
            methods=[self.methods[call] for call in calls],
            reduce=self.conventions.reduce,
            score=self.conventions.score,
            masks=self.masks(batch)[:, 0],
            ids=batch.ids,
            seed=self.conventions.seed,
            max_memory=self.max_memory,
            patterns=patterns,
        )
