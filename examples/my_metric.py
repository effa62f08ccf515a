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
# A metric is a function of a map, float (H, W), and its mask, bool (H, W). Higher is better, unless it says otherwise.


def error(values, mask):
    """Mean absolute difference of the map and the mask."""
    return abs(values - mask).mean()


error.higher_is_better = False

# %%
# Or it is a frozen dataclass, which may ask for more and have parameters. A `MaskMetric` is given a `Ranking`: the
# sorted values of one map inside (``positives``) and outside (``negatives``) its mask. It returns the value, and a
# reason where the value is undefined.


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
means = {name: [] for name in ("median-hit", "error", "roc-auc", "iou")}
for noise in noises:
    maps = masks + noise * random.normal(size=masks.shape)
    scores = salgen.score(maps, masks, [MedianHit(), error, "roc-auc", "iou"])
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
# :func:`salgen.evaluate` takes both in the same way, and the command line as ``--metrics my_metrics:error``. In a
# package of your own, an entry point makes a class known by its name. ``salgen metrics check`` tells whether a metric
# falls while maps get worse. Metrics may ask the model as well: see :doc:`/extending`.
