"""The YAML head of a dataset card, which the Hugging Face hub and `load_dataset` read."""

from __future__ import annotations

import json
from typing import Any

from salgen.datasets.manifest import Manifest
from salgen.datasets.schema import card_features

HUB_LICENCES = {
    name.lower(): name.lower()
    for name in ("CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "MIT", "BSD-3-Clause", "Apache-2.0")
}
SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"))


def front_matter(manifest: Manifest) -> str:
    """The head with its two ``---`` lines: licence, configuration and features."""
    total = sum(manifest.spec.splits.values())
    files = [{"split": split, "path": f"data/{split}-*.parquet"} for split in manifest.splits]
    values = {
        "pretty_name": manifest.spec.generator,
        "license": hub_licence(manifest.licence),
        "task_categories": ["image-classification", "image-segmentation"],
        "annotations_creators": ["found" if manifest.imported else "machine-generated"],
        "size_categories": [next((name for limit, name in SIZES if total < limit), "n>10M")],
        "tags": [
            "saliency",
            "explainability",
            *([] if manifest.imported else ["counterfactual", "synthetic"]),
            "salgen",
        ],
        "configs": [{"config_name": "default", "data_files": files}],
        "dataset_info": {"features": card_features(manifest)},
    }
    return "---\n" + "".join(line + "\n" for line in _yaml(values)) + "---\n"


def hub_licence(licence: str) -> str:
    """The hub's name of a licence; ``other`` where it has none."""
    return HUB_LICENCES.get(licence.lower(), "other")


def _yaml(value: Any) -> list[str]:
    """Lines of YAML for nested mappings and lists; texts are quoted as in JSON, which YAML includes."""
    if isinstance(value, dict):
        return [line for key, item in value.items() for line in _entry(f"{_key(key)}:", item)]
    if isinstance(value, list):
        return [line for item in value for line in _item(item)]
    return [json.dumps(value)]


def _entry(start: str, item: Any) -> list[str]:
    lines = _yaml(item)
    if isinstance(item, dict | list) and item:
        return [start, *(f"  {line}" for line in lines)]
    return [f"{start} {lines[0]}"]


def _item(item: Any) -> list[str]:
    first, *rest = _yaml(item)
    return [f"- {first}", *(f"  {line}" for line in rest)]


def _key(key: str) -> str:
    return key if key.isidentifier() else json.dumps(key)
