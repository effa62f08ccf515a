"""A dose: one of a generator's numeric parameters, and the values that it takes in a sweep."""

from __future__ import annotations

import re
import typing
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any
import numpy as np
from salgen.errors import SalgenError, unknown_name
from salgen.generators.factory import generator, plugin_class
from salgen.types import Float64

LEAST = 6  # doses: with fewer a curve of three parameters is not held to anything
LEAST_STRENGTHS = 2  # a spurious correlation's, to which no curve is fitted
RANGE = re.compile(r"([^:,]+):([^:,]+):(\d+)(log|lin)?")
HOW = "write PARAMETER=LOW:HIGH:COUNT, COUNTlin for even steps, or PARAMETER=VALUE,VALUE,..."


@dataclass(frozen=True)
class Dose:
    """A parameter and its values, ascending, in the generator's own units."""

    parameter: str
    values: tuple[float, ...]
    log: bool  # whether curves are fitted to the logarithm: where values were spaced so, or listed and all positive
    # whether it is the strength of a spurious correlation: the sweep then asks which models rely on it
    spurious: bool = False

    @classmethod
    def parse(cls, text: str, name: str) -> Dose:
        """The dose in a text such as ``"depth=0.02:0.7:8log"``; values of a range are rounded to three digits."""
        parameter, _, values = text.partition("=")
        parameter = parameter.strip().replace("-", "_")
        kind = _kind(parameter, name)
        spurious = getattr(plugin_class(name), "spurious", "") == parameter
        between = RANGE.fullmatch(values.replace(" ", ""))
        try:
            if between is None:
                found = [float(value) for value in values.split(",")]
                log = min(found) > 0
            else:
                low, high, log = float(between[1]), float(between[2]), between[4] != "lin"
                if log and min(low, high) <= 0:
                    raise SalgenError(f"dose {text!r}: 0 and less have no logarithm: start above 0, or write COUNTlin")
                spaced = (np.geomspace if log else np.linspace)(low, high, int(between[3]))
                found = [float(f"{value:.3g}") for value in spaced]
        except ValueError:
            raise SalgenError(f"dose {text!r}: {HOW}") from None
        if not np.isfinite(found).all():
            raise SalgenError(f"dose {text!r}: values must be finite")
        if kind is int and not between and not all(value.is_integer() for value in found):
            raise SalgenError(f"dose {text!r}: {parameter} takes whole numbers")
        chosen = sorted({kind(round(value) if kind is int and between else value) for value in found})
        what, least = ("a comparison", LEAST_STRENGTHS) if spurious else ("a curve", LEAST)
        if len(chosen) < least:
            raise SalgenError(f"dose {text!r} has {len(chosen)} different values: {what} takes at least {least}")
        return cls(parameter, tuple(chosen), log, spurious)

    @property
    def array(self) -> Float64:
        """The values, float64 (D,)."""
        return np.array(self.values, dtype=np.float64)

    def check(self, name: str, source: str | None, scale: str, parameters: Mapping[str, Any]) -> None:
        """Raise a SalgenError if the generator refuses a value, before any work."""
        if self.parameter in {key.replace("-", "_") for key in parameters}:
            raise SalgenError(f"{self.parameter} is the dose: leave it out of the other parameters")
        for value in self.values:
            generator(name, source, scale, **{**parameters, self.parameter: value})


def _kind(parameter: str, name: str) -> type[int | float]:
    """``int`` or ``float``, the type of a numeric parameter."""
    cls = plugin_class(name)
    hints = typing.get_type_hints(cls)
    numeric: dict[str, type[int | float]] = {}
    for field in fields(cls):
        kinds = [kind for kind in typing.get_args(hints[field.name]) or (hints[field.name],) if kind is not type(None)]
        if kinds in ([int], [float]) and not field.metadata.get("choices"):
            numeric[field.name] = kinds[0]
    if parameter not in numeric:
        raise unknown_name(f"numeric parameter of {name}", parameter, numeric)
    return numeric[parameter]
