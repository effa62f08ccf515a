"""YAML of nested mappings and lists, for files that other programs read."""

from __future__ import annotations

import json
from typing import Any


def yaml_text(values: dict[str, Any]) -> str:
    """Lines of YAML in ASCII; texts are quoted as in JSON."""
    return "".join(line + "\n" for line in _lines(values))


def _lines(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [line for key, item in value.items() for line in _entry(f"{_key(key)}:", item)]
    if isinstance(value, list):
        return [line for item in value for line in _item(item)]
    return [_quoted(value) if isinstance(value, str) else json.dumps(value)]


def _entry(start: str, item: Any) -> list[str]:
    lines = _lines(item)
    if isinstance(item, dict | list) and item:
        return [start, *(f"  {line}" for line in lines)]
    return [f"{start} {lines[0]}"]


def _item(item: Any) -> list[str]:
    first, *rest = _lines(item)
    return [f"- {first}", *(f"  {line}" for line in rest)]


def _key(key: str) -> str:
    return key if key.replace("-", "_").isidentifier() else _quoted(key)


def _quoted(text: str) -> str:
    # JSON writes a character beyond U+FFFF as two surrogates, which YAML takes for two characters.
    marks = (json.dumps(mark)[1:-1] if mark <= "\uffff" else f"\\U{ord(mark):08x}" for mark in text)
    return f'"{"".join(marks)}"'
