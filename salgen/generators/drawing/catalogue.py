"""Catalogues of drawings as data: JSON files beside this module, which the generators read through it.

A row of a drawing is one line: ``["blob", "leaf", "52,14 62,2 82,2", {"shade": 0.7}]``. It names a shape, a colour, the
shape's numbers, and optionally its look.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any
import numpy as np
from salgen.types import Float64

FOLDER = Path(__file__).with_name("catalogues")


@cache
def catalogue(pattern: str) -> dict[str, Any]:
    """The entries of one JSON file, or of all that match a pattern such as ``"objects/*.json"``, by their names."""
    files = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob(pattern))]
    return {name: entry for file in files for name, entry in file.items()}


def read_row(row: list[Any]) -> tuple[str, str, list[Any], dict[str, Any]]:
    """Shape, colour, numbers and look of a row; the look is empty where there is none."""
    shape, colour, *values = row
    look = values.pop() if values and isinstance(values[-1], dict) else {}
    return shape, colour, values, look


def read_points(text: str) -> list[Float64]:
    """Outlines, float64 (N, 2), that are written as ``"x,y x,y ..."`` with ``/`` between several."""
    outlines = [[[float(number) for number in point.split(",")] for point in part.split()] for part in text.split("/")]
    return [np.array(outline) for outline in outlines]
