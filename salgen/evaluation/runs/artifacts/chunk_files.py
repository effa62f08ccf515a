"""Files of scores: a chunk of samples under one method, one row per metric and sample."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_type_hints
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from salgen.errors import readable
from salgen.evaluation.metrics.inputs.metric import Metric
from salgen.evaluation.scoring.metric_computation import PartialScores, worst_case
from salgen.files import atomic_path
from salgen.parameters import canonical_json
from salgen.types import ResultRow

PARTS = "parts"
WORK = "work"  # beside them what one image takes, and the maps of pictures
LIBRARIES = ("salgen", "numpy", "torch", "captum", "zennit", "pyarrow")
END = b"PAR1"  # a Parquet file's last bytes

ARROW_TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_(), bool | None: pa.bool_()}
RESULT_COLUMNS = {name: ARROW_TYPES[kind] for name, kind in get_type_hints(ResultRow).items()}
MEASURES = "measures"  # per-map values of a data set metric, aggregated once all maps are scored
CHUNK_COLUMNS = {**RESULT_COLUMNS, MEASURES: pa.list_(pa.float64())}


def provenance(depends_on: Any, digits: int = 32) -> str:
    """The first hexadecimal digits of the SHA-256 of everything that a file depends on, as JSON values or a text."""
    text = depends_on if isinstance(depends_on, str) else canonical_json(depends_on)
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


@cache
def library_versions() -> dict[str, str]:
    """Versions of the libraries that a score depends on."""
    return {name: version(name) for name in LIBRARIES}


@dataclass(frozen=True)
class ScoreChunk:
    """The scores of a chunk of samples under one method."""

    call: str  # the method's
    # the chunk's place among the scored samples, and its samples' places in the split
    number: int
    indices: tuple[int, ...]
    path: Path  # the file
    start: int = 0  # the first sample's place in the chunk, if this is a piece of one

    def pieces(self, size: int) -> list[ScoreChunk]:
        """The scores of so many samples each; the chunk itself if it has no more."""
        if size >= len(self.indices):
            return [self]
        pieces = []
        for start in range(0, len(self.indices), size):
            part = self.indices[start : start + size]
            path = self.path.with_stem(f"{self.path.stem}-{start}-{len(part)}")
            pieces.append(replace(self, indices=part, path=path, start=start))
        return pieces

    def join(self, pieces: Sequence[ScoreChunk]) -> None:
        """Write the file from those of all its pieces, in the order in which it would have been written at once."""
        tables = [read_rows(piece.path) for piece in pieces]
        records = [piece.record() for piece in pieces]
        blocks = [np.arange(len(rows)) // len(piece.indices) for rows, piece in zip(tables, pieces, strict=True)]
        rows = pa.concat_tables(tables).take(np.argsort(np.concatenate(blocks), kind="stable"))
        sums = {key: sum(record[key] for record in records) for key in ("seconds", "maps")}
        write_part(self.path, rows.replace_schema_metadata({"salgen": json.dumps({**records[0], **sums})}))

    def record(self) -> dict[str, Any]:
        """The record in the file's metadata: method, seconds, number of maps, reduction, native resolution."""
        return dict(json.loads(pq.read_schema(self.path).metadata[b"salgen"]))


def write_part(path: Path, rows: pa.Table) -> None:
    """Write a part of a run, without waiting for the disk, which would take a tenth of an evaluation's time."""
    with atomic_path(path, synced=False) as temporary:
        pq.write_table(rows, temporary, write_page_checksum=True)


def is_written(path: Path) -> bool:
    """True if a part is there to its end; after a power cut it may not be, and is made again."""
    try:
        with open(path, "rb") as handle:
            handle.seek(-len(END), os.SEEK_END)
            return handle.read() == END
    except OSError:
        return False


def read_rows(path: Path) -> pa.Table:
    """The rows of a part of a run."""
    with readable(f"{path} is damaged", ": remove it and run the same command again"):
        # Unless told not to, older pyarrow adds a column for each folder on the path that is named like depth=0.1.
        return pq.read_table(path, partitioning=None, page_checksum_verification=True).replace_schema_metadata(None)


def score_rows(
    shared: Mapping[str, Any], variant: str, ids: Sequence[str], metrics: Mapping[str, Metric], scores: PartialScores
) -> pa.Table:
    """One row per metric and sample; a shared column is one value for all rows, or an array of one per sample."""
    if not metrics:
        return pa.schema(CHUNK_COLUMNS).empty_table()
    count = len(ids)
    columns: dict[str, Any] = {
        name: np.tile(value, len(metrics)) if isinstance(value, np.ndarray) else [value] * (count * len(metrics))
        for name, value in shared.items()
    }
    worst = [worst_case(metric, scores.values[name], scores.reasons[name]) for name, metric in metrics.items()]
    kept = [scores.partial.get(name, [None] * count) for name in metrics]
    columns |= {
        "sample_id": list(ids) * len(metrics),
        "metric": np.repeat(list(metrics), count),
        "variant": [variant] * (count * len(metrics)),
        "value": np.concatenate([scores.values[name] for name in metrics]),
        "value_worst_case": np.concatenate(worst),
        "reason": [reason for name in metrics for reason in scores.reasons[name]],
        MEASURES: [partial for per_metric in kept for partial in per_metric],
    }
    return pa.table({name: pa.array(columns[name], type=kind) for name, kind in CHUNK_COLUMNS.items()})
