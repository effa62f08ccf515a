"""Checks of a run's tables: recomputed from its scores and predictions, and compared with its files."""

import csv
import math
from collections.abc import Iterator
from itertools import zip_longest

import numpy as np

from salgen.evaluation.report.gallery import GALLERY, read_gallery
from salgen.evaluation.runs.artifacts.certificate_table import FILE as CERTIFICATES
from salgen.evaluation.runs.artifacts.certificate_table import read_certificates
from salgen.evaluation.runs.artifacts.predictions import FILE as PREDICTIONS
from salgen.evaluation.runs.artifacts.predictions import predictions_table
from salgen.evaluation.runs.artifacts.run_record import RECORD
from salgen.evaluation.statistics.run_tables import tables_text
from salgen.evaluation.verification.checked_run import CheckedRun

DIGITS = 1e-4  # tolerance for a number of a table: six digits are written, and libraries round differently
TOLERANCE = 1e-9  # for a share


def csv_problems(run: CheckedRun) -> Iterator[str]:
    """Tables of means and of tests with a line that does not follow from the scores."""
    for name, text in tables_text([run.cube]).items():
        path = run.folder / name
        if not path.is_file():
            yield f"{path} is missing: the run is not finished"
            continue
        lines = (csv.reader(table.splitlines()) for table in (path.read_text(encoding="utf-8"), text))
        for number, (actual, expected) in enumerate(zip_longest(*lines, fillvalue=list[str]()), start=1):
            if len(actual) != len(expected) or not all(map(_alike, actual, expected)):
                yield f"{path}: line {number} does not follow from the scores"
                break


def _alike(actual: str, expected: str) -> bool:
    try:
        return actual == expected or math.isclose(float(actual), float(expected), rel_tol=DIGITS, abs_tol=DIGITS)
    except ValueError:
        return False


def prediction_problems(run: CheckedRun) -> Iterator[str]:
    """Columns of ``predictions.parquet``, and figures of the record, that do not follow from probabilities and data."""
    path, predictions = run.folder / PREDICTIONS, list(run.predictions.values())
    expected = predictions_table(run.ids, run.models, predictions)
    actual = run.prediction_table
    for name in expected.column_names:
        if name not in actual.column_names or not actual[name].cast(expected[name].type).equals(expected[name]):
            yield f"{path}: column {name} does not follow from the probabilities and the data"
    for model, of_model in zip(run.record.models, predictions, strict=True):
        figures = {"accuracy": of_model.accuracy, "chance": of_model.chance, "n_images": len(of_model.labels)}
        for name, value in figures.items():
            recorded = getattr(model, name)
            if not math.isclose(recorded, value, abs_tol=TOLERANCE):
                who = f"{model.name}, seed {model.seed}"
                yield f"{run.folder / RECORD}: {name} is {recorded} ({who}), and {value} follows from {PREDICTIONS}"


def certificate_problems(run: CheckedRun) -> Iterator[str]:
    """Certificates that are missing, or differ from the record's summary of them."""
    path, certificates = run.folder / CERTIFICATES, run.record.certificates
    if not path.is_file():
        if certificates and certificates.models:
            yield f"{path} is missing, but {RECORD} has a summary of it"
    elif certificates and read_certificates(path).summary != certificates.models:
        yield f"{run.folder / RECORD}: its summary of the certificates does not follow from {CERTIFICATES}"


def gallery_problems(run: CheckedRun) -> Iterator[str]:
    """Galleries that cannot be read, or hold other samples, labels or predictions."""
    path = run.folder / GALLERY
    if not path.is_file():
        return
    gallery, predictions = read_gallery(path), run.predictions[run.models[0]]
    if unknown := set(gallery["ids"].tolist()) - set(run.ids):
        yield f"{path} shows {min(unknown)}, which is not a sample of the split"
        return
    places = [run.places[name] for name in gallery["ids"].tolist()]
    same = [np.array_equal(gallery[name], getattr(predictions, name)[places]) for name in ("labels", "predicted")]
    if not all(same):
        yield f"{path}: labels or predicted classes are not those of {PREDICTIONS}"
