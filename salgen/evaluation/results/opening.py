"""``salgen.evaluate``, ``rescore`` and ``load``, which give a :class:`Run`."""

import inspect
import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, overload
from salgen.datasets.reading.reader import Dataset, open_dataset
from salgen.evaluation.results.run import Run
from salgen.evaluation.runs import rescoring, running
from salgen.evaluation.runs.artifacts.run_record import RECORD

P = ParamSpec("P")


def _as_run(function: Callable[P, Path]) -> Callable[P, Run]:
    @wraps(function)
    def opened(*args: P.args, **kwargs: P.kwargs) -> Run:
        return Run(function(*args, **kwargs))

    opened.__signature__ = inspect.signature(function).replace(return_annotation=Run)  # type: ignore[attr-defined]
    return opened


evaluate = _as_run(running.evaluate)
rescore = _as_run(rescoring.rescore)


@overload
def load(path: str | os.PathLike[str], split: str, source: str | None = None) -> Dataset: ...


@overload
def load(path: str | os.PathLike[str], split: None = None, source: str | None = None) -> Any: ...


def load(path: str | os.PathLike[str], split: str | None = None, source: str | None = None) -> Dataset | Run:
    """Load a split of a data set, or a finished run.

    Parameters
    ----------
    path
        The folder of a data set or a run, or the archive of a data set.
    split
        Of a data set: ``"test"`` by default, or the first split where there is no test split.
    source
        Of a data set that holds recipes only: the material that it was made from, if not the generator's own.

    Raises
    ------
    SalgenError
        If it is neither, or damaged.
    """
    if (Path(path) / RECORD).is_file():
        return Run(path)
    return open_dataset(path, split, source)


open = load
