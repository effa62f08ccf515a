"""One file within an archive: as it is written, and as it is read."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from salgen.errors import SalgenError

PIECE = 1 << 20  # bytes held in memory at a time
SHOWN = 80  # characters of a name in a message


@dataclass(frozen=True)
class Entry:
    """A file that goes into an archive.

    Attributes
    ----------
    name
        Its full name in the archive, with ``/``.
    content
        A file on disk, or the bytes themselves.
    size
        Number of bytes.
    """

    name: str
    content: Path | bytes
    size: int

    def pieces(self) -> Iterator[bytes]:
        """The content, in pieces."""
        left = self.size
        with io.BytesIO(self.content) if isinstance(self.content, bytes) else open(self.content, "rb") as handle:
            while piece := handle.read(PIECE):
                left -= len(piece)
                yield piece
        if left:
            raise SalgenError(f"{self.content!s} changed while it was being read: let nothing else write to it")


@dataclass(frozen=True)
class Member:
    """A file or folder that an archive holds.

    Attributes
    ----------
    name
        Its full name in the archive; that of a folder without the last ``/``.
    size
        Number of bytes that its header announces.
    folder
        True if it is a folder.
    pieces
        The content, to be read before the next member.
    """

    name: str
    size: int
    folder: bool
    pieces: Iterator[bytes]


def quoted(name: str) -> str:
    """A name in quotes, without control characters and not too long."""
    return repr(name if len(name) <= SHOWN else name[:SHOWN] + "...")
