"""One file within an archive: as it is written, and as it is read."""

from __future__ import annotations

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
        Its whole name there, with ``/``.
    content
        A file on disk, or the bytes themselves.
    size
        How many bytes it has.
    """

    name: str
    content: Path | bytes
    size: int

    def pieces(self) -> Iterator[bytes]:
        """The content, in pieces.

        Raises
        ------
        SalgenError
            If the file no longer has `size` bytes.
        """
        left = self.size
        for piece in (self.content,) if isinstance(self.content, bytes) else _pieces_of(self.content):
            left -= len(piece)
            yield piece
        if left:
            raise SalgenError(f"{self.content!s} changed while it was read: nothing else may write to it")


@dataclass(frozen=True)
class Member:
    """A file or folder that an archive holds.

    Attributes
    ----------
    name
        Its whole name as it stands there; that of a folder without the last ``/``.
    size
        How many bytes are announced.
    folder
        Whether it is a folder.
    pieces
        The content, to be taken before the next member is.
    """

    name: str
    size: int
    folder: bool
    pieces: Iterator[bytes]


def shown(name: str) -> str:
    """A name in quotes, without control characters and not too long."""
    return repr(name if len(name) <= SHOWN else name[:SHOWN] + "...")


def _pieces_of(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as handle:
        while piece := handle.read(PIECE):
            yield piece
