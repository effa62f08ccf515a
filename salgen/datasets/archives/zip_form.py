"""Writing `.zip`: members are stored as they are, one behind the other, and listed once at the end."""

from __future__ import annotations

import stat
import struct
import zlib
from collections.abc import Iterable, Iterator

from salgen.datasets.archives.members import Entry
from salgen.errors import SalgenError

LOCAL = struct.Struct("<4s5H3I2H")
CENTRAL = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
END64 = struct.Struct("<4sQ2H2I4Q")
LOCATOR = struct.Struct("<4sIQI")
SIGNATURES = (b"PK\3\4", b"PK\1\2", b"PK\5\6", b"PK\6\6", b"PK\6\7")
LARGE, MANY = 0xFFFFFFFF, 0xFFFF  # what stands where the true number is in a longer field
WIDE_FROM, LONG_FROM = LARGE, MANY  # bytes and members from which on the longer fields are written
PLAIN, WIDE = 10, 45  # version of the form; the second has longer fields
UNIX = 3 << 8
MIDNIGHT, NEW_YEAR_1980 = 0, 0x21
MODE = (stat.S_IFREG | 0o644) << 16


def packed(entries: Iterable[Entry]) -> Iterator[bytes]:
    """The bytes of an archive, in pieces. Each file is read twice, since its checksum stands before it.

    Raises
    ------
    SalgenError
        If a file changes meanwhile.
    """
    listed: list[bytes] = []
    offset = 0
    for entry in entries:
        checksum = _checksum(entry)
        header = _local(entry, checksum)
        yield header
        again = 0
        for piece in entry.pieces():
            again = zlib.crc32(piece, again)
            yield piece
        if again != checksum:
            raise SalgenError(f"{entry.content!s} changed while it was read: nothing else may write to it")
        listed.append(_central(entry, checksum, offset))
        offset += len(header) + entry.size
    yield from listed
    yield _end(len(listed), sum(map(len, listed)), offset)


def _checksum(entry: Entry) -> int:
    checksum = 0
    for piece in entry.pieces():
        checksum = zlib.crc32(piece, checksum)
    return checksum


def _local(entry: Entry, checksum: int) -> bytes:
    name, wide = entry.name.encode("ascii"), entry.size >= WIDE_FROM
    extra = struct.pack("<2H2Q", 1, 16, entry.size, entry.size) if wide else b""
    size = LARGE if wide else entry.size
    version = WIDE if wide else PLAIN
    common = (version, 0, 0, MIDNIGHT, NEW_YEAR_1980, checksum, size, size, len(name), len(extra))
    return LOCAL.pack(SIGNATURES[0], *common) + name + extra


def _central(entry: Entry, checksum: int, offset: int) -> bytes:
    name = entry.name.encode("ascii")
    numbers = [*([entry.size] * 2 if entry.size >= WIDE_FROM else []), *([offset] if offset >= WIDE_FROM else [])]
    extra = struct.pack(f"<2H{len(numbers)}Q", 1, 8 * len(numbers), *numbers) if numbers else b""
    size, version = _short(entry.size), WIDE if numbers else PLAIN
    common = (version, 0, 0, MIDNIGHT, NEW_YEAR_1980, checksum, size, size, len(name), len(extra))
    return CENTRAL.pack(SIGNATURES[1], UNIX | version, *common, 0, 0, 0, MODE, _short(offset)) + name + extra


def _end(count: int, length: int, offset: int) -> bytes:
    """The end of the archive: how many members are listed, and where."""
    long = b""
    if count >= LONG_FROM or max(length, offset) >= WIDE_FROM:
        fields = (END64.size - 12, UNIX | WIDE, WIDE, 0, 0, count, count, length, offset)
        long = END64.pack(SIGNATURES[3], *fields) + LOCATOR.pack(SIGNATURES[4], 0, offset + length, 1)
    few = count if count < LONG_FROM else MANY
    return long + END.pack(SIGNATURES[2], 0, 0, few, few, _short(length), _short(offset), 0)


def _short(number: int) -> int:
    """A number as it stands in a field of four bytes."""
    return number if number < WIDE_FROM else LARGE
