"""The files of one model in a run folder: their names, what they depend on, and which of them are there.

A file's name, or a key in it, is a digest of all that its contents depend on; so a stopped run goes on where it was.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from salgen.evaluation.attribution.method_selection import renamed
from salgen.evaluation.attribution.patterns import VERSION as PATTERNS_VERSION
from salgen.evaluation.metrics.inputs.metric_inputs import PAIRED, SHUFFLED, MapKind
from salgen.evaluation.runs.artifacts import chunk_files
from salgen.evaluation.runs.artifacts.chunk_files import PARTS, WORK, ScoreChunk, provenance
from salgen.evaluation.runs.artifacts.costs import Costs
from salgen.evaluation.runs.artifacts.saved_maps import key_of, maps_name
from salgen.evaluation.runs.evaluated_models import EvaluatedModel
from salgen.evaluation.runs.insignificant_patch import VERSION as PATCH_VERSION
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.scoring.own_metrics import metric_records
from salgen.parameters import to_json


@dataclass(frozen=True)
class ModelFiles:
    """The files of one model of a plan, in the run folder."""

    plan: Plan
    model: EvaluatedModel
    run: Path

    # Scores: a chunk's file for each method, or until that is complete one for each piece of the chunk ---------------

    @cached_property
    def chunks(self) -> list[list[ScoreChunk]]:
        """For each chunk of the scored samples, one of each method."""
        return [
            [
                ScoreChunk(call, number, chunk, self.run / PARTS / f"{self._scores_key(call, chunk)}.parquet")
                for call in self.plan.methods
            ]
            for number, chunk in enumerate(self.plan.chunks)
        ]

    @property
    def all_chunks(self) -> list[ScoreChunk]:
        """The chunks of all methods, in order."""
        return [chunk for chunks in self.chunks for chunk in chunks]

    def missing(self, number: int) -> list[ScoreChunk]:
        """The methods of a chunk that are not scored, or whose maps are to be kept and are not."""
        return [chunk for chunk in self.chunks[number] if not self.is_done(chunk)]

    def pieces(self, chunk: ScoreChunk) -> list[ScoreChunk]:
        """What is explained and scored before it is written: the chunk, or pieces of it where the method is dear."""
        return chunk.pieces(self.piece_size(chunk.call))

    def piece_size(self, call: str) -> int:
        """Images that a method explains and scores before it writes."""
        return self.costs.pieces.get(call, self.plan.chunk_size)

    def is_done(self, chunk: ScoreChunk) -> bool:
        """True if a chunk, or a piece of one, is scored, and the run keeps its maps or need not."""
        return chunk_files.is_written(chunk.path) and all(self.saved_maps(kind, chunk) for kind in self.plan.kept_kinds)

    @cached_property
    def costs(self) -> Costs:
        """What one image takes, as far as it was measured."""
        return Costs.read(self.costs_path)

    @property
    def costs_path(self) -> Path:
        """The file of what one image takes."""
        return self.run / WORK / f"costs-{provenance(self.depends_on('one', self.device), 16)}.json"

    @property
    def predictions_path(self) -> Path:
        """The file of the predictions."""
        dataset = self.plan.dataset
        key = [dataset.fingerprint, dataset.split, self.model.digest, self.device, chunk_files.library_versions()]
        return self.run / PARTS / f"predictions-{provenance(key, 16)}.parquet"

    # Maps -------------------------------------------------------------------------------------------------------------

    @property
    def kept_maps(self) -> dict[str, str]:
        """The files of maps that the run keeps, each with the digest of all that its maps depend on."""
        return {
            self.maps_name(kind, chunk): self.maps_key(kind, chunk)
            for of_method in zip(*self.chunks, strict=True)
            for kind in self.plan.kept_kinds
            for chunk in of_method
        }

    def maps_name(self, kind: MapKind, chunk: ScoreChunk) -> str:
        """The file of a whole chunk's maps within the run folder."""
        return maps_name(self.model.name, self.model.seed, chunk.call, kind, chunk.number)

    def maps_path(self, kind: MapKind, chunk: ScoreChunk) -> Path:
        """The file of a chunk's maps, or of those of a piece until the chunk is complete."""
        if chunk.indices == self.plan.chunks[chunk.number]:
            return self.run / self.maps_name(kind, chunk)
        return self.run / PARTS / f"{self.maps_key(kind, chunk)}-{chunk.start}-{len(chunk.indices)}.parquet"

    def saved_maps(self, kind: MapKind, chunk: ScoreChunk) -> Path | None:
        """The file that holds the maps of a chunk or a piece: the whole chunk's, or its own; None if there is none."""
        key, paths = self.maps_key(kind, chunk), (self.run / self.maps_name(kind, chunk), self.maps_path(kind, chunk))
        return next((path for path in paths if key_of(path) == key), None)

    # Digests of all that files depend on ------------------------------------------------------------------------------

    @property
    def device(self) -> str:
        """The type of device on which predictions and maps are made: the workers', or else the model's."""
        return self.plan.device or self.model.device.type

    @cached_property
    def others(self) -> dict[MapKind, EvaluatedModel]:
        """The models whose maps are compared with this one's, by the kind of the maps."""
        models = {PAIRED: self.plan.paired, SHUFFLED: self.plan.shuffled}
        by_kind = {kind: models.get(kind.model, {}).get(self.model.seed) for kind in self.plan.kinds}
        return {kind: model for kind, model in by_kind.items() if model is not None}

    def depends_on(self, samples: Any, device: str) -> dict[str, Any]:
        """Everything that a model's results for samples depend on: data, weights, device and library versions."""
        dataset, model = self.plan.dataset, self.model
        return {
            "dataset": [dataset.fingerprint, dataset.split, samples],
            "model": [model.name, model.seed, model.digest],
            "by": [device, chunk_files.library_versions()],
        }

    def maps_depend_on(self, call: str, samples: Sequence[int]) -> dict[str, Any]:
        """Everything that the maps of samples depend on, except other models."""
        method = self.plan.methods[call]
        patterns = PATTERNS_VERSION if "patterns" in method.needs else None
        return {
            **self.depends_on(list(samples), self.device),
            "method": [call, to_json(method), method.version, patterns, *filter(None, [renamed(call, method)])],
            # the samples are named, and certificates ask the model again
            "conventions": {**to_json(self.plan.conventions), "limit": None, "redraws": None},
        }

    def maps_key(self, kind: MapKind, chunk: ScoreChunk) -> str:
        """The digest of all that a whole chunk's maps depend on."""
        other = self.others.get(kind)
        return provenance(
            {
                **self.maps_depend_on(chunk.call, self.plan.chunks[chunk.number]),
                "kind": kind,
                "other": other and [other.digest, other.task],
                **({"patches": PATCH_VERSION} if kind.patched else {}),
            }
        )

    def _scores_key(self, call: str, chunk: Sequence[int]) -> str:
        plan = self.plan
        return provenance(
            {
                **self.maps_depend_on(call, chunk),
                "metrics": [[name, to_json(metric), metric.version] for name, metric in plan.of_maps.items()],
                **({"own_metrics": [record.key for record in own]} if (own := metric_records(plan.of_maps)) else {}),
                "others": {kind: [model.digest, model.task] for kind, model in self.others.items()},
                "variants": list(plan.variants),
                "given": plan.source_run and plan.source_run.digest,
                **({"patches": PATCH_VERSION} if any(kind.patched for kind in plan.kinds) else {}),
            }
        )
