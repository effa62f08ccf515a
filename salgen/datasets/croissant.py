"""`croissant.json`: the data set for readers of MLCommons Croissant 1.0.

Every split is a file set and a record set of its own, so reading one split opens its files alone.
Paths are relative to the folder, and an image's bytes are reached by a transform into the struct.

References
----------
Akhtar et al. 2024, *Croissant: a metadata format for ML-ready datasets*.
"""

from __future__ import annotations

import json
from typing import Any

from salgen.datasets.manifest import Manifest
from salgen.datasets.schema import Column, Kind, columns

TYPES = {
    Kind.TEXT: "sc:Text",
    Kind.IMAGE: "sc:ImageObject",
    Kind.IMAGES: "sc:ImageObject",
    Kind.LABEL: "sc:Integer",
    Kind.NUMBERS: "sc:Float",
}

CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


MADE = "Saliency benchmark with exact ground-truth masks and counterfactual twins."
IMPORTED = "Imported from published data for scoring saliency methods; masks are annotations or segmentations."


def croissant_text(manifest: Manifest) -> str:
    """The contents of `croissant.json`."""
    spec = manifest.spec
    described = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": spec.generator,
        "description": f"{manifest.summary} {IMPORTED if manifest.imported else MADE}",
        "version": f"{spec.generator_version}.0.0",
        "license": manifest.licence or "not stated",
        "citeAs": f"salgen data set {spec.generator}, version {spec.generator_version}, fingerprint {spec.fingerprint}",
        "identifier": spec.fingerprint,
        "keywords": ["saliency", "explainability", "counterfactual", "synthetic"],
        "distribution": [_files(split) for split in manifest.splits],
        "recordSet": [_records(split, manifest) for split in manifest.splits],
    }
    return json.dumps(described, indent=2, allow_nan=False) + "\n"


def _files(split: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": f"{split}-files",
        "name": f"{split}-files",
        "description": f"Parquet files of split {split}.",
        "encodingFormat": "application/x-parquet",
        "includes": f"data/{split}-*.parquet",
    }


def _records(split: str, manifest: Manifest) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": split,
        "name": split,
        "description": f"The {manifest.spec.splits[split]} samples of split {split}.",
        "key": {"@id": f"{split}/id"},
        "field": [_field(split, column) for column in columns(manifest)],
    }


def _field(split: str, column: Column) -> dict[str, Any]:
    described = {
        "@type": "cr:Field",
        "@id": f"{split}/{column.name}",
        "name": column.name,
        "description": _description(column),
    }
    if column.kind is Kind.NUMBERS:
        return {**described, "subField": [_number(split, column, name) for name in column.members]}
    inner = "bytes" if column.kind in (Kind.IMAGE, Kind.IMAGES) else None
    repeated = {"repeated": True} if column.kind is Kind.IMAGES else {}
    return {**described, "dataType": TYPES[column.kind], "source": _source(split, column.name, inner), **repeated}


def _number(split: str, column: Column, name: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{split}/{column.name}/{name}",
        "name": name,
        "description": f"{name}; null where it does not apply",
        "dataType": TYPES[column.kind],
        "source": _source(split, column.name, name),
    }


def _source(split: str, column: str, inner: str | None) -> dict[str, Any]:
    """Where a field's values lie: a Parquet column, and a member of its struct if any."""
    source: dict[str, Any] = {"fileSet": {"@id": f"{split}-files"}, "extract": {"column": column}}
    return source if inner is None else {**source, "transform": {"jsonPath": inner}}


def _description(column: Column) -> str:
    if column.kind is not Kind.LABEL:
        return column.description
    return f"{column.description}: " + ", ".join(f"{number} = {name}" for number, name in enumerate(column.members))
