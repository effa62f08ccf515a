"""Saliency maps on disk, which can be scored without the model.

A folder for each model and method holds a Parquet file for each chunk: float32, bit for bit, as half precision would
tie pixels that differ. The metadata holds a digest of all that the maps depend on.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from salgen.errors import SalgenError, readable
from salgen.evaluation.metrics.inputs.metric_inputs import MapKind
from salgen.files import atomic_path
from salgen.types import Float32, Mask

FOLDER = "maps"
GALLERY = "gallery.npz"  # maps of a few samples, for the report's pictures
METADATA = b"salgen"
LONGEST_NAME = 80
ARRAYS = ("targets", "correct", "there", "values")  # with a row for each sample
COLUMNS = {
    "sample_id": pa.string(),
    "target": pa.int64(),
    "correct": pa.bool_(),
    "there": pa.bool_(),
    "map": pa.list_(pa.list_(pa.float32())),
}
_VALUES = "map.list.element.list.element"


@dataclass(frozen=True, eq=False)
class SavedMaps:
    """The maps of one method for some samples."""

    ids: list[str]  # the samples' names
    targets: NDArray[np.int64]  # int64 (N,): the class that each map explains
    # bool (N,): whether the model classifies the image correctly; whether the sample has such a map (not every sample
    # has a twin)
    correct: Mask
    there: Mask
    values: Float32  # (N, H, W)
    # the channel reduction, the (h, w) at which the method computed the maps, and the time they took
    reduction: str
    native_resolution: tuple[int, int]
    seconds: float
    # sample id to the fault of the image that its map explains
    faults: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def join(cls, parts: Sequence[SavedMaps]) -> SavedMaps:
        """The maps of several pieces of a chunk."""
        changed: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ARRAYS}
        ids, seconds = [name for part in parts for name in part.ids], sum(part.seconds for part in parts)
        faults = {name: fault for part in parts for name, fault in part.faults.items()}
        return replace(parts[0], ids=ids, seconds=seconds, faults=faults, **changed)


def folder_name(text: str) -> str:
    """A file name, valid on any file system, for a model's or a method's call; different for different calls."""
    plain = re.sub(r"[^A-Za-z0-9.+-]+", "_", text)
    if plain == text and len(plain) <= LONGEST_NAME and plain == plain.lower() and plain[0].isalnum():
        return plain
    return f"{plain[:LONGEST_NAME].strip('._') or 'call'}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def maps_name(model: str, seed: int, call: str, kind: MapKind, chunk: int) -> str:
    """The file of a chunk's maps within a run folder; `chunk` is its place among the scored samples."""
    return f"{FOLDER}/{folder_name(model)}-seed{seed}/{folder_name(call)}/{kind}-{chunk:05d}.parquet"


def method_folder(name: str) -> str:
    """The method's folder in the name of a file of maps."""
    return Path(name).parent.name


def kind_of(name: str) -> MapKind:
    """The kind of the maps in a file of that name."""
    return MapKind(Path(name).stem.rpartition("-")[0])


def write_maps(path: Path, maps: SavedMaps, key: str) -> None:
    """Write a file of maps, whole or not at all; `key` is a digest of everything that they depend on."""
    record = {
        "key": key,
        "reduction": maps.reduction,
        "native_resolution": list(maps.native_resolution),
        "seconds": maps.seconds,
        **({"faults": dict(maps.faults)} if maps.faults else {}),
    }
    columns = [
        pa.array(maps.ids, pa.string()),
        pa.array(maps.targets, pa.int64()),
        pa.array(maps.correct, pa.bool_()),
        pa.array(maps.there, pa.bool_()),
        _nested(np.ascontiguousarray(maps.values, dtype=np.float32)),
    ]
    table = pa.table(columns, schema=pa.schema(COLUMNS, metadata={METADATA: json.dumps(record).encode()}))
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        pq.write_table(
            table,
            temporary,
            compression="zstd",
            use_dictionary=False,
            use_byte_stream_split=[_VALUES],
            write_statistics=False,
            write_page_checksum=True,
        )


def read_maps(path: Path, ids: list[str] | None = None) -> SavedMaps:
    """The maps of a file: all of them, or those of some samples, in their order."""
    with readable(f"{path} is damaged", ": evaluate with --keep-maps again"):
        table = _rows_of(pq.read_table(path, partitioning=None, page_checksum_verification=True), ids)
        record = _record(table.schema.metadata)
        height, width = record["native_resolution"]
        return SavedMaps(
            ids=table["sample_id"].to_pylist(),
            targets=table["target"].to_numpy().astype(np.int64, casting="safe"),
            correct=table["correct"].to_numpy().astype(np.bool_, casting="safe"),
            there=table["there"].to_numpy().astype(np.bool_, casting="safe"),
            values=_values(table["map"].combine_chunks()),
            reduction=record["reduction"],
            native_resolution=(height, width),
            seconds=float(record["seconds"]),
            faults=record.get("faults", {}),
        )


def _rows_of(table: pa.Table, ids: list[str] | None) -> pa.Table:
    """The rows of some samples."""
    if ids is None or table["sample_id"].to_pylist() == ids:
        return table
    places = pc.index_in(pa.array(ids, pa.string()), table["sample_id"])
    if places.null_count:
        raise ValueError(f"it holds no map of sample {ids[places.is_null().index(True).as_py()]}")
    return table.take(places)


def check_maps(folder: Path, name: str, keys: Mapping[str, str]) -> None:
    """Raise a SalgenError if a file of maps in a run is not the one with the digest that the record lists."""
    if name not in keys or key_of(folder / name) != keys[name]:
        raise SalgenError(f"{folder / name} does not hold the maps of this run: evaluate again with --keep-maps")


def key_of(path: Path) -> str | None:
    """The digest of everything that the maps of a file depend on; None if the file is missing or damaged."""
    try:
        return str(_record(pq.read_schema(path).metadata)["key"])
    except (pa.ArrowException, OSError, ValueError):
        return None


def _record(metadata: dict[bytes, bytes] | None) -> dict[str, Any]:
    return dict(json.loads((metadata or {}).get(METADATA, b"{}")))


def _nested(values: Float32) -> pa.Array:
    """Array float32 (N, H, W) as a list of lists, without a copy."""
    count, height, width = values.shape
    starts = pa.array(np.arange(0, count * height * width + 1, width, dtype=np.int32))
    rows = pa.ListArray.from_arrays(starts, pa.array(values.reshape(-1)))
    return pa.ListArray.from_arrays(pa.array(np.arange(0, count * height + 1, height, dtype=np.int32)), rows)


def _values(maps: pa.ListArray) -> Float32:
    """Lists of lists of one size as float32 (N, H, W)."""
    rows = maps.flatten()
    return np.asarray(rows.flatten().to_numpy().reshape(len(maps), len(maps[0]), len(rows[0])), dtype=np.float32)
