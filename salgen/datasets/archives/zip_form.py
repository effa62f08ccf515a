"""Archives as `.zip`: members are stored as they are, one behind the other, and listed once at the end."""

from __future__ import annotations

import stat
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from salgen.datasets.archives.members import Entry, Member, exactly, shown, taken
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
ENCRYPTED, SIZE_BEHIND, UTF8 = 1, 8, 1 << 11
KINDS = {stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


@dataclass(frozen=True)
class _Listed:
    """What the list says of a member; its local header must say the same."""

    name: bytes
    flags: int
    method: int
    checksum: int
    size: int
    offset: int
    attributes: int


# Writing ---------------------------------------------------------------------------------------------


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


# Reading ---------------------------------------------------------------------------------------------


def members(handle: BinaryIO) -> Iterator[Member]:
    """The members of an archive, in order.

    Members must follow each other without overlap or gap, so what they hold is never more than the file has.

    Raises
    ------
    SalgenError
        If the archive is truncated, altered, encrypted or compressed, or holds anything but files and folders.
    """
    count, place, end = _find_list(handle)
    start, offset = place, 0
    for number in range(count):
        handle.seek(place)
        listed = _listed(handle, number)
        place = handle.tell()
        name, folder = _checked(listed)
        if listed.offset != offset:
            raise SalgenError(f"member {shown(name)} does not begin where the one before it ends")
        offset = _find_content(handle, listed, name) + listed.size
        if offset > start or place > end:
            raise SalgenError(f"member {shown(name)} reaches beyond its place: the archive was altered")
        yield Member(name.removesuffix("/"), listed.size, folder, taken(handle, listed.size))
    if offset != start or place != end:
        raise SalgenError("has bytes that belong to no member: it was altered or is another file")


def _find_list(handle: BinaryIO) -> tuple[int, int, int]:
    """How many members are listed, and where the list begins and ends."""
    length = handle.seek(0, 2)
    if length < END.size:
        raise SalgenError("is not a zip archive, or was truncated")
    place = length - END.size
    end = END.unpack(_at(handle, place, END.size))
    if end[0] != SIGNATURES[2] or end[-1]:
        raise SalgenError("is not a zip archive, or was truncated or altered: its end is not that of a zip archive")
    count, size, start = end[4:7]
    if count == MANY or LARGE in (size, start):
        place, count, size, start = _find_long_list(handle, place)
    if start + size != place:
        raise SalgenError("was truncated or altered: its list of members is not where its end says")
    return count, start, place


def _find_long_list(handle: BinaryIO, place: int) -> tuple[int, int, int, int]:
    where = place - LOCATOR.size - END64.size
    if where < 0:
        raise SalgenError("was truncated or altered: its end is incomplete")
    long = END64.unpack(_at(handle, where, END64.size))
    locator = LOCATOR.unpack(exactly(handle, LOCATOR.size))
    if long[0] != SIGNATURES[3] or locator[0] != SIGNATURES[4] or locator[2] != where:
        raise SalgenError("was altered: its end is not that of a zip archive")
    return where, long[7], long[8], long[9]


def _listed(handle: BinaryIO, number: int) -> _Listed:
    fields = CENTRAL.unpack(exactly(handle, CENTRAL.size))
    if fields[0] != SIGNATURES[1]:
        raise SalgenError(f"the list of members was altered at member {number + 1}")
    _, _, _, flags, method, _, _, checksum, packed_size, size, name, extra, comment, _, _, attributes, offset = fields
    text = exactly(handle, name)
    long = _long_numbers(exactly(handle, extra), [size, packed_size, offset])
    exactly(handle, comment)
    if long[0] != long[1] and not (method or flags & ENCRYPTED):
        raise SalgenError(f"member {shown(text.decode('latin-1'))} has two sizes: the archive was altered")
    return _Listed(text, flags, method, checksum, long[0], long[2], attributes)


def _long_numbers(extra: bytes, numbers: list[int]) -> list[int]:
    """Numbers, with those that stand in the extra field put in their places."""
    wanted = [place for place, number in enumerate(numbers) if number == LARGE]
    while wanted and len(extra) >= 4:
        kind, length = struct.unpack_from("<2H", extra)
        if kind == 1 and 8 * len(wanted) <= length <= len(extra) - 4:
            found = struct.unpack_from(f"<{len(wanted)}Q", extra, 4)
            return [found[wanted.index(place)] if place in wanted else n for place, n in enumerate(numbers)]
        extra = extra[4 + length :]
    return numbers


def _checked(listed: _Listed) -> tuple[str, bool]:
    """A member's name, and whether it is a folder."""
    name = listed.name.decode("latin-1")
    kind = stat.S_IFMT(listed.attributes >> 16)
    folder = name.endswith("/")
    fault = ""
    if listed.flags & ENCRYPTED:
        fault = "is encrypted: archives are read without a password"
    elif listed.method:
        fault = "is compressed: members of a .zip must be stored as they are (zip -0)"
    elif listed.flags & ~UTF8:
        fault = "is written in a way that is not read here: its size must stand before it"
    elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        fault = f"is {KINDS.get(kind, 'of an unknown kind')}: only files and folders are read"
    elif (kind == stat.S_IFDIR and not folder) or (folder and listed.size):
        fault = "is a file and a folder at once"
    if fault:
        raise SalgenError(f"member {shown(name)} {fault}")
    return name, folder


def _find_content(handle: BinaryIO, listed: _Listed, name: str) -> int:
    """Where a member's content begins, once its own header has said the same as the list."""
    fields = LOCAL.unpack(_at(handle, listed.offset, LOCAL.size))
    signature, _, flags, method, _, _, checksum, packed_size, size, length, extra = fields
    text = exactly(handle, length)
    sizes = _long_numbers(exactly(handle, extra), [size, packed_size])
    there = (signature, text, flags, method, checksum, *sizes)
    if there != (SIGNATURES[0], listed.name, listed.flags, listed.method, listed.checksum, listed.size, listed.size):
        raise SalgenError(f"member {shown(name)} has a header that differs from the list: the archive was altered")
    return handle.tell()


def _at(handle: BinaryIO, place: int, count: int) -> bytes:
    handle.seek(place)
    return exactly(handle, count)
