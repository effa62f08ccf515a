"""Reading shards, with messages that name the faulty file."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from salgen.datasets.format.shards import Shard
from salgen.errors import SalgenError, reason

FAULTS = (pa.ArrowException, OSError, ValueError, MemoryError)  # names that are not text, sizes that no file has


def open_shard(folder: Path, shard: Shard, schema: pa.Schema, rows_per_group: int) -> pq.ParquetFile:
    """A shard's file, with its schema and number of rows checked."""
    path = folder / shard.path
    try:
        file = pq.ParquetFile(path, memory_map=True, page_checksum_verification=True)
        fault = _difference(file.schema_arrow, schema)
    except FileNotFoundError:
        raise SalgenError(f"{path} is missing: the same 'salgen make' writes it again") from None
    except FAULTS as error:
        raise _unreadable(path, error) from None
    if fault is None and file.metadata.num_rows != len(shard):
        fault = f"it has {file.metadata.num_rows} rows, but {len(shard)} are expected"
    sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    if fault is None and sizes != [min(rows_per_group, len(shard) - s) for s in range(0, len(shard), rows_per_group)]:
        fault = f"its row groups do not have {rows_per_group} rows"
    if fault:
        raise SalgenError(f"{path} was altered: {fault}")
    return file


def read_group(path: Path, file: pq.ParquetFile, group: int, columns: Sequence[str] | None = None) -> pa.Table:
    """The rows of one row group."""
    try:
        return file.read_row_group(group, columns=None if columns is None else list(columns))
    except FAULTS as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> SalgenError:
    return SalgenError(
        f"{path} is truncated or altered ({reason(error).rstrip('.')}): "
        "remove it, and the same 'salgen make' writes it again"
    )


def _difference(actual: pa.Schema, expected: pa.Schema) -> str | None:
    """The first difference between two schemas, or None."""
    if actual.equals(expected):
        return None
    names = dict.fromkeys([*actual.names, *expected.names])
    differing = [name for name in names if _type(actual, name) != _type(expected, name)]
    return f"column {differing[0]!r} differs" if differing else "its columns are in another order"


def _type(schema: pa.Schema, name: str) -> pa.DataType | None:
    place = schema.get_field_index(name)
    return None if place < 0 else schema.field(place).type
