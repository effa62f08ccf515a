"""Damaged data set folders: manifests, checksums, cards, shards and the cells within them."""

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mutations import mutated_bytes, mutated_json, mutated_text, mutated_value
from trials import Box, BrokenError, Calls, Change, command, damage
import salgen

TINY = {"image_size": [16, 16], "diameter": 3, "lesions": 1, "slices": 12}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete data set: 3 train and 3 test samples of 16 x 16 pixels."""
    out = tmp_path_factory.mktemp("original") / "tiny"
    return salgen.make("perlin-lesions", out, splits={"train": 3, "test": 3}, parameters=TINY, workers=1)


def read_all(folder: Path) -> None:
    """All that a user can look at in a data set."""
    for split in ("train", "test"):
        samples = salgen.load(folder, split)
        samples[0], samples[-1]
        for batch in samples.batches(2):
            batch.images, batch.regions["lesions"], batch.acceptable, batch.twins, batch.recipes
        samples.images(), samples.column("id"), samples.column("recipe"), samples.present("lesions")


def look(box: Box, path: Path, altered: bool, rng: Random) -> tuple[str, Calls]:
    """Read, verify and show the data set."""
    calls: dict[str, Callable[[], object]] = {
        "open": lambda: read_all(box.inside),
        "verify": lambda: verified(box.inside, altered),
    }
    if rng.random() < 0.1:
        calls["salgen verify"] = lambda: command("verify", str(box.inside), "--samples", "1")
        calls["salgen show"] = lambda: command("show", str(box.inside), "--out", str(box.out / "sheet.png"))
    return str(box.inside), calls


def verified(folder: Path, altered: bool) -> list[str]:
    """The problems that verifying finds; there must be some where a file was altered."""
    problems = salgen.verify(folder, samples=2)
    if altered and not problems:
        raise BrokenError("an altered file was verified")
    return problems


def rewritten(shard: bytes, rng: Random) -> bytes:
    """A whole shard with other cells in one column: images, masks, recipes, labels, or another column altogether."""
    table = pq.read_table(io.BytesIO(shard))
    name = rng.choice(table.column_names)
    cells = table[name].to_pylist()
    row = rng.randrange(len(cells))
    cells[row] = other_cell(cells[row], rng)
    place = table.column_names.index(name)
    buffer = io.BytesIO()
    try:
        column = pa.array(cells, type=table.schema.field(name).type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):  # of another type, then
        column = pa.array([str(cell).encode("utf-8", "replace").decode() for cell in cells])
    changed = table.set_column(place, table.schema.field(name).with_type(column.type), column)
    pq.write_table(changed, buffer, row_group_size=64, compression="zstd")
    return buffer.getvalue()


def other_cell(cell: object, rng: Random) -> object:
    if isinstance(cell, dict) and isinstance(cell.get("bytes"), bytes):
        return rng.choice((None, {**cell, "bytes": mutated_png(cell["bytes"], rng)}, {**cell, "bytes": None}))
    if isinstance(cell, str) and cell.startswith("{"):
        return mutated_json(cell.encode(), rng).decode("utf-8", "replace")
    if isinstance(cell, str):
        return mutated_text(cell, rng)
    if isinstance(cell, list):
        return rng.choice((None, [None], [{"bytes": rng.randbytes(8), "path": None}], [{"bytes": None, "path": "x"}]))
    return mutated_value(cell, rng)


def mutated_png(data: bytes, rng: Random) -> bytes:
    """Other bytes, or a head that announces another size, depth or kind with a checksum that is right."""
    if rng.random() < 0.5:
        return mutated_bytes(data, rng)
    head = list(struct.unpack(">IIBBBBB", data[16:29]))
    for _ in range(rng.choice((1, 2))):
        place = rng.randrange(7)
        sides, codes = (0, 1, 2**31 - 1, 2**31, 65536, 50000), (0, 1, 2, 3, 4, 6, 8, 16, 255)
        head[place] = rng.choice(sides if place < 2 else codes)
    body = b"IHDR" + struct.pack(">IIBBBBB", *head)
    return data[:12] + body + struct.pack(">I", zlib.crc32(body)) + data[33:]


@pytest.mark.parametrize(
    ("kind", "large", "files", "change"),
    [
        ("salgen.json", 1500, "salgen.json", mutated_json),
        ("SHA256SUMS", 300, "SHA256SUMS", mutated_bytes),
        ("README, croissant.json", 200, "README.md croissant.json", mutated_bytes),
        ("Parquet bytes", 1500, "data/*", mutated_bytes),
        ("cells of Parquet files", 1000, "data/*", rewritten),
    ],
)
def test_damaged(request: pytest.FixtureRequest, box: Box, kind: str, large: int, files: str, change: Change) -> None:
    damage(request, box, kind, large, files, change, look)
