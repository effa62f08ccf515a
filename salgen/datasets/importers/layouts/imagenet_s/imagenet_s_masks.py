"""The mask pictures of ImageNet-S: a class id in each pixel's colour.

References
----------
Gao et al. 2022, *Large-scale unsupervised semantic segmentation* (IEEE TPAMI).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER = "ImageNetS50"
CATEGORIES = "ImageNetS_categories_im50.txt"
OTHER = 0
IGNORE = 1000


def decode(levels: NDArray[Any]) -> NDArray[np.int64]:
    """The ids int64 (H, W) of a mask picture's colours, uint8 (H, W, 3) or more channels.

    Raises
    ------
    ValueError
        If they are not 8-bit colours.
    """
    if levels.ndim != 3 or levels.shape[2] < 3 or levels.dtype != np.uint8:
        raise ValueError(f"{levels.dtype} of shape {levels.shape}, not 8-bit colours")
    return np.asarray(levels[..., 0].astype(np.int64) + 256 * levels[..., 1].astype(np.int64))
