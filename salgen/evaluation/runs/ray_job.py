"""A model's runner as it is sent to a Ray task: with the paths of weights and data instead of their contents."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from contextlib import chdir, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import nn

from salgen.datasets.reading.reader import Dataset, open_dataset
from salgen.errors import SalgenError
from salgen.evaluation.runs.artifacts.provenance import library_versions
from salgen.evaluation.runs.evaluated_models import EvaluatedModel, load_model
from salgen.evaluation.runs.given_models import given_model, weights_digest
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.plan import Plan

CPU, CUDA = "cpu", "cuda"


@dataclass(frozen=True)
class Job:
    """Everything that a worker needs to load a model's runner."""

    # the folders of the run and the data set, which all machines see; the split; the data set's name; and the
    # `source` it was opened with
    run: Path
    data: Path
    split: str
    name: str
    source: str | None
    device: str  # the type of device that the worker has
    libraries: Mapping[str, str]  # versions of the libraries that scores depend on
    plan: bytes  # the plan for this model, pickled without data and weights

    @classmethod
    def of(cls, runner: ModelRunner, device: str) -> Job:
        """The job by which workers do what this process would."""
        data = runner.plan.dataset
        source = data.source
        if source is not None and Path(source).exists():
            source = str(Path(source).absolute())
        pickled = io.BytesIO()
        _Pickler(pickled).dump(runner.plan.for_model(runner.model))
        places = (runner.run.absolute(), data.path.absolute(), data.split, data.name, source)
        return cls(*places, device, library_versions(), pickled.getvalue())

    def load(self) -> ModelRunner:
        """The runner, with its data and its models."""
        dataset = open_dataset(self.data, self.split, self.source)
        dataset.name = self.name
        plan: Plan = _Unpickler(io.BytesIO(self.plan), dataset).load()
        return ModelRunner(plan, plan.models[0], self.run)


@dataclass(frozen=True)
class ModelReference:
    """An evaluated model without its weights, and how to load them again."""

    path: str  # the checkpoint's folder, or ``package.module:function``
    within: Path | None  # the working directory in which the function is looked up; None for a checkpoint
    # digest of modules and weights; unlike the model's own digest it does not depend on logits, hence on the machine
    weights: str
    fields: Mapping[str, Any]  # the other fields of the model

    @classmethod
    def of(cls, model: EvaluatedModel) -> ModelReference:
        """The reference by which a model is loaded from any working directory."""
        fields = {name: getattr(model, name) for name in ("name", "seed", "digest", "origin", "task", "compile")}
        folder = model.folder.absolute()
        by_function = model.origin["trained_on"] is None
        path = str(model.origin["checkpoint"] if by_function else folder)
        return cls(path, Path.cwd() if by_function else None, _weights(model.classifier), {**fields, "folder": folder})

    def load(self, dataset: Dataset) -> EvaluatedModel:
        """The model, its weights on a CUDA device if this process sees one."""
        with nullcontext() if self.within is None else chdir(self.within):
            model = load_model(dataset, given_model(self.path), self.fields["folder"], any_task=True)
        if _weights(model.classifier) != self.weights:
            raise SalgenError(f"model {self.path}: its weights differ from those where the run was started")
        return replace(model, **self.fields)


def _weights(classifier: nn.Module) -> str:
    return weights_digest(classifier, repr(classifier))


class _Pickler(pickle.Pickler):
    """Pickler that stores references to models and data sets instead of their contents."""

    def persistent_id(self, value: Any) -> Any:
        if isinstance(value, Dataset):
            return "data"
        return ModelReference.of(value) if isinstance(value, EvaluatedModel) else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, dataset: Dataset) -> None:
        super().__init__(file)
        self._dataset = dataset

    def persistent_load(self, reference: Any) -> Any:
        return reference.load(self._dataset) if isinstance(reference, ModelReference) else self._dataset
