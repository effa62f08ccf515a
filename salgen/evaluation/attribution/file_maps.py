"""Maps that another tool made, read from files, as one method beside others: ``evaluate(..., maps=...)``."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any
import numpy as np
import torch
from torch import Tensor
from salgen.errors import SalgenError
from salgen.evaluation.attribution.array_files import WHOLE, ArrayFiles, open_arrays
from salgen.evaluation.attribution.attribution_context import AttributionContext, Method
from salgen.parameters import NAME, canonical_json
from salgen.registry import METHODS

Maps = Mapping[str, str | PathLike[str]] | Sequence[str | PathLike[str]] | str | PathLike[str]

CEILINGS = "oracle"  # names that begin so stand for maps of the mask


@dataclass(frozen=True)
class FileMaps(Method):
    """A method whose maps are in files; channels are summed, as in every method that keeps signs."""

    resolution = "the files'"
    needs = frozenset()
    shares = None

    name: str = field(compare=False)  # type: ignore[misc]  # its name in the tables
    files: ArrayFiles = field(compare=False, repr=False)
    signed: bool = field(compare=False)  # type: ignore[misc]  # whether any value is negative
    sha256: str  # SHA-256 of names, shapes and values as float32: the same in whatever form the files are

    @property
    def reference(self) -> str:  # type: ignore[override]
        """The files, in words."""
        return f"read from {self.files.path} (SHA-256 {self.sha256[:12]})"

    def attribute(self, context: AttributionContext) -> Tensor:
        """Raw maps (n, C, h, w) of the context's samples; NaN for a sample that is shown and not scored."""
        found = [name for name in context.ids if name in self.files.places]
        arrays = {name: self.files.read(name) for name in found}
        blank = np.full_like(next(iter(arrays.values()), context.pixels[0, :1].cpu().numpy()), np.nan, np.float32)
        raw = np.stack([arrays.get(name, blank) for name in context.ids]).astype(np.float32)
        return torch.from_numpy(raw).to(context.pixels.device)


def read_file_maps(
    name: str, path: Path, ids: Sequence[str], size: tuple[int, ...], owner: str, file_names: Sequence[str] = ()
) -> FileMaps:
    """The maps in a folder or a file, each of them read and checked.

    `ids` are the samples of the split, which `owner` names, and `file_names` the files of a user's own images. Maps
    may be smaller than the images' `size`, (H, W).
    """
    files = open_arrays(path, ids=ids, file_names=file_names)
    files.check_samples([], ids, owner)
    held = [sample for sample in ids if sample in files.places]
    digest, signed, first = hashlib.sha256(), False, None
    for sample in held:
        array = files.read(sample)
        first = first or array.shape
        if array.shape != first:
            raise SalgenError(f"{path}: maps have shapes {first} ({held[0]}) and {array.shape} ({sample}): give one")
        check_smaller(path, sample, array.shape, size)
        digest.update(canonical_json([sample, list(array.shape)]).encode())
        digest.update(np.ascontiguousarray(array, dtype="<f4").tobytes())
        signed = signed or bool((array < 0).any())
    return FileMaps(name=name, files=files, signed=signed, sha256=digest.hexdigest())


def check_smaller(path: Path, sample: str, shape: Sequence[int], size: Sequence[int]) -> None:
    """Raise a SalgenError if a map (C, h, w) is larger than (H, W)."""
    if shape[1] > size[0] or shape[2] > size[1]:
        raise SalgenError(
            f"{path}: the map of {sample} is {shape[1]}x{shape[2]}, larger than its image or mask, "
            f"{size[0]}x{size[1]}: give (H, W) of that size or smaller"
        )


def paths_by_name(maps: Maps) -> dict[str, Path]:
    """Method's name to the folder or file of its maps, from a mapping, paths or ``"NAME=PATH"``."""
    listed = [maps] if isinstance(maps, (str, PathLike)) else maps
    pairs = list(maps.items()) if isinstance(maps, Mapping) else [_pair(item) for item in listed]
    for name, path in pairs:
        if not isinstance(path, (str, PathLike)):
            raise SalgenError(f"maps {name}: {type(path).__name__} is no path: write a file, or use salgen.score")
        if name in METHODS.entries or name.startswith(CEILINGS) or not NAME.fullmatch(name):
            raise SalgenError(f"maps {path}: {name!r} is salgen's, or no name for a table: give one, as in NAME={path}")
        if [other for other, _ in pairs].count(name) > 1:
            raise SalgenError(f"maps {path}: {name!r} is the name of others too: give each its own, as in NAME={path}")
    return {name: Path(path) for name, path in pairs}


def _pair(item: Any) -> tuple[str, Any]:
    if not isinstance(item, (str, PathLike)):
        return "", item
    name, equals, path = fspath(item).partition("=")
    if equals and not Path(item).exists():
        return name, path
    place = Path(item)
    return place.stem if place.suffix.lower() in WHOLE else place.resolve().name, item


def from_files(methods: Mapping[str, Any]) -> list[str]:
    """Names of the methods whose maps are read from files."""
    return [call for call, method in methods.items() if isinstance(method, FileMaps)]
