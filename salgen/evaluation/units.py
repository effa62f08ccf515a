"""The units of a run: a chunk of samples under one method, explained, scored and kept in a file of its own.

A file's name is the digest of all that its scores depend on, so a stopped run goes on where it was,
and a run with one more method computes that method only. Methods that have passes in common are
explained together.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from salgen.datasets.reader import open_dataset
from salgen.errors import SalgenError
from salgen.evaluation.conventions import CHUNK
from salgen.evaluation.measuring import measure
from salgen.evaluation.model_view import ModelView
from salgen.evaluation.patterns import VERSION as PATTERNS_VERSION
from salgen.evaluation.patterns import Patterns, fit_patterns
from salgen.evaluation.plan import Plan
from salgen.evaluation.predictions import Classes, Predictions, predict_split
from salgen.evaluation.run_record import library_versions
from salgen.evaluation.subjects import Subject
from salgen.evaluation.unit_evidence import ChunkEvidence
from salgen.evaluation.unit_files import PARTS, Unit, unit_table
from salgen.files import atomic_path
from salgen.parameters import canonical_json, to_json
from salgen.progress import progress
from salgen.types import Float32, SaliencyMap


@dataclass(frozen=True)
class SubjectWork:
    """All units of one model."""

    plan: Plan
    subject: Subject
    run: Path

    @cached_property
    def chunks(self) -> list[list[Unit]]:
        """Per chunk of the scored samples, a unit for each method."""
        return [
            [Unit(call, chunk, self.run / PARTS / f"{self._key(call, chunk)}.parquet") for call in self.plan.methods]
            for chunk in self.plan.chunks
        ]

    @property
    def units(self) -> list[Unit]:
        """All of them, in order."""
        return [unit for chunk in self.chunks for unit in chunk]

    def finish(self) -> None:
        """Write the files that are missing."""
        missing = [[unit for unit in chunk if not unit.path.exists()] for chunk in self.chunks]
        total = len(self.plan.scored) * len(self.plan.methods)
        done = total - sum(len(unit.indices) for units in missing for unit in units)
        label = f"explain and score, {self.subject.name} seed {self.subject.seed}"
        with progress(label, total, "maps", done=done) as advance:
            for chunk, units in zip(self.chunks, missing, strict=True):
                for unit in self._explain(chunk, units) if units else ():
                    advance(len(unit.indices))

    @cached_property
    def predictions(self) -> Predictions:
        """What the model says of the whole split; asked once and kept."""
        dataset = self.plan.dataset
        known = [dataset.fingerprint, dataset.split, self.subject.digest, self.subject.device.type, library_versions()]
        digest = hashlib.sha256(canonical_json(known).encode()).hexdigest()[:16]
        path = self.run / PARTS / f"predictions-{digest}.parquet"
        return predict_split(dataset, self.plan.task, path, self.probabilities)

    @cached_property
    def patterns(self) -> Patterns | None:
        """The model's patterns on the training images, if a method needs them; fitted once and kept."""
        if not any("patterns" in method.needs for method in self.plan.methods.values()):
            return None
        train = open_dataset(self.plan.dataset.path, "train")
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

    def _explain(self, chunk: Sequence[Unit], missing: Sequence[Unit]) -> Iterator[Unit]:
        """Write the missing units of a chunk, those that share passes together."""
        (batch,) = self.plan.dataset.batches(CHUNK, chunk[0].indices)
        predicted = self.predictions.predicted[list(chunk[0].indices)]
        targets = self.plan.targets(batch.labels, lambda: predicted)
        for calls in self.plan.groups:
            units = [unit for unit in missing if unit.call in calls]
            if not units:
                continue
            names = tuple(unit.call for unit in units)
            explained = self.plan.explain(self.view, names, batch.images, targets, batch, self.patterns)
            evidence = ChunkEvidence(self, batch, predicted, targets, names)
            for unit in units:
                self._write(unit, explained[unit.call], explained.seconds[unit.call], evidence)
                yield unit

    def probabilities(self, images: Float32) -> Float32:
        """Softmax probabilities (n, K) of images (n, C, H, W)."""
        with torch.inference_mode():
            logits = self.view.logits(self.view.normalise(self.view.like(torch.from_numpy(images))))
        return np.asarray(logits.softmax(dim=1).cpu().numpy(), dtype=np.float32)

    def predict(self, images: Float32) -> Classes:
        """The most likely class of each image (n, C, H, W), int64 (n,)."""
        return np.asarray(self.probabilities(images).argmax(axis=1), dtype=np.int64)

    @cached_property
    def others(self) -> dict[str, SubjectWork]:
        """The models whose maps stand beside this one's, by what metrics call the maps."""
        plan = self.plan
        found = {"paired_maps": plan.paired, "shuffled_maps": plan.shuffled.get(self.subject.seed)}
        return {
            name: SubjectWork(plan, subject, self.run)
            for name, subject in found.items()
            if subject is not None and name in plan.needs
        }

    def _key(self, call: str, chunk: Sequence[int]) -> str:
        """A digest of all that a unit's scores depend on."""
        plan, method = self.plan, self.plan.methods[call]
        config = {
            "dataset": [plan.dataset.fingerprint, plan.dataset.split, list(chunk)],
            "model": [self.subject.name, self.subject.seed, self.subject.digest],
            "by": [self.subject.device.type, library_versions()],
            "method": [call, to_json(method), method.version, PATTERNS_VERSION if "patterns" in method.needs else None],
            "metrics": [[name, to_json(metric), metric.version] for name, metric in plan.of_maps.items()],
            "others": {name: [work.subject.digest, work.subject.task] for name, work in self.others.items()},
            "variants": list(plan.variants),
            "conventions": {**to_json(plan.conventions), "limit": None},  # the chunk says which samples
        }
        return hashlib.sha256(canonical_json(config).encode()).hexdigest()[:32]

    def _write(self, unit: Unit, maps: SaliencyMap, seconds: float, evidence: ChunkEvidence) -> None:
        """Score one unit's maps, and keep the rows with the time that the maps took."""
        batch, predicted = evidence.batch, evidence.predicted
        record = {
            "method": unit.call,
            "seconds": seconds,
            "maps": len(batch.ids),
            "reduction": maps.reduction,
            "native_resolution": "x".join(map(str, maps.native_resolution)),
        }
        shared = self.shared_columns(record)
        shared |= {"target": evidence.targets, "correct": predicted == batch.labels}
        tables = []
        for variant, region in self.plan.variants.items():
            metrics = self.plan.metrics_in(variant)
            measured = measure(evidence.of(unit.call, maps, region), metrics)
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
