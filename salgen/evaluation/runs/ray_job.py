"""A model's work as a task of Ray gets it: no weights and no data, but where they lie."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from salgen.datasets.reading.reader import Dataset, open_dataset
from salgen.evaluation.runs.evaluated_models import EvaluatedModel
from salgen.evaluation.runs.model_references import SavedSubject
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.run_record import library_versions

if TYPE_CHECKING:
    from salgen.evaluation.runs.plan import Plan

CPU, CUDA = "cpu", "cuda"


@dataclass(frozen=True)
class Job:
    """All that a worker needs of a model's work.

    Attributes
    ----------
    run, data, split, name, source
        Where the run and the data set lie for all machines; which split, what the data set is called, and what it
        was opened with.
    device
        The type of device that the worker has.
    libraries
        What scores depend on.
    plan
        The plan for this model, pickled without data and weights.
    """

    run: Path
    data: Path
    split: str
    name: str
    source: str | None
    device: str
    libraries: Mapping[str, str]
    plan: bytes

    @classmethod
    def of(cls, work: ModelRunner, device: str) -> Job:
        """What workers need to do as this process would."""
        data = work.plan.dataset
        given = data.source
        source = str(Path(given).absolute()) if given is not None and Path(given).exists() else given
        pickled = io.BytesIO()
        _Pickler(pickled).dump(work.plan.of(work.subject))
        place = (work.run.absolute(), data.path.absolute(), data.split, data.name, source)
        return cls(*place, device, library_versions(), pickled.getvalue())

    def load(self) -> ModelRunner:
        """The work, with its data and its models."""
        dataset = open_dataset(self.data, self.split, self.source)
        dataset.name = self.name
        plan: Plan = _Unpickler(io.BytesIO(self.plan), dataset).load()
        return ModelRunner(plan, plan.models[0], self.run)


class _Pickler(pickle.Pickler):
    """Models and data sets are named rather than pickled."""

    def persistent_id(self, thing: Any) -> Any:
        if isinstance(thing, Dataset):
            return "data"
        return SavedSubject.of(thing) if isinstance(thing, EvaluatedModel) else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, dataset: Dataset) -> None:
        super().__init__(file)
        self._dataset = dataset

    def persistent_load(self, known: Any) -> Any:
        return known.load(self._dataset) if isinstance(known, SavedSubject) else self._dataset
