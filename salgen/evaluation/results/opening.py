"""``salgen.evaluate``, ``rescore`` and ``open``, which give a :class:`Run`."""

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

    return opened


evaluate = _as_run(running.evaluate)
rescore = _as_run(rescoring.rescore)


@overload
def open(path: str | os.PathLike[str], split: str, source: str | None = None) -> Dataset: ...


@overload
def open(path: str | os.PathLike[str], split: None = None, source: str | None = None) -> Any: ...


def open(path: str | os.PathLike[str], split: str | None = None, source: str | None = None) -> Dataset | Run:
    """A split of a data set, or a finished run.

    Parameters
    ----------
    path
        A folder that ``salgen make`` or ``salgen evaluate`` wrote.
    split, source
        Of a data set, see :func:`~salgen.datasets.reading.reader.open_dataset`.

    Raises
    ------
    SalgenError
        If it is neither, or damaged.
    """
    if (Path(path) / RECORD).is_file():
        return Run(path)
    return open_dataset(path, split, source)
