"""Checks of the rows of ``scores.parquet`` against the record, predictions and certificates."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from salgen.evaluation.runs.artifacts.certificate_table import FILE as CERTIFICATES
from salgen.evaluation.runs.artifacts.certificate_table import read_certificates
from salgen.evaluation.runs.artifacts.predictions import FILE as PREDICTIONS
from salgen.evaluation.runs.artifacts.run_record import RECORD
from salgen.evaluation.runs.plan import WHOLE_IMAGE
from salgen.evaluation.statistics.clusters import numbered
from salgen.evaluation.statistics.score_cube import SCORES
from salgen.evaluation.verification.checked_run import CheckedRun

GROUP = ["method", "metric", "variant", "model", "training_seed", "reduction", "native_resolution"]
GROUP += ["dataset", "dataset_fingerprint", "split", "task"]


def row_problems(run: CheckedRun) -> Iterator[str]:
    """Groups of rows whose number differs from that of the record."""
    path, expected = run.folder / SCORES, _expected_counts(run)
    texts = [name for name in GROUP if name != "training_seed"]
    rows = pq.read_table(path, columns=GROUP, read_dictionary=texts).unify_dictionaries()
    groups = rows.group_by(GROUP).aggregate([([], "count_all")]).to_pylist()
    counts = {tuple(group[name] for name in GROUP): group["count_all"] for group in groups}
    if different := sorted({group for group, _ in counts.items() ^ expected.items()}, key=str):
        method, metric, variant, *details = first = different[0]
        yield (
            f"{path} has {counts.get(first, 0)} scores of {method} under {metric} in {variant} "
            f"({', '.join(map(str, details))}), and {RECORD} gives {expected.get(first, 0)}; such differences: "
            f"{len(different)}"
        )


def _expected_counts(run: CheckedRun) -> dict[tuple[Any, ...], int]:
    """The number of scores for each of the record's methods, metrics, variants and models."""
    record, data = run.record, run.record.dataset
    of_data = data.name, data.fingerprint, data.split, next(iter(data.tasks))
    counts = {}
    for model, method, (metric, plugin) in product(run.models, record.methods, run.metrics.items()):
        trains = "training" in plugin.needs
        for variant in record.variants if plugin.regional and not trains else [WHOLE_IMAGE]:
            maps = method.reduction, method.native_resolution
            count = record.samples.considered if trains else record.samples.with_mask
            counts[method.call, metric, variant, *model, *maps, *of_data] = count
    return counts


def sample_problems(run: CheckedRun) -> Iterator[str]:
    """Models whose scores have other targets, correct or certified samples than predictions and certificates."""
    cube, path = run.cube, run.folder / CERTIFICATES
    certificates = read_certificates(path).certified if path.is_file() else {}
    for name, seed in run.models:
        place = cube.models.index(name), cube.seeds.index(seed)
        scored = np.asarray(cube.scored[cube.members(name), :, :, place[1]].any(axis=(0, 1, 2)))
        ids = [sample for sample, is_scored in zip(cube.samples, scored, strict=True) if is_scored]
        if unknown := set(ids) - set(run.places):
            yield f"{run.folder / SCORES} has scores of {min(unknown)}, which is not a sample of the split"
            continue
        numbers = [run.places[sample] for sample in ids]
        predictions, certified = run.predictions[name, seed], certificates.get((name, seed), {})
        expected = {
            "target": (PREDICTIONS, run.targets((name, seed))[numbers]),
            "correct": (PREDICTIONS, (predictions.labels == predictions.predicted)[numbers]),
            "certified": (CERTIFICATES, [certified.get(sample, False) for sample in ids]),
            "has_certificate": (CERTIFICATES, [sample in certified for sample in ids]),
        }
        if run.plan is not None:
            _, clusters = np.unique([run.plan.dataset.clusters[number] for number in numbers], return_inverse=True)
            if (clusters != numbered(cube.clusters[scored])).any():
                yield f"{run.folder / SCORES}: column cluster is not that of the data set"
        for column, (source, values) in expected.items():
            if wrong := int(np.sum(getattr(cube, column)[place][scored] != values)):
                yield (
                    f"{run.folder / SCORES}: {column} of {wrong} samples ({name}, seed {seed}) does not follow from "
                    f"{source}"
                )
