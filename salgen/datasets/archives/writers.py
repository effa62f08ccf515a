"""Writers of `.tar`, `.tar.gz` and `.zip`: the same bytes for the same files, on every machine and Python.

The standard library's writers put times, systems or versions into headers; these leave nothing free but names,
contents and their order.
"""

from __future__ import annotations

import stat
import struct
import zlib
from collections.abc import Iterable, Iterator

from salgen.datasets.archives.members import Entry, quoted
from salgen.errors import SalgenError

BLOCK = 512
RECORD = 20 * BLOCK
LARGEST = 8**11 - 1  # bytes that a header can announce
NAME, PREFIX = 100, 155
USTAR = b"ustar" + b"\0" + b"00"
REGULAR = b"0"

GZIP_LEVEL = 6
GZIP_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"  # no name, no time, no system

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


def tar_bytes(entries: Iterable[Entry]) -> Iterator[bytes]:
    """The bytes of an archive, in pieces."""
    length = 0
    for entry in entries:
        yield _tar_header(entry)
        yield from entry.pieces()
        yield bytes(-entry.size % BLOCK)
        length += BLOCK + entry.size + -entry.size % BLOCK
    yield bytes(2 * BLOCK + -(length + 2 * BLOCK) % RECORD)


def _tar_header(entry: Entry) -> bytes:
    if entry.size > LARGEST:
        raise SalgenError(f"member {quoted(entry.name)} has more than 8 GiB: give OUT the suffix .zip")
    prefix, name = _split_name(entry.name)
    numbers = (b"0000644", b"0000000", b"0000000", b"%011o" % entry.size, b"0" * 11)  # mode, user, group, size, time
    fields = [
        name.ljust(NAME, b"\0"),
        b"".join(number + b"\0" for number in numbers),
        b" " * 8,  # the checksum is computed with spaces in its place
        REGULAR,
        bytes(100),  # target of a link
        USTAR,
        bytes(64),  # names of user and group
        (b"0000000" + b"\0") * 2,  # device
        prefix.ljust(PREFIX, b"\0"),
        bytes(12),
    ]
    block = b"".join(fields)
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def _split_name(name: str) -> tuple[bytes, bytes]:
    """A name's prefix and remainder for the two fields of the header; the shortest prefix that fits."""
    text = name.encode("ascii")
    if len(text) <= NAME:
        return b"", text
    for place, character in enumerate(text):
        if character == ord("/") and place <= PREFIX and len(text) - place - 1 <= NAME:
            return text[:place], text[place + 1 :]
    raise SalgenError(f"member {quoted(name)} has a name that is too long for a .tar")


def gzip_bytes(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """A gzip file with nothing in its head."""
    deflate, checksum, size = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS), 0, 0
    yield GZIP_HEADER
    for piece in pieces:
        checksum, size = zlib.crc32(piece, checksum), size + len(piece)
        yield deflate.compress(piece)
    yield deflate.flush() + checksum.to_bytes(4, "little") + (size % (1 << 32)).to_bytes(4, "little")


def zip_bytes(entries: Iterable[Entry]) -> Iterator[bytes]:
    """The bytes of an archive, in pieces. Each file is read twice, since its checksum stands before it."""
    listed: list[bytes] = []
    offset = 0
    for entry in entries:
        checksum = 0
        for piece in entry.pieces():
            checksum = zlib.crc32(piece, checksum)
        header = _local_header(entry, checksum)
        yield header
        again = 0
        for piece in entry.pieces():
            again = zlib.crc32(piece, again)
            yield piece
        if again != checksum:
            raise SalgenError(f"{entry.content!s} changed while it was being read: let nothing else write to it")
        listed.append(_central_header(entry, checksum, offset))
        offset += len(header) + entry.size
    yield from listed
    yield _zip_end(len(listed), sum(map(len, listed)), offset)


def _local_header(entry: Entry, checksum: int) -> bytes:
    name, wide = entry.name.encode("ascii"), entry.size >= WIDE_FROM
    extra = struct.pack("<2H2Q", 1, 16, entry.size, entry.size) if wide else b""
    size = LARGE if wide else entry.size
    version = WIDE if wide else PLAIN
    common = (version, 0, 0, MIDNIGHT, NEW_YEAR_1980, checksum, size, size, len(name), len(extra))
    return LOCAL.pack(SIGNATURES[0], *common) + name + extra


def _central_header(entry: Entry, checksum: int, offset: int) -> bytes:
    name = entry.name.encode("ascii")
    numbers = [*([entry.size] * 2 if entry.size >= WIDE_FROM else []), *([offset] if offset >= WIDE_FROM else [])]
    extra = struct.pack(f"<2H{len(numbers)}Q", 1, 8 * len(numbers), *numbers) if numbers else b""
    size, version = _short_field(entry.size), WIDE if numbers else PLAIN
    common = (version, 0, 0, MIDNIGHT, NEW_YEAR_1980, checksum, size, size, len(name), len(extra))
    return CENTRAL.pack(SIGNATURES[1], UNIX | version, *common, 0, 0, 0, MODE, _short_field(offset)) + name + extra


def _zip_end(count: int, length: int, offset: int) -> bytes:
    """The end of the archive: how many members are listed, and where."""
    long = b""
    if count >= LONG_FROM or max(length, offset) >= WIDE_FROM:
        fields = (END64.size - 12, UNIX | WIDE, WIDE, 0, 0, count, count, length, offset)
        long = END64.pack(SIGNATURES[3], *fields) + LOCATOR.pack(SIGNATURES[4], 0, offset + length, 1)
    few = count if count < LONG_FROM else MANY
    return long + END.pack(SIGNATURES[2], 0, 0, few, few, _short_field(length), _short_field(offset), 0)


def _short_field(number: int) -> int:
    """A number as it stands in a field of four bytes."""
    return number if number < WIDE_FROM else LARGE
