"""The folder of a run: its default name, the experiment that it may hold already, and its lock."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from salgen.datasets.format.manifest import FILE as MANIFEST
from salgen.datasets.format.output_folder import sole_writer
from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.runs.artifacts.chunk_files import PARTS
from salgen.evaluation.runs.artifacts.conventions import Conventions
from salgen.evaluation.runs.artifacts.run_record import RECORD, ModelRecord, RunRecord
from salgen.evaluation.runs.artifacts.saved_maps import folder_name
from salgen.evaluation.runs.evaluated_models import is_factory
from salgen.parameters import to_json
from salgen.registry import MODELS

DEFAULTS = {"split": "test", "scale": "small"}


def default_run(path: str | Path, model: str | Path, options: Mapping[str, Any]) -> Path:
    """The default folder of a run: ``runs/<data set>-<model>``, and every option that is not the default."""
    checkpoint = Path(model).resolve()
    name = f"{checkpoint.parent.name}-{checkpoint.name}"
    if str(model) in MODELS.entries or is_factory(model):
        name = str(model).replace(":", "-")
    stated = [f"-{key}-{value}" for key, value in options.items() if value not in (None, DEFAULTS.get(key))]
    chosen = folder_name("".join(stated).strip("-")) if stated else ""
    return Path("runs") / "-".join(filter(None, [Path(path).resolve().name, name, chosen]))


def run_to_extend(
    run: Path,
    dataset: Dataset,
    conventions: Conventions,
    models: Sequence[tuple[str, int, str | None]],
    *,
    second_model: str | None = None,
    scored_from: str | None = None,
    replace: bool = False,
) -> RunRecord | None:
    """The record of the finished run in a folder, to which methods and metrics may be added; None if there is none.

    Parameters
    ----------
    models
        Name, training seed and SHA-256 of the weights (None where it is to be trained) of each model.
    second_model
        The name or the task of the second model, if one is stated.
    scored_from
        SHA-256 of the record of the run whose maps are to be scored, if any.
    replace
        Whether a finished run is to be removed first.

    Raises
    ------
    SalgenError
        If the folder is a data set, is not empty and no run, or holds another experiment that is not to be replaced.
    """
    if (run / MANIFEST).exists():
        raise SalgenError(f"{run} is a data set: choose another folder for the run")
    begun = (run / RECORD).exists() or (run / PARTS).is_dir() or any(run.glob("*-seed*"))
    if run.exists() and not begun and not (run.is_dir() and not any(run.iterdir())):
        raise SalgenError(f"{run} exists and is not a run: choose another folder, or an empty one")
    if replace or not (run / RECORD).is_file():
        return None
    try:
        record = RunRecord.read(run / RECORD)
    except SalgenError:  # a damaged record does not say of which run it is
        return None
    compared = [
        ("data set", record.dataset.name, dataset.name),
        ("fingerprint", record.dataset.fingerprint[:12], dataset.fingerprint[:12]),
        ("split", record.dataset.split, dataset.split),
        ("maps", _maps(record.scored_from.record_sha256 if record.scored_from else None), _maps(scored_from)),
        ("models", _models(record.models), ", ".join(f"{name} seed {seed}" for name, seed, _ in models)),
        *((name, record.conventions.get(name), value) for name, value in to_json(conventions).items()),
    ]
    compared += [
        (f"weights of seed {seed}", model.weights_sha256[:12], digest[:12])
        for model, (_, seed, digest) in zip(record.models, models, strict=False)
        if digest is not None
    ]
    if second_model is not None and record.paired_model:
        second = record.paired_model[0]
        compared.append(
            ("second model", second.task if second_model == second.task else second.checkpoint, second_model)
        )
    different = [f"{name} {held} there, {wanted} here" for name, held, wanted in compared if held != wanted]
    if different:
        raise SalgenError(
            f"{run} holds another experiment ({'; '.join(different)}): choose another folder, or replace that run "
            "with --replace (replace=True)"
        )
    return record


def _models(models: Sequence[ModelRecord]) -> str:
    return ", ".join(f"{model.name} seed {model.seed}" for model in models)


def _maps(scored_from: str | None) -> str:
    return f"of run {scored_from[:12]}" if scored_from else "of its own"


def say_what_is_added(run: Path, held: RunRecord, methods: Collection[str], metrics: Collection[str]) -> None:
    """Warn that a run is extended, and with which methods and metrics."""
    earlier = {*held.metrics, *(method.call for method in held.methods)}
    if added := [call for call in (*methods, *metrics) if call not in earlier]:
        warnings.warn(f"{run} holds this experiment already: adding {', '.join(added)}", SalgenWarning, stacklevel=3)


@contextmanager
def run_folder(run: Path, *, replace: bool = False) -> Iterator[None]:
    """Make a run's folder, and keep other processes from writing to it; on an error an empty one is removed.

    Parameters
    ----------
    replace
        Whether a finished run in it is removed first; one that was stopped goes on.

    Raises
    ------
    SalgenError
        If it cannot be made or removed, or another process is writing to it.
    """
    with sole_writer(run):
        try:
            if replace and (run / RECORD).is_file():
                shutil.rmtree(run)
            run.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SalgenError(f"{run} cannot be made: {error.strerror or error}") from None
        try:
            yield
        except BaseException:
            with suppress(OSError):
                run.rmdir()
            raise
