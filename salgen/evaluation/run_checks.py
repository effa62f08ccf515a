"""Is a run what it says it is? Its files, and its scores computed again from what it holds."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from salgen.datasets import checksums
from salgen.datasets.manifest import Manifest, read_manifest
from salgen.datasets.row_checks import shard_problems
from salgen.datasets.shards import shards_of
from salgen.datasets.spot_checks import rendering_problems
from salgen.datasets.verifying import file_problems
from salgen.errors import SalgenError
from salgen.evaluation import predictions
from salgen.evaluation.comparisons import COMPARISONS
from salgen.evaluation.evidence import OF_THE_MASK
from salgen.evaluation.given_run import GivenRun
from salgen.evaluation.keeping import DATA
from salgen.evaluation.kept_maps import check_maps, parts_of, read_maps
from salgen.evaluation.metric_selection import create_metric
from salgen.evaluation.report.gallery import GALLERY, read_gallery
from salgen.evaluation.report.record import read_record
from salgen.evaluation.report.runs import content_faults
from salgen.evaluation.rescoring import rescore
from salgen.evaluation.run_record import RECORD
from salgen.evaluation.score_cube import SCORES, read_scores
from salgen.evaluation.summary import SUMMARY, SummaryRow, csv_text, summarise_subsets
from salgen.progress import progress

DIGITS = 1e-4  # by which a number of the summary may differ: six digits are written, and libraries round differently
TOLERANCE = 1e-9  # by which a score may
KEY = ("model", "training_seed", "method", "metric", "variant", "sample_id")


def run_problems(folder: Path, *, source: str | None = None, samples: int = 32) -> list[str]:
    """Check a run folder.

    Checked are the checksums, where it was published; that tables can be read and the summary follows from the
    scores; and of a run that kept them the maps, the data and the models. Some samples are rendered and scored
    again.

    Parameters
    ----------
    folder
        The run.
    source
        The outside material that its data set was made from, where that is not the generator's default.
    samples
        How many samples to render and to score again; 0 for none.

    Returns
    -------
    One line for each problem; none for a sound run.
    """
    problems = file_problems(folder) if (folder / checksums.FILE).is_file() else []
    try:
        with content_faults([folder]):
            record = read_record(folder / RECORD)
            problems += list(_table_problems(folder))
            if record.get("maps"):
                data = list(_data_problems(folder, record, source, samples))
                maps = list(_map_problems(folder, record))
                problems += [*data, *maps, *([] if data or maps else _score_problems(folder, record, samples))]
    except SalgenError as error:
        problems.append(str(error))
    return list(dict.fromkeys(problems))


def _table_problems(folder: Path) -> Iterator[str]:
    """Tables that cannot be read, and a summary that is not that of the scores."""
    for name in (predictions.FILE, COMPARISONS):
        if not (folder / name).is_file():
            yield f"{folder / name} is missing: the run is not finished"
    if (folder / GALLERY).is_file():
        read_gallery(folder / GALLERY)
    cube = read_scores(folder)
    expected = csv_text([field.name for field in fields(SummaryRow)], summarise_subsets(cube))
    try:
        there = (folder / SUMMARY).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        yield f"{folder / SUMMARY} cannot be read: {error}"
        return
    lines, wanted_lines = (list(csv.reader(io.StringIO(text))) for text in (there, expected))
    for number, (found, wanted) in enumerate(zip_longest(lines, wanted_lines, fillvalue=list[str]()), start=1):
        if len(found) != len(wanted) or not all(map(_alike, found, wanted)):
            yield f"{folder / SUMMARY}: line {number} is not what the scores come to"
            return


def _alike(found: str, wanted: str) -> bool:
    try:
        return found == wanted or math.isclose(float(found), float(wanted), rel_tol=DIGITS, abs_tol=DIGITS)
    except ValueError:
        return False


def _data_problems(folder: Path, record: Mapping[str, Any], source: str | None, samples: int) -> Iterator[str]:
    """What is wrong with the data that a run keeps: those of the split that it was evaluated on."""
    data, split = folder / DATA, record["dataset"]["split"]
    described = _only(read_manifest(data), split)
    for shard in shards_of(described):
        yield from shard_problems(data, described, shard)
    yield from rendering_problems(
        data, described, shards_of(described), source, min(samples, described.spec.splits[split])
    )


def _only(manifest: Manifest, split: str) -> Manifest:
    """A data set's description with one split alone."""
    if split not in manifest.spec.splits:
        raise SalgenError(f"{RECORD} speaks of split {split!r}, which {DATA} does not have")
    return replace(manifest, spec=replace(manifest.spec, splits={split: manifest.spec.splits[split]}))


def _map_problems(folder: Path, record: Mapping[str, Any]) -> Iterator[str]:
    """Maps that are missing, damaged, of another evaluation, or not of the size of the images."""
    size = tuple(record["dataset"]["image_size"])
    with progress("verifying maps", len(record["maps"]), "files") as advance:
        for name in record["maps"]:
            try:
                parts_of(name)
                check_maps(folder, name, record["maps"])
                kept = read_maps(folder / name)
            except SalgenError as error:
                yield str(error)
            else:
                if kept.values.shape[1:] != size:
                    yield f"{folder / name}: holds maps {kept.values.shape[1:]} of images {size}"
            advance()


def _score_problems(folder: Path, record: Mapping[str, Any], samples: int) -> list[str]:
    """Scores that do not come out again from the maps, for the first samples."""
    metrics = [call for call in record["metrics"] if _is_of_one_map(call)]
    if not metrics or not samples:
        return []
    with TemporaryDirectory(prefix="salgen-verify-") as place:
        limit = _enough(folder, record, samples)
        again = _by_key(rescore(folder, metrics=metrics, out=Path(place) / "run", limit=limit, scale="full") / SCORES)
    there = _by_key(folder / SCORES)
    wrong = [key for key, value in again.items() if key[3] in metrics and not _same(value, there.get(key))]
    if not wrong:
        return []
    model, seed, method, metric, _, sample = wrong[0]
    return [
        f"{folder / SCORES}: {len(wrong)} scores are not those of the maps, the first that of {method} under {metric} "
        f"on {sample} ({model}, seed {seed})"
    ]


def _enough(folder: Path, record: Mapping[str, Any], samples: int) -> int:
    """Of how many samples from the split's start on that many are scored, or all that are."""
    dataset = GivenRun.read(folder).dataset()
    region = record["conventions"]["mask"] or dataset.manifest.targets[dataset.manifest.default_task]
    present = dataset.present(region)[: record["samples"]["considered"]]
    return int(np.flatnonzero(present)[:samples][-1]) + 1


def _is_of_one_map(call: str) -> bool:
    """Whether a score depends on one map and mask alone."""
    metric = create_metric(call)
    return metric.needs <= OF_THE_MASK and not hasattr(metric, "settle")


def _by_key(path: Path) -> dict[tuple[Any, ...], float]:
    rows = pq.read_table(path, columns=[*KEY, "value"])
    *keys, values = (rows[name].to_pylist() for name in (*KEY, "value"))
    return dict(zip(zip(*keys, strict=True), values, strict=True))


def _same(value: float, there: float | None) -> bool:
    if there is None or math.isnan(value) or math.isnan(there):
        return there is not None and math.isnan(value) and math.isnan(there)
    return math.isclose(value, there, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
