"""Writing `.tar`: plain ustar, of which nothing is free but names, contents and their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from salgen.datasets.archives.members import Entry, shown
from salgen.errors import SalgenError

BLOCK = 512
RECORD = 20 * BLOCK
LARGEST = 8**11 - 1  # bytes that a header can announce
NAME, PREFIX = 100, 155
USTAR = b"ustar" + b"\0" + b"00"
FILE = b"0"


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


def _header(entry: Entry) -> bytes:
    if entry.size > LARGEST:
        raise SalgenError(f"member {shown(entry.name)} has more than 8 GiB: give OUT the suffix .zip")
    prefix, name = _divided(entry.name)
    numbers = (b"0000644", b"0000000", b"0000000", b"%011o" % entry.size, b"0" * 11)  # mode, user, group, size, time
    fields = [
        name.ljust(NAME, b"\0"),
        b"".join(number + b"\0" for number in numbers),
        b" " * 8,  # the checksum is computed with spaces in its place
        FILE,
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
