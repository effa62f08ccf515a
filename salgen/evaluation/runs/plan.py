"""The plan of a run: data, models, methods, metrics and conventions, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
import numpy as np
from salgen.datasets.reading.reader import Batch, Dataset
from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.metrics.inputs.metric import Metric
from salgen.evaluation.metrics.inputs.metric_inputs import MapKind
from salgen.evaluation.runs.artifacts.predictions import Classes
from salgen.evaluation.runs.artifacts.run_record import CHUNK
from salgen.evaluation.runs.conventions import LABEL, PREDICTED, Conventions
from salgen.evaluation.runs.evaluated_models import EvaluatedModel
from salgen.evaluation.runs.source_run import SourceRun
from salgen.types import Mask

WHOLE_IMAGE = "region:image"


@dataclass(frozen=True)
class Plan:
    """Everything that a run's scores depend on; made by :meth:`of`."""

    dataset: Dataset
    conventions: Conventions
    scored: tuple[int, ...]  # the considered samples that have a ground-truth mask
    models: list[EvaluatedModel]
    # display call to plug-in instance
    methods: dict[str, Any]
    metrics: dict[str, Metric]
    # calls of methods that are not defined for the model, with the reasons
    left_out: dict[str, str] = field(default_factory=dict)
    max_memory: float | None = None  # GB that explaining may use, or None
    # training seed to a second model, for metrics that contrast two models
    paired: Mapping[int, EvaluatedModel] = field(default_factory=dict)
    # training seed to a model trained with the same seed on permuted labels
    shuffled: Mapping[int, EvaluatedModel] = field(default_factory=dict)
    keep_maps: bool = False  # whether the maps stay on disk
    source_run: SourceRun | None = None  # the run whose maps are scored, where nothing is explained
    device: str | None = None  # the type of device on which predictions and maps are made, if Ray workers make them
    chunk_size: int = field(default_factory=lambda: CHUNK)  # samples that are explained and scored together

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        conventions: Conventions,
        models: list[EvaluatedModel],
        methods: dict[str, Any],
        metrics: dict[str, Metric],
        **options: Any,
    ) -> Plan:
        """The plan for the samples of a split that have a mask; reads all masks of the split."""
        plan = cls(dataset, conventions, (), models, methods, metrics, **options)
        plan.targets(np.zeros(0, dtype=np.int64), lambda: np.zeros(0, dtype=np.int64))  # raises for an unknown class
        present = dataset.present(plan.mask, plan.considered)
        scored = tuple(index for index in range(plan.considered) if present[index])
        if not scored:
            advice = "raise limit" if plan.considered < len(dataset) else "name another region, as mask"
            raise SalgenError(f"none of the {plan.considered} samples has a ground-truth mask ({plan.mask}): {advice}")
        return replace(plan, scored=scored)

    def for_model(self, model: EvaluatedModel) -> Plan:
        """The plan for one of its models, with its paired and its permuted-labels model."""
        paired, shuffled = (
            {seed: counterpart for seed, counterpart in by_seed.items() if seed == model.seed}
            for by_seed in (self.paired, self.shuffled)
        )
        return replace(self, models=[model], paired=paired, shuffled=shuffled)

    @cached_property
    def task(self) -> str:
        """The data set's default task."""
        return next(iter(self.dataset.tasks))

    @cached_property
    def mask(self) -> str:
        """The region that is the ground truth."""
        region = self.conventions.mask
        if region is not None and region not in self.dataset.region_names:
            raise unknown_name(f"region of {self.dataset.path}", region, self.dataset.region_names)
        return self.dataset.manifest.targets[self.task] if region is None else region

    def masks(self, batch: Batch) -> Mask:
        """The masks that count as correct, bool (N, K, H, W)."""
        return batch.acceptable if self.conventions.mask is None else batch.region(self.mask)[:, np.newaxis]

    def targets(self, labels: Classes, predicted: Callable[[], Classes]) -> Classes:
        """The class that is explained for each sample, int64 (N,); `predicted` is called only where it is needed."""
        target, classes = self.conventions.target, self.dataset.tasks[self.task]
        if target in (LABEL, PREDICTED):
            return labels if target == LABEL else predicted()
        if target not in classes:
            raise unknown_name("target", target, [LABEL, PREDICTED, *classes])
        return np.full(len(labels), classes.index(target), dtype=np.int64)

    @property
    def considered(self) -> int:
        """Number of samples considered, counted from the start of the split."""
        limit = self.conventions.limit
        return len(self.dataset) if limit is None else min(limit, len(self.dataset))

    @cached_property
    def chunks(self) -> list[tuple[int, ...]]:
        """The scored samples, `chunk_size` at a time."""
        size = self.chunk_size
        return [self.scored[start : start + size] for start in range(0, len(self.scored), size)]

    @cached_property
    def variants(self) -> dict[str, str | None]:
        """Variant to the region that is scored, the headline first; None for the whole image, the last or only one."""
        valid = self.dataset.valid_region if any(metric.regional for metric in self.of_maps.values()) else None
        return {**({f"region:{valid}": valid} if valid else {}), WHOLE_IMAGE: None}

    @cached_property
    def of_maps(self) -> dict[str, Metric]:
        """The metrics that are scored map by map, without training again."""
        return {name: metric for name, metric in self.metrics.items() if "training" not in metric.needs}

    @cached_property
    def needs(self) -> frozenset[str]:
        """Names of all inputs that the metrics of maps need."""
        return frozenset().union(*(metric.needs for metric in self.of_maps.values()))

    @cached_property
    def kinds(self) -> list[MapKind]:
        """The kinds of maps that are scored."""
        return [kind for kind in MapKind if kind is MapKind.SAMPLES or kind in self.needs]

    @property
    def kept_kinds(self) -> list[MapKind]:
        """The kinds of maps that stay on disk."""
        return self.kinds if self.keep_maps else []

    def metrics_in(self, variant: str) -> dict[str, Metric]:
        """The metrics that are scored in a variant: some apply to the whole image only."""
        return {name: m for name, m in self.of_maps.items() if m.regional or self.variants[variant] is None}

    @cached_property
    def groups(self) -> list[list[str]]:
        """Calls of the methods that are explained together, since they have passes in common."""
        groups: dict[str, list[str]] = {}
        for call, method in self.methods.items():
            groups.setdefault(method.shares or call, []).append(call)
        return list(groups.values())
