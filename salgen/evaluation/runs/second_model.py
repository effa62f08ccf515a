"""The second model of a run, with which metrics contrast the first: given, or trained for another task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.runs.evaluated_models import EvaluatedModel, is_factory, load_model, train_again


@dataclass(frozen=True)
class Pairing:
    """How a run comes by its second model, if it has one.

    Attributes
    ----------
    model
        A checkpoint's folder or ``"package.module:function"``; it may have learnt any task of the data set.
    task
        The task for which one is trained as the first model was.
    """

    model: str | Path | None
    task: str | None

    @property
    def given(self) -> bool:
        """Whether there is one."""
        return self.model is not None or self.task is not None

    def check(self, dataset: Dataset, first: str | Path) -> None:
        """Raise a SalgenError for what can be known to be wrong before any work."""
        if self.model is not None and self.task is not None:
            raise SalgenError("paired_model and paired_task: give one of them, the model or what it shall learn")
        if self.model is not None and not is_factory(self.model) and not Path(self.model).exists():
            raise SalgenError(f"paired model {self.model}: give a checkpoint's folder, or PACKAGE.MODULE:FUNCTION")
        if self.task is None:
            return
        if self.task not in dataset.tasks:
            raise unknown_name(f"task of {dataset.path}", self.task, dataset.tasks)
        if self.task == next(iter(dataset.tasks)):
            raise SalgenError(f"paired_task = {self.task}: the first model tells that; name another task")
        if is_factory(first):
            raise SalgenError(
                f"paired_task = {self.task}: how {first} was trained is not known; give a second model as paired_model"
            )

    def models(self, firsts: Sequence[EvaluatedModel], dataset: Dataset, run: Path) -> dict[int, EvaluatedModel]:
        """Training seed to the second model, which is trained where a task is given.

        Raises
        ------
        SalgenError
            If it cannot be loaded, or does not fit the data.
        """
        if self.model is not None:
            return dict.fromkeys((first.seed for first in firsts), load_model(dataset, self.model, run, any_task=True))
        if self.task is None:
            return {}
        return {
            first.seed: train_again(
                first, dataset, run / f"{Path(first.name).name}-{self.task}-seed{first.seed}", task=self.task
            )
            for first in firsts
        }
