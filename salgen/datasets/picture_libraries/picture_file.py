"""A library in one Parquet file: pictures as PNG, a row each, sorted by split, class and number."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from itertools import islice
from pathlib import Path
import imagecodecs
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from salgen.datasets.format import png
from salgen.errors import readable
from salgen.files import atomic_path, cache_folder
from salgen.parameters import canonical_json

FOLDER = "libraries"  # folder in the cache
PLACES = {"split": pa.string(), "class": pa.string(), "height": pa.int32(), "width": pa.int32()}
SCHEMA = pa.schema({**PLACES, "picture": pa.binary()})
ROWS = 64  # read together
KEPT = 512  # decoded pictures
DIGEST, SKIPPED = b"digest", b"skipped"

Pixels = NDArray[np.uint8]
Place = tuple[str, str, int]  # split, class, number


def library_path(kind: str, depends_on: object) -> Path:
    """The file in the user's cache for what depends on some JSON values; its folder is created."""
    folder = cache_folder() / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{kind}-{hashlib.sha256(canonical_json(depends_on).encode()).hexdigest()[:32]}.parquet"


def write_library(
    path: Path, pictures: Iterable[tuple[Place, Pixels]], skipped: Mapping[str, int] | None = None
) -> None:
    """Write pictures, uint8 (h, w, 3 or 4), in their order, whole or not at all, `ROWS` of them in memory.

    `skipped` counts what was passed over, by reason; it is read after the last picture.
    """
    digest, remaining = hashlib.sha256(), iter(pictures)
    options = {"compression": "none", "write_page_checksum": True}
    with atomic_path(path) as temporary, pq.ParquetWriter(temporary, SCHEMA, **options) as writer:
        while rows := [_row(place, pixels, digest.update) for place, pixels in islice(remaining, ROWS)]:
            writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
        writer.add_key_value_metadata({DIGEST: digest.hexdigest(), SKIPPED: json.dumps(skipped or {})})


def _row(place: Place, pixels: Pixels, update: Callable[[bytes], None]) -> dict[str, object]:
    split, name, number = place
    update(f"{split}/{name}/{number} {pixels.shape}\n".encode())
    update(np.ascontiguousarray(pixels).tobytes())
    height, width = pixels.shape[:2]
    picture = imagecodecs.png_encode(pixels, level=1)
    return {"split": split, "class": name, "height": height, "width": width, "picture": picture}


class PictureFile:
    """A library in a file that :func:`write_library` wrote; its classes are in the order of the labels."""

    def __init__(self, path: Path, classes: Sequence[str]) -> None:
        self.path = path
        self.classes = tuple(classes)
        with self._undamaged():
            self._file = pq.ParquetFile(path, page_checksum_verification=True)
            stated = self._file.metadata.metadata
            self.digest = stated[DIGEST].decode("ascii")
            self.skipped: dict[str, int] = json.loads(stated.get(SKIPPED, b"{}"))
            places = self._file.read(columns=list(PLACES))
        self._rows: dict[tuple[str, str], list[int]] = {}
        for row, place in enumerate(zip(places["split"].to_pylist(), places["class"].to_pylist(), strict=True)):
            self._rows.setdefault(place, []).append(row)
        self._sizes = np.stack([places["height"].to_numpy(), places["width"].to_numpy()], axis=1)
        self._load = lru_cache(maxsize=KEPT)(self._decoded)
        self._group = lru_cache(maxsize=8)(self._read)

    def __reduce__(self) -> tuple[type[PictureFile], tuple[Path, tuple[str, ...]]]:
        """Each process opens the file for itself."""
        return PictureFile, (self.path, self.classes)

    def count(self, split: str, name: str) -> int:
        """Number of pictures of a class in a split; a split of another name has those of ``test``."""
        return len(self._places(split, name))

    def of(self, classes: tuple[str, ...]) -> PictureFile:
        """The same file, of these classes alone."""
        return PictureFile(self.path, classes)

    def size(self, split: str, name: str, number: int) -> tuple[int, int]:
        """(h, w) of one picture, which is not decoded for it."""
        height, width = self._sizes[self._places(split, name)[number]]
        return int(height), int(width)

    def load(self, split: str, name: str, number: int) -> Pixels:
        """One picture, uint8 (h, w, 3 or 4); not to be written to."""
        return self._load(self._places(split, name)[number])

    def _places(self, split: str, name: str) -> list[int]:
        return self._rows.get((split, name)) or self._rows.get(("test", name), [])

    def _decoded(self, row: int) -> Pixels:
        pixels = png.decode(self._group(row // ROWS)[row % ROWS])
        pixels.setflags(write=False)
        return pixels

    def _read(self, group: int) -> list[bytes]:
        with self._undamaged():
            return list(self._file.read_row_group(group, columns=["picture"])["picture"].to_pylist())

    def _undamaged(self) -> AbstractContextManager[None]:
        return readable(f"{self.path} is damaged", ": remove it, and it is built again")
