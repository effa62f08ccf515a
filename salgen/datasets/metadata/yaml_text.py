"""Nested mappings and lists as YAML, for the files that others read."""

from __future__ import annotations

import json
from typing import Any


def yaml_text(values: dict[str, Any]) -> str:
    """Lines of YAML; texts are quoted as in JSON, which YAML includes."""
    return "".join(line + "\n" for line in _lines(values))


def _lines(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [line for key, item in value.items() for line in _entry(f"{_key(key)}:", item)]
    if isinstance(value, list):
        return [line for item in value for line in _item(item)]
    return [json.dumps(value)]


def _entry(start: str, item: Any) -> list[str]:
    lines = _lines(item)
    if isinstance(item, dict | list) and item:
        return [start, *(f"  {line}" for line in lines)]
    return [f"{start} {lines[0]}"]


def _item(item: Any) -> list[str]:
    first, *rest = _lines(item)
    return [f"- {first}", *(f"  {line}" for line in rest)]


def _key(key: str) -> str:
    return key if key.replace("-", "_").isidentifier() else json.dumps(key)
