"""Writing `.gz`, with nothing in its head."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

LEVEL = 6
START = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"  # no name, no time, no system


def compressed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """A gzip file with nothing in its head."""
    deflate, checksum, size = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS), 0, 0
    yield START
    for piece in pieces:
        checksum, size = zlib.crc32(piece, checksum), size + len(piece)
        yield deflate.compress(piece)
    yield deflate.flush() + checksum.to_bytes(4, "little") + (size % (1 << 32)).to_bytes(4, "little")
