"""Damage of every kind, drawn from a seed: bytes flipped, numbers made huge, entries dropped, retyped or nested."""

import io
import json
import struct
from collections.abc import Callable, Iterator
from random import Random
from typing import Any
import pyarrow as pa
import pyarrow.parquet as pq

NUMBERS = (0, -1, 1, 2, 255, 2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**400)
FRACTIONS = (0.5, -0.0, 1e-320, 1e308, -1e308, float("nan"), float("inf"), float("-inf"))
TEXTS = (
    *("", " ", "\0", "a\nb", "\ufeff", "../../etc/passwd", "/", "C:\\con", "%s%n", "{}", "{{7*7}}", "<script>", "ä"),
    *("\u202e\u0000", "e\u0301", "\U0001f9e0", "\ud800", "x" * 5000, "nan", "1e999", "-0", "test", "mask", "none"),
)
OTHERS = (None, True, False, [], {}, [[]], {"": None}, [None], [1, "a", {}])
DEEP = "@deep@"  # stands for nesting that json.dumps could not write
DEPTH = 20_000
STRANGE = (pa.float64(), pa.float16(), pa.string(), pa.list_(pa.float32()), pa.list_(pa.list_(pa.float64())))


def mutated_bytes(data: bytes, rng: Random) -> bytes:
    """Other bytes: `data` after one to three random changes."""
    found = data
    while found == data:
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            found = rng.choice(_CHANGES)(found, rng)
    return found


def mutated_text(text: str, rng: Random) -> str:
    """Another text: characters changed, or the whole replaced."""
    if rng.random() < 0.15:
        return rng.choice(TEXTS)
    if rng.random() < 0.5:
        start, end = _span(len(text), rng)
        filling = rng.choice((*TEXTS, *map(str, NUMBERS), *map(str, FRACTIONS), "=", ":", ",", "|", ",=", text))
        return text[:start] + filling + text[end:]
    return mutated_bytes(text.encode("utf-8", "surrogatepass"), rng).decode("latin-1")


def either(*changes: Callable[[bytes, Random], bytes]) -> Callable[[bytes, Random], bytes]:
    """One of these changes, each as often as the others."""
    return lambda data, rng: rng.choice(changes)(data, rng)


def mutated_json(data: bytes, rng: Random) -> bytes:
    """A JSON text in which one to three entries are others, or a JSON text with other bytes."""
    text = data.decode()
    if rng.random() < 0.2:
        return _written(text, rng)
    value = json.loads(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        value = _changed_value(value, rng)
    return json.dumps(value, indent=rng.choice((None, 2))).replace(f'"{DEEP}"', "[" * DEPTH + "]" * DEPTH).encode()


def mutated_value(value: Any, rng: Random) -> Any:
    """Another value: of the same kind and extreme, or of another kind."""
    if isinstance(value, bool) or value is None or rng.random() < 0.3:
        return rng.choice((*OTHERS, *TEXTS, *NUMBERS, *FRACTIONS, DEEP))
    if isinstance(value, (int, float)):
        return rng.choice((*NUMBERS, *FRACTIONS, value + 1, -value, value * 1000, str(value), [value]))
    if isinstance(value, str):
        return mutated_text(value, rng)
    if isinstance(value, list):
        return rng.choice((value * 2, value[1:], value[::-1], [value], [*value, rng.choice(OTHERS)], value * 300))
    return rng.choice((list(value), list(value.items()), {**value, "extra": 1}, {"nested": value}))


def mutated_table(data: bytes, rng: Random) -> bytes:
    """A whole Parquet file with other cells, another type or record, or a column that is gone or there twice."""
    table = pq.read_table(io.BytesIO(data))
    record = (table.schema.metadata or {}).get(b"salgen")
    place, change = rng.randrange(table.num_columns), rng.random()
    column, name = table.column(place), table.column_names[place]
    if record is not None and change < 0.3:
        table = table.replace_schema_metadata({b"salgen": mutated_json(record, rng)})
    elif change < 0.35:
        table = table.remove_column(place)
    elif change < 0.4:
        table = table.append_column(name, column)
    else:
        table = table.set_column(place, name, _other_cells(column, rng))
    buffer = io.BytesIO()
    pq.write_table(table, buffer, row_group_size=64, compression="zstd")
    return buffer.getvalue()


def _other_cells(column: pa.ChunkedArray, rng: Random) -> pa.Array:
    cells = column.to_pylist()
    for row in rng.sample(range(len(cells)), min(rng.choice((1, 1, 5)), len(cells))):
        cells[row] = _other_cell(cells[row], rng)
    try:
        return pa.array(cells, rng.choice((*[column.type] * 6, None, *STRANGE)))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):  # of another type, then
        return pa.array([repr(cell).encode("utf-8", "replace").decode() for cell in cells])


def _other_cell(cell: Any, rng: Random) -> Any:
    if isinstance(cell, dict) and isinstance(cell.get("bytes"), bytes):
        return rng.choice((None, {**cell, "bytes": mutated_bytes(cell["bytes"], rng)}, {**cell, "bytes": None}))
    if isinstance(cell, list):
        images = [{"bytes": rng.randbytes(8), "path": None}], [{"bytes": None, "path": "x"}]
        ways = (None, [], [None], [[]], [[1.0]], cell[:-1], [*cell[:-1], []], [None, *cell[1:]])
        return rng.choice((*ways, [[float("nan")] * 16] * 16, *images))
    if isinstance(cell, str):
        as_json = cell.startswith("{")
        return mutated_json(cell.encode(), rng).decode("utf-8", "replace") if as_json else mutated_text(cell, rng)
    return mutated_value(cell, rng)


def _changed_value(value: Any, rng: Random) -> Any:
    """A JSON value in which one random entry is another, is gone, has another name, or is there twice."""
    places = list(_places(value))
    if not places or rng.random() < 0.03:
        return mutated_value(value, rng)
    value = json.loads(json.dumps(value))
    (*way, key), (*other, source) = rng.choice(places), rng.choice(places)
    holder, lender = _at(value, way), _at(value, other)
    change = rng.random()
    if change < 0.15:
        del holder[key]
    elif change < 0.25 and isinstance(holder, dict):
        holder[mutated_text(key, rng)] = holder.pop(key)
    elif change < 0.35:
        holder[key] = json.loads(json.dumps(lender[source]))
    else:
        holder[key] = mutated_value(holder[key], rng)
    return value


def _places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all entries within a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield (*way, key)
        yield from _places(item, (*way, key))


def _at(value: Any, way: list[Any]) -> Any:
    for key in way:
        value = value[key]
    return value


def _written(text: str, rng: Random) -> bytes:
    """The text in another encoding, with other line ends, with a mark before it, or with other bytes."""
    encodings = ("utf-16", "utf-32", "utf-8-sig", "utf-16-be")
    ways: tuple[Callable[[], bytes], ...] = (
        lambda: text.encode(rng.choice(encodings)),
        lambda: text.replace("\n", rng.choice(("\r\n", "\r", "\0", "\x85"))).encode(),
        lambda: b"\0" + text.encode(),
        lambda: text.encode() * 2,
        lambda: mutated_bytes(text.encode(), rng),
        lambda: mutated_bytes(text.encode(), rng),
    )
    return rng.choice(ways)()


def _span(length: int, rng: Random) -> tuple[int, int]:
    """A random stretch, mostly short."""
    start = rng.randint(0, length)
    return start, min(length, start + rng.choice((0, 1, 1, 2, 4, 8, 64, 1000)))


def _flip(data: bytes, rng: Random) -> bytes:
    if not data:
        return b"\0"
    place = rng.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :]


def _byte(data: bytes, rng: Random) -> bytes:
    start = rng.randint(0, max(0, len(data) - 1))
    return data[:start] + rng.choice((b"\0", b"\xff", b"\x7f", b"\x80", b"\n", b'"', b" ")) + data[start + 1 :]


def _number(data: bytes, rng: Random) -> bytes:
    """An extreme number of one to eight bytes in either order, as a length in a header might be; often at the ends."""
    size = rng.choice((2, 4, 8))
    number = rng.choice((0, 1, -1, 2 ** (8 * size - 1) - 1, -(2 ** (8 * size - 1)), 2 ** (8 * size - 4)))
    code = {2: "h", 4: "i", 8: "q"}[size]
    written = struct.pack(rng.choice("<>") + code, number)
    last = max(0, len(data) - size)
    place = rng.choice((rng.randint(0, last), rng.randint(0, min(last, 400)), rng.randint(max(0, last - 100), last)))
    return data[:place] + written + data[place + size :]


def _cut(data: bytes, rng: Random) -> bytes:
    return data[: rng.choice((0, 1, len(data) // 2, len(data) - 1, rng.randint(0, len(data))))]


def _insert(data: bytes, rng: Random) -> bytes:
    place = rng.randint(0, len(data))
    filling = rng.choice((b"\0", b"\0" * 512, rng.randbytes(8), b"\xef\xbb\xbf", b"\xff" * 4, b"PAR1", b"\x1f\x8b"))
    return data[:place] + filling + data[place:]


def _remove(data: bytes, rng: Random) -> bytes:
    start, end = _span(len(data), rng)
    return data[:start] + data[end:]


def _repeat(data: bytes, rng: Random) -> bytes:
    start, end = _span(len(data), rng)
    return data[:end] + data[start:end] * rng.choice((1, 2, 20)) + data[end:]


def _append(data: bytes, rng: Random) -> bytes:
    return data + rng.choice((b"\0", b"\n", rng.randbytes(16), data[:512], data[-512:], b"\0" * 10240))


_CHANGES: tuple[Callable[[bytes, Random], bytes], ...] = (
    *(_flip, _flip, _flip, _byte, _byte, _number, _number, _number),
    *(_cut, _insert, _remove, _repeat, _append),
)
