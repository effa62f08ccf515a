"""The trainings behind ROAR and KAR, which remove or keep the pixels that a method ranks highest, and F-Fidelity.

Pixels are ranked once. For each fraction the values by a fresh model are kept, so that a stopped run continues.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from salgen.datasets.reading.batch import to_unit
from salgen.datasets.reading.reader import Batch, Dataset
from salgen.evaluation.metrics.f_fidelity import FidelityPlus
from salgen.evaluation.metrics.inputs.changed_images import pixel_ranks
from salgen.evaluation.metrics.inputs.metric import NON_FINITE_MAP
from salgen.evaluation.runs.artifacts.chunk_files import PARTS, provenance, read_rows, score_rows
from salgen.evaluation.runs.artifacts.run_record import CHUNK
from salgen.evaluation.runs.evaluated_models import train_again
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.plan import WHOLE_IMAGE
from salgen.evaluation.scoring.metric_computation import PartialScores
from salgen.evaluation.training.reliance_penalty import REPLACED
from salgen.evaluation.training.training_config import SPLITS
from salgen.files import atomic_path
from salgen.parameters import to_json
from salgen.progress import progress
from salgen.seeding import Stream
from salgen.types import Float64, Mask

FOLDER = "retrained"
RANKS_VERSION = "1"
FAILED = -1  # instead of ranks, where a map is not finite


def retrain(runners: Sequence[ModelRunner]) -> Iterator[pa.Table]:
    """The rows of all metrics that train again, for every model and method of a run."""
    for runner in runners:
        metrics = {name: m for name, m in runner.plan.metrics.items() if "training" in m.needs}
        for call in runner.plan.methods if metrics else ():
            yield from Retraining(runner, call).tables(metrics)


@dataclass(frozen=True)
class Retraining:
    """All trainings behind one model and method."""

    runner: ModelRunner
    call: str

    def tables(self, metrics: Mapping[str, Any]) -> Iterator[pa.Table]:
        """The rows of each metric; those of finished trainings are read."""
        for name, metric in metrics.items():
            path = self.runner.run / PARTS / f"{self._key(name, to_json(metric), metric.version)}.parquet"
            if not path.exists():
                values = self._fidelity(metric) if isinstance(metric, FidelityPlus) else self._outcomes(name, metric)
                with atomic_path(path) as temporary:
                    pq.write_table(self._rows(name, metric, values), temporary)
            yield read_rows(path)
        shutil.rmtree(self.folder, ignore_errors=True)

    @cached_property
    def folder(self) -> Path:
        """The folder of ranks and changed images, removed once they are no longer needed."""
        return self.runner.run / FOLDER / self._key("ranks")

    def _key(self, *parts: Any) -> str:
        """Digest of everything that a file depends on."""
        plan, method = self.runner.plan, self.runner.plan.methods[self.call]
        return provenance(
            {
                **self.runner.depends_on(plan.considered, self.runner.model.device.type),
                "what": [*parts, RANKS_VERSION],
                "method": [self.call, to_json(method), method.version],
                "conventions": {**to_json(plan.conventions), "limit": None},
            }
        )

    # Training ---------------------------------------------------------------------------------------

    def _outcomes(self, name: str, metric: Any) -> Float64:
        """For each considered image, 1 where the new model is right."""
        evaluated = self.runner.plan.dataset.split
        changed = self.folder / self._key(name)
        for split in {*SPLITS, evaluated}:
            if not (changed / f"{split}.npy").exists():
                self._change(split, metric, changed)
        plan, out = self.runner.plan, self.runner.run / FOLDER / f"{self._key(name)}-model"
        trained = train_again(self.runner.model, plan.dataset, out, images=changed)
        considered = slice(plan.considered)
        images = np.load(changed / f"{evaluated}.npy", mmap_mode="r")[considered]
        parts = [slice(start, start + CHUNK) for start in range(0, len(images), CHUNK)]
        labels = np.asarray(self._split(evaluated).column(plan.task))[considered]
        predicted = np.concatenate([trained.predict(to_unit(images[part]), labels[part]) for part in parts])
        shutil.rmtree(changed)
        return np.asarray(predicted == labels, dtype=np.float64)

    def _change(self, split: str, metric: Any, folder: Path) -> None:
        """Write a split's images with the pixels of the metric's fraction changed."""
        dataset, ranks = self._split(split), self._ranks(split)
        count = round(metric.fraction * ranks[0].size)
        top = (ranks < count) & (ranks != FAILED)
        images, replaced = dataset.images(), (~top if metric.keeps else top)[:, np.newaxis]
        np.copyto(images, self._mean, where=replaced)
        folder.mkdir(parents=True, exist_ok=True)
        if split == "train":
            _save(folder / REPLACED, replaced)
        _save(folder / f"{split}.npy", images)

    def _fidelity(self, metric: FidelityPlus) -> Float64:
        """For each considered image, how much less often a model that knows missing pixels is right without some."""
        plan, seed = self.runner.plan, self.runner.plan.conventions.seed
        key = provenance({"model": self.runner.model.digest, "missing": metric.missing})
        out = self.runner.run / FOLDER / f"{key}-model"  # all methods share it
        trained = train_again(self.runner.model, plan.dataset, out, missing=metric.missing)
        falls, start = np.empty(plan.considered), 0
        for batch in plan.dataset.batches(CHUNK, range(plan.considered)):
            part = slice(start, start := start + len(batch))
            ranks, means = self._ranks(plan.dataset.split)[part], batch.images.mean(axis=(2, 3), keepdims=True)
            falls[part] = trained.predict(batch.images, batch.labels) == batch.labels
            for draw in range(metric.draws):
                each = zip(ranks, batch.ids, strict=True)
                gone = np.stack(
                    [
                        _taken_away(metric, places, Stream(seed, metric.name, sample, index=draw))
                        for places, sample in each
                    ]
                )[:, np.newaxis]
                shown = np.where(gone, means, batch.images)
                falls[part] -= (trained.predict(shown, batch.labels) == batch.labels) / metric.draws
        return falls

    @cached_property
    def _mean(self) -> NDArray[Any]:
        """The training images' mean colour, (C, 1, 1), rounded to the images' own dtype."""
        images = self._split("train").images()
        mean = np.rint(images.mean(axis=(0, 2, 3), dtype=np.float64))
        return np.asarray(mean.astype(images.dtype)[:, np.newaxis, np.newaxis])

    # Ranks ------------------------------------------------------------------------------------------

    def _ranks(self, split: str) -> NDArray[np.int32]:
        """Each pixel's place in its map, int32 (N, H, W) from 0 for the largest; `FAILED` where not finite."""
        path = self.folder / f"ranks-{split}.npy"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            dataset = self._split(split)
            ranked = np.empty((len(dataset), *dataset.spec.image_size), dtype=np.int32)
            start = 0
            with progress(f"rank pixels of {split}, {self.call}", len(dataset), "maps") as advance:
                for batch in dataset.batches(CHUNK):
                    ranked[start : start + len(batch)] = self._ranks_of(batch)
                    start += len(batch)
                    advance(len(batch))
            _save(path, ranked)
        return np.asarray(np.load(path, mmap_mode="r"))

    def _ranks_of(self, batch: Batch) -> NDArray[np.int32]:
        plan, model = self.runner.plan, self.runner.model
        targets = plan.targets(batch.labels, lambda: model.predict(batch.images, batch.labels))
        explained = self.runner.explain([self.call], batch.images, targets, plan.masks(batch)[:, 0], batch.ids)
        maps = explained[self.call].values.cpu().numpy()
        finite = np.isfinite(maps).all(axis=(1, 2))
        streams = [Stream(plan.conventions.seed, "order of tied pixels", sample) for sample in batch.ids]
        ranks = pixel_ranks(np.where(finite[:, np.newaxis, np.newaxis], maps, 0.0), streams)
        return np.where(finite[:, np.newaxis, np.newaxis], ranks, np.int32(FAILED))

    def _split(self, split: str) -> Dataset:
        return self.runner.plan.dataset.of_split(split)

    # Rows -------------------------------------------------------------------------------------------

    def _rows(self, name: str, metric: Any, values: Float64) -> pa.Table:
        """One row for each considered image, with or without the feature."""
        finite = self._ranks(self.runner.plan.dataset.split)[: len(values), 0, 0] != FAILED
        chunk = next(chunk for chunk in self.runner.chunks[0] if chunk.call == self.call)
        plan, count = self.runner.plan, len(values)
        labels, predicted = self.runner.predictions.labels, self.runner.predictions.predicted
        shared = {
            **self.runner.shared_columns(chunk.record()),
            "cluster": np.array(plan.dataset.clusters[:count], dtype=object),
            "target": plan.targets(labels, lambda: predicted)[:count],
            "correct": (labels == predicted)[:count],
        }
        reasons = np.where(finite, "", NON_FINITE_MAP).tolist()
        scores = PartialScores({name: np.where(finite, values, np.nan)}, {name: reasons})
        return score_rows(shared, WHOLE_IMAGE, plan.dataset.ids[:count], {name: metric}, scores)


def _taken_away(metric: FidelityPlus, ranks: NDArray[np.int32], stream: Stream) -> Mask:
    """A draw of the pixels that F-Fidelity takes away from an image, bool (H, W), by their ranks."""
    places = np.flatnonzero((ranks < round(metric.fraction * ranks.size)) == metric.of_top)
    count = min(len(places) // 2, round(metric.missing * ranks.size))
    gone = np.zeros(ranks.shape, dtype=bool)
    gone.flat[places[stream.permutation(len(places))[:count]]] = True
    return gone


def _save(path: Path, array: NDArray[Any]) -> None:
    with atomic_path(path) as temporary, open(temporary, "wb") as handle:
        np.save(handle, array)
