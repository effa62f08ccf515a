"""Compression as `.gz`, with nothing in its head; and its expansion, up to a bound."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from salgen.datasets.archives.members import PIECE, Readable
from salgen.errors import SalgenError

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


class Expanded:
    """What a gzip file holds; no more of it is expanded than is asked for."""

    def __init__(self, source: Readable, bound: int) -> None:
        self._source = source
        self._left = self._bound = bound
        self._inflate = zlib.decompressobj(16 + zlib.MAX_WBITS)

    def read(self, count: int, /) -> bytes:
        """Up to `count` bytes."""
        found = bytearray()
        while len(found) < count and not self._inflate.eof:
            found += self._next(count - len(found))
        if self._inflate.eof and (self._inflate.unused_data or self._source.read(1)):
            raise SalgenError("has bytes after its end")
        return bytes(found)

    def _next(self, count: int) -> bytes:
        packed = self._inflate.unconsumed_tail or self._source.read(PIECE)
        try:
            piece = self._inflate.decompress(packed, count)
        except zlib.error as error:
            raise SalgenError(f"is not a gzip file, or was altered ({error})") from None
        if not packed and not piece and not self._inflate.eof:
            raise SalgenError("was truncated: its compressed data have no end")
        self._left -= len(piece)
        if self._left < 0:
            raise SalgenError(f"expands to more than {self._bound} bytes, which no data set does")
        return piece
