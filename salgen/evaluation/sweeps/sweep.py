"""`salgen sweep`: a data set and a run for each dose, and one page of curves and thresholds.

What is called for a dose is what `salgen make` and `salgen evaluate` call, so that a stopped sweep goes on, and methods
are added to a finished one.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from salgen.datasets.making import make
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError, unknown_name, warn
from salgen.evaluation.report.runs import Run, read_runs
from salgen.evaluation.runs.artifacts.predictions import FILE as PREDICTIONS
from salgen.evaluation.runs.running import evaluate
from salgen.evaluation.sweeps.dose import Dose
from salgen.evaluation.sweeps.psychometric import SHAPES, Axis
from salgen.evaluation.sweeps.sweep_page import MODEL, Subject, Sweep, write_page
from salgen.evaluation.sweeps.thresholds import Trials, thresholds
from salgen.files import write_text
from salgen.types import Float64

METRIC = "roc-auc"  # its chance is 0.5 whatever the mask, so it stays the same at all doses
TABLE = "thresholds.csv"


def sweep(
    name: str,
    dose: str,
    out: str | Path | None = None,
    *,
    model: Any = "lesion-cnn",
    methods: Sequence[Any] | Mapping[str, Any] | None = None,
    scale: str = "small",
    splits: Mapping[str, int | None] | None = None,
    seed: int = 0,
    parameters: Mapping[str, Any] | None = None,
    source: str | None = None,
    settings: Mapping[str, Any] | None = None,
    seeds: int | None = None,
    reliance: bool | None = None,
    split: str | None = None,
    limit: int | None = None,
    max_memory: float | None = None,
    shape: str = "logistic",
    command: Sequence[str] | None = None,
) -> Path:
    """Find how weak a cause a model and saliency methods still find, or continue a sweep that was stopped.

    For each dose a data set is made and evaluated, with models trained on it. A threshold is the dose at which a
    model's accuracy, or a method's ROC-AUC, is halfway from chance to 1.

    Parameters
    ----------
    name
        A registered generator.
    dose
        One of its numeric parameters, in its units, with six values or more: ``"depth=0.02:0.7:8"`` for eight values
        with equal ratios (also ``8log``), ``8lin`` for even steps, or ``"diameter=2,4,6,8,12,16"``.
    out
        The folder; ``sweeps/NAME-PARAMETER`` by default. It holds ``PARAMETER=VALUE/data`` and ``.../run``.
    model, methods, settings, seeds, reliance, split, limit, max_memory
        As for :func:`salgen.evaluate`.
    scale
        Of data, training and methods.
    splits, seed, parameters, source
        As for :func:`salgen.make`; all doses have the same seed, and so the same backgrounds.
    shape
        ``logistic``, ``weibull`` or ``normal``: see :func:`~salgen.evaluation.sweeps.psychometric.fit`.
    command
        The command line to record.

    Returns
    -------
    The folder, with ``thresholds.csv``, ``report.html``, ``curves.png`` and ``doses.png``. See docs/thresholds.md.

    Raises
    ------
    SalgenError
        If the dose is not of a numeric parameter, a value is refused, or whatever `make` and `evaluate` raise.
    """
    chosen, parameters = Dose.parse(dose, name), parameters or {}
    if shape not in SHAPES:
        raise unknown_name("shape", shape, SHAPES)
    chosen.check(name, source, scale, parameters)
    folder = Path("sweeps") / f"{name}-{chosen.parameter}" if out is None else Path(out)
    data, runs = [], []
    for value in chosen.values:
        place = folder / f"{chosen.parameter}={value:g}"
        place.mkdir(parents=True, exist_ok=True)
        values = {**parameters, chosen.parameter: value}
        arguments: dict[str, Any] = {"scale": scale, "source": source, "command": command}
        data.append(make(name, place / "data", splits=splits, seed=seed, parameters=values, **arguments))
        if open_dataset(data[-1]).manifest.multi_label:
            raise SalgenError(f"images of {name} show several classes: guessing has no accuracy that all doses share")
        run = evaluate(
            data[-1],
            model=model,
            methods=methods,
            metrics=[METRIC],
            out=place / "run",
            split=split,
            settings=settings,
            seeds=seeds,
            reliance=reliance,
            max_memory=max_memory,
            limit=limit,
            **arguments,
        )
        runs.append(run)
    found = fitted(name, chosen, data, read_runs(runs), shape)
    write_text(folder / TABLE, table_text(found))
    write_page(found, folder, command)
    return folder


def fitted(name: str, dose: Dose, data: Sequence[Path], runs: Sequence[Run], shape: str = "logistic") -> Sweep:
    """The curves and thresholds of finished runs, one for each dose.

    Raises
    ------
    SalgenError
        If the accuracy of guessing differs between the doses.
    """
    chances = {model.chance for run in runs for model in run.models}
    if max(chances) - min(chances) > 1e-9:
        raise SalgenError(
            f"guessing is right on {min(chances):.1%} to {max(chances):.1%} of the images: a curve takes one share"
        )
    datasets = [open_dataset(path, run.split) for path, run in zip(data, runs, strict=True)]
    of_images = [dict(zip(dataset.ids, dataset.clusters, strict=True)) for dataset in datasets]
    names = sorted({cluster for images in of_images for cluster in images.values()})
    right = [_right(run, list(images)) for run, images in zip(runs, of_images, strict=True)]
    accuracy = Trials.of(right, [list(images.values()) for images in of_images], names)
    calls = _methods_of_all(runs)
    scored = [[run.cube.cluster_names[number] for number in run.cube.clusters] for run in runs]
    methods = {call: Trials.of([_scores(run, call) for run in runs], scored, names) for call in calls}
    falling = bool(np.cov(dose.array, accuracy.means)[0, 1] < 0)
    axis = Axis(dose.log, falling)
    model, rows = thresholds(dose.array, accuracy, methods, axis, chance=max(chances), shape=shape)
    label = runs[0].model_names[0]
    subjects = [
        Subject(label, "accuracy", MODEL, accuracy, *model),
        *(Subject(call, METRIC, runs[0].role(call), methods[call], *row) for call, row in rows.items()),
    ]
    return Sweep(name, dose, axis, shape, max(chances), list(data), list(runs), subjects)


def _right(run: Run, images: Sequence[str]) -> Float64:
    """Whether each training is right about each image of the split, float64 (S, N)."""
    table = pq.read_table(run.path / PREDICTIONS).to_pandas()
    table["right"] = (table["label"] == table["predicted"]).astype(float)
    wide = table.pivot(index="training_seed", columns="sample_id", values="right")
    return np.asarray(wide[list(images)].to_numpy(), dtype=np.float64)


def _scores(run: Run, call: str) -> Float64:
    """The ROC-AUC of a method's maps, float64 (S, N); NaN where undefined."""
    cube = run.cube
    (series,) = [number for number, (_, method, _) in enumerate(cube.series) if method == call]
    return np.asarray(cube.value[series, cube.metrics.index(METRIC), cube.variants.index(run.variant_of(METRIC))])


def _methods_of_all(runs: Sequence[Run]) -> list[str]:
    """The methods that every run has, with a warning about the others."""
    calls = [[method for _, method, _ in run.cube.series] for run in runs]
    shared = [call for call in calls[0] if all(call in others for others in calls)]
    if left_out := sorted({call for of_run in calls for call in of_run} - set(shared)):
        warn(f"without a curve, as they have no scores at some dose: {', '.join(left_out)}")
    return shared


def table_text(found: Sweep) -> str:
    """The text of ``thresholds.csv``, in the order of thresholds."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    rows: Iterable[dict[str, Any]] = (
        {"subject": subject.name, "measure": subject.measure, "role": subject.role, **asdict(subject.threshold)}
        for subject in found.in_order
    )
    for number, row in enumerate(rows):
        if number == 0:
            writer.writerow(row)
        writer.writerow("" if value != value else value for value in row.values())
    return text.getvalue()
