"""Archives as `.tar`: plain ustar, of which nothing is free but names, contents and their order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from salgen.datasets.archives.members import Entry, Member, Readable, exactly, shown, taken
from salgen.errors import SalgenError

BLOCK = 512
RECORD = 20 * BLOCK
LARGEST = 8**11 - 1  # bytes that a header can announce
NAME, PREFIX = 100, 155
ZEROS = bytes(BLOCK)
USTAR = b"ustar" + b"\0" + b"00"
FILE, FOLDER = (b"0", b"\0"), b"5"
KINDS = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a device",
    b"4": "a device",
    b"6": "a pipe",
    b"x": "a pax header",
    b"g": "a pax header",
    b"L": "a GNU long name",
    b"K": "a GNU long link",
    b"S": "a sparse file",
}
OTHER_TOOL = "only plain files are read, as 'salgen publish' or 'tar --format=ustar' writes them"


def packed(entries: Iterable[Entry]) -> Iterator[bytes]:
    """The bytes of an archive, in pieces.

    Raises
    ------
    SalgenError
        If a name or a file is too long for the form.
    """
    length = 0
    for entry in entries:
        yield _header(entry)
        yield from entry.pieces()
        yield bytes(-entry.size % BLOCK)
        length += BLOCK + entry.size + -entry.size % BLOCK
    yield bytes(2 * BLOCK + -(length + 2 * BLOCK) % RECORD)


def members(stream: Readable) -> Iterator[Member]:
    """The members of an archive, in order.

    Raises
    ------
    SalgenError
        If the archive is truncated, has another form, or holds anything but files and folders.
    """
    number = length = 0
    while (block := exactly(stream, BLOCK)) != ZEROS:
        name, size, folder = _parsed(block, number)
        pieces = taken(stream, size)
        yield Member(name, size, folder, pieces)
        for _ in pieces:  # what was not asked for
            pass
        exactly(stream, -size % BLOCK)
        number, length = number + 1, length + BLOCK + size + -size % BLOCK
    _check_end(stream, length + BLOCK)


def _header(entry: Entry) -> bytes:
    if entry.size > LARGEST:
        raise SalgenError(f"member {shown(entry.name)} has more than 8 GiB: give OUT the suffix .zip")
    prefix, name = _divided(entry.name)
    numbers = (b"0000644", b"0000000", b"0000000", b"%011o" % entry.size, b"0" * 11)  # mode, user, group, size, time
    fields = [
        name.ljust(NAME, b"\0"),
        b"".join(number + b"\0" for number in numbers),
        b" " * 8,  # the checksum is computed with spaces in its place
        FILE[0],
        bytes(100),  # target of a link
        USTAR,
        bytes(64),  # names of user and group
        (b"0000000" + b"\0") * 2,  # device
        prefix.ljust(PREFIX, b"\0"),
        bytes(12),
    ]
    block = b"".join(fields)
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def _divided(name: str) -> tuple[bytes, bytes]:
    """A name's prefix and rest, as the header takes them; the shortest prefix that does."""
    text = name.encode("ascii")
    if len(text) <= NAME:
        return b"", text
    for place, character in enumerate(text):
        if character == ord("/") and place <= PREFIX and len(text) - place - 1 <= NAME:
            return text[:place], text[place + 1 :]
    raise SalgenError(f"member {shown(name)} has a name that is too long for a .tar")


def _parsed(block: bytes, number: int) -> tuple[str, int, bool]:
    """Name, size and whether it is a folder."""
    if block[257:262] != b"ustar":
        raise SalgenError(
            f"the header of member {number + 1} is not that of a tar archive (ustar): it was altered or is another file"
        )
    computed = sum(block[:148]) + 8 * ord(" ") + sum(block[156:])
    if _number(block[148:156], number) != computed:
        raise SalgenError(f"the header of member {number + 1} was altered: its checksum does not fit")
    name, kind = _name(block, number), block[156:157]
    if kind not in (*FILE, FOLDER):
        raise SalgenError(f"member {shown(name)} is {KINDS.get(kind, 'of an unknown kind')}: {OTHER_TOOL}")
    size, folder = _number(block[124:136], number), kind == FOLDER
    if folder and size:
        raise SalgenError(f"member {shown(name)} is a folder with content")
    return name.removesuffix("/") if folder else name, size, folder


def _name(block: bytes, number: int) -> str:
    parts = [block[345:500].rstrip(b"\0"), block[:NAME].rstrip(b"\0")]
    if block[257:265] != USTAR and parts[0]:
        raise SalgenError(f"the header of member {number + 1} is not plain ustar: {OTHER_TOOL}")
    return b"/".join(part for part in parts if part).decode("latin-1")


def _number(field: bytes, number: int) -> int:
    found = re.fullmatch(rb" *([0-7]+)[ \0]*", field)
    if found is None:
        raise SalgenError(f"the header of member {number + 1} has a field that is no octal number: {OTHER_TOOL}")
    return int(found[1], 8)


def _check_end(stream: Readable, length: int) -> None:
    """What follows the first empty block, at `length`: nothing but zeros, up to a whole record."""
    while piece := stream.read(RECORD):
        length += len(piece)
        if piece.strip(b"\0"):
            raise SalgenError("has bytes after its end")
    if length % RECORD:
        raise SalgenError("was truncated: its end is incomplete")
