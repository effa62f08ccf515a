"""The runner of one model: explains chunks of samples, scores the maps, and writes a file for each chunk and method.

A file's name is the digest of all that its scores depend on, so a stopped run continues,
and a run with one more method computes that method only. Methods that have passes in common are
explained together. Saved maps are read rather than computed again, and scored in the same way.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pyarrow as pa

from salgen.errors import SalgenError
from salgen.evaluation.attribution.batch_explainer import BatchExplainer, Explained
from salgen.evaluation.attribution.patterns import VERSION as PATTERNS_VERSION
from salgen.evaluation.attribution.patterns import Patterns, fit_patterns
from salgen.evaluation.metrics.inputs.device_maps import DeviceMaps, are_scored_there
from salgen.evaluation.metrics.inputs.metric import PAIRED
from salgen.evaluation.metrics.inputs.metric_inputs import SHUFFLED, MapKind, MetricInputs
from salgen.evaluation.metrics.inputs.ranking import Values
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.runs.artifacts.chunk_files import PARTS, WORK, ScoreChunk, is_written, score_rows, write_part
from salgen.evaluation.runs.artifacts.conventions import CHUNK
from salgen.evaluation.runs.artifacts.costs import Costs
from salgen.evaluation.runs.artifacts.predictions import Classes, Predictions, predict_split, present_in
from salgen.evaluation.runs.artifacts.provenance import library_versions, provenance
from salgen.evaluation.runs.artifacts.saved_maps import SavedMaps, key_of, maps_name, read_maps, write_maps
from salgen.evaluation.runs.chunk_inputs import ChunkInputs
from salgen.evaluation.runs.evaluated_models import EvaluatedModel
from salgen.evaluation.runs.insignificant_patch import VERSION as PATCH_VERSION
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.scoring.metric_computation import compute_metrics
from salgen.files import atomic_path
from salgen.parameters import canonical_json, to_json
from salgen.progress import progress
from salgen.types import Float32, Mask

PER_CLASS = 3
MAX_SAMPLES = 12  # since each is kept for every method


@dataclass(frozen=True)
class ModelRunner:
    """One model of a plan, and the run folder that it is scored for."""

    plan: Plan
    model: EvaluatedModel
    run: Path

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
        return [chunk for chunk in self.chunks[number] if not self._is_done(chunk)]

    def write(self, number: int, predicted: Classes) -> Iterator[tuple[str, int]]:
        """Explain a chunk's samples by the missing methods, together where they share passes, and score them.

        Dear methods do so in pieces of a few images, which a run that goes on finds again.

        Parameters
        ----------
        number
            The chunk's place among the scored samples.
        predicted
            int64 (n,): the class that the model predicts for each of the chunk's samples.

        Yields
        ------
        Each method, and the number of its maps whose scores are written.
        """
        missing = self.missing(number)
        known: dict[int, ChunkInputs] = {}  # by the first sample's place, as all groups need them
        for group in self.plan.groups:
            chunks = [chunk for chunk in missing if chunk.call in group]
            size = self.images_of_a_piece(group)
            missing_pieces = [piece for chunk in chunks for piece in self.missing_pieces(chunk)]
            for pieces in zip(*(chunk.pieces(size) for chunk in chunks), strict=True):
                todo = [piece for piece in pieces if piece in missing_pieces]
                start, indices = pieces[0].start, list(pieces[0].indices)
                if todo and (start not in known or len(known[start].batch) != len(indices)):
                    (batch,) = self.plan.dataset.batches(len(indices), indices)
                    of_batch = predicted[start : start + len(indices)]
                    known[start] = ChunkInputs(self.plan, self.model, number, batch, of_batch, start)
                calls = [piece.call for piece in todo]
                maps = {kind: self.maps(kind, calls, known[start]) for kind in self.plan.kinds} if calls else {}
                for piece in todo:
                    self._write_scores(
                        piece, known[start], {kind: of_kind[piece.call] for kind, of_kind in maps.items()}
                    )
                    yield piece.call, len(indices)
            for chunk in chunks if size < len(self.plan.chunks[number]) else ():
                self._join(chunk, size)

    def _join(self, chunk: ScoreChunk, size: int) -> None:
        """Write a chunk's files from those of its pieces, and remove these."""
        pieces = chunk.pieces(size)
        files = [piece.path for piece in pieces]
        for kind in self.plan.kinds if self.plan.keep_maps else ():
            paths = [self._maps_path(kind, piece) for piece in pieces]
            if self._kept(kind, chunk) is None:
                maps = SavedMaps.join([read_maps(path) for path in paths])
                write_maps(self._maps_path(kind, chunk), maps, self._maps_key(kind, chunk.call, chunk.number))
            files += paths
        chunk.join(pieces)
        for path in files:
            path.unlink(missing_ok=True)

    def missing_pieces(self, chunk: ScoreChunk) -> list[ScoreChunk]:
        """The pieces of a missing chunk that are missing too; all of it, if it is written at once."""
        (group,) = (group for group in self.plan.groups if chunk.call in group)
        return [piece for piece in chunk.pieces(self.images_of_a_piece(group)) if not self._is_done(piece)]

    def images_of_a_piece(self, group: Sequence[str]) -> int:
        """Images that some methods explain and score before they write: the whole chunk, unless they are dear."""
        return min(self.costs.pieces.get(call, self.plan.chunk_size) for call in group)

    @property
    def costs_path(self) -> Path:
        """The file of what one image takes."""
        return self.run / WORK / f"costs-{provenance(self.depends_on('one', self.device), 16)}.json"

    @cached_property
    def costs(self) -> Costs:
        """What one image takes, as far as it was measured."""
        return Costs.read(self.costs_path)

    def predicted(self, number: int) -> Classes:
        """The class that the model predicts for each sample of a chunk, int64 (n,)."""
        return self.predictions.predicted[list(self.plan.chunks[number])]

    def maps(self, kind: MapKind, calls: Sequence[str], inputs: ChunkInputs) -> dict[str, SavedMaps]:
        """The maps of a chunk by some methods: saved ones are read, the others explained, and perhaps kept."""
        saved = {call: self._saved(kind, call, inputs) for call in calls}
        maps = {call: maps for call, maps in saved.items() if maps is not None}
        missing = [call for call in calls if call not in maps]
        if missing:
            runner = self.counterparts.get(kind, self)
            image_set, targets, correct = inputs.task(kind, runner.model)
            masks = self.plan.masks(inputs.batch)[:, 0]
            explained = runner.explain(missing, image_set.images, targets, masks, inputs.batch.ids)
            for call in missing:
                maps[call] = SavedMaps(
                    ids=inputs.batch.ids,
                    targets=targets,
                    correct=correct,
                    there=image_set.exists,
                    values=_as_scored(explained[call].values),
                    reduction=str(explained[call].reduction),
                    native_resolution=explained[call].native_resolution,
                    seconds=explained.seconds[call],
                    faults=image_set.faults,
                )
                if self.plan.keep_maps:
                    path = self._maps_path(kind, self._chunk(call, inputs))
                    write_maps(path, maps[call], self._maps_key(kind, call, inputs.number))
                if kind is MapKind.SAMPLES:
                    self.keep_pictures(call, inputs.batch.ids, maps[call].values)
        return maps

    def explain(
        self,
        calls: Sequence[str],
        images: Any,
        targets: Any,
        masks: Mask | None,
        ids: Sequence[str],
        view: ModelView | None = None,
    ) -> Explained:
        """The maps of images by some methods, under the run's conventions; by another model if `view` is one of it.

        Parameters
        ----------
        images, targets, masks, ids
            float32 (n, C, H, W) in [0, 1], the classes to explain (n,), the ground truth bool (n, H, W), the names.
        """
        methods, conventions = {call: self.plan.methods[call] for call in calls}, self.plan.conventions
        fitted = any("patterns" in method.needs for method in methods.values())
        explainer = BatchExplainer.of(
            self.model.view if view is None else view,
            methods=methods,
            reduce=conventions.reduce,
            score=conventions.score,
            seed=conventions.seed,
            pixels=images,
            targets=targets,
            ids=list(ids),
            masks=masks,
            patterns=self.patterns if fitted else None,
        )
        return explainer.explain(self.plan.max_memory)

    def metric_inputs(
        self, call: str, inputs: ChunkInputs, maps: Mapping[MapKind, SavedMaps], region: str | None
    ) -> MetricInputs:
        """The inputs of metrics that score one method's maps of a chunk, in a region or the whole image."""

        def explain(pixels: Any, targets: Any, *, ids: Any, masks: Any, view: ModelView | None = None) -> Values:
            explained = self.explain([call], pixels, targets, masks, ids, view)
            return np.asarray(explained[call].values.cpu().numpy())

        return inputs.metric_inputs(maps, region, explain, "patterns" in self.plan.methods[call].needs)

    def _write_scores(self, chunk: ScoreChunk, inputs: ChunkInputs, maps: Mapping[MapKind, SavedMaps]) -> None:
        """Score one method's maps, and write the rows with the time that the maps took."""
        of_samples = maps[MapKind.SAMPLES]
        if not np.array_equal(of_samples.targets, inputs.targets) or not np.array_equal(
            of_samples.correct, inputs.correct
        ):
            raise SalgenError(f"the kept maps of {chunk.call} do not explain the classes that the run records")
        record = {
            "method": chunk.call,
            "seconds": of_samples.seconds,
            "maps": len(inputs.batch.ids),
            "reduction": of_samples.reduction,
            "native_resolution": "x".join(map(str, of_samples.native_resolution)),
        }
        shared = {**self.shared_columns(record), "target": inputs.targets, "correct": inputs.correct}
        shared["cluster"] = np.array(inputs.batch.clusters, dtype=object)
        tables = []
        for variant, region in self.plan.variants.items():
            metrics = self.plan.metrics_in(variant)
            scores = compute_metrics(self.metric_inputs(chunk.call, inputs, maps, region), metrics)
            tables.append(score_rows(shared, variant, inputs.batch.ids, metrics, scores))
        table = pa.concat_tables(tables).replace_schema_metadata({"salgen": json.dumps(record)})
        write_part(chunk.path, table)

    def shared_columns(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The values that all rows of a chunk under one method have in common, from the chunk's record."""
        plan = self.plan
        return {
            "dataset": plan.dataset.name,
            "dataset_fingerprint": plan.dataset.fingerprint,
            "split": plan.dataset.split,
            "task": plan.task,
            "certified": None,
            "model": self.model.name,
            "training_seed": self.model.seed,
            "method": record["method"],
            "method_parameters": canonical_json(to_json(plan.methods[record["method"]])),
            "reduction": record["reduction"],
            "native_resolution": record["native_resolution"],
        }

    # Computed once and kept -----------------------------------------------------------------------

    @cached_property
    def predictions(self) -> Predictions:
        """The model's predictions for the whole split."""
        dataset, task, source_run = self.plan.dataset, self.plan.task, self.plan.source_run
        if source_run is None:
            return predict_split(dataset, task, self.predictions_path, self.model.probabilities)
        predictions = source_run.predictions(self.model, dataset.ids)
        return replace(predictions, present=present_in(dataset, task))

    @property
    def predictions_path(self) -> Path:
        """The file of the predictions."""
        dataset = self.plan.dataset
        key = [dataset.fingerprint, dataset.split, self.model.digest, self.device, library_versions()]
        return self.run / PARTS / f"predictions-{provenance(key, 16)}.parquet"

    @cached_property
    def patterns(self) -> Patterns | None:
        """The model's patterns on the training images, if a method needs them."""
        if not any("patterns" in method.needs for method in self.plan.methods.values()):
            return None
        if self.plan.source_run is not None and "method" not in self.plan.needs:
            return None  # nothing is explained
        train = self.plan.dataset.of_split("train")
        key = provenance(f"{self.model.digest} {train.fingerprint} {PATTERNS_VERSION}", 16)
        path = self.model.folder / f"patterns-{key}.safetensors"
        if not path.exists():
            label = f"fit patterns, {self.model.name} seed {self.model.seed}"
            with progress(label, len(train), "images") as advance:

                def images() -> Iterator[Any]:
                    for batch in train.batches(CHUNK):
                        yield batch.images
                        advance(len(batch.ids))

                fit_patterns(self.model.view, images(), max_memory=self.plan.max_memory).save(path)
        try:
            return Patterns.load(path)
        except SalgenError as error:
            raise SalgenError(f"{error}; remove the file and run the same command again") from None

    @cached_property
    def counterparts(self) -> dict[MapKind, ModelRunner]:
        """The runners of the models whose maps are compared with this one's, by the kind of the maps."""
        models = {PAIRED: self.plan.paired, SHUFFLED: self.plan.shuffled}
        runners = {
            of_model: replace(self, model=by_seed[self.model.seed])
            for of_model, by_seed in models.items()
            if self.model.seed in by_seed
        }
        return {kind: runners[kind.model] for kind in self.plan.kinds if kind.model in runners}

    # Digests of all that files depend on ----------------------------------------------------------

    @property
    def device(self) -> str:
        """The type of device on which predictions and maps are made: the workers', or else the model's."""
        return self.plan.device or self.model.device.type

    def depends_on(self, samples: Any, device: str) -> dict[str, Any]:
        """Everything that a model's results for samples depend on: data, weights, device and library versions."""
        dataset, model = self.plan.dataset, self.model
        return {
            "dataset": [dataset.fingerprint, dataset.split, samples],
            "model": [model.name, model.seed, model.digest],
            "by": [device, library_versions()],
        }

    def _maps_depend_on(self, call: str, chunk: Sequence[int]) -> dict[str, Any]:
        """Everything that the maps of a chunk depend on, except other models."""
        method = self.plan.methods[call]
        patterns = PATTERNS_VERSION if "patterns" in method.needs else None
        return {
            **self.depends_on(list(chunk), self.device),
            "method": [call, to_json(method), method.version, patterns],
            # the chunk says which samples, and certificates ask the model again
            "conventions": {**to_json(self.plan.conventions), "limit": None, "redraws": None},
        }

    def _scores_key(self, call: str, chunk: Sequence[int]) -> str:
        plan = self.plan
        return provenance(
            {
                **self._maps_depend_on(call, chunk),
                "metrics": [[name, to_json(metric), metric.version] for name, metric in plan.of_maps.items()],
                "others": {
                    kind: [runner.model.digest, runner.model.task] for kind, runner in self.counterparts.items()
                },
                "variants": list(plan.variants),
                "given": plan.source_run and plan.source_run.digest,
                **({"patches": PATCH_VERSION} if any(kind.patched for kind in plan.kinds) else {}),
            }
        )

    def _maps_key(self, kind: MapKind, call: str, number: int) -> str:
        counterpart = self.counterparts.get(kind)
        return provenance(
            {
                **self._maps_depend_on(call, self.plan.chunks[number]),
                "kind": kind,
                "other": counterpart and [counterpart.model.digest, counterpart.model.task],
                **({"patches": PATCH_VERSION} if kind.patched else {}),
            }
        )

    def _maps_name(self, kind: MapKind, call: str, number: int) -> str:
        return maps_name(self.model.name, self.model.seed, call, kind, number)

    @property
    def kept_maps(self) -> dict[str, str]:
        """The files of maps that the run keeps, each with the digest of all that its maps depend on."""
        return {
            self._maps_name(kind, call, number): self._maps_key(kind, call, number)
            for call in (self.plan.methods if self.plan.keep_maps else ())
            for kind in self.plan.kinds
            for number in range(len(self.plan.chunks))
        }

    def _is_done(self, chunk: ScoreChunk) -> bool:
        """True if a chunk, or a piece of one, is scored, and the run keeps its maps or need not."""
        kinds = self.plan.kinds if self.plan.keep_maps else ()
        return is_written(chunk.path) and all(self._kept(kind, chunk) is not None for kind in kinds)

    def _maps_path(self, kind: MapKind, chunk: ScoreChunk) -> Path:
        """The file of a chunk's maps, or of those of a piece until the chunk is complete."""
        if len(chunk.indices) == len(self.plan.chunks[chunk.number]):
            return self.run / self._maps_name(kind, chunk.call, chunk.number)
        key = self._maps_key(kind, chunk.call, chunk.number)
        return self.run / PARTS / f"{key}-{chunk.start}-{len(chunk.indices)}.parquet"

    def _kept(self, kind: MapKind, chunk: ScoreChunk) -> Path | None:
        """The file that keeps the maps of a chunk or a piece: the whole chunk's, or its own; None if there is none."""
        whole = self.run / self._maps_name(kind, chunk.call, chunk.number)
        key = self._maps_key(kind, chunk.call, chunk.number)
        return next((path for path in (whole, self._maps_path(kind, chunk)) if key_of(path) == key), None)

    def _chunk(self, call: str, inputs: ChunkInputs) -> ScoreChunk:
        (chunk,) = (chunk for chunk in self.chunks[inputs.number] if chunk.call == call)
        return chunk.piece(inputs.start, len(inputs.batch))

    def _saved(self, kind: MapKind, call: str, inputs: ChunkInputs) -> SavedMaps | None:
        """The maps of a chunk's samples by one method, if they are saved."""
        if self.plan.source_run is not None:
            return self.plan.source_run.maps(self._maps_name(kind, call, inputs.number), inputs.batch.ids)
        path = self._kept(kind, self._chunk(call, inputs))
        return None if path is None else read_maps(path, inputs.batch.ids)

    # Maps of the report's pictures ----------------------------------------------------------------

    @cached_property
    def pictured(self) -> dict[str, int]:
        """The samples that the report shows, and their places in the split."""
        labels = np.asarray(self.plan.dataset.column(self.plan.task))[: self.plan.considered]
        ids = self.plan.dataset.ids
        return {ids[index]: index for index in first_of_each_class(labels)}

    def keep_pictures(self, call: str, ids: Sequence[str], maps: Values | DeviceMaps) -> None:
        """Keep those of a method's maps (N, H, W) that the report shows, so that none is made again."""
        rows = [row for row, name in enumerate(ids) if name in self.pictured]
        if rows and self.model is self.plan.models[0]:
            shown = {f"{self.pictured[ids[row]]:d}": np.asarray(maps)[row] for row in rows}
            path = self.run / WORK / f"pictures-{self._pictures_key(call)}-{min(shown)}.npz"
            path.parent.mkdir(exist_ok=True)
            with atomic_path(path, synced=False) as temporary, open(temporary, "wb") as handle:
                np.savez_compressed(handle, **shown)

    def pictures(self, call: str) -> dict[int, Float32]:
        """The kept maps (H, W) of a method by the places of their samples in the split."""
        kept: dict[int, Float32] = {}
        for path in (self.run / WORK).glob(f"pictures-{self._pictures_key(call)}-*.npz"):
            with suppress(OSError, ValueError, LookupError, BadZipFile), np.load(path) as maps:  # else made again
                kept |= {int(index): maps[index] for index in maps.files}
        return kept

    def _pictures_key(self, call: str) -> str:
        return provenance({**self._maps_depend_on(call, list(self.pictured.values())), "kind": "pictures"})


def first_of_each_class(labels: Classes) -> list[int]:
    """Indices of the first samples of each class, the last class first; of many classes only some are used."""
    classes = sorted(set(labels.tolist()), reverse=True)
    classes = classes[:: -(-len(classes) // MAX_SAMPLES)]
    each = min(PER_CLASS, MAX_SAMPLES // len(classes))
    return [int(i) for label in classes for i in np.flatnonzero(labels == label)[:each]]


def _as_scored(maps: Any) -> Values | DeviceMaps:
    """Maps (N, H, W) on the accelerator where they were made if they are scored there, else on the host."""
    return DeviceMaps(maps) if are_scored_there(maps) else np.asarray(maps.cpu().numpy())
