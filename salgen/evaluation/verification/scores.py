"""The rows of ``scores.parquet``: those that the record speaks of, with what the run says of each sample."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from salgen.evaluation.runs.artifacts.certificates import FILE as CERTIFICATES
from salgen.evaluation.runs.artifacts.certificates import read_certificates
from salgen.evaluation.runs.artifacts.predictions import FILE as PREDICTIONS
from salgen.evaluation.runs.artifacts.run_record import RECORD
from salgen.evaluation.runs.plan import WHOLE_IMAGE
from salgen.evaluation.statistics.score_cube import SCORES
from salgen.evaluation.verification.checked_run import CheckedRun

GROUP = ["method", "metric", "variant", "model", "training_seed", "reduction", "native_resolution"]
GROUP += ["dataset", "dataset_fingerprint", "split", "task"]


def row_problems(run: CheckedRun) -> Iterator[str]:
    """Groups of rows of which there are more or fewer than the record says."""
    path, expected = run.folder / SCORES, _expected_counts(run)
    texts = [name for name in GROUP if name != "training_seed"]
    rows = pq.read_table(path, columns=GROUP, read_dictionary=texts).unify_dictionaries()
    groups = rows.group_by(GROUP).aggregate([([], "count_all")]).to_pylist()
    found = {tuple(group[name] for name in GROUP): group["count_all"] for group in groups}
    if different := sorted({group for group, _ in found.items() ^ expected.items()}, key=str):
        method, metric, variant, *others = first = different[0]
        yield (
            f"{path} has {found.get(first, 0)} scores of {method} under {metric} in {variant} "
            f"({', '.join(map(str, others))}), and {RECORD} speaks of {expected.get(first, 0)}; such differences: "
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


def standing_problems(run: CheckedRun) -> Iterator[str]:
    """Models whose scores have other targets, right or certified samples than predictions and certificates."""
    cube, path = run.cube, run.folder / CERTIFICATES
    certificates = read_certificates(path).certified if path.is_file() else {}
    for name, seed in run.models:
        place = cube.models.index(name), cube.seeds.index(seed)
        scored = np.asarray(cube.scored[cube.members(name), :, :, place[1]].any(axis=(0, 1, 2)))
        ids = [sample for sample, there in zip(cube.samples, scored, strict=True) if there]
        if strange := set(ids) - set(run.places):
            yield f"{run.folder / SCORES} has scores of {min(strange)}, which is no sample of the split"
            continue
        numbers = [run.places[sample] for sample in ids]
        known, certified = run.predictions[name, seed], certificates.get((name, seed), {})
        expected = {
            "target": (PREDICTIONS, run.targets((name, seed))[numbers]),
            "correct": (PREDICTIONS, (known.labels == known.predicted)[numbers]),
            "certified": (CERTIFICATES, [certified.get(sample, False) for sample in ids]),
            "has_certificate": (CERTIFICATES, [sample in certified for sample in ids]),
        }
        for what, (source, values) in expected.items():
            if wrong := int(np.sum(getattr(cube, what)[place][scored] != values)):
                who = f"{name}, seed {seed}"
                yield f"{run.folder / SCORES}: {what} of {wrong} samples ({who}) does not follow from {source}"
