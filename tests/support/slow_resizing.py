"""Bilinear resizing, one pixel at a time."""

import numpy as np


def enlarged_by_loops(values, size):
    """A map (h, w) at another size: centres of pixels are kept, and those of the outer ones held at the rim."""
    found = np.zeros(size)
    for y in range(size[0]):
        for x in range(size[1]):
            row = min(max((y + 0.5) * values.shape[0] / size[0] - 0.5, 0), values.shape[0] - 1)
            column = min(max((x + 0.5) * values.shape[1] / size[1] - 0.5, 0), values.shape[1] - 1)
            top, left = int(row), int(column)
            bottom, right = min(top + 1, values.shape[0] - 1), min(left + 1, values.shape[1] - 1)
            for r, weight_r in ((top, 1 - (row - top)), (bottom, row - top)):
                for c, weight_c in ((left, 1 - (column - left)), (right, column - left)):
                    found[y, x] += weight_r * weight_c * values[r, c]
    return found
