"""Parameters of plug-ins: dataclass fields that check themselves and can be written as text.

A generator, method, metric or model is a frozen dataclass, and its fields are its parameters. The
command line, ``--set key=value``, the docs and the results' parameter column all come from them.
"""

import ast
import dataclasses
import json
import math
import numbers
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar
from salgen.errors import SalgenError, unknown_name

T = TypeVar("T")
NAME = re.compile(r"\w[\w.+ -]*")  # a method's or metric's name in tables, without parameters

BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

field_types: Any = cache(typing.get_type_hints)  # resolving them takes longer than scoring a map


def param(
    default: Any,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[Any] | None = None,
    rising: bool = False,
    distinct: int = 0,
) -> Any:
    """A field with a description and the values it accepts: `low` to `high`, or `choices`, or of a type among these.

    Of two values that are `rising` the first is not above the second; `distinct` is the least number of different ones.
    """
    rules = {"help": help, "low": low, "high": high, "choices": choices, "rising": rising, "distinct": distinct}
    return dataclasses.field(default=default, metadata=rules)


class _ByParameters:
    def __init__(self, default: Any, of: Callable[[Any], Any]) -> None:
        self._default, self._of = default, of

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self._default if instance is None else self._of(instance)


def by_parameters(default: Any) -> Callable[[Callable[[Any], Any]], Any]:
    """A declaration of a plug-in that depends on its parameters: `default` on the class, computed on an instance."""
    return lambda of: _ByParameters(default, of)


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One field of a plug-in, as help and docs show it."""

    name: str
    type: str
    default: Any
    help: str


def describe(cls: type) -> list[Parameter]:
    """The parameters of a plug-in class, in order."""
    hints = field_types(cls)
    return [
        Parameter(f.name, _type_text(hints[f.name], f.metadata), f.default, f.metadata.get("help", ""))
        for f in dataclasses.fields(cls)
    ]


def build(cls: type[T], values: Mapping[str, Any], label: str | None = None) -> T:
    """An instance of a plug-in class, whose fields were made with :func:`param`.

    `values` may be text, such as ``"5,8"`` or ``"140x192"``, which is read by the field's type, JSON or Python objects.
    `label` names the plug-in in errors; by default its `name`.
    """
    label = label or getattr(cls, "name", cls.__name__)
    fields = {f.name: f for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    hints = field_types(cls)
    ready = {}
    for key, value in values.items():
        name = key.replace("-", "_")
        if name not in fields:
            raise unknown_name(f"parameter of {label}", key, fields)
        ready[name] = _convert(value, hints[name], f"{label}: {name}")
        if ready[name] != fields[name].default:
            _check_rules(ready[name], fields[name].metadata, f"{label}: {name}")
    return cls(**ready)


def to_json(instance: Any) -> dict[str, Any]:
    """The parameters of an instance as JSON values (tuples become lists); fields that are not compared are none."""
    values = {f.name: getattr(instance, f.name) for f in dataclasses.fields(instance) if f.compare}
    return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


def parse_pairs(pairs: Sequence[str], option: str = "--set") -> dict[str, str]:
    """``["a=1", "b=2"]`` as a mapping; an error names the pair that is not ``key=value``."""
    result: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise SalgenError(f"{option} {pair!r}: write it as key=value")
        if key.strip() in result:
            raise SalgenError(f"{option} {key.strip()} is given twice: {result[key.strip()]!r} and {value.strip()!r}")
        result[key.strip()] = value.strip()
    return result


def parse_call(text: str) -> tuple[str, dict[str, str]]:
    """``"lrp-alpha-beta:alpha=1,beta=0"`` as a name and its parameters.

    A comma separates parameters only where ``key=`` follows, so tuples can be written as ``1,2``.

    Examples
    --------
    >>> parse_call("occlusion:window=15,15,stride=8")
    ('occlusion', {'window': '15,15', 'stride': '8'})
    """
    name, colon, parameters = text.partition(":")
    if colon and not parameters.strip():
        raise SalgenError(f"{text!r}: write {name!r}, or {name}:key=value")
    pairs = re.split(",(?=[^,]*=)", parameters) if parameters else []
    return name.strip(), parse_pairs(pairs, f"{name}:")


def python_value(text: str) -> Any:
    """A value as Python writes it, or else the text; salgen's true, false and none are Python's.

    Examples
    --------
    >>> [python_value(text) for text in ("0.5", "(1, 2)", "true", "nearest")]
    [0.5, (1, 2), True, 'nearest']
    """
    words = {"true": True, "false": False, "none": None}
    try:
        return words[text] if text in words else ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def call_text(plugin: Any) -> str:
    """A plug-in's instance as :func:`parse_call` reads it, with the parameters that are not the defaults."""
    changed = {f.name: getattr(plugin, f.name) for f in dataclasses.fields(plugin) if f.compare}
    defaults = {f.name: f.default for f in dataclasses.fields(plugin)}
    pairs = [f"{key}={_value_text(value)}" for key, value in changed.items() if value != defaults[key]]
    return ":".join([str(plugin.name), *([",".join(pairs)] if pairs else [])])


def _value_text(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(_value_text, value))
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _type_text(hint: Any, rules: Mapping[str, Any]) -> str:
    if rules.get("choices"):
        return "|".join(map(_choice_text, rules["choices"]))
    origin = typing.get_origin(hint)
    if origin is tuple:
        inner = typing.get_args(hint)
        return "list of " + inner[0].__name__ if inner[-1] is Ellipsis else ",".join(t.__name__ for t in inner)
    if origin in (typing.Union, types.UnionType):
        return " or ".join("none" if t is type(None) else _type_text(t, {}) for t in typing.get_args(hint))
    return str(getattr(hint, "__name__", hint))


def _choice_text(choice: Any) -> str:
    return choice.__name__ if isinstance(choice, type) else str(choice)


def _convert(value: Any, hint: Any, label: str) -> Any:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        *others, last = (kind for kind in typing.get_args(hint) if kind is not type(None))
        if type(None) in typing.get_args(hint) and (value is None or value in ("none", "None")):
            return None
        for kind in others:
            with suppress(SalgenError):
                return _convert(value, kind, label)
        return _convert(value, last, label)
    if origin is tuple:
        return _convert_tuple(value, typing.get_args(hint), label)
    try:
        return _convert_scalar(value, hint)
    except (ValueError, TypeError, KeyError, OverflowError):  # the last: integers too large for a float
        kind = getattr(hint, "__name__", str(hint))
        raise SalgenError(f"{label} = {value!r} is not of type {kind}") from None


def _convert_tuple(value: Any, inner: tuple[Any, ...], label: str) -> tuple[Any, ...]:
    given = value
    if isinstance(value, str):
        parts = re.split("," if str in inner else "[,xX]", value.strip("()[] "))  # 140x192 is a size, pet-xai a name
        value = [part for part in parts if part.strip()]
    if not isinstance(value, Sequence):
        value = [value]
    if inner[-1] is Ellipsis:
        return tuple(_convert(item, inner[0], label) for item in value)
    if len(value) != len(inner):
        raise SalgenError(f"{label} = {given!r} has {len(value)} values: it takes {len(inner)}, with commas between")
    return tuple(_convert(item, kind, label) for item, kind in zip(value, inner, strict=True))


def _convert_scalar(value: Any, kind: Any) -> Any:
    """A value as a type; a ValueError or KeyError if it is none of it."""
    if kind is bool and isinstance(value, str):
        return BOOLEANS[value.lower()]
    if kind in (int, float) and not isinstance(value, bool):
        number = kind(value)
        if math.isfinite(number) and (kind is float or isinstance(value, str) or number == value):
            return number
    elif kind not in (int, float) and (kind not in (bool, str) or isinstance(value, kind)):
        return value
    raise ValueError(value)


def _check_rules(value: Any, rules: Mapping[str, Any], label: str) -> None:
    items = value if isinstance(value, tuple) else (value,)
    low, high, choices = rules.get("low"), rules.get("high"), rules.get("choices")
    bounds = f"at least {low}" if high is None else f"at most {high}" if low is None else f"from {low} to {high}"
    for item in items:
        if item is None:
            continue
        if choices is not None and item not in choices and type(item) not in choices:
            raise SalgenError(f"{label} = {item!r}: must be one of {', '.join(map(_choice_text, choices))}")
        if (low is not None and item < low) or (high is not None and item > high):
            raise SalgenError(f"{label} = {item!r}: must be {bounds}")
    if rules.get("rising") and value[0] > value[1]:
        raise SalgenError(f"{label} = {_value_text(value)}: the least must not be above the most")
    if (count := rules.get("distinct", 0)) and (len(value) < count or len(set(value)) < len(value)):
        raise SalgenError(f"{label} = {_value_text(value)}: give {count} or more, each once")


def at_least(low: int, value: Any, name: str) -> int:
    """An integer of `low` or more."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < low:
        raise SalgenError(f"{name} = {value!r}: must be an integer of {low} or more")
    return int(value)


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces: one text per value, fit for hashing."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
