"""The units of a run: a chunk of samples under one method, explained, scored and kept in a file of its own.

A file's name is the digest of all that its scores depend on, so a stopped run goes on where it was,
and a run with one more method computes that method only. Methods that have passes in common are
explained together.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from salgen.errors import SalgenError
from salgen.evaluation.attribution.patterns import VERSION as PATTERNS_VERSION
from salgen.evaluation.attribution.patterns import Patterns, fit_patterns
from salgen.evaluation.metrics.inputs.metric_inputs import COUNTERPARTS
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.runs.artifacts.chunk_files import PARTS, ScoreChunk, unit_table
from salgen.evaluation.runs.artifacts.conventions import CHUNK
from salgen.evaluation.runs.artifacts.predictions import (
    Classes,
    Predictions,
    predict_split,
    predicted_classes,
    present_in,
)
from salgen.evaluation.runs.artifacts.saved_maps import OF_SAMPLES, SavedMaps, key_of, maps_name, read_maps, write_maps
from salgen.evaluation.runs.chunk_inputs import ChunkInputs, ImageSet
from salgen.evaluation.runs.evaluated_models import EvaluatedModel
from salgen.evaluation.runs.insignificant_patch import VERSION as PATCH_VERSION
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.runs.run_record import library_versions
from salgen.evaluation.scoring.metric_computation import compute_metrics
from salgen.files import atomic_path
from salgen.parameters import canonical_json, to_json
from salgen.progress import progress
from salgen.types import Float32

if TYPE_CHECKING:
    from salgen.evaluation.runs.chunk_executors import Scorer


@dataclass(frozen=True)
class ModelRunner:
    """All units of one model."""

    plan: Plan
    subject: EvaluatedModel
    run: Path

    @cached_property
    def chunks(self) -> list[list[ScoreChunk]]:
        """Per chunk of the scored samples, a unit for each method."""
        return [
            [
                ScoreChunk(call, chunk, self.run / PARTS / f"{self._key(call, chunk)}.parquet")
                for call in self.plan.methods
            ]
            for chunk in self.plan.chunks
        ]

    @property
    def units(self) -> list[ScoreChunk]:
        """All of them, in order."""
        return [unit for chunk in self.chunks for unit in chunk]

    def finish(self, score: Scorer) -> None:
        """Have the files written that are missing."""
        missing = {number: self.missing(number, units) for number, units in enumerate(self.chunks)}
        total = len(self.plan.scored) * len(self.plan.methods)
        done = total - sum(len(unit.indices) for units in missing.values() for unit in units)
        doing = "score" if self.plan.given else "explain and score"
        label = f"{doing}, {self.subject.name} seed {self.subject.seed}"
        with progress(label, total, "maps", done=done) as advance:
            todo = {number: units for number, units in missing.items() if units}
            for unit in score(self, todo):
                advance(len(unit.indices))

    def missing(self, number: int, units: Sequence[ScoreChunk]) -> list[ScoreChunk]:
        """Those units of a chunk that are not scored, or whose maps are not kept where they shall be."""
        return [unit for unit in units if not self._is_there(unit, number)]

    @cached_property
    def predictions(self) -> Predictions:
        """What the model says of the whole split; asked once and kept."""
        if self.plan.given is not None:
            said = self.plan.given.predictions(self.subject, [str(name) for name in self.plan.dataset.column("id")])
            return replace(said, present=present_in(self.plan.dataset, self.plan.task))
        return predict_split(self.plan.dataset, self.plan.task, self.predictions_path, self.probabilities)

    @property
    def predictions_path(self) -> Path:
        """Where the predictions are kept."""
        dataset = self.plan.dataset
        known = [dataset.fingerprint, dataset.split, self.subject.digest, self.device, library_versions()]
        digest = hashlib.sha256(canonical_json(known).encode()).hexdigest()[:16]
        return self.run / PARTS / f"predictions-{digest}.parquet"

    @property
    def device(self) -> str:
        """The type of device that predictions and maps are made on: theirs who make them, or else the model's."""
        return self.plan.device or self.subject.device.type

    @cached_property
    def patterns(self) -> Patterns | None:
        """The model's patterns on the training images, if a method needs them; fitted once and kept."""
        if not any("patterns" in method.needs for method in self.plan.methods.values()):
            return None
        if self.plan.given is not None and "method" not in self.plan.needs:
            return None  # nothing is explained
        train = self.plan.dataset.of_split("train")
        known = f"{self.subject.digest} {train.fingerprint} {PATTERNS_VERSION}"
        digest = hashlib.sha256(known.encode()).hexdigest()[:16]
        path = self.subject.folder / f"patterns-{digest}.safetensors"
        if not path.exists():
            label = f"fit patterns, {self.subject.name} seed {self.subject.seed}"
            with progress(label, len(train), "images") as advance:

                def images() -> Iterator[Any]:
                    for batch in train.batches(CHUNK):
                        yield batch.images
                        advance(len(batch.ids))

                fit_patterns(self.view, images(), max_memory=self.plan.max_memory).save(path)
        try:
            return Patterns.load(path)
        except SalgenError as error:
            raise SalgenError(f"{error}; remove the file and run the same command again") from None

    @cached_property
    def view(self) -> ModelView:
        """The model as methods see it."""
        return ModelView.of(self.subject.classifier)

    def score(self, number: int, missing: Sequence[ScoreChunk], predicted: Classes) -> Iterator[ScoreChunk]:
        """Write the missing units of a chunk, those that share passes together.

        Parameters
        ----------
        number
            The chunk's place among the scored samples.
        predicted
            int64 (n,): the class that the model predicts for each of the chunk's samples.
        """
        (batch,) = self.plan.dataset.batches(CHUNK, list(self.plan.chunks[number]))
        targets = self.plan.targets(batch.labels, lambda: predicted)
        patched: dict[str, ImageSet] = {}
        for calls in self.plan.groups:
            units = [unit for unit in missing if unit.call in calls]
            names = tuple(unit.call for unit in units)
            evidence = ChunkInputs(self, batch, predicted, targets, names, number, patched)
            for unit in units:
                self._write(unit, evidence)
                yield unit

    # Maps that are kept ---------------------------------------------------------------------------

    def kept(self, kind: str, call: str, number: int, ids: list[str]) -> SavedMaps | None:
        """The maps of some samples of a chunk, if they were kept.

        Raises
        ------
        SalgenError
            If another run's maps are scored and it has not kept these.
        """
        if self.plan.given is not None:
            return self.plan.given.maps(self._maps_name(kind, call, number), ids)
        path = self.run / self._maps_name(kind, call, number)
        return read_maps(path, ids) if key_of(path) == self._maps_key(kind, call, number) else None

    def keep(self, kind: str, call: str, number: int, maps: SavedMaps) -> None:
        """Write maps to disk, where the run keeps them."""
        if self.plan.keep_maps:
            write_maps(self.run / self._maps_name(kind, call, number), maps, self._maps_key(kind, call, number))

    @property
    def kept_files(self) -> dict[str, str]:
        """The files of maps that the run keeps, each with a digest of what its maps depend on."""
        return {
            self._maps_name(kind, call, number): self._maps_key(kind, call, number)
            for call in (self.plan.methods if self.plan.keep_maps else ())
            for kind in self.plan.kinds
            for number in range(len(self.plan.chunks))
        }

    def _is_there(self, unit: ScoreChunk, number: int) -> bool:
        """Whether a unit is scored, and its maps are kept where they shall be."""
        return unit.path.exists() and not (
            self.plan.keep_maps
            and any(
                key_of(self.run / self._maps_name(kind, unit.call, number)) != self._maps_key(kind, unit.call, number)
                for kind in self.plan.kinds
            )
        )

    def _maps_name(self, kind: str, call: str, number: int) -> str:
        return maps_name(self.subject.name, self.subject.seed, call, kind, number)

    def _maps_key(self, kind: str, call: str, number: int) -> str:
        """A digest of all that maps depend on."""
        other = self.others.get(kind)
        known = {**self._depends_on(call, self.plan.chunks[number]), "kind": kind, "other": other and other._digests}
        known |= _patches([kind])
        return hashlib.sha256(canonical_json(known).encode()).hexdigest()[:32]

    def probabilities(self, images: Float32) -> Float32:
        """Probabilities (n, K) of images (n, C, H, W)."""
        with torch.inference_mode():
            logits = self.view.logits(self.view.normalise(self.view.like(torch.from_numpy(images))))
        return np.asarray(self.view.probabilities(logits).cpu().numpy(), dtype=np.float32)

    def predict(self, images: Float32, labels: Classes) -> Classes:
        """The predicted class of each image (n, C, H, W) that is about a class of `labels`, int64 (n,)."""
        return predicted_classes(self.probabilities(images), labels, self.view.multi_label)

    @cached_property
    def others(self) -> dict[str, ModelRunner]:
        """The models whose maps stand beside this one's, by what metrics call the maps."""
        plan, seed = self.plan, self.subject.seed
        works = {
            kind: replace(self, subject=models[seed])
            for kind, models in (("paired", plan.paired), ("shuffled", plan.shuffled))
            if seed in models
        }
        kinds = {name: name.partition("_")[0] for name in COUNTERPARTS}
        return {name: works[kind] for name, kind in kinds.items() if kind in works and name in plan.needs}

    @property
    def _digests(self) -> list[str | None]:
        """What a model is known by to another one's work."""
        return [self.subject.digest, self.subject.task]

    def _depends_on(self, call: str, chunk: Sequence[int]) -> dict[str, Any]:
        """All that the maps of a chunk depend on, other models excepted."""
        plan, method = self.plan, self.plan.methods[call]
        return {
            "dataset": [plan.dataset.fingerprint, plan.dataset.split, list(chunk)],
            "model": [self.subject.name, self.subject.seed, self.subject.digest],
            "by": [self.device, library_versions()],
            "method": [call, to_json(method), method.version, PATTERNS_VERSION if "patterns" in method.needs else None],
            "conventions": {**to_json(plan.conventions), "limit": None},  # the chunk says which samples
        }

    def _key(self, call: str, chunk: Sequence[int]) -> str:
        """A digest of all that a unit's scores depend on."""
        plan = self.plan
        config = {
            **self._depends_on(call, chunk),
            "metrics": [[name, to_json(metric), metric.version] for name, metric in plan.of_maps.items()],
            "others": {name: work._digests for name, work in self.others.items()},
            "variants": list(plan.variants),
            "given": plan.given and plan.given.digest,
            **_patches(plan.needs),
        }
        return hashlib.sha256(canonical_json(config).encode()).hexdigest()[:32]

    def _write(self, unit: ScoreChunk, evidence: ChunkInputs) -> None:
        """Score one unit's maps, and keep the rows with the time that the maps took."""
        batch, maps = evidence.batch, evidence.found(OF_SAMPLES)[unit.call]
        if not np.array_equal(maps.targets, evidence.targets) or not np.array_equal(maps.correct, evidence.correct):
            raise SalgenError(f"the maps by {unit.call} that were kept do not explain what the run says they explain")
        record = {
            "method": unit.call,
            "seconds": maps.seconds,
            "maps": len(batch.ids),
            "reduction": maps.reduction,
            "native_resolution": "x".join(map(str, maps.native_resolution)),
        }
        shared = self.shared_columns(record)
        shared |= {"target": evidence.targets, "correct": evidence.correct}
        tables = []
        for variant, region in self.plan.variants.items():
            metrics = self.plan.metrics_in(variant)
            measured = compute_metrics(evidence.of(unit.call, region), metrics)
            tables.append(unit_table(shared, variant, batch.ids, metrics, measured))
        table = pa.concat_tables(tables).replace_schema_metadata({"salgen": json.dumps(record)})
        with atomic_path(unit.path) as temporary:
            pq.write_table(table, temporary)

    def shared_columns(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """What all rows of a unit have in common, from the unit's record."""
        plan = self.plan
        return {
            "dataset": plan.dataset.name,
            "dataset_fingerprint": plan.dataset.fingerprint,
            "split": plan.dataset.split,
            "task": plan.task,
            "certified": None,
            "model": self.subject.name,
            "training_seed": self.subject.seed,
            "method": record["method"],
            "method_parameters": canonical_json(to_json(plan.methods[record["method"]])),
            "reduction": record["reduction"],
            "native_resolution": record["native_resolution"],
        }


def _patches(kinds: Iterable[str]) -> dict[str, str]:
    """What maps depend on besides, if any are of patched images."""
    return {"patches": PATCH_VERSION} if any("patched" in kind for kind in kinds) else {}
