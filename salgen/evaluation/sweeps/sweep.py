"""`salgen sweep`: a data set and a run for each dose, and one page of curves and thresholds."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
import numpy as np
from salgen.datasets.format.output_folder import sole_writer
from salgen.datasets.making import make
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.report.runs import LoadedRun, read_runs
from salgen.evaluation.runs.running import evaluate
from salgen.evaluation.statistics.summary import csv_text
from salgen.evaluation.sweeps.dose import Dose
from salgen.evaluation.sweeps.performance import methods_of_all, right, scores
from salgen.evaluation.sweeps.psychometric import SHAPES, Axis
from salgen.evaluation.sweeps.reliant_models import MASS, detections, write_correlation
from salgen.evaluation.sweeps.sweep_page import MODEL, Subject, Sweep, write_page
from salgen.evaluation.sweeps.thresholds import Trials, thresholds
from salgen.files import write_text

METRIC = "roc-auc"  # its chance is 0.5 whatever the mask, so it stays the same at all doses
TRAININGS: Mapping[str, int] = {"full": 20}  # at each spurious correlation, where the unit is the model


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
    n_trainings: int | None = None,
    reliance: bool | None = None,
    split: str | None = None,
    limit: int | None = None,
    max_memory: float | None = None,
    shape: str = "logistic",
) -> Path:
    """Find how weak a cause a model and saliency methods still find, or continue a sweep that was stopped.

    For each dose a data set is made and evaluated, with models trained on it. A threshold is the dose at which a
    model's accuracy, or a method's ROC-AUC, is halfway from chance to 1.

    The strength of a spurious correlation, as of `planted-artefacts`, has no threshold. Its AUROC says how well a
    method's mass on the artefact tells reliant models from others: see
    :mod:`~salgen.evaluation.sweeps.reliant_models`. Models are then trained plainly unless `reliance` says otherwise,
    and at scale full 20 at each dose unless `n_trainings` does.

    Parameters
    ----------
    name
        A registered generator.
    dose
        One of its numeric parameters, in its units, with six values or more: ``"depth=0.02:0.7:8"`` for eight values
        with equal ratios (also ``8log``), ``8lin`` for even steps, or ``"diameter=2,4,6,8,12,16"``. Of a spurious
        correlation's strength two suffice.
    out
        The folder; ``sweeps/NAME-PARAMETER`` by default. It holds ``PARAMETER=VALUE/data`` and ``.../run``.
    model, methods, settings, n_trainings, reliance, split, limit, max_memory
        As for :func:`salgen.evaluate`.
    scale
        Of data, training and methods.
    splits, seed, parameters, source
        As for :func:`salgen.make`; all doses have the same seed, and so the same backgrounds.
    shape
        ``logistic``, ``weibull`` or ``normal``: see :func:`~salgen.evaluation.sweeps.psychometric.fit`.

    Returns
    -------
    The folder, with ``thresholds.csv``, ``report.html``, ``curves.png`` and ``doses.png``; of a spurious correlation
    ``detection.csv``, ``models.csv`` and ``masses.png`` instead of the first and the third. See docs/thresholds.md.

    Raises
    ------
    SalgenError
        If the dose is not of a numeric parameter, a value is refused, or whatever `make` and `evaluate` raise.
    """
    chosen, parameters = Dose.parse(dose, name), parameters or {}
    if shape not in SHAPES:
        raise unknown_name("shape", shape, SHAPES)
    chosen.check(name, source, scale, parameters)
    if chosen.spurious:
        reliance = bool(reliance)
        n_trainings = TRAININGS.get(scale) if n_trainings is None else n_trainings
    folder = Path("sweeps") / f"{name}-{chosen.parameter}" if out is None else Path(out)
    with sole_writer(folder):
        data, runs = [], []
        for number, value in enumerate(chosen.values, 1):
            print(f"dose {number} of {len(chosen.values)}: {chosen.parameter} = {value:g}", file=sys.stderr, flush=True)
            place = folder / f"{chosen.parameter}={value:g}"
            place.mkdir(parents=True, exist_ok=True)
            values = {**parameters, chosen.parameter: value}
            arguments: dict[str, Any] = {"scale": scale, "source": source}
            data.append(make(name, place / "data", splits=splits, seed=seed, parameters=values, **arguments))
            if open_dataset(data[-1]).manifest.multi_label:
                raise SalgenError(f"{name} is multi-label, so chance differs between doses: sweep another data set")
            run = evaluate(
                data[-1],
                model=model,
                methods=methods,
                metrics=[MASS if chosen.spurious else METRIC],
                out=place / "run",
                split=split,
                settings=settings,
                n_trainings=n_trainings,
                reliance=reliance,
                max_memory=max_memory,
                limit=limit,
                **arguments,
            )
            runs.append(run)
        if chosen.spurious:
            write_correlation(detections(name, chosen, data, read_runs(runs)), folder)
            return folder
        found = fitted(name, chosen, data, read_runs(runs), shape)
        write_text(folder / "thresholds.csv", table_text(found))
        write_page(found, folder)
        return folder


def fitted(name: str, dose: Dose, data: Sequence[Path], runs: Sequence[LoadedRun], shape: str = "logistic") -> Sweep:
    """The curves and thresholds of finished runs, one for each dose."""
    chances = {model.chance for run in runs for model in run.models}
    if max(chances) - min(chances) > 1e-9:
        raise SalgenError(f"chance is {min(chances):.1%} to {max(chances):.1%} of the images: a curve takes one level")
    datasets = [open_dataset(path, run.split) for path, run in zip(data, runs, strict=True)]
    of_images = [dict(zip(dataset.ids, dataset.clusters, strict=True)) for dataset in datasets]
    names = sorted({cluster for images in of_images for cluster in images.values()})
    answers = [right(run, list(images)) for run, images in zip(runs, of_images, strict=True)]
    accuracy = Trials.of(answers, [list(images.values()) for images in of_images], names)
    calls = methods_of_all(runs)
    scored = [[run.cube.cluster_names[number] for number in run.cube.clusters] for run in runs]
    methods = {call: Trials.of([scores(run, call, METRIC) for run in runs], scored, names) for call in calls}
    falling = bool(np.cov(dose.array, accuracy.means)[0, 1] < 0)
    axis = Axis(dose.log, falling)
    model, rows = thresholds(dose.array, accuracy, methods, axis, chance=max(chances), shape=shape)
    label = runs[0].model_names[0]
    subjects = [
        Subject(label, "accuracy", MODEL, accuracy, *model),
        *(Subject(call, METRIC, runs[0].role(call), methods[call], *row) for call, row in rows.items()),
    ]
    return Sweep(name, dose, axis, shape, max(chances), list(data), list(runs), subjects)


def table_text(found: Sweep) -> str:
    """The text of ``thresholds.csv``, in the order of thresholds, with the mean at each dose."""
    rows = []
    for subject in found.in_order:
        doses = zip(found.dose.values, subject.trials.means, strict=True)
        names = {"subject": subject.name, "measure": subject.measure, "role": subject.role}
        rows.append({**names, **vars(subject.threshold), **{f"mean_{dose:g}": float(mean) for dose, mean in doses}})
    return csv_text([*rows[0]], rows)
