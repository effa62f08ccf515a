"""The runner of one model: explains chunks of samples, scores the maps, and writes a file for each chunk and method."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any
import numpy as np
import pyarrow as pa
import torch
from salgen.evaluation.attribution.batch_explainer import BatchExplainer
from salgen.evaluation.attribution.patterns import VERSION as PATTERNS_VERSION
from salgen.evaluation.attribution.patterns import Patterns, fit_patterns
from salgen.evaluation.metrics.inputs.metric_inputs import MapKind, MetricInputs
from salgen.evaluation.metrics.inputs.ranking import Values
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.runs.artifacts.chunk_files import ScoreChunk, provenance, score_rows, write_part
from salgen.evaluation.runs.artifacts.predictions import Classes, Predictions, predict_split, present_in
from salgen.evaluation.runs.artifacts.run_record import CHUNK
from salgen.evaluation.runs.artifacts.saved_maps import SavedMaps, read_maps, write_maps
from salgen.evaluation.runs.chunk_inputs import ChunkInputs
from salgen.evaluation.runs.gallery_maps import GalleryMaps
from salgen.evaluation.runs.model_files import ModelFiles
from salgen.evaluation.scoring.metric_computation import compute_metrics
from salgen.parameters import canonical_json, to_json
from salgen.progress import progress
from salgen.seeding import Stream
from salgen.types import Explained, Mask

REFERENCES = 200  # training images that methods compare with


class ModelRunner(ModelFiles):
    """One model of a plan, and the run folder that it is scored for."""

    def write(self, number: int, predicted: Classes) -> Iterator[tuple[str, int]]:
        """Explain a chunk's samples by the missing methods, together where they share passes, and score them.

        Dear methods do so in pieces of a few images, which a run that goes on finds again. `predicted` int64 (n,) are
        the classes that the model predicts. Each method comes with the number of its maps whose scores are written.
        """
        missing = self.missing(number)
        known: dict[tuple[int, ...], ChunkInputs] = {}  # by piece, as all groups need them
        for group in self.plan.groups:
            chunks = [chunk for chunk in missing if chunk.call in group]
            for pieces in zip(*map(self.pieces, chunks), strict=True):
                todo = [piece for piece in pieces if not self.is_done(piece)]
                if not todo:
                    continue
                indices, start = todo[0].indices, todo[0].start
                if indices not in known:
                    (batch,) = self.plan.dataset.batches(len(indices), list(indices))
                    of_piece = predicted[start : start + len(indices)]
                    known[indices] = ChunkInputs(self.plan, self.model, batch, of_piece)
                inputs = known[indices]
                maps = {kind: self._maps(kind, todo, inputs) for kind in self.plan.kinds}
                for piece in todo:
                    self._write_scores(piece, inputs, {kind: of_kind[piece.call] for kind, of_kind in maps.items()})
                    yield piece.call, len(indices)
            for chunk in chunks:
                self._join(chunk)

    def _join(self, chunk: ScoreChunk) -> None:
        """Write a chunk's files from those of its pieces, if it has any, and remove these."""
        pieces = self.pieces(chunk)
        if len(pieces) == 1:
            return
        files = [piece.path for piece in pieces]
        for kind in self.plan.kept_kinds:
            paths = [self.maps_path(kind, piece) for piece in pieces]
            if self.saved_maps(kind, chunk) is None:
                maps = SavedMaps.join([read_maps(path) for path in paths])
                write_maps(self.maps_path(kind, chunk), maps, self.maps_key(kind, chunk))
            files += paths
        chunk.join(pieces)
        for path in files:
            path.unlink(missing_ok=True)

    def predicted(self, number: int) -> Classes:
        """The class that the model predicts for each sample of a chunk, int64 (n,)."""
        return self.predictions.predicted[list(self.plan.chunks[number])]

    def _maps(self, kind: MapKind, chunks: Sequence[ScoreChunk], inputs: ChunkInputs) -> dict[str, SavedMaps]:
        """The maps of some methods' chunks: saved ones are read, the others explained, and perhaps kept."""
        maps = {chunk.call: saved for chunk in chunks if (saved := self._saved(kind, chunk, inputs.batch.ids))}
        missing = [chunk for chunk in chunks if chunk.call not in maps]
        if not missing:
            return maps
        runner = self.counterparts.get(kind, self)
        image_set, targets, correct = inputs.task(kind, runner.model)
        masks, ids = self.plan.masks(inputs.batch)[:, 0], inputs.batch.ids
        explained = runner.explain([chunk.call for chunk in missing], image_set.images, targets, masks, ids)
        for chunk in missing:
            of_method = explained[chunk.call]
            maps[chunk.call] = SavedMaps(
                ids=ids,
                targets=targets,
                correct=correct,
                there=image_set.exists,
                values=np.asarray(of_method.values.cpu().numpy()),
                reduction=str(of_method.reduction),
                native_resolution=of_method.native_resolution,
                seconds=explained.seconds[chunk.call],
                faults=image_set.faults,
            )
            if self.plan.keep_maps:
                write_maps(self.maps_path(kind, chunk), maps[chunk.call], self.maps_key(kind, chunk))
            if kind is MapKind.SAMPLES:
                self.gallery.keep(chunk.call, ids, maps[chunk.call].values)
        return maps

    def _saved(self, kind: MapKind, chunk: ScoreChunk, ids: list[str]) -> SavedMaps | None:
        """The maps of a chunk's samples by one method, if they are saved."""
        if self.plan.source_run is not None:
            return self.plan.source_run.maps(self.maps_name(kind, chunk), ids)
        path = self.saved_maps(kind, chunk)
        return None if path is None else read_maps(path, ids)

    def explain(
        self,
        calls: Sequence[str],
        images: Any,
        targets: Any,
        masks: Mask | None,
        ids: Sequence[str],
        view: ModelView | None = None,
    ) -> Explained:
        """Maps of images (n, C, H, W), for classes (n,), masks bool (n, H, W) and names; `view` is of another model."""
        methods, conventions = {call: self.plan.methods[call] for call in calls}, self.plan.conventions
        fitted = any("patterns" in method.needs for method in methods.values())
        explainer = BatchExplainer(
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
            references=self.references if any("references" in method.needs for method in methods.values()) else None,
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
        return replace(source_run.predictions(self.model), present=present_in(dataset, task))

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
        return Patterns.load(path)

    @cached_property
    def references(self) -> torch.Tensor:
        """Some of the training images, float32 (m, C, H, W), drawn at random."""
        train = self.plan.dataset.of_split("train")
        drawn = Stream(0, "references").permutation(len(train))[:REFERENCES]
        batches = train.batches(CHUNK, sorted(drawn.tolist()))
        return torch.cat([torch.from_numpy(batch.images) for batch in batches])

    @cached_property
    def counterparts(self) -> dict[MapKind, ModelRunner]:
        """The runners of the models whose maps are compared with this one's, by the kind of the maps."""
        runners = {kind.model: replace(self, model=model) for kind, model in self.others.items()}
        return {kind: runners[kind.model] for kind in self.others}

    @cached_property
    def gallery(self) -> GalleryMaps:
        """The maps that the report shows."""
        return GalleryMaps(self)
