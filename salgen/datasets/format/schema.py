"""The columns of a data set: defined once, written as Arrow types and as Hugging Face features."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from salgen.datasets.format.manifest import Manifest
from salgen.errors import SalgenError, reason
from salgen.parameters import canonical_json
from salgen.types import Float64, Mask, Recipe

IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


class Kind(Enum):
    """Type of a column's values."""

    TEXT = "text"
    IMAGE = "image"
    IMAGES = "images"
    LABEL = "label"
    LABELS = "labels"
    NUMBERS = "numbers"
    ARRAY = "array"


PICTURES = (Kind.IMAGE, Kind.IMAGES)


@dataclass(frozen=True)
class Column:
    """One column."""

    # name, kind, description: its name, the type of its values, and a sentence on it
    name: str
    kind: Kind
    description: str
    members: tuple[str, ...] = ()  # the class names of a label or of several, or the names of the numbers in a struct
    # of an array
    shape: tuple[int, ...] = ()


def columns(manifest: Manifest) -> list[Column]:
    """The columns of a data set, in order."""
    default = manifest.default_task
    masks = mask_columns(manifest)
    absent = "" if manifest.pixels else "; null, as the data set is published without pixels"
    if manifest.recipes_only:
        absent = "; null, as pictures are rendered from the recipes"
    unstored = absent if manifest.recipes_only else ""
    attribution = Column("attribution", Kind.ARRAY, manifest.attribution_kind, shape=manifest.attribution)
    numbers = [Column("factors", Kind.NUMBERS, "numbers to filter by", manifest.factors)] if manifest.factors else []
    result = [
        Column("id", Kind.TEXT, "the sample's name, unique in the data set"),
        Column("image", Kind.IMAGE, f"the image{absent}"),
        *(Column(task, Kind.LABEL, f"class of task {task!r}", names) for task, names in manifest.tasks.items()),
        *(
            Column(
                present_column(task), Kind.LABELS, f"all classes of task {task!r} in the image", manifest.tasks[task]
            )
            for task in manifest.multi_label
        ),
        *(Column(name, Kind.IMAGE, f"{_mask_text(name, region, default)}{unstored}") for name, region in masks.items()),
        Column(
            "alternative_masks",
            Kind.IMAGES,
            f"further masks that count as correct{unstored or '; empty where there is one truth'}",
        ),
        Column(
            "twin",
            Kind.IMAGE,
            f"the counterfactual twin: equal to the image outside the mask{absent or '; null where none is'}",
        ),
        Column(
            "cluster", Kind.TEXT, "the samples that share a cause (object, slice, subject, clip, image); else the id"
        ),
        Column("recipe", Kind.TEXT, "JSON from which the sample can be rendered again"),
        *numbers,
        *([attribution] if manifest.attribution and not manifest.recipes_only else []),
        Column("pixels_sha256", Kind.TEXT, f"SHA-256 of the image's dtype, shape and pixels{unstored}"),
    ]
    names = [column.name for column in result]
    duplicate = next((name for name in names if names.count(name) > 1), None)
    if duplicate:
        raise SalgenError(f"{manifest.spec.generator}: {duplicate!r} is both a task or region and another column")
    return result


def present_column(task: str) -> str:
    """The column of all classes that an image shows."""
    return f"{task}_present"


def mask_columns(manifest: Manifest) -> dict[str, str]:
    """Column name to region: `mask` is the default task's target, the others are named after their region."""
    target = manifest.targets[manifest.default_task]
    return {"mask": target, **{f"mask_{region}": region for region in manifest.regions if region != target}}


def arrow_schema(manifest: Manifest) -> pa.Schema:
    """The Parquet schema, with the features in the metadata key that Hugging Face reads."""
    fields = [pa.field(column.name, _arrow_type(column)) for column in columns(manifest)]
    info = {"info": {"features": features(manifest)}}
    return pa.schema(fields, metadata={"huggingface": json.dumps(info)})


def features(manifest: Manifest) -> dict[str, Any]:
    """The features as Hugging Face writes them in Parquet metadata."""
    return {column.name: _feature(column) for column in columns(manifest)}


def card_features(manifest: Manifest) -> list[dict[str, Any]]:
    """The features as Hugging Face writes them in a card's front matter."""
    return [{"name": column.name, **_card_feature(column)} for column in columns(manifest)]


def recipe_to_text(recipe: Recipe) -> str:
    """A recipe as canonical JSON."""
    return canonical_json(dict(vars(recipe)))


def recipe_from_text(text: str) -> Recipe:
    """The recipe that :func:`recipe_to_text` wrote."""
    try:
        return Recipe(**json.loads(text))
    except (TypeError, ValueError, RecursionError) as error:
        raise SalgenError(f"not a recipe: {reason(error)}") from None


def class_numbers(column: pa.ChunkedArray, names: Sequence[str]) -> NDArray[np.int64]:
    """A task's column as int64 (N,)."""
    # DLPack, since pyarrow's to_numpy imports pandas: a third of a second, before the first image.
    numbers = np.zeros(0) if column.null_count else np.from_dlpack(column.combine_chunks())
    if len(numbers) != len(column) or ((numbers < 0) | (numbers >= len(names))).any():
        raise SalgenError(f"has a class that is none of the {len(names)} of its task")
    return numbers.astype(np.int64)


def class_sets(column: pa.ChunkedArray, names: Sequence[str]) -> Mask:
    """A column of several classes as bool (N, K)."""
    lists = column.combine_chunks()
    numbers = class_numbers(pa.chunked_array([lists.flatten()], pa.int64()), names)
    counts = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    if len(counts) and counts.min() < 1:
        raise SalgenError("has a sample that shows no class")
    sets = np.zeros((len(counts), len(names)), dtype=bool)
    sets[np.repeat(np.arange(len(counts)), counts), numbers] = True
    return sets


def factor_values(column: pa.ChunkedArray, name: str) -> Float64:
    """One of the numbers to filter by as float64 (N,), NaN where there is none."""
    return np.asarray(column.combine_chunks().field(name).to_numpy(zero_copy_only=False), dtype=np.float64)


def pixels_digest(image: NDArray[Any]) -> str:
    """SHA-256 over ``"uint8 64x64x1\\n"`` (dtype and shape) and the pixels in row order, little-endian."""
    shape = "x".join(map(str, image.shape))
    digest = hashlib.sha256(f"{image.dtype.name} {shape}\n".encode())
    digest.update(np.ascontiguousarray(image, dtype=image.dtype.newbyteorder("<")).data)
    return digest.hexdigest()


def _mask_text(name: str, region: str, task: str) -> str:
    if name == "mask":
        return f"ground truth of task {task!r}: region {region!r}, white where the pixel belongs to it"
    return f"region {region!r}"


def _arrow_type(column: Column) -> pa.DataType:
    if column.kind is Kind.NUMBERS:  # one type, so that a column's type never depends on the values drawn
        return pa.struct([(name, pa.float64()) for name in column.members])
    types: Mapping[Kind, pa.DataType] = {
        Kind.TEXT: pa.string(),
        Kind.IMAGE: IMAGE,
        Kind.IMAGES: pa.list_(IMAGE),
        Kind.LABEL: pa.int64(),
        Kind.LABELS: pa.list_(pa.int64()),
        Kind.ARRAY: pa.list_(pa.list_(pa.list_(pa.float32()))),
    }
    return types[column.kind]


def _feature(column: Column) -> dict[str, Any]:
    number, image = {"dtype": "float64", "_type": "Value"}, {"_type": "Image"}
    label = {"names": list(column.members), "_type": "ClassLabel"}
    if column.kind is Kind.NUMBERS:
        return dict.fromkeys(column.members, number)
    plain: Mapping[Kind, dict[str, Any]] = {
        Kind.TEXT: {"dtype": "string", "_type": "Value"},
        Kind.IMAGE: image,
        Kind.IMAGES: {"feature": image, "_type": "Sequence"},
        Kind.LABEL: label,
        Kind.LABELS: {"feature": label, "_type": "Sequence"},
        Kind.ARRAY: {"shape": list(column.shape), "dtype": "float32", "_type": "Array3D"},
    }
    return plain[column.kind]


def _card_feature(column: Column) -> dict[str, Any]:
    if column.kind is Kind.NUMBERS:
        return {"struct": [{"name": name, "dtype": "float64"} for name in column.members]}
    if column.kind in (Kind.LABEL, Kind.LABELS):
        label = {"class_label": {"names": {str(number): name for number, name in enumerate(column.members)}}}
        return {"dtype": label} if column.kind is Kind.LABEL else {"sequence": label}
    if column.kind is Kind.IMAGES:
        return {"sequence": "image"}
    if column.kind is Kind.ARRAY:
        return {"dtype": {"array3_d": {"shape": list(column.shape), "dtype": "float32"}}}
    return {"dtype": "string" if column.kind is Kind.TEXT else "image"}
