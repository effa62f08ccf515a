"""The YAML head of a dataset card, which the Hugging Face hub and `load_dataset` read; and YAML in general."""

import json
from typing import Any

from salgen.datasets.format.manifest import Manifest
from salgen.datasets.format.schema import card_features
from salgen.datasets.metadata.publication_metadata import PublicationMetadata, hub_licence

SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"))


def front_matter(manifest: Manifest, publication: PublicationMetadata | None = None) -> str:
    """The head with its two ``---`` lines: licence, configuration and features."""
    total = sum(manifest.spec.splits.values())
    licence = licence_keys(publication) if publication else {"license": hub_licence(manifest.licence)}
    files = [{"split": split, "path": f"data/{split}-*.parquet"} for split in manifest.splits]
    values = {
        "pretty_name": manifest.spec.generator,
        **licence,
        "task_categories": ["image-classification", "image-segmentation"],
        "annotations_creators": ["found" if manifest.imported else "machine-generated"],
        "size_categories": [next((name for limit, name in SIZES if total < limit), "n>10M")],
        "tags": tags(manifest),
        "configs": [{"config_name": "default", "data_files": files}],
        "dataset_info": {"features": card_features(manifest)},
    }
    return f"---\n{yaml_text(values)}---\n"


def tags(manifest: Manifest) -> list[str]:
    """Keywords of a data set for the hub's search."""
    return ["saliency", "explainability", *([] if manifest.imported else ["counterfactual", "synthetic"]), "salgen"]


def licence_keys(publication: PublicationMetadata) -> dict[str, str]:
    """The hub's keys for the licence that a publisher states."""
    name = hub_licence(publication.licence)
    if name != "other":
        return {"license": name}
    if publication.licence_url is None:
        return {"license": name, "license_name": publication.licence.lower()}
    return {"license": name, "license_link": publication.licence_url}


def yaml_text(values: dict[str, Any]) -> str:
    """Lines of YAML in ASCII for nested mappings and lists; texts are quoted as in JSON."""
    return "".join(line + "\n" for line in _lines(values))


def _lines(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [line for key, item in value.items() for line in _entry(key, item)]
    if isinstance(value, list):
        return [f"{'  ' if number else '- '}{line}" for item in value for number, line in enumerate(_lines(item))]
    return [_quoted(value) if isinstance(value, str) else json.dumps(value)]


def _entry(key: str, item: Any) -> list[str]:
    lines, start = _lines(item), key if key.replace("-", "_").isidentifier() else _quoted(key)
    if isinstance(item, dict | list) and item:
        return [f"{start}:", *(f"  {line}" for line in lines)]
    return [f"{start}: {lines[0]}"]


def _quoted(text: str) -> str:
    # JSON writes a character beyond U+FFFF as two surrogates, which YAML takes for two characters.
    marks = (json.dumps(mark)[1:-1] if mark <= "\uffff" else f"\\U{ord(mark):08x}" for mark in text)
    return f'"{"".join(marks)}"'
