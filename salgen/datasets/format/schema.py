"""The columns of a data set: defined once, written as Arrow types and as Hugging Face features."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from salgen.datasets.format.manifest import Manifest
from salgen.parameters import canonical_json
from salgen.types import Float64, Mask, Recipe

FILE_NAME, FILE_NAME_IS = "file_name", "the image's file, as seen from the folder that was imported"
IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
Kind = Literal["text", "image", "images", "label", "labels", "numbers", "array"]
PICTURES = ("image", "images")


@dataclass(frozen=True)
class Column:
    """One column."""

    name: str
    kind: Kind
    description: str
    members: tuple[str, ...] = ()  # the class names of labels, or the names of the numbers in a struct
    shape: tuple[int, ...] = ()  # the shape of an array


def columns(manifest: Manifest) -> list[Column]:
    """The columns of a data set, in order."""
    absent = "" if manifest.pixels else "; null, as the data set is published without pixels"
    if manifest.recipes_only:
        absent = "; null, as pictures are rendered from the recipes"
    unstored = absent if manifest.recipes_only else ""
    tasks = manifest.tasks
    shown = {name: f"region {region!r}" for name, region in mask_columns(manifest).items()}
    truth = f"ground truth of task {manifest.default_task!r}"
    shown["mask"] = f"{truth}: {shown['mask']}, white where the pixel belongs to it"
    alternatives = f"further masks that count as correct{unstored or '; empty where there is one truth'}"
    twin = f"the counterfactual twin: equal to the image outside the mask{absent or '; null where none is'}"
    cluster = "the samples that share a cause (object, slice, subject, clip, image); else the id"
    result = [
        Column("id", "text", "the sample's name, unique in the data set"),
        *([Column(FILE_NAME, "text", FILE_NAME_IS)] if manifest.own_images else ()),
        Column("image", "image", f"the image{absent}"),
        *(Column(task, "label", f"class of task {task!r}", names) for task, names in tasks.items()),
        *(
            Column(present_column(task), "labels", f"all classes of task {task!r} in the image", tasks[task])
            for task in manifest.multi_label
        ),
        *(Column(name, "image", f"{text}{unstored}") for name, text in shown.items()),
        Column("alternative_masks", "images", alternatives),
        Column("twin", "image", twin),
        Column("cluster", "text", cluster),
        Column("recipe", "text", "JSON from which the sample can be rendered again"),
    ]
    if manifest.factors:
        result.append(Column("factors", "numbers", "numbers to filter by", manifest.factors))
    if manifest.attribution and not manifest.recipes_only:
        result.append(Column("attribution", "array", manifest.attribution_kind, shape=manifest.attribution))
    result.append(Column("pixels_sha256", "text", f"SHA-256 of the image's dtype, shape and pixels{unstored}"))
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
    forms = {column.name: _forms(column) for column in columns(manifest)}
    info = {"info": {"features": {name: feature for name, (_, feature, _) in forms.items()}}}
    fields = [pa.field(name, kind) for name, (kind, _, _) in forms.items()]
    return pa.schema(fields, metadata={"huggingface": json.dumps(info)})


def card_features(manifest: Manifest) -> list[dict[str, Any]]:
    """The features as Hugging Face writes them in a card's front matter."""
    return [{"name": column.name, **_forms(column)[2]} for column in columns(manifest)]


def recipe_to_text(recipe: Recipe) -> str:
    """A recipe as canonical JSON."""
    return canonical_json(dict(vars(recipe)))


def recipe_from_text(text: str) -> Recipe:
    """The recipe that :func:`recipe_to_text` wrote."""
    return Recipe(**json.loads(text))


def class_numbers(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """A task's column as int64 (N,)."""
    # DLPack, since pyarrow's to_numpy imports pandas: a third of a second, before the first image.
    return np.from_dlpack(column.combine_chunks()).astype(np.int64)


def class_sets(column: pa.ChunkedArray, count: int) -> Mask:
    """A column of several of `count` classes as bool (N, count)."""
    lists = column.combine_chunks()
    sets = np.zeros((len(lists), count), dtype=bool)
    places = np.repeat(np.arange(len(lists)), lists.value_lengths().to_numpy(zero_copy_only=False))
    sets[places, np.from_dlpack(lists.flatten())] = True
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


def _forms(column: Column) -> tuple[pa.DataType, Any, dict[str, Any]]:
    """A column's type in Arrow, as a feature in Parquet's metadata, and as a feature in a card's front matter."""
    image, label = {"_type": "Image"}, {"names": list(column.members), "_type": "ClassLabel"}
    card_label = {"class_label": {"names": {str(number): name for number, name in enumerate(column.members)}}}
    array = {"shape": list(column.shape), "dtype": "float32"}
    forms: dict[Kind, tuple[pa.DataType, Any, dict[str, Any]]] = {
        "text": (pa.string(), {"dtype": "string", "_type": "Value"}, {"dtype": "string"}),
        "image": (IMAGE, image, {"dtype": "image"}),
        "images": (pa.list_(IMAGE), {"feature": image, "_type": "Sequence"}, {"sequence": "image"}),
        "label": (pa.int64(), label, {"dtype": card_label}),
        "labels": (pa.list_(pa.int64()), {"feature": label, "_type": "Sequence"}, {"sequence": card_label}),
        "numbers": (  # one type, so that it never depends on the values drawn
            pa.struct([(name, pa.float64()) for name in column.members]),
            {name: {"dtype": "float64", "_type": "Value"} for name in column.members},
            {"struct": [{"name": name, "dtype": "float64"} for name in column.members]},
        ),
        "array": (
            pa.list_(pa.list_(pa.list_(pa.float32()))),
            {**array, "_type": "Array3D"},
            {"dtype": {"array3_d": array}},
        ),
    }
    return forms[column.kind]
