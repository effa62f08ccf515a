"""
My metric
=========

A metric of yours beside those of others.
"""

from dataclasses import dataclass
from typing import ClassVar
import matplotlib.pyplot as plt
import numpy as np
import salgen
from salgen.plugins import MaskMetric, Ranking

# %%
# A metric is a frozen dataclass. A `MaskMetric` is given a `Ranking`: the sorted values of one map inside
# (``positives``) and outside (``negatives``) its mask. It returns the value, and a reason where the value is
# undefined.


@dataclass(frozen=True)
class MedianHit(MaskMetric):
    """Share of mask pixels above the median of the pixels outside the mask, ties counting half."""

    name: ClassVar[str] = "median-hit"
    reference: ClassVar[str] = "this page"
    needs: ClassVar[frozenset[str]] = frozenset({"mask", "negatives"})

    def __call__(self, ranking: Ranking):
        cut = ranking.cut(ranking.negatives[ranking.n // 2])
        return (cut.positives_above + cut.positives_tied / 2) / ranking.p, ""


# %%
# Maps and masks to try it on: maps that know the mask, under rising noise.

random = np.random.default_rng(0)
masks = np.zeros((40, 16, 16), dtype=bool)
for mask in masks:
    row, column = random.integers(0, 12, 2)
    mask[row : row + 4, column : column + 4] = True

noises = (0, 1, 2, 4, 8)
means = {name: [] for name in ("median-hit", "roc-auc", "iou")}
for noise in noises:
    maps = masks + noise * random.normal(size=masks.shape)
    scores = salgen.score(maps, masks, [MedianHit(), "roc-auc", "iou"])
    for name, column in means.items():
        column.append(scores[name].mean())

for name, column in means.items():
    plt.plot(noises, column, "o-", label=name)
plt.xlabel("noise")
plt.ylabel("mean score")
plt.legend()
plt.show()

# %%
# A map that knows the mask has 1, and a constant map 0.5, as ties count half.

assert np.all(salgen.score(masks.astype(float), masks, [MedianHit()])["median-hit"] == 1)
assert np.all(salgen.score(np.ones(masks.shape), masks, [MedianHit()])["median-hit"] == 0.5)

# %%
# In a package of your own, an entry point makes the metric known to the command line, to :func:`salgen.evaluate` and
# to ``salgen metrics check``, which tells whether it falls while maps get worse; metrics may ask the model as well:
# see :doc:`/extending`.
