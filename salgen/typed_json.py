"""Dataclasses from JSON values, which must be of the fields' types."""

import types
import typing
from dataclasses import MISSING, fields, is_dataclass
from typing import Any
from salgen.errors import SalgenError
from salgen.parameters import field_types


def from_json(value: Any, kind: Any, name: str = "") -> Any:
    """A JSON value as a field's type: a dataclass, a list, a tuple, a dict, a value or None."""
    inner = typing.get_args(kind)
    if is_dataclass(kind):
        return _from_entries(value if isinstance(value, dict) else {}, kind, name)
    if typing.get_origin(kind) is types.UnionType:
        return None if value is None else from_json(value, inner[0], name)
    plain = typing.get_origin(kind) or kind
    if kind is Any or (plain is float and type(value) is int):
        return value
    written: Any = list if plain is tuple else plain
    if not isinstance(value, written) or (plain is not bool and isinstance(value, bool)):
        raise SalgenError(f"holds {value!r:.50} as {name!r}, which must be of type {written.__name__}")
    if plain is dict:
        return {key: from_json(item, inner[1], f"{name}.{key}") for key, item in value.items()}
    if written is not list:
        return value
    kinds = inner if plain is tuple and inner[-1] is not Ellipsis else inner[:1] * len(value)
    if len(kinds) != len(value):
        raise SalgenError(f"holds {len(value)} values as {name!r}, which must be {len(kinds)}")
    return plain(from_json(item, inner_kind, name) for item, inner_kind in zip(value, kinds, strict=True))


def _from_entries(entries: dict[str, Any], kind: Any, name: str) -> Any:
    values = {}
    for declared in fields(kind):
        path = f"{name}.{declared.name}".removeprefix(".")
        if declared.name in entries:
            values[declared.name] = from_json(entries[declared.name], field_types(kind)[declared.name], path)
        elif declared.default is MISSING and declared.default_factory is MISSING:
            raise SalgenError(f"has no entry {path!r}")
    return kind(**values)
