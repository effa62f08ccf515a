"""A run whose saved maps are scored again: its data, models, predictions and certificates are reused unchanged."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
import numpy as np
import pyarrow.parquet as pq
from torch import nn
from salgen.datasets.archives.unpacking import unpacked
from salgen.datasets.format import manifest as manifests
from salgen.datasets.format.shards import shards_of
from salgen.datasets.reading.reader import Dataset, open_dataset
from salgen.errors import SalgenError, warn
from salgen.evaluation.attribution.array_files import ArrayFiles
from salgen.evaluation.attribution.attribution_context import Method
from salgen.evaluation.attribution.file_maps import FileMaps
from salgen.evaluation.attribution.foreign_methods import ForeignMethod
from salgen.evaluation.metrics.inputs.metric_inputs import MapKind
from salgen.evaluation.runs.artifacts.certificate_table import (
    CERTIFICATES,
    COMPOSITES,
    Certification,
    read_certificates,
)
from salgen.evaluation.runs.artifacts.predictions import FILE as PREDICTIONS
from salgen.evaluation.runs.artifacts.predictions import Predictions
from salgen.evaluation.runs.artifacts.run_record import RECORD, MethodRecord, ModelRecord, RunRecord
from salgen.evaluation.runs.artifacts.saved_maps import (
    GALLERY,
    SavedMaps,
    check_maps,
    folder_name,
    kind_of,
    method_folder,
    read_maps,
)
from salgen.evaluation.runs.conventions import Conventions
from salgen.evaluation.runs.evaluated_models import EvaluatedModel
from salgen.evaluation.training.checkpoints import CARD, WEIGHTS, load_checkpoint
from salgen.files import copy_file, sha256_of
from salgen.parameters import build

DATA = "dataset"
CHECKPOINTS = "checkpoints"
ORIGIN = ("checkpoint", "trained_on", "settings", "training_seconds", "patterns")  # entries of a model's record


@dataclass(frozen=True)
class SourceRun:
    """A run folder with maps."""

    folder: Path  # the run folder, unpacked
    given_path: str  # the folder or the archive, as it was given
    record: RunRecord  # its ``run.json``
    digest: str  # SHA-256 of that file

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> SourceRun:
        """The run in a folder or an archive."""
        folder = unpacked(Path(path))
        if not folder.is_dir():
            fault = "is not a folder" if folder.exists() else "does not exist"
            raise SalgenError(
                f"{path} {fault}: give a run that 'salgen evaluate --keep-maps' wrote, or an archive of it; "
                "maps from elsewhere are scored by 'salgen evaluate DATA --maps PATH', or by 'salgen score PATH MASKS'"
            )
        record = RunRecord.read(folder / RECORD)
        if not record.maps:
            fault = "was itself scored from another run's" if record.scored_from else "holds no"
            raise SalgenError(f"{path} {fault} maps: evaluate with --keep-maps, and publish that")
        return cls(folder, os.fspath(path), record, hashlib.sha256((folder / RECORD).read_bytes()).hexdigest())

    @cached_property
    def kinds(self) -> frozenset[MapKind]:
        """The kinds of maps that the run has."""
        return frozenset(kind_of(name) for name in self.record.maps)

    @cached_property
    def methods(self) -> dict[str, Method]:
        """The methods whose maps the run has, by their calls."""
        folders = set(map(method_folder, self.record.maps))
        return {m.call: _method(m) for m in self.record.methods if folder_name(m.call) in folders}

    @cached_property
    def conventions(self) -> Conventions:
        """The conventions of the run."""
        return build(Conventions, self.record.conventions)

    def maps(self, name: str, ids: list[str]) -> SavedMaps:
        """The maps of some samples, from a file of the run."""
        check_maps(self.folder, name, self.record.maps)
        return read_maps(self.folder / name, ids)

    def dataset(self, path: str | os.PathLike[str] | None = None, source: str | None = None) -> Dataset:
        """The split that was evaluated: a copy of the user's, or the one that the run has."""
        evaluated = self.record.dataset
        dataset = open_dataset(self.folder / DATA if path is None else path, evaluated.split, source)
        if dataset.fingerprint != evaluated.fingerprint:
            raise SalgenError(f"{dataset.path} is not {evaluated.name}, the data set of these maps: give that")
        dataset.name = evaluated.name
        return dataset

    @cached_property
    def models(self) -> list[EvaluatedModel]:
        """The models, with their weights where the run has them."""
        return [self._model(model) for model in self.record.models]

    def predictions(self, model: EvaluatedModel) -> Predictions:
        """A model's predictions for every sample of the split."""
        own = [("model", "=", model.name), ("training_seed", "=", model.seed)]
        rows = pq.read_table(self.folder / PREDICTIONS, filters=own).to_pydict()
        return Predictions(np.array(rows["label"], np.int64), np.array(rows["probabilities"], np.float32))

    @property
    def certificates(self) -> Certification:
        """The reliance certificates, or the reason why there are none."""
        if (self.folder / CERTIFICATES).is_file():
            return read_certificates(self.folder / CERTIFICATES)
        return Certification(reason=self.record.certificates.reason)

    def copy_files(self, run: Path) -> None:
        """Copy certificates, composites and the report's pictures into another run, where no earlier ones stay."""
        for name in (CERTIFICATES, COMPOSITES, GALLERY):
            (run / name).unlink(missing_ok=True)
            if (self.folder / name).is_file():
                copy_file(self.folder / name, run / name)

    def _model(self, model: ModelRecord) -> EvaluatedModel:
        name, seed, digest = model.name, model.seed, model.weights_sha256
        origin = {key: getattr(model, key) for key in ORIGIN}
        folder = checkpoint_of(self.folder, name, seed, digest)
        if folder is None:
            return EvaluatedModel(name, seed, Absent(), digest, self.folder, origin)
        trained = load_checkpoint(folder)
        return EvaluatedModel(name, seed, trained.classifier, digest, folder, origin, trained.card.task)


def _method(record: MethodRecord) -> Any:
    """The method of a record; one from elsewhere cannot explain, since nothing is imported for it."""
    if record.files is not None:
        files = ArrayFiles(Path(record.files["path"]), {})  # its maps are those of the run
        return FileMaps(name=record.call, files=files, signed=record.signed, sha256=record.files["sha256"])
    if record.foreign is None:
        return record.created
    return ForeignMethod(
        call=record.call,
        given=None,
        arguments={},
        signed=record.signed,
        origin=record.reference.partition(", not re-runnable")[0],
        only_key="",
        **vars(record.foreign),
    )


class Absent(nn.Identity):
    """A model whose weights are missing; only its maps are known, and metrics that ask it are refused."""


def keep_for_scoring(data: Dataset, models: Sequence[EvaluatedModel], run: Path) -> None:
    """Copy the split that was evaluated, and models that lie outside the run folder, into it."""
    for name in (manifests.FILE, *(shard.path for shard in shards_of(data.manifest, data.split))):
        copy_file(data.path / name, run / DATA / name)
    for model in models:
        kept = checkpoint_of(run, model.name, model.seed, model.digest)
        if kept is None and (model.folder / WEIGHTS).is_file():
            target = run / CHECKPOINTS / f"{folder_name(model.name)}-seed{model.seed}"
            for path in checkpoint_files(model.folder):
                copy_file(path, target / path.name)
        elif kept is None:
            warn(f"the weights of {model.name} are not kept: metrics that query the model cannot be scored from maps")


def checkpoint_of(run: Path, model: str, seed: int, digest: str) -> Path | None:
    """The folder within a run that holds a model's checkpoint with these weights, or None."""
    name = f"{folder_name(model)}-seed{seed}"
    for folder in (run / name, run / CHECKPOINTS / name):
        if (folder / CARD).is_file() and (folder / WEIGHTS).is_file() and sha256_of(folder / WEIGHTS) == digest:
            return folder
    return None


def checkpoint_files(folder: Path) -> list[Path]:
    """The files of a checkpoint: its card, its weights, and the patterns that were fitted to it."""
    return [folder / CARD, folder / WEIGHTS, *sorted(folder.glob("patterns-*.safetensors"))]
