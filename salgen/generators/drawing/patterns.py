"""Patterns that repeat after 1, as signed distances from their edges: positive inside."""

import numpy as np
from salgen.types import Float64


def bands(across: Float64, width: float = 0.25) -> Float64:
    """Bands; `width` is half a band's."""
    return np.asarray(width - np.abs(across - np.floor(across) - 0.5))


def spots(down: Float64, across: Float64, radius: float) -> Float64:
    """Round spots in rows, every other row shifted by a half."""
    across = across + 0.5 * (np.floor(down) % 2)
    down, across = down - np.floor(down) - 0.5, across - np.floor(across) - 0.5
    return np.asarray(radius - np.sqrt(down * down + across * across))
