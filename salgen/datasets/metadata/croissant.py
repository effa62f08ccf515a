"""`croissant.json`: the data set for readers of MLCommons Croissant 1.1.

Croissant requires a date of publication, an address and creators. Only the publisher of a data set
knows those, so a folder that was made and not published has no date and no address.

Every split is a file set and a record set of its own, so reading one split opens its files alone.
Paths are relative to the folder, and an image's bytes are reached by a transform into the struct.

References
----------
Akhtar et al. 2024, *Croissant: a metadata format for ML-ready datasets*; version 1.1 of the format is of 2026.
"""

import json
from collections.abc import Mapping
from typing import Any

from salgen.datasets.format.manifest import Manifest
from salgen.datasets.format.schema import Column, Kind, columns
from salgen.datasets.metadata import croissant_rai
from salgen.datasets.metadata.citation import SALGEN, title
from salgen.datasets.metadata.croissant_rai import responsible_ai
from salgen.datasets.metadata.publication_metadata import PublicationMetadata

TYPES = {
    Kind.TEXT: "sc:Text",
    Kind.IMAGE: "sc:ImageObject",
    Kind.IMAGES: "sc:ImageObject",
    Kind.LABEL: "sc:Integer",
    Kind.LABELS: "sc:Integer",
    Kind.NUMBERS: "sc:Float",
    Kind.ARRAY: "sc:Float",
}

FORMATS = {
    "parquet": "application/x-parquet",
    "json": "application/json",
    "md": "text/markdown",
    "cff": "application/yaml",
    "csv": "text/csv",
    "html": "text/html",
    "npz": "application/zip",
    "safetensors": "application/octet-stream",
}
_TERMS = (
    *("annotation", "arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "excludes", "extract"),
    *("field", "fileObject", "fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath"),
    *("key", "md5", "parentField", "path", "readLines", "recordSet", "references", "regex", "repeated"),
    *("replace", "samplingRate", "sdVersion", "separator", "source", "subField", "transform", "unArchive"),
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    **{term: f"cr:{term}" for term in _TERMS},
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
}
CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
MADE = "Saliency benchmark with exact ground-truth masks and counterfactual twins."
IMPORTED = "Imported for scoring saliency methods, not made by salgen; masks are annotations or segmentations."
RECIPES = (
    "It holds recipes only: images, twins and masks are null, and are rendered from the recipes by salgen "
    "(salgen.open reads them so, and salgen make without --recipes-only writes them to files)."
)
ABSENT = "Published as recipes and masks: images and twins are null, and can be made again from the source."


def croissant_text(
    manifest: Manifest, publication: PublicationMetadata | None = None, digests: Mapping[str, str] | None = None
) -> str:
    """The contents of `croissant.json`.

    Parameters
    ----------
    manifest
        The manifest of the folder.
    publication
        The statements of its publisher, if it is published.
    digests
        Names of published files with their SHA-256, which are then described one by one.
    """
    spec = manifest.spec
    lacking = [RECIPES] if manifest.recipes_only else [] if manifest.pixels else [ABSENT]
    described = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [CONFORMS_TO, croissant_rai.CONFORMS_TO],
        "name": spec.generator,
        "description": " ".join([manifest.summary, IMPORTED if manifest.imported else MADE, *lacking]),
        "version": f"{spec.generator_version}.0.0",
        **_statements(manifest, publication),
        "identifier": spec.fingerprint,
        "keywords": ["saliency", "explainability", *([] if manifest.imported else ["counterfactual", "synthetic"])],
        **responsible_ai(manifest),
        "distribution": [
            *(_files(split) for split in manifest.splits),
            *(file_object(name, digest) for name, digest in sorted((digests or {}).items())),
        ],
        "recordSet": [_records(split, manifest) for split in manifest.splits],
    }
    return json.dumps(described, indent=2, allow_nan=False) + "\n"


def _statements(manifest: Manifest, publication: PublicationMetadata | None) -> dict[str, Any]:
    """Licence, creators, citation and, of what is published, date and address."""
    creators = (publication.creators if publication else ()) or (SALGEN,)
    cited = f"{title(manifest)}, version {manifest.spec.generator_version}, fingerprint {manifest.spec.fingerprint}"
    stated = {
        "license": manifest.licence or "not stated",
        "creator": [{"@type": "sc:Organization", "name": name} for name in creators],
    }
    if publication is None:
        return {**stated, "citeAs": cited}
    return {
        **stated,
        "license": publication.licence_url or publication.licence,
        "citeAs": ", ".join([*publication.creators, cited, publication.date, *filter(None, [publication.url])]),
        "datePublished": publication.date,
        **({"url": publication.url} if publication.url else {}),
    }


def file_object(name: str, digest: str) -> dict[str, Any]:
    """A file with its checksum."""
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "encodingFormat": FORMATS[name.rpartition(".")[2]],
        "sha256": digest,
    }


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
    # Version 1.1 says `isArray`; mlcroissant 1.1.1 validates it, but reads images by the older `repeated` only.
    several: dict[str, Any] = {"isArray": True, "repeated": True} if column.kind in (Kind.IMAGES, Kind.LABELS) else {}
    if column.kind is Kind.ARRAY:
        several = {"isArray": True, "arrayShape": ",".join(map(str, column.shape))}
    return {**described, "dataType": TYPES[column.kind], "source": _source(split, column.name, inner), **several}


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
    """The place of a field's values: a Parquet column, and a member of its struct if any."""
    source: dict[str, Any] = {"fileSet": {"@id": f"{split}-files"}, "extract": {"column": column}}
    return source if inner is None else {**source, "transform": {"jsonPath": inner}}


def _description(column: Column) -> str:
    if column.kind not in (Kind.LABEL, Kind.LABELS):
        return column.description
    return f"{column.description}: " + ", ".join(f"{number} = {name}" for number, name in enumerate(column.members))
