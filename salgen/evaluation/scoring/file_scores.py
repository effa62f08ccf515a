"""Scores of maps in files against masks in files, or against a data set: `salgen score`, which takes no model."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from os import PathLike
from pathlib import Path
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import torch
from salgen.datasets.archives.archive_formats import is_archive
from salgen.datasets.format.manifest import FILE as MANIFEST
from salgen.datasets.format.output_folder import check_outside
from salgen.datasets.layouts.mask_levels import told_apart
from salgen.datasets.reading.reader import AT_A_TIME, Dataset, open_dataset
from salgen.errors import SalgenError, warn
from salgen.evaluation.attribution.array_files import MASK, ArrayFiles, open_arrays
from salgen.evaluation.attribution.file_maps import FileMaps, check_smaller
from salgen.evaluation.attribution.reductions import as_saliency
from salgen.evaluation.metrics.inputs.metric import Metric
from salgen.evaluation.metrics.inputs.metric_inputs import OF_THE_MASK
from salgen.evaluation.metrics.inputs.ranking import Values
from salgen.evaluation.scoring.metric_computation import PartialScores, aggregate_scores, compute_metrics
from salgen.evaluation.scoring.metric_selection import DEFAULT, Metrics, check_needs, choose_metrics
from salgen.evaluation.scoring.scoring import metric_inputs_of
from salgen.files import atomic_path, csv_cell
from salgen.types import Mask, Scores

WRITERS = {".csv": pyarrow.csv.write_csv, ".parquet": pq.write_table}


@dataclass(frozen=True)
class FileScores:
    """Scores by sample."""

    # ids, clusters: the samples, and the clusters that they belong to: samples of one are not independent
    ids: list[str]
    clusters: list[str]
    region: str | None  # the region of the data set within which maps were scored, or None
    # metrics, scores: the metrics by their calls, and their scores
    metrics: dict[str, Metric]
    scores: Scores

    def write(self, path: Path) -> None:
        """Write a row for each metric and sample, as ``.csv`` or ``.parquet``; an undefined number is missing."""
        ids = [csv_cell(name) for name in self.ids] if path.suffix == ".csv" else self.ids
        columns = {
            "sample_id": ids * len(self.scores),
            "metric": [name for name in self.scores for _ in self.ids],
            "value": np.concatenate(list(self.scores.values())),
            "value_worst_case": np.concatenate([self.scores.worst_case[name] for name in self.scores]),
            "reason": [reason for name in self.scores for reason in self.scores.reasons[name]],
        }
        table = pa.table({name: pa.array(column, from_pandas=True) for name, column in columns.items()})
        with atomic_path(path) as temporary:
            WRITERS[path.suffix](table, temporary)


def check_suffix(path: Path) -> None:
    """Raise a SalgenError for a file that scores cannot be written to."""
    check_outside(path, in_a_run=True)
    if path.suffix not in WRITERS or not path.parent.is_dir():
        raise SalgenError(f"{path}: give a file in a folder that exists, ending in {' or '.join(WRITERS)}")


@dataclass(frozen=True)
class _Masks:
    """Masks of samples, a part at a time: names, masks (n, K, H, W), the scored region (n, H, W) if there is one."""

    ids: list[str]
    clusters: list[str]
    region: str | None
    parts: Callable[[], Iterator[tuple[list[str], Mask, Mask | None]]]
    known: list[str]
    file_names: list[str]


def score_files(
    maps: str | PathLike[str], masks: str | PathLike[str], metrics: Metrics = DEFAULT, split: str | None = None
) -> FileScores:
    """Score the maps in files against masks, as :func:`salgen.score` does with arrays.

    Both are a folder or a file, see :mod:`salgen.evaluation.attribution.array_files`. A map may be smaller than its
    mask, and is then resized as in runs; channels are summed. In masks, pixels other than 0 are the object. Soft edges
    are cut at half of the greatest level. 255 beside class numbers is void. They may be a salgen data set: samples
    without a mask are then left out, and maps are scored within its default region.
    """
    chosen = choose_metrics(metrics, OF_THE_MASK)
    for call, metric in chosen.items():
        if more := sorted(metric.needs - OF_THE_MASK):
            raise SalgenError(
                f"metric {call!r} takes more than a map and a mask ({', '.join(more)}): give the model and the data "
                "set too, as in 'salgen evaluate DATA --model MODEL --maps PATH'"
            )
    check_needs(chosen, OF_THE_MASK)
    place, is_dataset = Path(masks), (Path(masks) / MANIFEST).is_file() or is_archive(Path(masks))
    if split is not None and not is_dataset:
        raise SalgenError(f"split = {split}: {masks} is not a salgen data set, and has no splits; leave it out")
    mask_files = None if is_dataset else open_arrays(place, MASK)
    truth = _of_dataset(open_dataset(place, split)) if mask_files is None else _of_files(mask_files)
    order = truth.known if mask_files is None or mask_files.named else None
    files = open_arrays(Path(maps), ids=order, file_names=truth.file_names)
    files.check_samples(truth.ids, truth.known, str(masks))
    partial, full = PartialScores(), True
    for ids, shown, valid in truth.parts():
        full = full and bool(shown.all())
        values = np.stack([_of_size(files, name, shown.shape[-2:]) for name in ids])
        _extend(partial, compute_metrics(metric_inputs_of(values, masks=shown, valid=valid, ids=ids), chosen))
    if full:
        raise SalgenError(f"{masks}: every pixel of every mask is the object, so any map is right: make the others 0")
    return FileScores(truth.ids, truth.clusters, truth.region, chosen, aggregate_scores(chosen, partial))


def _of_dataset(dataset: Dataset) -> _Masks:
    ids, clusters = dataset.ids, dataset.clusters
    target = dataset.manifest.targets[dataset.manifest.default_task]
    scored = [int(index) for index in np.flatnonzero(dataset.present(target))]
    if not scored:
        raise SalgenError(f"no sample of split {dataset.split} of {dataset.path} has a mask: choose another split")

    def parts() -> Iterator[tuple[list[str], Mask, Mask | None]]:
        for batch in dataset.batches(AT_A_TIME, scored):
            region = dataset.valid_region
            yield batch.ids, batch.acceptable, None if region is None else batch.region(region)

    return _Masks(
        [ids[i] for i in scored], [clusters[i] for i in scored], dataset.valid_region, parts, ids, dataset.file_names
    )


def _of_files(files: ArrayFiles) -> _Masks:
    ids = list(files.places)

    def parts() -> Iterator[tuple[list[str], Mask, Mask | None]]:
        said: Counter[str] = Counter()
        masks = enumerate(zip(ids, map(files.read, ids), strict=True))
        for _, group in groupby(masks, lambda item: (item[0] // AT_A_TIME, item[1][1].shape)):
            names, arrays = zip(*(pair for _, pair in group), strict=True)
            told = [[told_apart(each, f"{files.path}: {name}") for each in array]
                    for name, array in zip(names, arrays, strict=True)]  # fmt: skip
            said.update(one.said for several in told for one in several if one.said)
            yield list(names), np.stack([[one.mask for one in several] for several in told]), None
        for what, count in said.items():
            warn(f"{files.path}: {what} ({count:,})")

    return _Masks(ids, ids, None, parts, ids, [])


def _of_size(files: ArrayFiles, name: str, size: tuple[int, ...]) -> Values:
    """A sample's map (H, W) of its mask's size, in its own type where it has that size and one channel."""
    array = files.read(name)
    check_smaller(files.path, name, array.shape, size)
    if array.shape == (1, *size):
        return np.asarray(array[0])
    raw = torch.from_numpy(array.astype(np.float64 if array.dtype == np.float64 else np.float32))
    return np.asarray(as_saliency(raw[np.newaxis], FileMaps.reduction, size)[0])


def _extend(whole: PartialScores, part: PartialScores) -> None:
    """Append the scores of a part of the samples."""
    for name, values in part.values.items():
        whole.values[name] = np.concatenate([whole.values.get(name, np.zeros(0)), values])
        whole.reasons.setdefault(name, []).extend(part.reasons[name])
    for name, results in part.partial.items():
        whole.partial.setdefault(name, []).extend(results)
