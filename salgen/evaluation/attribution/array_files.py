"""Arrays of samples in files that other tools wrote: saliency maps, and masks.

A folder holds a file for each sample, named by it, in folders too: ``.npy``, ``.npz``, ``.safetensors`` or ``.png``.
A sample's name is its id, or the name of its image's file where that was imported, without the suffix. One file holds
all of them: ``.npy`` in the samples' order; ``.npz`` and ``.safetensors`` with an array for each sample under its name,
or with one array in the samples' order, or with one array and the names: the array ``ids`` in ``.npz``, the metadata
``ids`` as a JSON list in ``.safetensors``.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any, NamedTuple
import numpy as np
from numpy.typing import NDArray
from salgen.datasets.layouts.mask_levels import object_of
from salgen.datasets.layouts.own_images.image_tree import visible_files
from salgen.errors import SalgenError, readable, warn
from salgen.generators.drawing.pictures import opened

WHOLE = (".npy", ".npz", ".safetensors")  # suffixes of files that may hold all samples
SUFFIXES = (*WHOLE, ".png")
IDS = "ids"
GREY = ("1", "L", "I", "I;16", "I;16B")
MAP, MASK = "map", "mask"
AGAIN = ": write it again"


class Place(NamedTuple):
    """The place of one sample's array: a file, the array's name in it, and the row if it holds all samples."""

    file: Path
    name: str | None
    row: int | None


@dataclass(frozen=True)
class ArrayFiles:
    """The arrays of a folder or a file."""

    path: Path
    places: Mapping[str, Place]  # by sample id; by the numbers "0", "1", ... where nothing names the samples
    kind: str = MAP
    named: bool = True

    def read(self, name: str) -> NDArray[Any]:
        """The array (C, H, W) of a sample, real and finite, of the type that the file has."""
        place = self.places[name]
        label = f"{place.file}: {self.kind} of {name}"
        with readable(f"{place.file} cannot be read as {place.file.suffix}", AGAIN):
            part = _array(place, self.kind)[... if place.row is None else place.row]
            array = np.asarray(part.float() if "bfloat16" in str(part.dtype) else part)
        if array.dtype.kind not in "fiub":
            raise SalgenError(f"{label} is of type {array.dtype}: must be real numbers")
        if array.ndim not in (2, 3) or 0 in array.shape:
            raise SalgenError(f"{label} has shape {array.shape}: must be (H, W) or (C, H, W)")
        if not np.isfinite(array).all():
            raise SalgenError(f"{label} holds NaN or infinite values: give finite ones")
        return array if array.ndim == 3 else array[np.newaxis]

    def check_samples(self, needed: Sequence[str], known: Sequence[str], owner: str) -> None:
        """Raise a SalgenError unless there is an array for each sample `needed`, and for none that `owner` lacks."""
        missing = [name for name in needed if name not in self.places]
        foreign = sorted(set(self.places) - set(known))
        if foreign or missing:
            fault = f"holds {len(foreign)} {self.kind}s of no sample"
            if not foreign:
                fault = f"lacks the {self.kind}s of {len(missing)} samples"
            raise SalgenError(
                f"{self.path} {fault} of {owner}, such as {', '.join((foreign or missing)[:3])}: give one for each, "
                f"named as its sample, such as {known[0]}"
            )


def open_arrays(
    path: Path, kind: str = MAP, ids: Sequence[str] | None = None, file_names: Sequence[str] = ()
) -> ArrayFiles:
    """The arrays of a folder or a file; `ids` are the names of the samples in their order, where a file has none.

    With `file_names`, the samples' own names, an array may be named by either. Masks may be PNG files in colours.
    """
    files = _open(path, kind, ids)
    owners: dict[str, set[str]] = defaultdict(set)
    for sample, file_name in zip(ids or (), file_names, strict=False):
        for name in (sample, file_name, stem(PurePath(file_name))):
            owners[name].add(sample)
    places: dict[str, Place] = {}
    for name, place in files.places.items():
        samples = sorted(owners.get(name, {name}))
        if len(samples) > 1:
            raise SalgenError(f"{path}: {name} is a name of {samples[0]} and {samples[1]}: name {kind}s by these ids")
        if samples[0] in places:
            raise SalgenError(f"{path} holds two {kind}s of {samples[0]}, one of them as {name}: keep one of them")
        places[samples[0]] = place
    return replace(files, places=places)


def stem(path: PurePath) -> str:
    """A path without its suffix, with ``/`` between its parts."""
    return path.with_suffix("").as_posix()


def _open(path: Path, kind: str, ids: Sequence[str] | None) -> ArrayFiles:
    forms = (
        f"give a folder with a {kind} ({', '.join(SUFFIXES)}) for each sample, named by its id, or one file "
        f"({', '.join(WHOLE)}) with all of them"
    )
    if path.is_dir():
        files = [file for file in visible_files(path) if file.suffix.lower() in SUFFIXES]
        places = {stem(file.relative_to(path)): Place(file, None, None) for file in files}
        if len(places) < len(files):
            twice, other = next((f, p.file) for f in files if (p := places[stem(f.relative_to(path))]).file != f)
            raise SalgenError(f"{twice} and {other.name} are of one sample: keep one of them")
        if not files:
            raise SalgenError(f"{path} holds no {kind}s: {forms}")
        return ArrayFiles(path, places, kind)
    if path.suffix.lower() not in WHOLE or not path.is_file():
        raise SalgenError(f"{path} {'is of another kind' if path.exists() else 'does not exist'}: {forms}")
    with readable(f"{path} cannot be read as {path.suffix}", AGAIN):
        arrays = _arrays_of(path, kind)
    names = [name for name in arrays if name != IDS]
    if IDS not in arrays and (len(names) != 1 or names[0] in (ids or ())):
        return ArrayFiles(path, {name: Place(path, name, None) for name in names}, kind)
    own_names = None
    if IDS in arrays:
        own_names = [name.decode() if isinstance(name, bytes) else str(name) for name in arrays[IDS]]
    return _rows(path, kind, names, own_names, ids)


def _rows(
    path: Path, kind: str, names: Sequence[str], own: Sequence[str] | None, ids: Sequence[str] | None
) -> ArrayFiles:
    """A file with one array for all samples, which are those it names, or all `ids`."""
    shape = tuple(_arrays_of(path, kind)[names[0]].shape) if len(names) == 1 else ()
    if len(shape) not in (3, 4):
        what = f"an array of shape {shape}" if shape else f"{len(names)} arrays"
        raise SalgenError(f"{path} holds {what}: must be one, (N, H, W) or (N, C, H, W), with a row for each sample")
    order = own or ids or [str(row) for row in range(shape[0])]
    if len(set(order)) != shape[0]:
        raise SalgenError(
            f"{path} holds {shape[0]} {kind}s for {len(set(order))} samples: give one for each, in their order or with "
            f"{IDS!r}, or a folder of files"
        )
    places = {name: Place(path, names[0], row) for row, name in enumerate(order)}
    return ArrayFiles(path, places, kind, named=own is not None)


def _array(place: Place, kind: str) -> Any:
    """The array at a place, perhaps of all samples."""
    arrays = _arrays_of(place.file, kind)
    if place.name is None and len(arrays) != 1:
        raise SalgenError(f"{place.file} holds {len(arrays)} arrays: must be one, of the sample that names the file")
    return arrays[place.name or next(iter(arrays))]


def _arrays_of(file: Path, kind: str) -> Mapping[str, Any]:
    status = file.stat()  # so that what is kept of a file is not old
    return _arrays(file, kind, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=2)
def _arrays(file: Path, kind: str, _changed: int, _size: int) -> Mapping[str, Any]:
    """The arrays of a file by their names."""
    match file.suffix.lower():
        case ".npy":
            return {"array": np.lib.format.open_memmap(file, mode="r")}
        case ".npz":
            with np.load(file, allow_pickle=False) as archive:
                return dict(archive)
        case ".safetensors":
            from safetensors import safe_open

            with safe_open(file, "pt") as tensors:
                ids = json.loads((tensors.metadata() or {}).get(IDS, "null"))
                named = {} if ids is None else {IDS: ids}
                return {name: tensors.get_tensor(name) for name in tensors.keys()} | named  # noqa: SIM118
    return {"picture": _picture(file, kind)}


def _picture(file: Path, kind: str) -> NDArray[Any]:
    with opened(file) as picture:
        if picture.format != "PNG":
            raise ValueError(f"it is {picture.format}")
        if kind == MAP and picture.mode not in GREY:
            raise SalgenError(f"{file} is in colours: a map is one number for each pixel; give a grey PNG, or .npy")
        if picture.mode in (*GREY, "P"):
            return np.array(picture)
        told = object_of(picture, (), str(file))
        if told.said:
            warn(f"{file.parent}: {told.said}")
        return told.mask
