"""`croissant.json`: the data set for readers of MLCommons Croissant 1.1.

A folder that was made and not published has no date and no address, which its publisher alone knows. Every split is a
file set and a record set of its own, so reading one split opens its files alone.

References
----------
Akhtar et al. 2024, *Croissant: a metadata format for ML-ready datasets*; version 1.1 of the format is of 2026.
Jain et al. 2024, *A standardized machine-readable dataset documentation format for responsible AI*.
"""

import json
from collections.abc import Mapping
from typing import Any
from salgen.datasets.format.manifest import Manifest
from salgen.datasets.format.schema import PICTURES, Column, columns
from salgen.datasets.metadata.citation import SALGEN, title
from salgen.datasets.metadata.publication_metadata import PublicationMetadata

TYPES = {
    "text": "sc:Text",
    "image": "sc:ImageObject",
    "images": "sc:ImageObject",
    "label": "sc:Integer",
    "labels": "sc:Integer",
    "numbers": "sc:Float",
    "array": "sc:Float",
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
CONFORMS_TO = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
MADE = "Saliency benchmark with exact ground-truth masks and counterfactual twins."
IMPORTED = "Imported for scoring saliency methods, not made by salgen; masks are annotations or segmentations."
RECIPES = (
    "It holds recipes only: images, twins and masks are null, and are rendered from the recipes by salgen "
    "(salgen.load reads them so, and salgen make without --recipes-only writes them to files)."
)
ABSENT = "Published as recipes and masks: images and twins are null, and can be made again from the source."

NO_USE = "Not for conclusions about the things, persons or diseases that images show."
IMPACT = (
    "A saliency map that points at the wrong pixels misleads those who rely on it; this data set lets that be "
    "measured. A good score on it is no proof that a method can be trusted on other images or models."
)
MAINTENANCE = (
    "The data set is fixed by its fingerprint and is not updated. Whatever changes a pixel changes the generator's "
    "version and so the fingerprint."
)
_RENDERED = (
    "Each image is a pure function of generator, version, parameters, source, seed, split and index. An image and its "
    "counterfactual twin {}."
)
_MAY_MISS = "A method that finds the painted feature here may miss what a model uses in other images."
# Kind of data set to how images came about, what was done to them, how they were annotated, and what that limits.
KINDS = {
    "imported": (
        "Read by salgen ({}) from a copy of data that others published: {}",
        "Splits, order, cropping and resizing are a pure function of the copy, the parameters and the seed; nothing is "
        "painted into the images.",
        "Labels are those of the published data; masks are annotations or segmentations.",
        "Masks say where people or a segmentation saw the labelled thing. What a model really uses may be something "
        "else, so no sample can be certified.",
    ),
    "derived": (
        "Made by salgen ({}) from the images of another of its data sets: {}",
        _RENDERED,
        "Labels follow from those of the other data set; the mask is what was done to its images, known exactly.",
        _MAY_MISS,
    ),
    "drawn": (
        "Rendered by salgen ({}) from random numbers and outside material: {}",
        _RENDERED,
        "Nobody annotated anything: labels are drawn, and the mask is the whole support of what was painted.",
        _MAY_MISS,
    ),
}
LAW = "are equal, bit for bit, everywhere outside the mask"
FLAW = "may differ outside the mask, as these parameters keep a flaw of the reproduced paper or mask the scene"
CHOSEN = (
    "How often a class occurs, and what else goes with it, is set by the generator and its parameters, and is that of "
    "no population."
)


def croissant_text(
    manifest: Manifest, publication: PublicationMetadata | None = None, digests: Mapping[str, str] | None = None
) -> str:
    """The contents of `croissant.json`; published files, whose digests are given, are described one by one."""
    spec = manifest.spec
    lacking = [RECIPES] if manifest.recipes_only else [] if manifest.pixels else [ABSENT]
    described = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": spec.generator,
        "description": " ".join([manifest.summary, IMPORTED if manifest.imported else MADE, *lacking]),
        "version": f"{spec.generator_version}.0.0",
        **_statements(manifest, publication),
        "identifier": spec.fingerprint,
        "keywords": ["saliency", "explainability", *([] if manifest.imported else ["counterfactual", "synthetic"])],
        **_responsible_ai(manifest),
        "distribution": [
            *(_files(split) for split in manifest.splits),
            *(file_object(name, digest) for name, digest in sorted((digests or {}).items())),
        ],
        "recordSet": [_records(split, manifest) for split in manifest.splits],
    }
    return json.dumps(described, indent=2, allow_nan=False) + "\n"


def _statements(manifest: Manifest, publication: PublicationMetadata | None) -> dict[str, Any]:
    """License, creators, citation and, of what is published, date and address."""
    creators = (publication.creators if publication else ()) or (SALGEN,)
    cited = f"{title(manifest)}, version {manifest.spec.generator_version}, fingerprint {manifest.spec.fingerprint}"
    named = [{"@type": "sc:Organization", "name": name} for name in creators]
    if publication is None:
        return {"license": manifest.license or "not stated", "creator": named, "citeAs": cited}
    return {
        "license": publication.license_url or publication.license,
        "creator": named,
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


def _responsible_ai(manifest: Manifest) -> dict[str, str | list[str]]:
    """Croissant's vocabulary for responsible AI, with answers that are true of any data set with this manifest."""
    spec = manifest.spec
    how = f"generator {spec.generator} version {spec.generator_version}, seed {spec.seed}"
    kind = "imported" if manifest.imported else "derived" if manifest.derived else "drawn"
    collected, manipulated, annotated, limited = KINDS[kind]
    outside = f"{spec.source}, SHA-256 {spec.source_digest}. {manifest.notes}".rstrip()
    computed = f"Nothing was collected: every image is computed from random numbers by salgen ({how})."
    kept = f"The biases of the outside material ({spec.source}) are kept."
    made_biases = [CHOSEN, kept] if spec.source_digest else [CHOSEN]
    lacking = ""
    if manifest.recipes_only:
        lacking = "No picture is stored: salgen renders images, twins and masks from the recipes, and needs the source."
    elif not manifest.pixels:
        lacking = "Pixels are not included: they can be made again only by those who have the source."
    if not spec.source_digest:
        personal = "None: everything is computed from random numbers, and a person that is shown is drawn."
    elif manifest.stores_pixels:
        personal = f"Images hold parts of the outside material ({spec.source}), which may show persons."
    else:
        masks = "" if manifest.recipes_only else ", and masks may be outlines of what its pictures show"
        personal = f"No image is included. Recipes may hold the names that files have in the source{masks}."
    tool = f"salgen {manifest.libraries.get('salgen', '')}".rstrip()
    use = f"Testing saliency methods and the classifiers that they explain, on splits {', '.join(manifest.splits)}."
    return {
        "rai:dataCollection": collected.format(how, outside) if spec.source_digest else computed,
        "rai:dataCollectionType": [
            "Secondary Data Analysis" if spec.source_digest else "Others: computed, not collected"
        ],
        "rai:dataManipulationProtocol": manipulated.format(LAW if manifest.exact else FLAW),
        "rai:dataAnnotationProtocol": annotated,
        **({} if manifest.imported else {"rai:machineAnnotationTools": [tool]}),
        "rai:dataUseCases": [use, NO_USE],
        "rai:dataLimitations": [text for text in (limited, manifest.notes, lacking) if text],
        "rai:dataBiases": [kept] if manifest.imported else made_biases,
        "rai:personalSensitiveInformation": [personal],
        "rai:dataSocialImpact": IMPACT,
        "rai:dataReleaseMaintenancePlan": MAINTENANCE,
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
    description = column.description
    if column.kind in ("label", "labels"):
        description += ": " + ", ".join(f"{number} = {name}" for number, name in enumerate(column.members))
    described = {"@type": "cr:Field", "@id": f"{split}/{column.name}", "name": column.name, "description": description}
    source: dict[str, Any] = {"fileSet": {"@id": f"{split}-files"}, "extract": {"column": column.name}}
    if column.kind == "numbers":
        numbers = [
            {
                "@type": "cr:Field",
                "@id": f"{split}/{column.name}/{name}",
                "name": name,
                "description": f"{name}; null where it does not apply",
                "dataType": TYPES[column.kind],
                "source": {**source, "transform": {"jsonPath": name}},
            }
            for name in column.members
        ]
        return {**described, "subField": numbers}
    if column.kind in PICTURES:
        source["transform"] = {"jsonPath": "bytes"}
    # Version 1.1 says `isArray`; mlcroissant 1.1.1 validates it, but reads images by the older `repeated` only.
    several: dict[str, Any] = {"isArray": True, "repeated": True} if column.kind in ("images", "labels") else {}
    if column.kind == "array":
        several = {"isArray": True, "arrayShape": ",".join(map(str, column.shape))}
    return {**described, "dataType": TYPES[column.kind], "source": source, **several}
