"""Do the tables of a run follow from its scores and from what its models said?"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import zip_longest
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from salgen.datasets.reading.reader import Dataset
from salgen.evaluation.report.gallery import GALLERY, read_gallery
from salgen.evaluation.runs.artifacts import predictions
from salgen.evaluation.runs.artifacts.certificates import FILE as CERTIFICATES
from salgen.evaluation.runs.artifacts.certificates import read_certificates
from salgen.evaluation.runs.artifacts.run_record import RECORD
from salgen.evaluation.statistics.comparisons import COMPARISONS, Comparison, compare_subsets
from salgen.evaluation.statistics.summary import SUMMARY, SummaryRow, csv_text, summarise_subsets
from salgen.evaluation.verification.run_predictions import CheckedRun, RunPredictions

DIGITS = 1e-4  # by which a number of a table may differ: six digits are written, and libraries round differently
TOLERANCE = 1e-9  # by which a share may
SUM = 1e-4  # by which probabilities may miss 1


def summary_problems(run: CheckedRun) -> Iterator[str]:
    """A summary that is not that of the scores."""
    columns = [field.name for field in fields(SummaryRow)]
    yield from _differences(run, SUMMARY, columns, summarise_subsets(run.cube))


def comparison_problems(run: CheckedRun) -> Iterator[str]:
    """Tests of differences that are not those of the scores."""
    if not (run.folder / COMPARISONS).is_file():
        yield f"{run.folder / COMPARISONS} is missing: the run is not finished"
        return
    columns = [field.name for field in fields(Comparison) if field.name != "higher_is_better"]
    yield from _differences(run, COMPARISONS, columns, compare_subsets(run.cube))


def _differences(run: CheckedRun, name: str, columns: list[str], rows: Iterable[Any]) -> Iterator[str]:
    """The first line of a table that is another one than the scores give."""
    try:
        there = (run.folder / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        yield f"{run.folder / name} cannot be read: {error}"
        return
    lines, wanted_lines = (list(csv.reader(io.StringIO(text))) for text in (there, csv_text(columns, rows)))
    for number, (found, wanted) in enumerate(zip_longest(lines, wanted_lines, fillvalue=list[str]()), start=1):
        if len(found) != len(wanted) or not all(map(_alike, found, wanted)):
            yield f"{run.folder / name}: line {number} is not what the scores come to"
            return


def _alike(found: str, wanted: str) -> bool:
    try:
        return found == wanted or math.isclose(float(found), float(wanted), rel_tol=DIGITS, abs_tol=DIGITS)
    except ValueError:
        return False


# What models said -----------------------------------------------------------------------------------


def prediction_problems(run: CheckedRun) -> Iterator[str]:
    """Predictions that are not one for each model and sample, or that the record's figures do not follow from."""
    path = run.folder / predictions.FILE
    for name, seed in sorted(set(run.said) ^ set(run.models)):
        lacking, having = (RECORD, path.name) if (name, seed) in run.said else (path.name, RECORD)
        yield f"{run.folder / lacking} lacks {name}, seed {seed}, of which {having} speaks"
    total = run.record["samples"]["split_total"]
    if len(run.ids) != total or len(set(run.ids)) != total:
        yield f"{run.folder / RECORD} speaks of {total} samples in the split, and there are {len(set(run.ids))}"
    for model in run.record["models"]:
        who = f"{model['name']}, seed {model['seed']}"
        said = run.said.get((model["name"], model["seed"]))
        if said is not None:
            yield from (f"{path}: {fault} ({who})" for fault in _answer_faults(run, said))
            yield from (f"{run.folder / RECORD}: {fault} ({who})" for fault in _figure_faults(run, model, said))


def _answer_faults(run: CheckedRun, said: RunPredictions) -> Iterator[str]:
    if said.ids != run.ids:
        yield "does not hold what the model said of each sample once, in order"
        return
    task, classes = next(iter(run.record["dataset"]["tasks"].items()))
    known = said.labels if run.dataset is None else run.dataset.column(task)
    if not np.array_equal(said.labels, known):
        yield f"{np.sum(said.labels != known)} labels are not those of the data"
    if said.probabilities.shape[1] != len(classes):
        yield f"answers are of {said.probabilities.shape[1]} classes, and there are {len(classes)}"
    elif ((said.labels < 0) | (said.labels >= len(classes))).any():
        yield "a label is that of no class"
    several = run.is_multi_label
    if not several and not (np.abs(said.probabilities.sum(axis=1, dtype=np.float64) - 1) <= SUM).all():
        yield "the probabilities of a sample do not sum to 1"
    if (wrong := said.predicted != predictions.predicted_classes(said.probabilities, said.labels, several)).any():
        first = run.ids[wrong.argmax()]
        yield f"{wrong.sum()} predicted classes are not those that the probabilities give, the first that of {first}"
    shown = said.present if run.dataset is None else _present(run.dataset, task)
    if said.present != shown or (said.present is not None) != several:
        yield "the classes that images show are not those of the data"


def _present(dataset: Dataset, task: str) -> list[list[int]] | None:
    """The numbers of the classes that each image shows, where it may show several."""
    there = predictions.present_in(dataset, task)
    return None if there is None else [np.flatnonzero(row).tolist() for row in there]


def _figure_faults(run: CheckedRun, model: Mapping[str, Any], said: RunPredictions) -> Iterator[str]:
    task = next(iter(run.record["dataset"]["tasks"]))
    present = predictions.present_in(run.dataset, task) if run.dataset is not None else None
    known = predictions.Predictions(said.labels, said.probabilities, present)
    figures = {"accuracy": float(np.mean(said.labels == said.predicted)), "n_images": len(said.labels)}
    if present is not None or not run.is_multi_label:  # else only the data tell it
        figures["chance"] = known.chance
    for name, wanted in figures.items():
        if not math.isclose(model[name], wanted, abs_tol=TOLERANCE):
            yield f"{name} is {model[name]}, and {wanted} follows from {predictions.FILE}"


# Certificates and pictures --------------------------------------------------------------------------


def certificate_problems(run: CheckedRun) -> Iterator[str]:
    """Certificates of models or samples that the run does not have, or that its record sums up otherwise."""
    path, told = run.folder / CERTIFICATES, run.record.get("certificates")
    if not path.is_file():
        if told and told["models"]:
            yield f"{path} is missing, and {RECORD} says what it holds"
        return
    found = read_certificates(path)
    if told is not None and json.loads(json.dumps(found.summary)) != told["models"]:
        yield f"{run.folder / RECORD}: what it says of certificates does not follow from {CERTIFICATES}"
    for name, seed in sorted({(one["name"], one["seed"]) for one in found.summary} - set(run.models)):
        yield f"{path} speaks of {name}, seed {seed}, which {RECORD} lacks"
    table = pq.read_table(path, columns=["model", "training_seed", "sample_id"])
    if len(table.group_by(table.column_names).aggregate([])) != len(table):
        yield f"{path} holds a certificate twice"
    if strange := sorted(set(pc.unique(table["sample_id"]).to_pylist()) - set(run.ids)):
        yield f"{path} speaks of {strange[0]}, which is no sample of the split"
    verdicts = pq.read_table(path, columns=["uses_feature", "ignores_background", "certified"])
    both = pc.and_(verdicts["uses_feature"], verdicts["ignores_background"])
    if not both.equals(verdicts["certified"]):
        yield f"{path}: what is certified does not follow from what the model uses and ignores"


def gallery_problems(run: CheckedRun) -> Iterator[str]:
    """Pictures of methods or samples that the run does not have, or of other images and answers."""
    path = run.folder / GALLERY
    if not path.is_file():
        return
    data = read_gallery(path)
    if strange := sorted(set(data["methods"].tolist()) - set(run.calls)):
        yield f"{path} shows maps by {strange[0]}, which {RECORD} lacks"
    ids = data["ids"].tolist()
    if strange := sorted(set(ids) - set(run.ids)):
        yield f"{path} shows {strange[0]}, which is no sample of the split"
        return
    places = [run.ids.index(name) for name in ids]
    said = run.said[run.models[0]]
    if not all(np.array_equal(data[name], getattr(said, name)[places]) for name in ("labels", "predicted")):
        yield f"{path}: labels or predicted classes are not those of {predictions.FILE}"
    if data["class_names"].tolist() != list(next(iter(run.record["dataset"]["tasks"].values()))):
        yield f"{path}: the classes are not those of {RECORD}"
    if run.dataset is not None and run.dataset.manifest.pixels:
        (batch,) = run.dataset.batches(len(places), places)
        images = np.rint(batch.images.transpose(0, 2, 3, 1) * 255.0).astype(np.uint8)
        masks = run.plan(run.metrics, []).masks(batch)[:, 0]
        if not np.array_equal(images, data["images"]) or not np.array_equal(masks, data["masks"]):
            yield f"{path}: images or masks are not those of the data"
